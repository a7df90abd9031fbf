"""Which headers go through between a browser and a service: none that belongs to the platform."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from starlette.types import Scope

from footplate.server.addresses import is_loopback
from footplate.services.openings import Opening
from footplate.services.programs import JUPYTER, SECRET_HEADER, TENSORBOARD

Headers = list[tuple[bytes, bytes]]

HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"expect",
    )
)
# How cookies of the platform begin, and its tokens.
OWN_COOKIES = b"footplate"
OWN_TOKENS = (b"bearer fp_", b"bearer fpj_", b"bearer fpl_")
# What a service may not tell a browser: it would hold for other services of the same host, or for all of it.
BEYOND = (b"service-worker-allowed", b"clear-site-data", b"strict-transport-security", b"referrer-policy")
FORWARDED = (b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"x-forwarded-prefix")


def to_service(scope: Scope, opening: Opening) -> Headers:
    """What a service is told of a request."""
    told: Headers = []
    for name, value in scope["headers"]:
        if name in HOP_BY_HOP or name in FORWARDED or name.startswith(b"x-footplate-"):
            continue
        if name == b"authorization" and value.lower().startswith(OWN_TOKENS):
            continue
        if name == b"cookie":
            value = b"; ".join(_foreign(value))
            if not value:
                continue
        told.append((name, value))
    client = scope.get("client")
    told.append((b"x-forwarded-for", (client[0] if client else "").encode()))
    told.append((b"x-forwarded-proto", scope["scheme"].replace("ws", "http").encode()))
    told.append((b"x-forwarded-prefix", opening.prefix.rstrip("/").encode()))
    if opening.name == TENSORBOARD:
        told.append((SECRET_HEADER, opening.secret.encode()))
    if opening.name == JUPYTER:
        told = [pair for pair in told if pair[0] != b"authorization"]
        told.append((b"authorization", b"token " + opening.secret.encode()))
    return told


def _foreign(cookies: bytes) -> Iterator[bytes]:
    for one in cookies.split(b";"):
        if not one.strip().lower().startswith(OWN_COOKIES):
            yield one.strip()


def to_browser(headers: Iterable[tuple[bytes, bytes]], opening: Opening, host: bytes) -> Headers:
    """What a browser that asked for `host` is told: no cookie of a service reaches beyond it."""
    told: Headers = []
    for name, value in headers:
        lower = name.lower()
        if lower in HOP_BY_HOP or lower in BEYOND:
            continue
        if lower == b"set-cookie":
            kept = _within(value, opening.prefix)
            if kept is not None:
                told.append((lower, kept))
        elif lower == b"location" and not opening.keeps_prefix:
            told.append((lower, _below_prefix(value, opening, host)))
        else:
            told.append((lower, value))
    # Of the page a service shows, the address must not reach other sites.
    told.append((b"referrer-policy", b"same-origin"))
    return told


def _below_prefix(location: bytes, opening: Opening, host: bytes) -> bytes:
    """Lead below the prefix of a service where it leads to itself, which takes itself for the whole host."""
    prefix = opening.prefix.rstrip("/").encode()
    if location.startswith(b"/"):
        return prefix + location
    try:
        there, here = (urlsplit(text.decode("latin-1")) for text in (location, b"//" + host))
        is_own = there.netloc == here.netloc or (
            there.port == opening.port
            and (there.hostname == here.hostname or is_loopback(there.hostname or ""))
        )
    except ValueError:
        return location
    if not is_own or there.scheme not in ("http", "https"):
        return location
    rest = there._replace(scheme="", netloc="").geturl()
    return prefix + (rest if rest.startswith("/") else f"/{rest}").encode("latin-1")


def _within(cookie: bytes, prefix: str) -> bytes | None:
    """A cookie for the paths of its service only; None for one that is named as the platform's are."""
    if cookie.strip().lower().startswith(OWN_COOKIES):
        return None
    parts = [part.strip() for part in cookie.split(b";")]
    rest = [part for part in parts[1:] if not part.lower().startswith((b"domain=", b"path="))]
    given = [part[5:] for part in parts[1:] if part.lower().startswith(b"path=")]
    inner = given[-1] if given and given[-1].startswith(prefix.encode()) else prefix.encode()
    return b"; ".join([parts[0], b"Path=" + inner, *rest])
