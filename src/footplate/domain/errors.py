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
 ├─ Conflict
 │   ├─ InvalidTransition   a move that the state table does not allow
 │   ├─ StaleLease          another server has taken over; this writer must stop
 │   └─ SecretUnreadable    a stored secret does not open with this server's key
 └─ EngineError
     ├─ EngineUnavailable   try later
     ├─ EngineRejected      the user must change something
     └─ OutcomeUnknown      it may have happened: observe before acting

A failed *user job* is never an exception: it is a state with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input, and where."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class FootplateError(Exception):
    """Base of all errors; `code` is stable and travels over the wire."""

    code = "internal"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(FootplateError):
    """What was sent cannot be accepted; `problems` names every field at fault."""

    code = "invalid_input"

    def __init__(self, problems: Iterable[Problem] | str, path: str = "") -> None:
        self.problems = (Problem(path, problems),) if isinstance(problems, str) else tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))


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

    def __init__(self, message: str, retry_after_s: float = 1) -> None:
        super().__init__(message)
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


class EngineRejected(EngineError):
    code = "engine_rejected"


class OutcomeUnknown(EngineError):
    code = "outcome_unknown"


def _subclasses(root: type[FootplateError]) -> Iterable[type[FootplateError]]:
    yield root
    for child in root.__subclasses__():
        yield from _subclasses(child)


BY_CODE: dict[str, type[FootplateError]] = {kind.code: kind for kind in _subclasses(FootplateError)}
