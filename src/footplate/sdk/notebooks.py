"""Calls about notebooks: jobs with JupyterLab."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from footplate.sdk.connection import Connection

if TYPE_CHECKING:
    from footplate.sdk.job import Job


class NotebookCalls:
    """The part of the client for notebooks."""

    _connection: Connection

    def create_notebook(self, name: str = "", *, samples: Sequence[str] = (), **fields: Any) -> Job:
        """Submit a notebook: a job with JupyterLab, which ends when nobody uses it any more.

        `fields` are `cpus`, `memory`, `gpus`, `image`, `packages`, `queue`, `data`, `idle_limit` and others.
        Wait until it runs, and open it: `job.open_service("jupyter")["url"]`.
        """
        from footplate.sdk.job import Job

        body = {"name": name, "samples": list(samples), **fields}
        given = {field: value for field, value in body.items() if value not in (None, "", [])}
        made = self._connection.send("POST", "/notebooks", given, key=secrets.token_hex(16))
        return Job(self._connection, made)

    def notebook_samples(self) -> list[dict[str, Any]]:
        """List sample notebooks, with what each shows."""
        items: list[dict[str, Any]] = self._connection.fetch("/notebooks/samples")["items"]
        return items

    def notebook_sample(self, file: str) -> bytes:
        """Fetch a sample notebook."""
        path = f"/notebooks/samples/{quote(file, safe='')}"
        return self._connection.request("GET", path).content
