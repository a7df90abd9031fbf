"""Which parameters a sentence has, and what each may hold: for the description of the API, and clients."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.messages.render import language
from footplate.domain.messages.template import parse, slots

_BY_FORMAT = {
    "size": "number",
    "duration": "number",
    "span": "number",
    "time": "time",
    "amounts": "amounts",
    "figure": "amounts",
    "clauses": "list",
    "comma": "list",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """`kind` is number, time (ISO 8601), amounts (of resources), list, or value: text, number or message."""

    name: str
    kind: str
    is_optional: bool


def signature(code: str) -> list[Parameter]:
    """The parameters of a sentence, in their order."""
    found: dict[str, Parameter] = {}
    for slot, is_optional in slots(parse(language("en").sentences[code])):
        kind = _BY_FORMAT.get(slot.format) or ("number" if "|" in slot.format else "value")
        known = found.get(slot.name)
        found[slot.name] = Parameter(
            slot.name,
            kind if known is None or known.kind == "value" else known.kind,
            is_optional and (known is None or known.is_optional),
        )
    return list(found.values())
