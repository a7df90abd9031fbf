"""What is said to people, as a value: a code and its parameters. The reader's language comes later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Params = Mapping[str, Any]
# The code of a sentence that nobody has a table for: a plug-in's, another program's, an older version's.
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence. A parameter is a text, a number, a message, or a list or mapping of those.

    Instants are ISO 8601 in UTC, sizes are bytes, durations are seconds: whoever shows them formats them.
    """

    code: str
    params: Params = field(default_factory=dict)

    def __str__(self) -> str:
        """Render it in English, with times in UTC: for logs, and for programs that show only one text."""
        # Not at the top: rendering needs this class, and most messages are never rendered.
        from footplate.domain.messages.render import render

        return render(self)


def say(code: str, /, **params: Any) -> Message:
    """Make a message."""
    return Message(code, params)


def text(sentence: str) -> Message:
    """Make a message of words that come from elsewhere and are shown as they are."""
    return Message(TEXT, {"text": sentence})


def as_json(value: Any) -> Any:
    """Write a message, or a parameter of one, as JSON holds it."""
    if isinstance(value, Message):
        return {"code": value.code, "params": as_json(value.params)}
    if isinstance(value, Mapping):
        return {name: as_json(one) for name, one in value.items()}
    return [as_json(one) for one in value] if isinstance(value, (list, tuple)) else value


def from_json(value: Any) -> Message:
    """Read a message; one that was stored as a bare text, by an older version, is told as it is."""
    if isinstance(value, Mapping) and "code" in value:
        return Message(str(value["code"]), _revive(value.get("params") or {}))
    return text(str(value))


def _revive(value: Any) -> Any:
    if is_message(value):
        return from_json(value)
    if isinstance(value, Mapping):
        return {name: _revive(one) for name, one in value.items()}
    return [_revive(one) for one in value] if isinstance(value, list) else value


def plain_params(message: Message) -> dict[str, Any]:
    """The parameters that are no messages themselves, those of inner messages included."""
    plain: dict[str, Any] = {}
    if message.code == TEXT:
        return plain
    for name, value in message.params.items():
        if isinstance(value, Message):
            plain = {**plain_params(value), **plain}
        elif not isinstance(value, list) or not any(map(is_message, value)):
            plain[name] = value
    return plain


def is_known(code: str) -> bool:
    """Tell whether there is a sentence for a code."""
    # Not at the top: a program that says nothing needs no tables.
    from footplate.domain.messages.render import language

    return code in language("en").sentences


def codes_in(message: Message) -> set[str]:
    """The codes of a message and of all that it names."""
    inner = (value for value in message.params.values() if isinstance(value, Message))
    return {message.code}.union(*map(codes_in, inner))


def is_message(value: Any) -> bool:
    """Tell whether a parameter is itself a message, made here or read from JSON."""
    return isinstance(value, Message) or (isinstance(value, Mapping) and value.keys() == {"code", "params"})
