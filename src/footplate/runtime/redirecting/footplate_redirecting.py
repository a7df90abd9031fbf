"""Changes the modules by which a program speaks to a cloud, when the program has just imported them.

The requests to some clouds' hosts go to a Footplate server instead. The header Host stays what it was,
because clients sign it.
"""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import urlsplit


def change(module: Any) -> None:
    if module.__name__ == "requests.adapters":
        change_requests(module)
    else:
        change_json()


def change_requests(adapters: Any) -> None:
    original = adapters.HTTPAdapter.send

    def send(self: Any, request: Any, *args: Any, **options: Any) -> Any:
        url = redirected(request.url)
        if url is not None:
            request.headers.setdefault("Host", host_of(request.url))
            request.url = url
            options["proxies"] = {}
        return original(self, request, *args, **options)

    adapters.HTTPAdapter.send = send


def change_json() -> None:
    # The tools of UAI-Train name an encoding, which Python has not taken since 3.9.
    original = json.loads

    def loads(*args: Any, **options: Any) -> Any:
        options.pop("encoding", None)
        return original(*args, **options)

    json.loads = loads


def host_of(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def redirected(url: str) -> str | None:
    """The address at which our server answers for a cloud's; None for any other host."""
    target = os.environ.get("FOOTPLATE_REDIRECT_URL") or os.environ.get("FOOTPLATE_URL")
    parts = urlsplit(url)
    if not target or not is_cloud((parts.hostname or "").lower()):
        return None
    return target.rstrip("/") + (parts.path or "/") + ("?" + parts.query if parts.query else "")


def is_cloud(host: str) -> bool:
    if host.endswith((".myqcloud.com", ".tencentcos.cn", ".ufileos.com")):
        return True
    if host.endswith(".tencentcloudapi.com"):
        return host.startswith("tione.")
    if host.endswith((".ufile.ucloud.com.cn", ".ufile.ucloud.cn")):
        return True
    return host == "api.ucloud.cn" or (host.startswith("api-") and host.endswith(".ucloud.cn"))
