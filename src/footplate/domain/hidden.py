"""Values of a job file that are secrets by their names: views hide them, and output is masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from footplate.domain.interpolate import Unresolved, resolve
from footplate.domain.redact import HIDDEN
from footplate.domain.spec import JobSpec

# The last word decides: HF_TOKEN and AWS_SECRET_ACCESS_KEY, not TOKEN_LIMIT, MAX_TOKENS or ACCESS_KEY_ID.
_SECRET_NAME = re.compile(
    r"(?:(?:^|[_.-])(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?"
    r"|(?:API|ACCESS|PRIVATE|SECRET|AUTH|SIGNING|ENCRYPTION)[_.-]?KEY)|[_.-]PWD)$",
    re.IGNORECASE,
)
# Nobody said that it is a secret: a short value may be an ordinary word, which stars would tell.
SHORTEST = 8

Values = Mapping[str, Any]
# Takes the name of a value and the value, and where both stand: a role, or empty for the whole job.
Change = Callable[[str, str, Any], Any]


def is_secret_name(name: str) -> bool:
    """Tell whether a variable of this name holds a secret, by the names that people give to those."""
    return _SECRET_NAME.search(name) is not None


def hidden_values(spec: JobSpec) -> set[str]:
    """Name the values of a job that nobody may read in its output, passwords in addresses among them."""
    values = {text for text in _texts(spec) if len(text) >= SHORTEST}
    every = [*spec.env.values(), *(text for role in spec.roles for text in role.env.values())]
    return values | {password for text in every if len(password := _password_in(text)) >= SHORTEST}


def _texts(spec: JobSpec) -> Iterator[str]:
    for name, value in [*spec.env.items(), *(pair for role in spec.roles for pair in role.env.items())]:
        if is_secret_name(name):
            with suppress(Unresolved):
                yield resolve(value, spec.parameters)
    for name, value in spec.parameters.items():
        if isinstance(value, str) and is_secret_name(name):
            yield value


def _password_in(text: str) -> str:
    with suppress(ValueError):
        return (urlsplit(text).password or "") if "://" in text else ""
    return ""


def hide(config: Values) -> dict[str, Any]:
    """Hide the secrets of a job document that somebody reads; references to parameters stay."""

    def cover(_role: str, name: str, value: Any) -> Any:
        if not isinstance(value, str) or not value:
            return value
        if is_secret_name(name) and "${{" not in value:
            return HIDDEN
        password = _password_in(value)
        return value.replace(f":{password}@", f":{HIDDEN}@") if password else value

    return _changed(config, cover)


def fill(document: Any, original: Values) -> Any:
    """Put the values of the original back where a document, made from what was shown, has them hidden."""
    if not isinstance(document, Mapping):
        return document
    known: dict[tuple[str, str], Any] = {}
    _changed(original, lambda role, name, value: known.setdefault((role, name), value))
    shown: dict[tuple[str, str], Any] = {}
    _changed(hide(original), lambda role, name, value: shown.setdefault((role, name), value))

    def uncover(role: str, name: str, value: Any) -> Any:
        at = (role, name)
        return known[at] if is_hidden(value) and at in known and shown[at] == value else value

    return _changed(document, uncover)


def hides_something(document: Any) -> bool:
    """Tell whether a document has what a view shows in the place of a secret."""
    found: list[bool] = []
    if isinstance(document, Mapping):
        _changed(document, lambda _role, _name, value: found.append(is_hidden(value)))
    return any(found)


def is_hidden(value: Any) -> bool:
    """Tell whether a value is what a view shows in the place of a secret."""
    return isinstance(value, str) and (value == HIDDEN or f":{HIDDEN}@" in value)


def _changed(document: Values, change: Change) -> dict[str, Any]:
    """Write a document anew with each variable and parameter changed."""
    new = {**document, **_changed_values(document, "", change)}
    roles = document.get("roles")
    if isinstance(roles, list | tuple):
        new["roles"] = [
            {**role, **_changed_values(role, str(role.get("name", "")), change)}
            if isinstance(role, Mapping)
            else role
            for role in roles
        ]
    return new


def _changed_values(document: Values, role: str, change: Change) -> dict[str, Any]:
    return {
        field: {name: change(role, str(name), value) for name, value in values.items()}
        for field in ("env", "parameters")
        if isinstance(values := document.get(field), Mapping)
    }
