"""Which host name a service has, so that its pages are an origin of their own, and who may ask for them."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import urlsplit

from starlette.types import Scope

from footplate.server.addresses import is_loopback
from footplate.server.settings import Settings

# In the address for services, where the name of each is put.
WILDCARD = "*"
_LABEL = re.compile(rb"(s-[0-9a-f]{20})\.[^/]+")
_SAFE = ("GET", "HEAD", "OPTIONS")


def label_of(prefix: str) -> str:
    """The first word of a service's host name."""
    return f"s-{hashlib.sha256(prefix.encode()).hexdigest()[:20]}"


def address_of(settings: Settings, prefix: str) -> str:
    """Where anything reaches a service: at a name of its own where the settings have a place for one."""
    return settings.services_address.replace(WILDCARD, label_of(prefix))


def browser_address_of(settings: Settings, prefix: str) -> str:
    """The same at a name of its own, also on loopback: browsers know where `*.localhost` is."""
    parts = urlsplit(settings.services_address)
    if parts.scheme != "http" or not is_loopback(parts.hostname or ""):
        return address_of(settings, prefix)
    return f"http://{label_of(prefix)}.localhost:{parts.port}"


def is_at_home(scope: Scope, settings: Settings, prefix: str) -> bool:
    """Tell whether a service is asked for at its own name, or at none where it needs none."""
    found = _LABEL.fullmatch(dict(scope["headers"]).get(b"host", b""))
    if found is None:
        return WILDCARD not in settings.services_address
    return found[1].decode() == label_of(prefix)


def is_asked_by_itself(scope: Scope, prefix: str) -> bool:
    """Tell whether a page of this very service asks; pages of elsewhere may only follow links here.

    Where services share a host, browsers say by `Referer` which of them asks.
    """
    headers = dict(scope["headers"])
    host, origin = headers.get(b"host", b""), headers.get(b"origin")
    is_safe = scope["type"] == "http" and scope["method"] in _SAFE
    if origin is not None and not is_safe and origin.partition(b"://")[2] != host:
        return False
    site, mode = headers.get(b"sec-fetch-site", b"none"), headers.get(b"sec-fetch-mode", b"navigate")
    if site in (b"cross-site", b"same-site"):
        return mode == b"navigate" and is_safe
    referer = urlsplit(headers.get(b"referer", b"").decode("latin-1"))
    is_same_host = referer.netloc.encode("latin-1") == host
    return not is_same_host or referer.path.startswith(prefix)
