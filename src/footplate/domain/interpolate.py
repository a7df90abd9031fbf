"""References to parameters in commands and environment: `${{ parameters.NAME }}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from footplate.domain.messages import Message, say

# Bounded, and without overlapping repeats: the text is a user's and may be made to take long.
_REFERENCE = re.compile(r"\$\{\{([^{}]{0,200})\}\}")


class Unresolved(Exception):
    """A text refers to something that is not there; `said` tells what."""

    def __init__(self, said: Message) -> None:
        super().__init__(said)
        self.said = said


def resolve(text: str, parameters: Mapping[str, Any]) -> str:
    """Replace every reference by its value."""
    if "${{" not in text:
        return text

    def value_of(match: re.Match[str]) -> str:
        reference = match[1].strip()
        scope, _, name = reference.partition(".")
        if scope != "parameters" or name not in parameters:
            known = [f"parameters.{known}" for known in parameters]
            raise Unresolved(say("reference_unknown", reference=reference[:60], known=known))
        value = parameters[name]
        return str(value).lower() if isinstance(value, bool) else str(value)

    return _REFERENCE.sub(value_of, text)
