"""Checks the signature of a request to UFile: method, a few headers, bucket and key; not the query."""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass

SCHEME = "UCloud "
_HEADER = re.compile(r"UCloud\s+(?P<key_id>[^:\s]+):(?P<signature>[A-Za-z0-9+/]{27}=)")
OWN_HEADERS = "x-ucloud-"


@dataclass(frozen=True, slots=True)
class Authorization:
    """Who signed, and how; `expires` only for links."""

    key_id: str
    signature: str
    expires: str = ""

    def is_timely(self, now: float) -> bool:
        """Tell whether a link still holds; other requests carry no time that was agreed on."""
        return not self.expires or (self.expires.isdecimal() and now <= int(self.expires[:15]))


def read(header: str, query: Mapping[str, str]) -> Authorization | None:
    """Read the header, or the parameters of a link; None where there is no signature."""
    if found := _HEADER.fullmatch(header.strip()):
        return Authorization(found["key_id"], found["signature"])
    if {"UCloudPublicKey", "Signature"} <= query.keys():
        return Authorization(query["UCloudPublicKey"], query["Signature"], query.get("Expires", ""))
    return None


def sign(
    authorization: Authorization, method: str, headers: Mapping[str, str], bucket: str, key: str, secret: str
) -> str:
    own = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers) if name.startswith(OWN_HEADERS))
    when = authorization.expires or headers.get("date", "")
    named = (headers.get("content-md5", ""), headers.get("content-type", ""), when)
    text = "\n".join((method.upper(), *named, "")) + own + f"/{bucket}/{key}"
    made = hmac.digest(secret.encode(), text.encode("utf-8", "surrogateescape"), "sha1")
    return base64.b64encode(made).decode()


def is_signed(
    authorization: Authorization, method: str, headers: Mapping[str, str], bucket: str, key: str, secret: str
) -> bool:
    """Tell whether this secret has signed a request for a key of a bucket."""
    made = sign(authorization, method, headers, bucket, key, secret)
    return hmac.compare_digest(made.encode(), authorization.signature.encode("utf-8", "surrogateescape"))
