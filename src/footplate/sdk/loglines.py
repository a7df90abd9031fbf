"""Calls about single lines of a log, numbered and timed, as FfDL has them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx

from footplate.domain.errors import NotFound
from footplate.sdk import certificates
from footplate.sdk.connection import Connection, is_loopback


class LogLineCalls:
    """The part of the client that knows single lines of logs."""

    _connection: Connection

    def log_lines(
        self, job_id: str, page_size: int = 10, pos: int = 0, since_ms: int | None = None
    ) -> list[dict[str, Any]]:
        """A page of lines of the first task: from a position, counted from the end where that is negative."""
        url = self._connection.settings.url
        asked = {"pagesize": page_size, "pos": pos or None, "since_time": since_ms}
        # Beside the connection, which knows our own paths only.
        answer = httpx.get(
            f"{url}/v1/logs/training-{quote(job_id, safe='')}/loglines",
            params={name: value for name, value in asked.items() if value is not None},
            headers=self._connection.credentials(),
            timeout=self._connection.timeout_s,
            trust_env=not is_loopback(url),
            verify=certificates.trusted() if url.startswith("https:") else False,
        )
        if not answer.is_success:
            raise NotFound("job_not_named", job=job_id[:64])
        lines: list[dict[str, Any]] = answer.json()["models"]
        return lines
