"""Checks the signature of a request to UAI-Train: of all its parameters, in the order of their names.

There is neither a time nor a number in it, so that whoever sees a request can send it again.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

FIELD = "Signature"


def sign(parameters: Mapping[str, str], private_key: str) -> str:
    """Sign decoded parameters; those that are empty take part with their names."""
    text = "".join(f"{name}{value}" for name, value in sorted(parameters.items()) if name != FIELD)
    whole = (text + private_key).encode("utf-8", "surrogateescape")
    return hashlib.sha1(whole).hexdigest()  # noqa: S324  # the algorithm of the clients


def is_signed(parameters: Mapping[str, str], private_key: str) -> bool:
    """Tell whether this key has signed these parameters."""
    given = parameters.get(FIELD, "").encode("utf-8", "surrogateescape")
    return hmac.compare_digest(sign(parameters, private_key).encode(), given)
