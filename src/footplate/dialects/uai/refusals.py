"""What UAI-Train calls our errors: a number that is not 0, and a message that is never missing."""

from __future__ import annotations

from typing import Any

from footplate.domain import errors as e

NO_SUCH_JOB = 220001
_SAID = {
    "signature_missing": 170,
    "access_key_wrong": 171,
    "action_missing": 160,
    "job_not_visible": NO_SUCH_JOB,
    "file_not_there": 210,
    "storage_not_visible": 210,
}
_KINDS: tuple[tuple[type[e.FootplateError], int], ...] = (
    (e.Unauthenticated, 171),
    (e.Denied, 240),
    (e.NotFound, NO_SUCH_JOB),
    (e.InvalidInput, 210),
    (e.Conflict, 230),
    (e.TooSlow, 110),
    (e.StoreUnavailable, 150),
    (e.EngineUnavailable, 150),
)


def number_of(error: e.FootplateError) -> int:
    problems = error.problems if isinstance(error, e.InvalidInput) else ()
    said = (error.said.code, *(one.said.code for one in problems))
    if "required" in said:
        return 220
    for code in said:
        if code in _SAID:
            return _SAID[code]
    return next((number for kind, number in _KINDS if isinstance(error, kind)), 130)


def answer(action: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"RetCode": 0, "Action": f"{action}Response", **body}


def refusal(action: str, number: int, message: str) -> dict[str, Any]:
    return {"RetCode": number, "Action": f"{action}Response", "Message": message or "refused"}
