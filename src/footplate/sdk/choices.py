"""Calls about instance types and frameworks."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from footplate.sdk.connection import Connection


class ChoiceCalls:
    """The part of the client that knows what admins offer by name, and what is free."""

    _connection: Connection

    def instance_types(self, queue: str | None = None) -> list[dict[str, Any]]:
        """List the instance types, each with how many tasks of it find room now (`fit_now`) in a queue."""
        items: list[dict[str, Any]] = self.offered_types(queue)["items"]
        return items

    def capacity(self, queue: str | None = None) -> dict[str, Any] | None:
        """Say what is free where jobs of a queue may run, and what the queue may still use."""
        found: dict[str, Any] | None = self.offered_types(queue)["capacity"]
        return found

    def offered_types(self, queue: str | None = None) -> dict[str, Any]:
        """List the instance types together with the queue and the capacity that they are counted for."""
        asked = {} if queue is None else {"queue": queue}
        answer: dict[str, Any] = self._connection.fetch("/instance-types", **asked)
        return answer

    def set_instance_type(self, name: str, cpus: float, memory_bytes: int, **fields: Any) -> dict[str, Any]:
        """Add an instance type, or change it: gpus, gpu_type, shm_bytes, description, position."""
        body = {"cpus": cpus, "memory_bytes": memory_bytes, **fields}
        answer: dict[str, Any] = self._connection.send("PUT", _type(name), body, is_repeatable=True)
        return answer

    def delete_instance_type(self, name: str) -> None:
        self._connection.request("DELETE", _type(name))

    def frameworks(self) -> list[dict[str, Any]]:
        """List the frameworks with their versions; the default version of each has `is_default`."""
        items: list[dict[str, Any]] = self._connection.fetch("/frameworks")["items"]
        return items

    def set_framework(self, name: str, version: str, **fields: Any) -> dict[str, Any]:
        """Add a version of a framework, or change it: image, environment, strategy, strategies, ..."""
        answer: dict[str, Any] = self._connection.send(
            "PUT", _framework(name, version), fields, is_repeatable=True
        )
        return answer

    def delete_framework(self, name: str, version: str) -> None:
        self._connection.request("DELETE", _framework(name, version))


def _type(name: str) -> str:
    return f"/instance-types/{quote(name, safe='')}"


def _framework(name: str, version: str) -> str:
    return f"/frameworks/{quote(name, safe='')}/{quote(version, safe='')}"
