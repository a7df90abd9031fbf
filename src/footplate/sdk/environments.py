"""Calls about the environments that were built for jobs."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from footplate.sdk.connection import Connection


class EnvironmentCalls:
    """The part of the client that knows the Python packages of jobs."""

    _connection: Connection

    def environments(self) -> list[dict[str, Any]]:
        """List the environments that were built for my jobs, the one that was used last first."""
        items: list[dict[str, Any]] = self._connection.fetch("/environments")["items"]
        return items

    def environment_log(self, environment_id: str) -> str:
        """Read what the build of an environment printed, of a long one the end."""
        answer = self._connection.request("GET", f"/environments/{quote(environment_id, safe='')}/log")
        return answer.text

    def remove_environment(self, environment_id: str) -> None:
        """Remove an environment that no job uses; a job that asks for the same has it built again."""
        self._connection.request("DELETE", f"/environments/{quote(environment_id, safe='')}")
