"""Commands with `<% … %>` in them: what stands for a parameter or a secret becomes a reference of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from footplate.dialects.pai.kinds import text_of
from footplate.domain.hidden import is_secret_name
from footplate.domain.kinds import Scalar
from footplate.domain.names import PARAMETER_NAME
from footplate.domain.problems import MISSING, Problems

# Bounded, since the text is a user's.
_TAG = re.compile(r"<%\s{0,20}\$([A-Za-z]\w{0,30})((?:\.[\w-]{1,100}|\[\d{1,4}\]){1,10})\s{0,20}%>")
_OLD_TAG = re.compile(r"\$\$([A-Za-z_]\w{0,62})\$\$")
_STEP = re.compile(r"\.([\w-]+)|\[(\d+)\]")
_OURS = re.compile(r"\$\{\{(?=[^{}]{0,200}\}\})")
_BRACES = "opening_braces"


class Templates:
    """Renders the commands of a job, and gathers the parameters that they then refer to."""

    def __init__(self, parameters: Mapping[str, Any], secrets: Mapping[str, Any]) -> None:
        self._values = {"parameters": parameters, "secrets": secrets}
        self.parameters = {
            name: _plain(value) for name, value in parameters.items() if _is_plain(name, value)
        }
        self._secrets: dict[str, str] = {}

    def render(self, command: str, prerequisites: Mapping[str, Mapping[str, Any]]) -> str:
        """Resolve the tags of a command; those that stand for nothing stay as they are."""
        scopes = {**self._values, **prerequisites}

        def replace(found: re.Match[str]) -> str:
            return self._value(found, scopes.get(found[1]), is_secret=found[1] == "secrets")

        def replace_old(found: re.Match[str]) -> str:
            name = found[1]
            return self._reference(name) if name in self._values["parameters"] else found[0]

        covered = cover_braces(command, self.parameters)
        return _OLD_TAG.sub(replace_old, _TAG.sub(replace, covered))

    def _value(self, found: re.Match[str], scope: Any, is_secret: bool) -> str:
        steps = [name or int(index) for name, index in _STEP.findall(found[2])]
        value = scope
        for step in steps:
            value = _step(value, step)
        if value is None or value is MISSING:
            return found[0]
        if is_secret:
            return f"${{{{ parameters.{self._secret('_'.join(map(str, steps)), text_of(value))} }}}}"
        if found[1] == "parameters" and len(steps) == 1:
            return self._reference(str(steps[0]))
        return text_of(value)

    def _reference(self, name: str) -> str:
        if name in self.parameters:
            return f"${{{{ parameters.{name} }}}}"
        return text_of(self._values["parameters"][name])

    def _secret(self, name: str, value: str) -> str:
        """Name the parameter that holds a secret: one whose name says so is hidden wherever it is shown."""
        stem = re.sub(r"\W", "_", name)[:50]
        ours = self._secrets.get(name) or _free(stem if stem[:1].isalpha() else f"s_{stem}", self.parameters)
        self._secrets[name] = ours
        self.parameters[ours] = value
        return ours


def cover_braces(command: str, parameters: dict[str, Any]) -> str:
    """Keep braces that mean nothing to the other system from meaning a parameter to us."""

    def cover(_found: re.Match[str]) -> str:
        parameters[_BRACES] = "${{"
        return f"${{{{ parameters.{_BRACES} }}}}"

    return _OURS.sub(cover, command)


def _free(stem: str, taken: Mapping[str, Any]) -> str:
    name = stem if is_secret_name(stem) else f"{stem}_secret"
    number = 2
    while name in taken:
        name, number = f"{stem}_{number}_secret", number + 1
    return name


def _step(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else MISSING
    return value.get(step, MISSING) if isinstance(value, Mapping) else MISSING


def _is_plain(name: Any, value: Any) -> bool:
    problems = Problems()
    PARAMETER_NAME.read(name, "", problems)
    Scalar().read(_plain(value), "", problems)
    return not problems


def _plain(value: Any) -> Any:
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return int(value) if is_whole else value
