"""Checks the signature TC3-HMAC-SHA256 of a request.

The client signs the path `/`, whatever path it asks for, and the header Host as it sends it, which may be a
whole URL. Older releases take the name of the service from the endpoint, so that it may have slashes in it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime

ALGORITHM = "TC3-HMAC-SHA256"
TERMINATOR = "tc3_request"
# As far as the clocks of client and server may be apart.
MOST_APART_S = 900
_FORM = re.compile(
    rf"{ALGORITHM}\s+Credential=(?P<credential>[^,\s]+)\s*,\s*SignedHeaders=(?P<headers>[^,\s]+)\s*,"
    r"\s*Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True, slots=True)
class Authorization:
    """What the header Authorization says."""

    key_id: str
    date: str
    service: str
    signed_headers: tuple[str, ...]
    signature: str

    @property
    def scope(self) -> str:
        return f"{self.date}/{self.service}/{TERMINATOR}"


@dataclass(frozen=True, slots=True)
class Signed:
    """The parts of a request that are signed, as they came; names of headers are in small letters."""

    method: str
    headers: dict[str, str]
    body: bytes
    timestamp: str


def read(header: str) -> Authorization | None:
    """Read the header Authorization; None for one of another form."""
    found = _FORM.fullmatch(header.strip())
    if found is None:
        return None
    # From both ends: what lies between is the service, with all its slashes.
    key_id, _, rest = found["credential"].partition("/")
    date, _, rest = rest.partition("/")
    service, _, last = rest.rpartition("/")
    if not (key_id and date and service and last == TERMINATOR):
        return None
    return Authorization(key_id, date, service, tuple(found["headers"].split(";")), found["signature"])


def is_timely(timestamp: str, date: str, now: float) -> bool:
    """Tell whether a request was signed just now, by a clock like ours."""
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    return abs(int(timestamp) - now) <= MOST_APART_S and date == _day(int(timestamp))


def _day(timestamp: int) -> str:
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%d")


def is_signed(authorization: Authorization, request: Signed, secret: str) -> bool:
    """Tell whether this secret has signed this request."""
    return hmac.compare_digest(sign(authorization, request, secret), authorization.signature)


def sign(authorization: Authorization, request: Signed, secret: str) -> str:
    names = authorization.signed_headers
    lines = "".join(f"{name}:{request.headers.get(name, '').strip()}\n" for name in names)
    body = hashlib.sha256(request.body).hexdigest()
    canonical = "\n".join((request.method, "/", "", lines, ";".join(names), body))
    digest = hashlib.sha256(canonical.encode("utf-8", "surrogateescape")).hexdigest()
    text = "\n".join((ALGORITHM, request.timestamp, authorization.scope, digest))
    key = f"TC3{secret}".encode()
    for step in (authorization.date, authorization.service, TERMINATOR):
        key = hmac.digest(key, step.encode("utf-8", "surrogateescape"), "sha256")
    return hmac.new(key, text.encode("utf-8", "surrogateescape"), "sha256").hexdigest()
