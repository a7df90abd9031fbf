"""What foreign clients may not ask for in any dialect: texts that cannot be stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import Request

from footplate.domain.errors import InvalidInput
from footplate.domain.problems import is_writable


def check_address(request: Request) -> None:
    """Refuse an address, or a parameter of it, that no database could look for."""
    given = (*request.path_params.items(), *request.query_params.multi_items())
    for name, value in given:
        if not is_writable(f"{name}{value}"):
            raise InvalidInput("not_writable", name if is_writable(name) else "")


def check_document(document: Any) -> None:
    """Refuse a body with a text in it that cannot be stored."""
    for path, text in _texts(document, ""):
        if not is_writable(text):
            raise InvalidInput("not_writable", path)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield path, str(name)
            yield from _texts(inner, f"{path}.{name}".lstrip(".") if is_writable(str(name)) else path)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, path)
