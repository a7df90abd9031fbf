"""The part of Docker's API that Footplate uses; Podman speaks it too."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from httpcore import AsyncNetworkStream

from footplate.domain.errors import EngineUnavailable, OutcomeUnknown
from footplate.domain.secret import RegistryLogin

VERSION = "/v1.40"
TIMEOUT_S = 120
# A registry may be silent for long while a large layer is unpacked.
PULL_SILENCE_S = 900
MOST_CONNECTIONS = 32
SWITCHED = 101
NO_CONTENT = 204
NOT_MODIFIED = 304
BAD_REQUEST = 400
NOT_FOUND = 404
CONFLICT = 409
INTERNAL_ERROR = 500

Document = Mapping[str, Any]


class Refused(EngineUnavailable):
    """The engine answered with an error; whoever knows what it means catches it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ContainerApi:
    """One container engine behind its socket."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self._client = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(
                uds=str(socket), limits=httpx.Limits(max_connections=MOST_CONNECTIONS)
            ),
            base_url=f"http://engine{VERSION}",
            timeout=TIMEOUT_S,
        )

    async def info(self) -> Document:
        found: Document = await self._ask("GET", "/info")
        return found

    async def image(self, reference: str) -> Document | None:
        """Describe an image of this machine; None when it is not here."""
        return await self._find(f"/images/{reference}/json")

    async def pull(self, name: str, tag: str, login: RegistryLogin | None) -> AsyncIterator[Document]:
        """Fetch an image from its registry; what the engine says about it comes as it says it."""
        params, headers = {"fromImage": name, "tag": tag}, _authorization(login)
        timeout = httpx.Timeout(TIMEOUT_S, read=PULL_SILENCE_S)
        async with self._stream("/images/create", params=params, headers=headers, timeout=timeout) as answer:
            async for line in answer.aiter_lines():
                if line.strip():
                    yield json.loads(line)

    async def create(self, name: str, body: Document, within_s: float = TIMEOUT_S) -> None:
        await self._ask("POST", "/containers/create", params={"name": name}, json=body, timeout=within_s)

    async def start(self, name: str, within_s: float = TIMEOUT_S) -> None:
        await self._ask("POST", f"/containers/{name}/start", timeout=within_s)

    async def container(self, name: str) -> Document | None:
        """Describe a container; None when it is not there (any more)."""
        return await self._find(f"/containers/{name}/json")

    async def kill(self, name: str, signal: str) -> None:
        """Send a signal to a container's first process; silent when it does not run."""
        try:
            await self._ask("POST", f"/containers/{name}/kill", params={"signal": signal})
        except Refused as error:
            if error.status not in (NOT_FOUND, CONFLICT):
                raise

    async def remove(self, name: str, force: bool = True) -> None:
        """Remove a container, by force also one that runs; silent when it is not there."""
        params = {"force": str(force).lower(), "v": "true"}
        try:
            await self._ask("DELETE", f"/containers/{name}", params=params)
        except Refused as error:
            if error.status != NOT_FOUND:
                raise

    async def containers(self, label: str) -> Sequence[Document]:
        """List the containers with a label, be they running or not."""
        filters = json.dumps({"label": [label]})
        found: Sequence[Document] = await self._ask(
            "GET", "/containers/json", params={"all": "true", "filters": filters}
        )
        return found

    async def create_exec(self, name: str, body: Document) -> str:
        answer = await self._ask("POST", f"/containers/{name}/exec", json=body)
        return str(answer["Id"])

    @asynccontextmanager
    async def attach_exec(self, exec_id: str, has_terminal: bool) -> AsyncIterator[AsyncNetworkStream]:
        """Run what was created, and hand out the connection to it; without a terminal it writes in frames."""
        body = {"Detach": False, "Tty": has_terminal}
        headers = {"Connection": "Upgrade", "Upgrade": "tcp"}
        timeout = httpx.Timeout(TIMEOUT_S, read=None)
        path = f"/exec/{exec_id}/start"
        async with self._stream(path, json=body, headers=headers, timeout=timeout) as answer:
            yield answer.extensions["network_stream"]

    async def resize_exec(self, exec_id: str, rows: int, columns: int) -> None:
        await self._ask("POST", f"/exec/{exec_id}/resize", params={"h": rows, "w": columns})

    async def exec_state(self, exec_id: str) -> Document:
        found: Document = await self._ask("GET", f"/exec/{exec_id}/json")
        return found

    async def close(self) -> None:
        await self._client.aclose()

    async def _find(self, path: str) -> Document | None:
        try:
            found: Document = await self._ask("GET", path)
        except Refused as error:
            if error.status == NOT_FOUND:
                return None
            raise
        return found

    async def _ask(self, method: str, path: str, **parts: Any) -> Any:
        try:
            answer = await self._client.request(method, path, **parts)
        except httpx.TransportError as error:
            raise self._broken(error) from error
        self._check(answer)
        return answer.json() if answer.content and answer.status_code != NO_CONTENT else {}

    @asynccontextmanager
    async def _stream(self, path: str, **parts: Any) -> AsyncIterator[httpx.Response]:
        try:
            async with self._client.stream("POST", path, **parts) as answer:
                if answer.is_error:
                    await answer.aread()
                self._check(answer)
                yield answer
        except httpx.TransportError as error:
            raise self._broken(error) from error

    def _check(self, answer: httpx.Response) -> None:
        if not answer.is_success and answer.status_code not in (NOT_MODIFIED, SWITCHED):
            raise Refused(_message(answer), answer.status_code)

    def _broken(self, error: httpx.TransportError) -> EngineUnavailable | OutcomeUnknown:
        said = str(error) or type(error).__name__
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
            return EngineUnavailable("container_engine_silent", socket=str(self.socket), error=str(said))
        return OutcomeUnknown("container_engine_broke_off", socket=str(self.socket), error=str(said))


def _message(answer: httpx.Response) -> str:
    try:
        said = answer.json()
        return str(said.get("message") or said.get("cause") or said)
    except (ValueError, AttributeError):
        return answer.text.strip() or f"status {answer.status_code}"


def _authorization(login: RegistryLogin | None) -> dict[str, str]:
    if login is None:
        return {}
    document = {"username": login.username, "password": login.password, "serveraddress": login.server}
    return {"X-Registry-Auth": base64.urlsafe_b64encode(json.dumps(document).encode()).decode()}
