"""Everything that can go wrong on our side, as one tree.

FootplateError
 ├─ InvalidInput            the caller must change what it sent; lists every problem by field path
 │   └─ TooLarge
 │       └─ HeadTooLarge    of a request's headers
 ├─ Unauthenticated         nobody is known to be calling
 ├─ Denied                  somebody is, and may not
 ├─ Throttled               too many tries; says when to come back
 ├─ NotFound
 ├─ TooSlow                 a request did not come in time
 ├─ TooManyConnections
 ├─ StoreUnavailable        the database or the disk cannot take or give anything now; try later
 │   ├─ DiskFull            only what frees room or needs none is done until there is room again
 │   └─ Starting            the server is not ready yet, or stops
 ├─ StorageAway             a storage does not answer, or cannot do what it should; try later
 ├─ Conflict
 │   ├─ InvalidTransition   a move that the state table does not allow
 │   ├─ StaleLease          another server has taken over; this writer must stop
 │   └─ SecretUnreadable    a stored secret does not open with this server's key
 └─ EngineError
     ├─ EngineUnavailable   try later
     │   └─ EngineAway      the engine as a whole does not answer, for whatever job
     ├─ EngineRejected      the user must change something
     └─ OutcomeUnknown      it may have happened: observe before acting

A failed *user job* is never an exception: it is a state with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from footplate.domain.messages import Message, is_known, say, text


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input, and where."""

    path: str
    said: Message

    @property
    def message(self) -> str:
        """What is wrong, in English."""
        return str(self.said)

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def problem(path: str, code: str | Message, /, **params: Any) -> Problem:
    """Make a problem of a code of the tables and its parameters."""
    return Problem(path, message_of(code, params))


def message_of(code: str | Message, params: dict[str, Any]) -> Message:
    """Make a message of a code; what is no code of the tables, as plug-ins write it, is told as it is."""
    if isinstance(code, Message):
        return code
    return say(code, **params) if params or is_known(code) else text(code)


class FootplateError(Exception):
    """Base of all errors; `code` is stable and travels over the wire, `said` tells what happened."""

    code = "internal"

    def __init__(self, code: str | Message, /, **params: Any) -> None:
        self.said = message_of(code, params)
        super().__init__(self.said)

    @property
    def message(self) -> str:
        """What happened, in English."""
        return str(self.said)


class InvalidInput(FootplateError):
    """What was sent cannot be accepted; `problems` names every field at fault."""

    code = "invalid_input"

    def __init__(self, problems: Iterable[Problem] | str | Message, path: str = "", /, **params: Any) -> None:
        self.problems: tuple[Problem, ...]
        if isinstance(problems, str | Message):
            self.problems = (problem(path, problems, **params),)
        else:
            self.problems = tuple(problems)
        super().__init__(_all_of(self.problems))


def _all_of(problems: tuple[Problem, ...]) -> Message:
    return say("problems", problems=[say("problem", path=one.path, why=one.said) for one in problems])


class TooLarge(InvalidInput):
    code = "too_large"


class HeadTooLarge(TooLarge):
    code = "headers_too_large"


class Unauthenticated(FootplateError):
    code = "unauthenticated"


class Denied(FootplateError):
    code = "denied"


class Throttled(FootplateError):
    code = "throttled"

    def __init__(self, code: str | Message, retry_after_s: float = 1, /, **params: Any) -> None:
        super().__init__(code, **params)
        self.retry_after_s = retry_after_s


class NotFound(FootplateError):
    code = "not_found"


class TooSlow(FootplateError):
    code = "too_slow"


class TooManyConnections(FootplateError):
    code = "too_many_connections"


class StoreUnavailable(FootplateError):
    code = "store_unavailable"


class DiskFull(StoreUnavailable):
    code = "disk_full"


class Starting(StoreUnavailable):
    code = "starting"


class StorageAway(FootplateError):
    code = "storage_away"


class Conflict(FootplateError):
    code = "conflict"


class InvalidTransition(Conflict):
    code = "invalid_transition"


class StaleLease(Conflict):
    code = "stale_lease"


class SecretUnreadable(Conflict):
    code = "secret_unreadable"


class EngineError(FootplateError):
    code = "engine_error"


class EngineUnavailable(EngineError):
    code = "engine_unavailable"


class EngineAway(EngineUnavailable):
    code = "engine_away"


class EngineRejected(EngineError):
    code = "engine_rejected"


class OutcomeUnknown(EngineError):
    code = "outcome_unknown"


def _subclasses(root: type[FootplateError]) -> Iterable[type[FootplateError]]:
    yield root
    for child in root.__subclasses__():
        yield from _subclasses(child)


BY_CODE: dict[str, type[FootplateError]] = {kind.code: kind for kind in _subclasses(FootplateError)}
