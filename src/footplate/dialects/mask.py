"""Masks the secrets in the text of a foreign job file, and leaves the rest as it was written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from footplate.domain.errors import FootplateError
from footplate.wire.documents import load_plain

MASK = "******"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Path = tuple[str | int, ...]
IsSecret = Callable[[Path], bool]


def mask_text(text: str, document: Any, is_secret: IsSecret) -> str:
    """Write a text anew with its secrets masked; one that has none stays byte for byte."""
    masked = _masked(document, (), is_secret)
    if masked == document:
        return text
    if text.lstrip()[:1] == "{":
        return json.dumps(masked, indent=2, ensure_ascii=False)
    covered = _cover(text, is_secret)
    try:
        if load_plain(covered, "text") == masked:
            return covered
    except FootplateError:
        pass  # An alias may point into what was masked.
    dumped: str = yaml.safe_dump(masked, sort_keys=False, allow_unicode=True, width=100)
    return dumped


def _masked(value: Any, path: Path, is_secret: IsSecret) -> Any:
    if is_secret(path) and value not in (None, "", {}, []):
        return MASK
    if isinstance(value, dict):
        return {name: _masked(item, (*path, name), is_secret) for name, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, (*path, i), is_secret) for i, item in enumerate(value)]
    return value


def _cover(text: str, is_secret: IsSecret) -> str:
    root = yaml.compose(text, Loader=_LOADER)
    spans = sorted(_spans(root, (), is_secret)) if root is not None else []
    pieces, at = [], 0
    for begin, end in spans:
        if begin < at:
            continue
        # The end of a block is told as where the next thing begins.
        covered = text[begin:end]
        pieces += [text[at:begin], f'"{MASK}"', covered[len(covered.rstrip()) :]]
        at = end
    return "".join((*pieces, text[at:]))


def _spans(node: Any, path: Path, is_secret: IsSecret) -> Iterator[tuple[int, int]]:
    if is_secret(path) and not (isinstance(node, yaml.ScalarNode) and node.value == ""):
        yield node.start_mark.index, node.end_mark.index
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _spans(value, (*path, str(key.value)), is_secret)
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield from _spans(value, (*path, i), is_secret)
