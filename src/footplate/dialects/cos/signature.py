"""Checks the signature of a request to COS, in the header Authorization or in the query.

The path is signed decoded, the values of headers and parameters encoded, and the host without its port.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote

PREFIX = "q-sign-algorithm="
_FIELDS = ("q-ak", "q-sign-time", "q-key-time", "q-header-list", "q-url-param-list", "q-signature")
_WINDOW = re.compile(r"([0-9]{1,12});([0-9]{1,12})")


@dataclass(frozen=True, slots=True)
class Authorization:
    """What a request says of its signature."""

    key_id: str
    sign_time: str
    key_time: str
    headers: tuple[str, ...]
    parameters: tuple[str, ...]
    signature: str

    def is_timely(self, now: float) -> bool:
        """Tell whether now is within the window for which the request was signed."""
        found = _WINDOW.fullmatch(self.sign_time)
        return found is not None and int(found[1]) <= now <= int(found[2])


@dataclass(frozen=True, slots=True)
class Signed:
    """The parts of a request that are signed; `path` is decoded, names of headers are in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    parameters: tuple[tuple[str, str], ...]


def read(header: str, query: Iterable[tuple[str, str]] = ()) -> Authorization | None:
    """Read the header, or else what the query says; None where neither is a signature."""
    fields = _fields(header) if header.startswith(PREFIX) else dict(query)
    if fields.get("q-sign-algorithm") != "sha1" or not all(name in fields for name in _FIELDS):
        return None
    return Authorization(
        fields["q-ak"],
        fields["q-sign-time"],
        fields["q-key-time"],
        _names(fields["q-header-list"]),
        _names(fields["q-url-param-list"]),
        fields["q-signature"],
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.lower().split(";")))


def _fields(header: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in header.split("&"))
    return {name: value for name, _, value in pairs}


def is_signed(authorization: Authorization, request: Signed, secret: str) -> bool:
    """Tell whether this secret has signed this request."""
    given = authorization.signature.encode("utf-8", "surrogateescape")
    return hmac.compare_digest(sign(authorization, request, secret).encode(), given)


def sign(authorization: Authorization, request: Signed, secret: str) -> str:
    headers = dict(request.headers)
    headers["host"] = without_port(headers.get("host", ""))
    parameters = {name.lower(): value for name, value in request.parameters}
    text = "\n".join(
        (
            request.method.lower(),
            request.path,
            _pairs(authorization.parameters, parameters),
            _pairs(authorization.headers, headers),
            "",
        )
    )
    key = hmac.new(secret.encode(), _bytes(authorization.key_time), "sha1").hexdigest()
    digest = hashlib.sha1(_bytes(text)).hexdigest()  # noqa: S324  # the algorithm of the clients
    wanted = f"sha1\n{authorization.sign_time}\n{digest}\n"
    return hmac.new(key.encode(), _bytes(wanted), "sha1").hexdigest()


def _pairs(names: Iterable[str], values: Mapping[str, str]) -> str:
    found = ((_quoted(name).lower(), _quoted(values.get(name, ""))) for name in names)
    return "&".join(f"{name}={value}" for name, value in sorted(found))


def _quoted(text: str) -> str:
    return quote(_bytes(text), safe="-_.~")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def without_port(host: str) -> str:
    return re.sub(r":[0-9]+$", "", host)


def parameters_of(query: str) -> tuple[tuple[str, str], ...]:
    """Split a query; parameters without a value count as well."""
    return tuple(parse_qsl(query, keep_blank_values=True, errors="surrogateescape"))
