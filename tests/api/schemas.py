"""Requests built from the published description: what it allows, and what it does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

Schema = dict[str, Any]
Strategy = st.SearchStrategy[Any]

# Lone surrogates, controls and all: JSON can carry any of them.
ODD_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
JUNK: Strategy = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**31, 2**63, -(2**63) - 1, 10**30, 0, -1, 1e308, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
    ODD_TEXT,
    st.sampled_from(["", " ", "null", "../..", "\x00", "\u202e", "%00", "${{ parameters.x }}", "a" * 300]),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(ODD_TEXT, st.integers(), max_size=3),
)
HEADER_TEXT = st.text(
    st.sampled_from([*map(chr, range(0x21, 0x7F)), *map(chr, range(0xA0, 0x100))]), max_size=30
)


@dataclass(frozen=True)
class Description:
    """The described schemas, as strategies."""

    components: Schema
    _known: dict[str, Strategy] = field(default_factory=dict)

    def values(self, schema: Schema) -> Strategy:
        """Values that a schema allows, roughly."""
        if "$ref" in schema:
            return self._referred(schema["$ref"].rpartition("/")[2])
        for choice in ("anyOf", "oneOf"):
            if choice in schema and "type" not in schema:
                return st.one_of(*map(self.values, schema[choice]))
        if "enum" in schema or "const" in schema:
            return st.sampled_from(schema.get("enum") or [schema["const"]])
        kind = schema.get("type")
        if isinstance(kind, list):
            return st.one_of(*(self.values({**schema, "type": one}) for one in kind))
        make: Callable[[Schema], Strategy] = _MAKERS.get(str(kind), lambda _schema: JUNK)
        return {"object": self._objects, "array": self._arrays}.get(str(kind), make)(schema)

    def _referred(self, name: str) -> Strategy:
        if name not in self._known:
            self._known[name] = st.deferred(lambda: self.values(self.components[name]))
        return self._known[name]

    def _objects(self, schema: Schema) -> Strategy:
        fields = schema.get("properties", {})
        required = set(schema.get("required", ()))
        named = st.fixed_dictionaries(
            {name: self.values(one) for name, one in fields.items() if name in required},
            optional={name: self.values(one) for name, one in fields.items() if name not in required},
        )
        if fields or not isinstance(schema.get("additionalProperties"), dict):
            return named
        keys = self.values({"type": "string", **schema.get("propertyNames", {})})
        return st.dictionaries(keys, self.values(schema["additionalProperties"]), max_size=3)

    def _arrays(self, schema: Schema) -> Strategy:
        most = min(4, schema.get("maxItems", 4))
        return st.lists(
            self.values(schema.get("items", {})), min_size=schema.get("minItems", 0), max_size=most
        )

    def bodies(self, schema: Schema) -> Strategy:
        """Documents that are allowed, nearly allowed, and not at all."""
        return st.one_of(self.values(schema), st.builds(_spoil, self.values(schema), st.data(), JUNK), JUNK)


def _spoil(document: Any, data: Any, junk: Any) -> Any:
    """Put something else in one place of a document, or in a place of its own."""
    if not isinstance(document, dict):
        return junk
    name = data.draw(st.one_of(st.sampled_from(sorted(document)) if document else ODD_TEXT, ODD_TEXT))
    return {**document, name: junk}


def _texts(schema: Schema) -> Strategy:
    if "pattern" in schema:
        return st.from_regex(schema["pattern"]).filter(
            lambda text: len(text) <= schema.get("maxLength", 10**6)
        )
    return st.text(min_size=schema.get("minLength", 0), max_size=min(40, schema.get("maxLength", 40)))


def _integers(schema: Schema) -> Strategy:
    return st.integers(schema.get("minimum", -(10**6)), schema.get("maximum", 10**6))


def _numbers(schema: Schema) -> Strategy:
    return st.floats(schema.get("minimum", -1e6), schema.get("maximum", 1e6), allow_nan=False)


_MAKERS: dict[str, Callable[[Schema], Strategy]] = {
    "string": _texts,
    "integer": _integers,
    "number": _numbers,
    "boolean": lambda _schema: st.booleans(),
    "null": lambda _schema: st.none(),
}


@dataclass(frozen=True)
class Wanted:
    """One request to make."""

    path: str
    params: list[tuple[str, str]]
    headers: dict[str, bytes]
    content: bytes | None


def requests(
    description: Description, path: str, operation: Schema, known: dict[str, list[str]]
) -> st.SearchStrategy[Wanted]:
    """Requests for one operation; `known` holds names that exist, by parameter."""
    parameters = operation.get("parameters", [])
    bodies: list[Strategy] = [st.none()]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        document = description.bodies(content["schema"])
        bodies += [st.tuples(st.just(kind), document)] * 3

    @st.composite
    def build(draw: st.DrawFn) -> Wanted:
        filled, params, headers = path, list[tuple[str, str]](), dict[str, bytes]()
        for one in parameters:
            name, where = one["name"], one["in"]
            if where == "path":
                value = draw(st.one_of(st.sampled_from(known[name]), ODD_TEXT.filter(bool)))
                filled = filled.replace(f"{{{name}}}", _quoted(value))
            elif where == "header" and draw(st.booleans()):
                headers[name] = draw(HEADER_TEXT).strip().encode("latin-1")
            elif where == "query" and draw(st.booleans()):
                drawn = draw(st.one_of(description.values(one["schema"]), JUNK))
                params += [(name, _shown(item)) for item in (drawn if isinstance(drawn, list) else [drawn])]
        body = draw(st.one_of(bodies))
        if body is not None:
            headers["Content-Type"] = body[0].encode()
        return Wanted(filled, params, headers, None if body is None else json.dumps(body[1]).encode())

    return build()


def _quoted(text: str) -> str:
    # A path of dots only would be resolved away by the client.
    return quote(text.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E")


def _shown(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "replace").decode()
