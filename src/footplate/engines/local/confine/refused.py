"""Why something cannot be mounted, told by the process that becomes a task: a message, as JSON holds it.

Standard library only: whoever reads the message has the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import Said


class Refused(OSError):
    """`said` has the code and the parameters of a message; parameters may be messages as well."""

    def __init__(self, code: str, number: int | None = None, **params: Any) -> None:
        super().__init__(number, code)
        self.said: Said = {"code": code, "params": params}

    def __str__(self) -> str:
        return f"{self.said['code']}: {self.said['params']}"


class Unmountable(Refused):
    """What a job wants to have mounted cannot be, however often it is tried."""


def said_of(error: BaseException) -> Any:
    """What an error says of what is named beside it: a message, or its own words without a file."""
    if isinstance(error, Refused):
        return error.said
    return (isinstance(error, OSError) and error.strerror) or str(error)
