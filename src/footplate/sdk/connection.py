"""HTTP to one server: credentials, errors made into exceptions, bounded retries, streams that resume."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx

from footplate.domain.errors import (
    EngineUnavailable,
    FootplateError,
    Starting,
    StoreUnavailable,
    TooManyConnections,
    Unauthenticated,
)
from footplate.sdk import certificates, sessions, sse
from footplate.sdk.errors import Unreachable, Untrusted, rebuild
from footplate.sdk.quickclient import QuickClient
from footplate.sdk.settings import Settings

API = "/api/v1"
RETRY_PAUSES_S = (0.1, 0.3, 1.0, 2.0, 4.0)
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0
# The server sends a sign of life more often than this; longer silence is a dead connection.
STREAM_SILENCE_S = 60.0
SESSION_S = 12 * 3600
GOODBYE_S = 2.0

Body = Mapping[str, Any] | None


class Connection:
    """Sends requests to one server as one user; `reload` finds settings that have changed since."""

    def __init__(
        self,
        settings: Settings,
        reload: Callable[[], Settings],
        timeout_s: float = 30.0,
        give_up_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.settings = settings
        self._reload = reload
        self.timeout_s = timeout_s
        self._token = settings.token
        self._renewing = threading.Lock()
        self._session_id = ""
        self._give_up_s = give_up_s
        self._http = QuickClient(
            base_url=settings.url + API,
            timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, 10.0)),
            # A proxy meant for the internet never reaches a server on this machine.
            trust_env=not is_loopback(settings.url),
            # Loading certificates takes longer than most calls, and without TLS there are none to check.
            verify=certificates.trusted() if settings.url.startswith("https:") else False,
            transport=transport,
        )

    def close(self) -> None:
        self._end_session()
        self._http.close()

    def _end_session(self) -> None:
        """Revoke the token that this connection made for itself from a password: nobody else has it."""
        if self._session_id:
            with suppress(httpx.HTTPError):
                self._http.delete(
                    f"/tokens/{self._session_id}", headers=self._headers(None), timeout=GOODBYE_S
                )
            self._session_id = ""

    def fetch(self, path: str, /, **params: Any) -> Any:
        """GET as JSON."""
        return self.request("GET", path, params=params).json()

    def send(
        self,
        method: str,
        path: str,
        body: Body = None,
        *,
        key: str = "",
        is_repeatable: bool = False,
        **rest: Any,
    ) -> Any:
        """Send JSON and return the answer's JSON, None when it has none.

        With an idempotency `key`, or when `is_repeatable`, a request whose answer got lost is sent again.
        """
        headers = {"Idempotency-Key": key} if key else {}
        response = self.request(
            method,
            path,
            json=dict(body or {}),
            headers=headers,
            is_repeatable=is_repeatable or bool(key),
            **rest,
        )
        return response.json() if response.content else None

    def request(self, method: str, path: str, *, is_repeatable: bool = False, **rest: Any) -> httpx.Response:
        """Send one request; raise what went wrong as an exception of our tree."""
        rest["params"] = _clean(rest.get("params") or {})
        if not (is_repeatable or method in ("GET", "HEAD")):
            return self._answer(method, path, **rest)
        lost: FootplateError | None = None
        for pause_s in (*RETRY_PAUSES_S, None):
            try:
                return self._answer(method, path, **rest)
            except (Starting, TooManyConnections) as error:
                # It is there, and will be ready in a moment.
                if pause_s is None:
                    raise
                lost = error
            except Unreachable as error:
                # A server that refuses the first try is not there; one that was there may come back.
                refused = isinstance(error.__cause__, (httpx.ConnectError, httpx.ConnectTimeout))
                if pause_s is None or (refused and lost is None) or isinstance(error, Untrusted):
                    raise
                lost = error
            time.sleep(pause_s)
        raise AssertionError("the last try returns or raises")

    def _answer(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **rest: Any
    ) -> httpx.Response:
        try:
            sent = self._headers(headers)
            response = self._http.request(method, path, headers=sent, **rest)
            if response.status_code == 401 and self._renew(_token_in(sent)):
                response = self._http.request(method, path, headers=self._headers(headers), **rest)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        if not response.is_success:
            raise self._with_hint(self._error(response))
        return response

    def open(
        self,
        path: str,
        /,
        *,
        silence_s: float | None = None,
        headers: Mapping[str, str] | None = None,
        **params: Any,
    ) -> AbstractContextManager[httpx.Response]:
        """GET without reading the body at once."""
        timeout = httpx.USE_CLIENT_DEFAULT if silence_s is None else httpx.Timeout(silence_s, connect=10.0)
        return self._http.stream(
            "GET", path, params=_clean(params), headers=self._headers(headers), timeout=timeout
        )

    @contextmanager
    def opened(
        self, path: str, headers: Mapping[str, str] | None = None, /, **params: Any
    ) -> Iterator[httpx.Response]:
        """GET an answer whose body is read as it comes; raise what went wrong as an exception of our tree."""
        try:
            with self.open(path, headers=headers, **params) as response:
                self._check(response)
                yield response
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def events(self, path: str, cursor: str = "", **params: Any) -> Iterator[sse.ServerEvent]:
        """Yield server-sent events forever; a broken stream resumes after the last event.

        The first connection must succeed. Later the server may be away for up to `give_up_s`.
        """
        patience = self.patience()
        while True:
            try:
                for event in self._connected(path, cursor, params, patience):
                    cursor = event.id or cursor
                    yield event
            except Unauthenticated as error:
                # A server that starts anew may have given out a new token in the same place.
                if not (patience.has_connected and self._renew(self._token)):
                    raise
                patience.lose(error)
            except (Unreachable, EngineUnavailable, StoreUnavailable, TooManyConnections) as error:
                patience.lose(error)
            patience.pause()

    def patience(self) -> Patience:
        """Begin something that goes on when the server is away for a while."""
        return Patience(self._give_up_s)

    def page_events(self, path: str, after: int, **params: Any) -> Iterator[dict[str, Any]]:
        """Yield what an event log holds behind number `after`, page by page."""
        while True:
            page = self.fetch(path, after=after, **params)
            yield from page["items"]
            if not page["items"] or page["next_after"] in (None, after):
                return
            after = page["next_after"]

    def _connected(
        self, path: str, cursor: str, params: Mapping[str, Any], patience: Patience
    ) -> Iterator[sse.ServerEvent]:
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": cursor} if cursor else {})}
        try:
            with self.open(path, silence_s=STREAM_SILENCE_S, headers=headers, **params) as response:
                self._check(response)
                patience.connect()
                yield from sse.parse(response.iter_bytes())
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def _check(self, response: httpx.Response) -> None:
        if not response.is_success:
            response.read()
            raise self._with_hint(self._error(response))

    def credentials(self) -> dict[str, str]:
        """What shows who is calling, for connections that are opened beside this one."""
        return self._headers(None)

    def _headers(self, more: Mapping[str, str] | None) -> dict[str, str]:
        if not self._token and self.settings.password:
            self._renew("")
        credentials = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        return {**credentials, **(more or {})}

    def _renew(self, refused: str) -> bool:
        """Find a newer token than the one that was refused, or log in where a password was given.

        Tells whether there is one. Of many threads one does it for all.
        """
        with self._renewing:
            if self._token != refused:
                return True
            if self.settings.password:
                token = self._recalled(refused) or self._begin_session()
            else:
                token = self._reload().token
            is_new, self._token = bool(token) and token != self._token, token or self._token
            return is_new

    def _recalled(self, refused: str) -> str:
        """The token of an earlier command with the same password in its environment, if it is still good."""
        if not self.settings.is_kept:
            return ""
        token = sessions.recall(self.settings, sessions.file_of())
        return "" if token == refused else token

    def _begin_session(self) -> str:
        """Log in; the token is kept for later commands, or else revoked when this connection closes."""
        settings = self.settings
        answer = self.login(settings.user, settings.password, "session", SESSION_S)
        token = str(answer["token"])
        if not (settings.is_kept and sessions.keep(settings, token, SESSION_S, sessions.file_of())):
            self._session_id = str(answer.get("id") or "")
        return token

    def login(
        self, user: str, password: str, name: str, expires_in_s: int | None = None, replaces: bool = False
    ) -> dict[str, Any]:
        """Trade a password for a token; when it `replaces`, for the only one of this name."""
        body = {"user": user, "password": password, "name": name, "expires_in_s": expires_in_s}
        if replaces:
            body["replaces"] = True
        try:
            response = self._http.post("/login", json=body)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        if not response.is_success:
            raise self._error(response)
        answer: dict[str, Any] = response.json()
        return answer

    def _unreachable(self, error: httpx.TransportError) -> Unreachable:
        url = self.settings.url
        if (fault := certificates.fault_of(error)) is not None:
            return Untrusted(certificates.explain(url, fault))
        if isinstance(error, httpx.ConnectError):
            return Unreachable("server_down" if is_loopback(url) else "server_unreachable", url=url)
        if isinstance(error, httpx.TimeoutException):
            return Unreachable("server_timeout", url=url)
        if url.startswith("http:") and certificates.speaks_tls(url):
            secure = url.replace("http:", "https:", 1)
            return Untrusted("server_speaks_tls", url=url, secure=secure)
        return Unreachable("connection_broke", url=url, error=str(error))

    def _error(self, response: httpx.Response) -> FootplateError:
        try:
            body = response.json()
        except ValueError:
            body = None
        url = self.settings.url
        if response.has_redirect_location:
            moved = response.headers["Location"].partition(API)[0]
            return Unreachable("server_moved", url=url, moved=moved)
        if response.status_code in (502, 503, 504) and body is None:
            return Unreachable("server_unavailable", url=url, status=response.status_code)
        return rebuild(response.status_code, body, url, response.headers.get("Retry-After"))

    def _with_hint(self, error: FootplateError) -> FootplateError:
        if not isinstance(error, Unauthenticated) or self._token:
            return error
        url = self.settings.url
        return Unauthenticated("not_signed_in_at", url=url)


class Patience:
    """How long what once worked may stay broken, with growing pauses between the tries."""

    def __init__(self, give_up_s: float) -> None:
        self._give_up_s = give_up_s
        self._lost_at: float | None = None
        self._pause_s = FIRST_PAUSE_S
        self.has_connected = False

    def connect(self) -> None:
        self._lost_at, self.has_connected = None, True

    def lose(self, error: FootplateError) -> None:
        """Take note of a fault; raise it when there was no connection yet or none for too long."""
        if not self.has_connected:
            raise error
        if self._lost_at is None:
            self._lost_at, self._pause_s = time.monotonic(), FIRST_PAUSE_S
        lost_s = time.monotonic() - self._lost_at
        if lost_s + self._pause_s > self._give_up_s:
            raise Unreachable("tried_for", why=error.said, seconds=round(lost_s)) from error

    def pause(self) -> None:
        time.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)


def _token_in(headers: Mapping[str, str]) -> str:
    return headers.get("Authorization", "").removeprefix("Bearer ")


def read_in_chunks(file: Any, chunk_bytes: int = 1 << 20) -> Iterable[bytes]:
    """Read a file for sending."""
    return iter(lambda: file.read(chunk_bytes), b"")


def _clean(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value not in (None, "", (), [])}


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
