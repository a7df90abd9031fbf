"""The REST API for people to read: one page, written from the published description."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any

from footplate.server.pages import page

Node = Mapping[str, Any]

MOST_LEVELS = 3
_CODE = re.compile(r"`([^`]+)`")
_ABOUT = {
    "jobs": "Jobs",
    "logs": "Logs",
    "events": "Events",
    "queues": "Queues and nodes",
    "images": "Images",
    "choices": "Instance types and frameworks",
    "secrets": "Secrets",
    "accounts": "Accounts",
    "platform": "The platform",
}


def write(description: Node) -> str:
    """The whole page."""
    return page("API of Footplate", "\n".join(_Writer(description).lines()))


class _Writer:
    def __init__(self, description: Node) -> None:
        self._about = description["info"]
        self._schemas: Node = description.get("components", {}).get("schemas", {})
        found = [
            (operation["tags"][0], path, verb, operation)
            for path, verbs in description["paths"].items()
            for verb, operation in verbs.items()
        ]
        order = {tag: number for number, tag in enumerate(dict.fromkeys(one[0] for one in found))}
        self._operations = sorted(found, key=lambda one: order[one[0]])

    def lines(self) -> Iterator[str]:
        yield f"<h1>API of Footplate {escape(self._about['version'])}</h1>"
        yield (
            '<p class="quiet">Written from <a href="/api/v1/openapi.json">the OpenAPI description</a> of '
            'this server; jobs have <a href="/api/v1/schema/job">a JSON schema</a>. A call carries a token, '
            "which <code>footplate tokens create NAME</code> or the profile page makes:</p>"
        )
        yield '<pre>curl -H "Authorization: Bearer $FOOTPLATE_TOKEN" $FOOTPLATE_URL/api/v1/jobs</pre>'
        groups = [(tag, list(some)) for tag, some in groupby(self._operations, key=lambda one: one[0])]
        yield (
            "<nav>" + " ".join(f'<a href="#{_anchor(tag)}">{_title(tag)}</a>' for tag, _ in groups) + "</nav>"
        )
        for tag, some in groups:
            yield f'<h2 id="{_anchor(tag)}">{_title(tag)}</h2>'
            for _, path, verb, operation in some:
                yield from self._operation(path, verb, operation)

    def _operation(self, path: str, verb: str, operation: Node) -> Iterator[str]:
        said = operation.get("description") or operation.get("summary", "")
        name = escape(operation.get("operationId", ""), quote=True)
        yield (
            f'<details id="{name}"><summary><span class="verb {verb}">{verb.upper()}</span> '
            f'<span class="path">{escape(path)}</span> <span class="quiet">{escape(said)}</span></summary>'
            "<div>"
        )
        if not operation.get("security"):
            yield '<p class="quiet">Needs no token.</p>'
        yield from self._parameters(operation.get("parameters", ()))
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            yield f"<h3>Body, {escape(kind)}</h3>"
            yield from self._schema(content.get("schema", {}))
        for status, answer in operation["responses"].items():
            yield f"<h3>Answer {escape(status)}: {escape(answer.get('description', ''))}</h3>"
            # How calls are refused is the same for all, and said once.
            for content in answer.get("content", {}).values() if status.isdecimal() else ():
                yield from self._schema(content.get("schema", {}))
        yield "</div></details>"

    def _parameters(self, parameters: Any) -> Iterator[str]:
        if parameters:
            yield "<h3>Parameters</h3>"
            yield from _table(
                ("name", "in", "type", "meaning"),
                (
                    (
                        _name(one["name"], one.get("required", False)),
                        escape(one["in"]),
                        self._type(one["schema"]),
                        _meaning(one, one["schema"]),
                    )
                    for one in parameters
                ),
            )

    def _schema(self, schema: Node) -> Iterator[str]:
        """The fields of a record in a table, those of records in it below; of others the type."""
        rows = list(self._rows(schema, "", 0))
        if rows:
            yield from _table(("field", "type", "meaning"), rows)
        elif schema:
            yield f"<p>{self._type(schema)}</p>"

    def _rows(self, schema: Node, before: str, level: int) -> Iterator[tuple[str, str, str]]:
        record = self._record(schema)
        required = record.get("required", ())
        for name, field in record.get("properties", {}).items():
            full = f"{before}{name}"
            yield _name(full, name in required), self._type(field), _meaning(field, field)
            inner, mark = self._inner_record(field)
            if level + 1 < MOST_LEVELS and inner:
                yield from self._rows(inner, f"{full}{mark}.", level + 1)

    def _record(self, schema: Node) -> Node:
        found = self._resolved(schema)
        return found if "properties" in found else {}

    def _inner_record(self, field: Node) -> tuple[Node, str]:
        """The record that a field holds, alone or in a list."""
        for one in (field, *field.get("anyOf", ())):
            plain = self._resolved(one)
            if plain.get("type") == "array" and self._record(plain.get("items", {})):
                return plain["items"], "[]"
            if self._record(plain):
                return plain, ""
        return {}, ""

    def _resolved(self, schema: Node) -> Node:
        if "$ref" in schema:
            found: Node = self._schemas.get(schema["$ref"].rpartition("/")[2], {})
            return found
        return schema

    def _type(self, schema: Node) -> str:
        plain = self._resolved(schema)
        if "anyOf" in plain:
            return " or ".join(dict.fromkeys(self._type(one) for one in plain["anyOf"]))
        if "enum" in plain:
            return " ".join(f"<code>{escape(str(one))}</code>" for one in plain["enum"])
        if "const" in plain:
            return f"<code>{escape(str(plain['const']))}</code>"
        if plain.get("type") == "array":
            inner = self._type(plain.get("items", {}))
            return f"list of {'records' if inner == 'record' else inner}"
        if plain.get("type") == "object" and isinstance(plain.get("additionalProperties"), Mapping):
            return f"map to {self._type(plain['additionalProperties'])}"
        kind = plain.get("type", "anything")
        return escape("record" if "properties" in plain else f"{kind}{_bounds(plain)}")


def _bounds(schema: Node) -> str:
    least, most = (
        schema.get("minimum", schema.get("minLength")),
        schema.get("maximum", schema.get("maxLength")),
    )
    what = " characters" if "maxLength" in schema or "minLength" in schema else ""
    if least is not None and most is not None:
        return f", {least} to {most}{what}"
    if most is not None:
        return f", at most {most}{what}"
    return f", at least {least}{what}" if least is not None else ""


def _meaning(told: Node, schema: Node) -> str:
    parts = [told.get("description") or schema.get("description", "")]
    default = schema.get("default")
    if default not in (None, "", [], {}):
        parts.append(f"Default: `{json.dumps(default, ensure_ascii=False)}`.")
    return _CODE.sub(r"<code>\1</code>", escape(" ".join(part for part in parts if part)))


def _name(name: str, is_required: bool) -> str:
    return f"<code>{escape(name)}</code>" + ("" if is_required else ' <span class="quiet">optional</span>')


def _table(heads: tuple[str, ...], rows: Any) -> Iterator[str]:
    yield '<div class="wide"><table><tr>' + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
    yield "</table></div>"


def _title(tag: str) -> str:
    return escape(_ABOUT.get(tag, tag.capitalize()))


def _anchor(tag: str) -> str:
    return escape(tag, quote=True)
