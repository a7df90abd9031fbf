"""Knows the requests of other clouds' clients by their heads, and leads them to the routes that answer them.

Such clients know one host each and ask for its root, so that neither path nor port tells them from others.
What they sign is the request as they sent it: that is kept beside what the router goes by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from footplate.server.headcase import keep_case

PREFIX = "/compat"
TIONE, COS, UAI, UFILE = "tione", "cos", "uai", "ufile"
SCOPE_KEY = "footplate_foreign"
CLOUDS = (TIONE, COS, UAI, UFILE)
_COS_HOST = re.compile(r"(?P<bucket>[a-z0-9][a-z0-9.-]*)\.cos[.-][a-z0-9.-]*(myqcloud\.com|tencentcos\.cn)")
_COS_SERVICE = re.compile(r"service\.cos\.(myqcloud\.com|tencentcos\.cn)")
_UFILE_HOST = re.compile(
    r"(?P<bucket>[a-z0-9][a-z0-9-]*)\.((internal-)?[a-z0-9-]+\.)?(ufileos\.com|ufile\.ucloud\.(com\.)?cn)"
)
_UAI_HOST = re.compile(r"api(-[a-z0-9]+)?\.ucloud\.cn")


@dataclass(frozen=True, slots=True)
class Foreign:
    """A request as it was sent; the host may be a whole URL, the path is decoded."""

    cloud: str
    host: str
    path: str
    query: str
    bucket: str = ""
    key: str = ""


class ForeignDoor:
    """Leads the requests of other clouds' clients to their routes, and lets all others pass."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (found := recognise(scope)) is not None:
            _lead(scope, found)
            if found.cloud in (COS, UFILE):
                keep_case(send)
        await self._app(scope, receive, send)


def _lead(scope: Scope, found: Foreign) -> None:
    """Change the request in place: a private key in its query is then in no log either."""
    scope[SCOPE_KEY] = found
    scope["path"] = f"{PREFIX}/{found.cloud}"
    scope["raw_path"] = scope["path"].encode()
    scope["query_string"] = b""
    clean = re.sub(r"^[a-z]+://", "", found.host).partition("/")[0]
    kept = [(name, value) for name, value in scope["headers"] if name != b"host"]
    scope["headers"] = [*kept, (b"host", clean.encode("latin-1"))]


def recognise(scope: Scope) -> Foreign | None:
    """Tell what a request is by its head; None for one of our own."""
    headers = dict(scope["headers"])
    if headers.get(b"authorization", b"").startswith(b"Bearer "):
        # Most requests, and none of theirs.
        return None
    path: str = scope["path"]
    host = headers.get(b"host", b"").decode("latin-1")
    if path.startswith(f"{PREFIX}/"):
        return _by_path(scope, host, path)
    authorization = headers.get(b"authorization", b"")
    if b"x-tc-action" in headers and scope["method"] == "POST":
        return _foreign(scope, TIONE, host)
    name = re.sub(r":[0-9]+$", "", host).lower()
    if authorization.startswith(b"q-sign-algorithm=") or name.endswith((".myqcloud.com", ".tencentcos.cn")):
        return _cos(scope, host, name)
    if authorization.startswith(b"UCloud ") or name.endswith(
        (".ufileos.com", ".ucloud.com.cn", ".ucloud.cn")
    ):
        found = _UFILE_HOST.fullmatch(name)
        if found is not None:
            return _foreign(scope, UFILE, host, found["bucket"], path.removeprefix("/"))
    if _UAI_HOST.fullmatch(name) or (path == "/" and _is_uai(scope["query_string"])):
        return _foreign(scope, UAI, host)
    return None


def _is_uai(query: bytes) -> bool:
    return b"Action=" in query and b"PublicKey=" in query and b"Signature=" in query


def _cos(scope: Scope, host: str, name: str) -> Foreign:
    found = _COS_HOST.fullmatch(name)
    if found is None or _COS_SERVICE.fullmatch(name):
        # The bucket is in no path: without one, the client asks for the list of buckets.
        return _foreign(scope, COS, host)
    return _foreign(scope, COS, host, found["bucket"], scope["path"].removeprefix("/"))


def _by_path(scope: Scope, host: str, path: str) -> Foreign | None:
    """Of a prefix that somebody typed in: /compat/tione, /compat/cos/BUCKET/KEY."""
    cloud, _, rest = path.removeprefix(f"{PREFIX}/").partition("/")
    if cloud not in CLOUDS:
        return None
    bucket, _, key = rest.partition("/")
    is_store = cloud in (COS, UFILE)
    return _foreign(scope, cloud, host, bucket if is_store else "", key if is_store else "")


def _foreign(scope: Scope, cloud: str, host: str, bucket: str = "", key: str = "") -> Foreign:
    raw: bytes = scope.get("raw_path", b"")
    # As bytes that are no text come in: what was signed is what was sent.
    path = unquote(raw.decode("latin-1"), errors="surrogateescape") if b"%" in raw else scope["path"]
    return Foreign(cloud, host, path, scope["query_string"].decode("latin-1"), bucket, key)
