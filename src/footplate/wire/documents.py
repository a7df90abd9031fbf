"""Job files as plain data: YAML or JSON in, bounded in size and depth; YAML out.

YAML is read from its event stream with a stack of our own, so neither depth nor aliases can exhaust
the reader. A plain word is what its field in the job file takes it for: a text where a text is meant.
Elsewhere the core schema of YAML 1.2 decides: `on` and `yes` are texts, `1e-3` is a number, dates stay
texts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    ScalarEvent,
)

from footplate.domain.errors import InvalidInput, TooLarge
from footplate.domain.foreign import is_batch_script
from footplate.domain.jobfile import settle_job
from footplate.domain.messages import Message, say, text
from footplate.domain.problems import shorten
from footplate.domain.resources import MIB
from footplate.domain.specfields import JOB
from footplate.domain.typed import Typed, settle

MAX_BYTES = MIB
MAX_EXPANDED_BYTES = 4 * MIB
MAX_DEPTH = 50

# Gives words that are kept as typed the meaning that they have for a reader.
Settle = Callable[[Any], Any]
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(text: str | bytes, source: str) -> Any:
    """Read a YAML or JSON document; `source` names it in the error, which says line and column."""
    decoded = decode(text, source)
    if is_batch_script(decoded):
        raise InvalidInput("job_file_foreign", "", format="sbatch")
    return _load(decoded, source, settle_job)


def load_plain(text: str | bytes, source: str) -> Any:
    """Read a YAML or JSON document of another system: a plain word is what YAML 1.2 takes it for."""
    return _load(decode(text, source), source, lambda document: settle(document, None))


def _load(text: str, source: str, settle_words: Settle) -> Any:
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _load_json(text, source, settle_words)
        except json.JSONDecodeError:
            pass  # YAML's own braces: `{name: x}`
    return settle_words(_Reader(source).read(text))


def decode(text: str | bytes, source: str) -> str:
    """Read the text of a job file within its bounds; raise `InvalidInput` when it is none."""
    _check_size(text, source)
    return _decode(text, source)


def load_json(text: str | bytes, source: str) -> Any:
    """Read a JSON document within the same bounds."""
    _check_size(text, source)
    try:
        return _load_json(_decode(text, source), source, settle_job)
    except json.JSONDecodeError as error:
        raise InvalidInput("document_not_json", source=source, error=str(error)) from None


def _check_size(text: str | bytes, source: str) -> None:
    if len(text) > MAX_BYTES:
        raise TooLarge("document_too_long", source=source, size_bytes=len(text), most_bytes=MAX_BYTES)


def _decode(text: str | bytes, source: str) -> str:
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        decoded.encode("utf-8")
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise InvalidInput(
            "document_not_utf8", source=source, error=error.reason, position=error.start
        ) from None
    return decoded.removeprefix("\ufeff")


def _load_json(text: str, source: str, settle_words: Settle) -> Any:
    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            twice = _first_repeated(key for key, _ in pairs)
            raise InvalidInput("key_twice", source=source, key=shorten(twice))
        return built

    words: list[Typed] = []

    def read_number(text: str) -> Any:
        number = float(text)
        if not math.isfinite(number) or repr(number) == text:
            return number
        words.append(Typed(text, number))
        return words[-1]

    try:
        value = json.loads(text, object_pairs_hook=build, parse_float=read_number)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise _too_deep(source) from None
    except ValueError:
        raise InvalidInput("number_too_long", source=source) from None
    _check_json(value, source)
    return settle_words(value) if words else value


def _first_repeated(keys: Iterable[str]) -> str:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    raise LookupError("every key is there once")


def _check_json(value: Any, source: str) -> None:
    level: Iterable[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        nested: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                nested.extend(item.values())
            elif isinstance(item, list):
                nested.extend(item)
            elif isinstance(item, float) and not math.isfinite(item):
                raise InvalidInput("not_finite", source=source)
        if not nested:
            return
        level = nested
    raise _too_deep(source)


def _too_deep(where: str) -> InvalidInput:
    return InvalidInput("nested_too_deep", where=where, most=MAX_DEPTH)


_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TAG = "tag:yaml.org,2002:"
_TAG_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "bool": bool,
    "int": int,
    "float": (int, float),
    "null": type(None),
    "seq": list,
    "map": dict,
}


def scalar(text: str) -> Any:
    """Read one plain word as YAML would: null, true/false, a number or a text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _NOT_FINITE.fullmatch(text) or (_FLOAT.fullmatch(text) and not math.isfinite(float(text))):
        raise ValueError("NaN and infinite numbers are not allowed")
    return float(text) if _FLOAT.fullmatch(text) else text


@dataclass(slots=True)
class _Value:
    """A finished value, how large it is once its aliases are expanded, and how deep."""

    data: Any
    size: int
    height: int = 0


@dataclass(slots=True)
class _Open:
    """A list or mapping that is still being read."""

    anchor: str | None
    tag: str | None
    data: list[Any] | dict[str, Any]
    size: int = 1
    height: int = 0
    key: str | None = None
    is_merge: bool = False
    merged: list[dict[str, Any]] = field(default_factory=list)


class _Reader:
    """Builds plain data from the events of one YAML document."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._anchors: dict[str, _Value] = {}
        self._open: list[_Open] = []
        self._root: _Value | None = None
        self._n_documents = 0

    def read(self, text: str) -> Any:
        try:
            for event in yaml.parse(text, Loader=_PARSER):
                self._take(event)
        except yaml.MarkedYAMLError as error:
            raise self._error(error.problem_mark, _explain(error)) from None
        except yaml.YAMLError as error:
            reason = getattr(error, "reason", None)
            raise InvalidInput("document_unreadable", source=self._source, error=reason) from None
        if self._root is None:
            raise InvalidInput("document_empty", source=self._source)
        return self._root.data

    def _take(self, event: Event) -> None:
        if isinstance(event, ScalarEvent):
            self._take_scalar(event)
        elif isinstance(event, CollectionStartEvent):
            self._open_collection(event)
        elif isinstance(event, CollectionEndEvent):
            self._close_collection(event)
        elif isinstance(event, AliasEvent):
            self._take_alias(event)
        elif isinstance(event, DocumentStartEvent):
            self._n_documents += 1
            if self._n_documents > 1:
                raise self._error(event.start_mark, say("second_document"))

    def _take_scalar(self, event: ScalarEvent) -> None:
        parent = self._open[-1] if self._open else None
        awaits_key = parent is not None and isinstance(parent.data, dict) and parent.key is None
        if parent and awaits_key and event.value == "<<" and not event.style:
            parent.key, parent.is_merge = "<<", True
            return
        value = _Value(self._resolve(event), len(event.value) + 1)
        self._remember(event.anchor, value)
        self._put(value, event)

    def _resolve(self, event: ScalarEvent) -> Any:
        # `implicit` tells whether the tag may be left out as a plain word or as a quoted text.
        if event.tag in (None, "!") or event.tag == _TAG + "str":
            is_plain = event.tag is None and event.implicit[0]
            return self._word(event) if is_plain else event.value
        try:
            data = scalar(event.value)
        except ValueError as error:
            raise self._error(event.start_mark, _explain_number(error)) from None
        return self._check_tag(event.tag, data, event)

    def _word(self, event: ScalarEvent) -> str | Typed:
        try:
            data = scalar(event.value)
        except ValueError as error:
            return Typed(event.value, fault=self._error(event.start_mark, _explain_number(error)))
        return data if isinstance(data, str) else Typed(event.value, data)

    def _check_tag(self, tag: str | None, data: Any, event: Event) -> Any:
        if tag in (None, "!"):
            return data
        kind = _TAG_KINDS.get(str(tag).removeprefix(_TAG))
        if kind is None or not isinstance(data, kind):
            raise self._error(event.start_mark, say("tag_unsupported", tag=shorten(str(tag))))
        return data

    def _open_collection(self, event: CollectionStartEvent) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _too_deep(self._where(event.start_mark))
        data: list[Any] | dict[str, Any] = {} if isinstance(event, MappingStartEvent) else []
        self._check_tag(event.tag, data, event)
        self._open.append(_Open(event.anchor, event.tag, data))

    def _close_collection(self, event: CollectionEndEvent) -> None:
        done = self._open.pop()
        if isinstance(done.data, dict):
            for key, item in (entry for mapping in done.merged for entry in mapping.items()):
                done.data.setdefault(key, item)
        value = _Value(done.data, done.size, done.height + 1)
        self._remember(done.anchor, value)
        self._put(value, event)

    def _take_alias(self, event: AliasEvent) -> None:
        name = str(event.anchor)
        value = self._anchors.get(name)
        if value is None:
            raise self._error(event.start_mark, say("alias_unknown", alias=shorten(name)))
        if len(self._open) + value.height > MAX_DEPTH:
            raise _too_deep(self._where(event.start_mark))
        self._put(value, event)

    def _remember(self, anchor: str | None, value: _Value) -> None:
        if anchor is not None:
            self._anchors[anchor] = value

    def _put(self, value: _Value, event: Event) -> None:
        """Place a finished value into what is open around it."""
        if not self._open:
            self._root = value
            return
        parent = self._open[-1]
        parent.size += value.size
        parent.height = max(parent.height, value.height)
        if parent.size > MAX_EXPANDED_BYTES:
            where = self._where(event.start_mark)
            raise TooLarge("aliases_too_large", where=where, most_bytes=MAX_EXPANDED_BYTES)
        if isinstance(parent.data, list):
            parent.data.append(value.data)
        elif parent.key is None:
            parent.key = self._check_key(value.data, parent.data, event)
        elif parent.is_merge:
            parent.merged.extend(self._check_merge(value.data, event))
            parent.key, parent.is_merge = None, False
        else:
            parent.data[parent.key] = value.data
            parent.key = None

    def _check_key(self, given: Any, mapping: dict[str, Any], event: Event) -> str:
        key = given.text if isinstance(given, Typed) else given
        if not isinstance(key, str):
            hint = None if isinstance(key, (dict, list)) else f'"{json.dumps(key)}"'
            raise self._error(event.start_mark, say("key_not_text", quoted=hint))
        if key in mapping:
            raise self._error(event.start_mark, say("same_key_twice", key=shorten(key)))
        return key

    def _check_merge(self, data: Any, event: Event) -> list[dict[str, Any]]:
        mappings = data if isinstance(data, list) else [data]
        if not all(isinstance(mapping, dict) for mapping in mappings):
            raise self._error(event.start_mark, say("merges_mappings_only"))
        return mappings

    def _where(self, mark: Any) -> str:
        if mark is None:
            return self._source
        return f"{self._source}, line {mark.line + 1}, column {mark.column + 1}"

    def _error(self, mark: Any, what: Message) -> InvalidInput:
        return InvalidInput("wrong_at", where=self._where(mark), what=what)


def _explain(error: yaml.MarkedYAMLError) -> Message:
    problem = error.problem or ""
    if "cannot start any token" in problem:
        return say("bad_first_character")
    if "mapping values are not allowed" in problem:
        return say("bad_colon")
    return text(f"{problem} {error.context}" if error.context else problem)


def _explain_number(error: ValueError) -> Message:
    return say("number_not_finite") if "allowed" in str(error) else say("too_many_digits")


class _Dumper(yaml.SafeDumper):
    """Quotes every text that some reader of YAML might take for something else."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text.strip("\n") and not re.search(r"[^\S\n]\n|\t|\r", text) else None
    return dumper.represent_scalar(_TAG + "str", text, style=style)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_implicit_resolver(_TAG + "int", re.compile(f"(?:{_INT.pattern})$"), list("-+0123456789"))
_Dumper.add_implicit_resolver(_TAG + "float", re.compile(f"(?:{_FLOAT.pattern})$"), list("-+.0123456789"))

_ORDER = {name: position for position, name in enumerate(one.name for one in JOB.fields)}


def dump(document: Mapping[str, Any]) -> str:
    """Write a job document as YAML, its fields in the order of the job file."""
    ordered = dict(sorted(document.items(), key=lambda entry: _ORDER.get(entry[0], len(_ORDER))))
    text: str = yaml.dump(ordered, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
