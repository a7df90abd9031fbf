"""Changes the modules by which a program speaks to a cloud, when the program has just imported them.

The requests to some clouds' hosts go to a Footplate server instead. The header Host stays what it was,
because clients sign it.
"""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import SplitResult, urlsplit


def change(module: Any) -> None:
    """Change a module that was just imported."""
    changes = {
        "requests.adapters": change_requests,
        "httpx": change_httpx,
        "urllib3.poolmanager": change_urllib3,
        "http.client": change_http,
        "aiohttp.client_reqrep": change_aiohttp,
    }
    changes.get(module.__name__, change_json)(module)


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


def change_httpx(httpx: Any) -> None:
    sync, concurrent = httpx.HTTPTransport, httpx.AsyncHTTPTransport
    send, send_concurrently = sync.handle_request, concurrent.handle_async_request

    def elsewhere(request: Any) -> Any:
        """The request as it goes to our server; None for any other host. Its header Host is there by now."""
        url = redirected(str(request.url))
        if url is None:
            return None
        given = {"headers": request.headers, "stream": request.stream, "extensions": request.extensions}
        return httpx.Request(request.method, url, **given)

    # A transport of its own, since that of the program may lead through a proxy; nothing of it stays open.
    options = {"trust_env": False, "limits": httpx.Limits(max_keepalive_connections=0)}

    def handle_request(self: Any, request: Any) -> Any:
        sent = elsewhere(request)
        return send(self, request) if sent is None else send(sync(**options), sent)

    async def handle_async_request(self: Any, request: Any) -> Any:
        sent = elsewhere(request)
        if sent is None:
            return await send_concurrently(self, request)
        return await send_concurrently(concurrent(**options), sent)

    sync.handle_request, concurrent.handle_async_request = handle_request, handle_async_request


class Pool:
    """Connections to our server for requests to one host of a cloud, as urllib3 asks for them."""

    def __init__(self, pool: Any, host: str, prefix: str) -> None:
        self._pool, self._host, self._prefix = pool, host, prefix

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def urlopen(
        self, method: str, url: str, body: Any = None, headers: Any = None, *args: Any, **options: Any
    ) -> Any:
        # urllib3 gives the path; with a proxy it would have given the whole address.
        parts = urlsplit(url)
        path = self._prefix + (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        sent = dict(headers or {})
        if not any(name.lower() == "host" for name in sent):
            sent["Host"] = self._host
        return self._pool.urlopen(method, path, body, sent, *args, **options)


def change_urllib3(poolmanager: Any) -> None:
    managers: list[Any] = []

    def changed(original: Any) -> Any:
        def connection_from_host(
            self: Any, host: Any, port: Any = None, scheme: Any = "http", *args: Any, **options: Any
        ) -> Any:
            server = our_server(str(host or ""))
            if server is None:
                return original(self, host, port, scheme, *args, **options)
            if not managers:
                managers.append(poolmanager.PoolManager())
            usual = {"http": 80, "https": 443}.get(scheme)
            named = host if port in (None, usual) else f"{host}:{port}"
            pool = plain(managers[0], server.hostname, server.port, server.scheme)
            return Pool(pool, named, server.path.rstrip("/"))

        return connection_from_host

    plain = poolmanager.PoolManager.connection_from_host
    for manager in (poolmanager.PoolManager, poolmanager.ProxyManager):
        manager.connection_from_host = changed(manager.connection_from_host)


def change_http(client: Any) -> None:
    """Change what the standard library sends; libraries with connections of their own are changed apart."""
    plain = (client.HTTPConnection, client.HTTPSConnection)
    put = client.HTTPConnection.putrequest

    def server_of(connection: Any) -> SplitResult | None:
        is_plain = type(connection) in plain and not connection._tunnel_host  # noqa: SLF001  # no other way
        return our_server(connection.host) if is_plain else None

    def changed(original: Any) -> Any:
        def connect(self: Any) -> None:
            server = server_of(self)
            if server is None:
                original(self)
                return
            kind = client.HTTPSConnection if server.scheme == "https" else client.HTTPConnection
            made = kind(server.hostname, server.port, timeout=self.timeout)
            made.connect()
            self.sock = made.sock

        return connect

    def putrequest(self: Any, method: str, url: str, *args: Any, **options: Any) -> None:
        server = server_of(self)
        put(self, method, url if server is None else server.path.rstrip("/") + url, *args, **options)

    for kind in plain:
        kind.connect = changed(kind.connect)
    client.HTTPConnection.putrequest = putrequest


def change_aiohttp(client: Any) -> None:
    original = client.ClientRequest.__init__

    def begin(self: Any, method: str, url: Any, *args: Any, **options: Any) -> None:
        elsewhere = redirected(str(url))
        if elsewhere is not None:
            headers = options.get("headers")
            sent = {} if headers is None else headers.copy()
            sent.setdefault("Host", host_of(str(url)))
            # A proxy is for the cloud.
            unasked = {name: None for name in options if name in ("proxy", "proxy_auth", "proxy_headers")}
            options |= {"headers": sent, **unasked}
            url = type(url)(elsewhere, encoded=True)
        original(self, method, url, *args, **options)

    client.ClientRequest.__init__ = begin


def change_json(_module: Any) -> None:
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
    parts = urlsplit(url)
    server = our_server(parts.hostname or "")
    if server is None:
        return None
    path = server.path.rstrip("/") + (parts.path or "/")
    return f"{server.scheme}://{server.netloc}{path}" + ("?" + parts.query if parts.query else "")


def our_server(host: str) -> SplitResult | None:
    """The address of our server, if it is to answer for a host."""
    target = os.environ.get("FOOTPLATE_REDIRECT_URL") or os.environ.get("FOOTPLATE_URL")
    return urlsplit(target) if target and is_cloud(host.lower()) else None


def is_cloud(host: str) -> bool:
    if host.endswith((".myqcloud.com", ".tencentcos.cn", ".ufileos.com")):
        return True
    if host.endswith(".tencentcloudapi.com"):
        return host.startswith("tione.")
    if host.endswith((".ufile.ucloud.com.cn", ".ufile.ucloud.cn")):
        return True
    return host == "api.ucloud.cn" or (host.startswith("api-") and host.endswith(".ucloud.cn"))
