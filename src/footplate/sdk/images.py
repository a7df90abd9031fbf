"""Calls about the catalogue of images."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from footplate.sdk.connection import Connection


class ImageCalls:
    """The part of the client that knows the images which admins recommend."""

    _connection: Connection

    def images(self) -> list[dict[str, Any]]:
        """List the images that a job can name, the default first."""
        items: list[dict[str, Any]] = self._connection.fetch("/images")["items"]
        return items

    def set_image(self, name: str, reference: str, **fields: Any) -> dict[str, Any]:
        """Add an image, or change it: description, framework, version, is_default; what is absent stays."""
        answer: dict[str, Any] = self._connection.send(
            "PUT", _path(name), {"reference": reference, **fields}, is_repeatable=True
        )
        return answer

    def delete_image(self, name: str) -> None:
        self._connection.request("DELETE", _path(name))


def _path(name: str) -> str:
    return f"/images/{quote(name, safe='')}"
