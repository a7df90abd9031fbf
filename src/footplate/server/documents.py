"""Reading a job document from a request: JSON or YAML by content type, ours or that of another system."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import Request

from footplate.dialects.registry import translate
from footplate.dialects.translation import Translation
from footplate.domain.errors import InvalidInput
from footplate.domain.foreign import format_of, is_batch_script
from footplate.domain.jobfile import read_job
from footplate.domain.problems import name_of, shorten
from footplate.wire.documents import decode, load, load_json

_SMALL_BYTES = 16 * 1024
_JSON = "application/json"
# What programs send for a file of whatever kind counts as YAML, of which JSON is a part.
_YAML = frozenset(
    {
        "",
        "application/octet-stream",
        "application/x-sh",
        "application/x-www-form-urlencoded",
        "application/x-yaml",
        "application/yaml",
        "text/plain",
        "text/x-sh",
        "text/x-shellscript",
        "text/x-yaml",
        "text/yaml",
    }
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a submit asks for: a document of ours, or a text of another system with some fields replaced."""

    document: Any = None
    translation: Translation | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)


async def read_document(request: Request) -> Any:
    """Read the body: small JSON at once, all else in a thread, where bad input cannot hold others up."""
    kind, body = _kind_of(request), await request.body()
    read = load_json if kind == _JSON else load
    if read is load_json and len(body) <= _SMALL_BYTES:
        return load_json(body, "body")
    return await asyncio.to_thread(read, body, "body")


async def read_asked(request: Request) -> Asked:
    """Read the body of a submit, in whatever dialect it is written.

    A mapping with the text of a foreign file as `original` may have `overrides`, fields of ours, or a
    `document` of ours that was made from it.
    """
    kind, body = _kind_of(request), await request.body()
    if kind == _JSON and len(body) <= _SMALL_BYTES:
        document = load_json(body, "body")
        return Asked(document) if _is_ours(document) else await asyncio.to_thread(_translated, document, body)
    return await asyncio.to_thread(_read_asked, kind, body)


def _kind_of(request: Request) -> str:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON and kind not in _YAML:
        raise InvalidInput("not_media_type", "Content-Type", wanted=_JSON, given=shorten(kind))
    return kind


def _is_ours(document: Any) -> bool:
    return not (isinstance(document, dict) and "original" in document) and format_of(document) is None


def _read_asked(kind: str, body: bytes) -> Asked:
    if kind != _JSON and is_batch_script(decode(body, "body")):
        return Asked(translation=translate(body))
    document = load_json(body, "body") if kind == _JSON else load(body, "body")
    return Asked(document) if _is_ours(document) else _translated(document, body)


def _translated(document: dict[str, Any], body: bytes) -> Asked:
    if "original" not in document:
        return Asked(translation=translate(body))
    text, overrides = document["original"], document.get("overrides") or {}
    if not isinstance(text, str):
        raise InvalidInput("not_text", "original", given=name_of(text))
    if not isinstance(overrides, Mapping):
        raise InvalidInput("not_map", "overrides", given=name_of(overrides))
    made = translate(text)
    if "document" in document:
        made = _edited(made, document["document"])
    return Asked(translation=made, overrides=overrides)


def _edited(made: Translation, document: Any) -> Translation:
    """A translation as somebody has left it; the text is kept where it still says the same."""
    if not isinstance(document, Mapping):
        raise InvalidInput("not_map", "document", given=name_of(document))
    text = made.text if _says(document) == _says(made.document) else ""
    return replace(made, document=document, text=text, places={})


def _says(document: Mapping[str, Any]) -> Any:
    """What a job is to do, whatever its name, and wherever its code is."""
    return read_job({**{name: value for name, value in document.items() if name != "code"}, "name": "any"})
