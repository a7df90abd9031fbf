"""Errors of the client, and exceptions rebuilt from the server's error codes.

FootplateError (from the domain)
 ├─ Unreachable      nothing answers, or the connection broke for good
 │   └─ Untrusted    something answers, but not with a certificate that is trusted here
 ├─ NotConfigured    nobody said which server to use
 └─ TimedOut         the wait was longer than allowed; the job goes on
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footplate.domain.errors import (
    BY_CODE,
    Conflict,
    Denied,
    FootplateError,
    InvalidInput,
    NotFound,
    Problem,
    Throttled,
    TooLarge,
    Unauthenticated,
)
from footplate.domain.messages import Message, from_json, is_known, say, text


class Unreachable(FootplateError):
    code = "unreachable"


class Untrusted(Unreachable):
    code = "untrusted"


class NotConfigured(FootplateError):
    code = "not_configured"


class TimedOut(FootplateError, TimeoutError):
    code = "timed_out"


# For answers that do not come from Footplate itself, such as those of a proxy.
_BY_STATUS: Mapping[int, type[FootplateError]] = {
    400: InvalidInput,
    401: Unauthenticated,
    403: Denied,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: InvalidInput,
    429: Throttled,
}


def rebuild(status: int, body: Any, url: str, retry_after: str | None = None) -> FootplateError:
    """Make the exception that the server raised from its answer."""
    if not isinstance(body, Mapping) or not isinstance(body.get("code"), str):
        kind = _BY_STATUS.get(status, FootplateError)
        return kind("not_footplate", url=url, status=status)
    kind = BY_CODE.get(body["code"]) or _BY_STATUS.get(status, FootplateError)
    said = message_in({"message": body["code"], **body})
    if issubclass(kind, InvalidInput):
        problems = [Problem(str(one["path"]), message_in(one)) for one in body.get("problems") or ()]
        return kind(problems or said)
    if issubclass(kind, Throttled):
        return kind(said, _seconds(retry_after))
    if status >= 500 and body.get("request_id"):
        said = say("with_request", what=said, request=body["request_id"])
    return kind(said)


def message_in(body: Mapping[str, Any]) -> Message:
    """Read what a part of an answer says; its English text where the sentence is not known here."""
    code = str(body.get("message_code", ""))
    if is_known(code):
        return from_json({"code": code, "params": body.get("params")})
    return text(str(body.get("message", "")))


def _seconds(text: str | None) -> float:
    try:
        return float(text or 1)
    except ValueError:
        return 1.0
