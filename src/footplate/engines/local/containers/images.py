"""Images on this machine: pulled when absent, once for all who wait for them, with progress."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from weakref import WeakValueDictionary

from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.messages import Message, say
from footplate.domain.secret import RegistryLogin
from footplate.engines.local.containers.api import ContainerApi, Document, Refused
from footplate.engines.local.containers.guarded import GuardedImages
from footplate.engines.local.containers.references import has_no_registry, is_id_of, split_reference

TELL_EVERY_S = 2.0
_PASSING = re.compile(
    r"connection refused|connection reset|no such host|i/o timeout|deadline exceeded|timed? ?out"
    r"|unexpected eof|temporary failure|server misbehaving|no route to host|network is unreachable"
    r"|too ?many ?requests|service unavailable|bad gateway|internal server error|no space left",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"unauthorized|authentication required|auth credentials|denied|forbidden|\b40[13]\b", re.IGNORECASE
)
# After these an engine names the image, its repository or its tag without the rest of the address.
_NAMING = frozenset({"for", "manifest", "repository", "image", "name", "short-name", "tag"})

Tell = Callable[[Message], None]
FindLogin = Callable[[], Awaitable[RegistryLogin | None]]


class Images:
    """Fetches images; an image that many tasks wait for is pulled once.

    One that came with a login is asked for anew by every job, with the job's own login or none: its registry
    decides who may have it, not this machine.
    """

    def __init__(self, home: Path | None = None) -> None:
        # Kept only while somebody holds or awaits them.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._guarded = GuardedImages(home)

    async def ensure(self, api: ContainerApi, reference: str, find_login: FindLogin, tell: Tell) -> bool:
        """See that an image is on this machine; say whether its registry had to be asked."""
        lock = self._locks.get(reference)
        if lock is None:
            lock = self._locks[reference] = asyncio.Lock()
        if lock.locked():
            tell(say("image_pulling_already", image=reference))
        async with lock:
            found = await api.image(reference)
            if found is not None and not await self._guarded.holds(api, reference, found):
                return False
            if found is None and has_no_registry(reference):
                raise EngineRejected("image_not_here", image=reference)
            if found is not None and is_id_of(reference, found["Id"]):
                raise EngineRejected("image_by_id_only", image=reference)
            await self._fetch(api, reference, await find_login(), tell)
            return True

    async def _fetch(
        self, api: ContainerApi, reference: str, login: RegistryLogin | None, tell: Tell
    ) -> None:
        guard = self._guarded.pulling(api, reference) if login else nullcontext()
        async with guard:
            await _pull(api, reference, login, tell)


async def _pull(api: ContainerApi, reference: str, login: RegistryLogin | None, tell: Tell) -> None:
    tell(say("image_pulling", image=reference))
    progress, told_at = Progress(), time.monotonic()
    name, tag = split_reference(reference)
    try:
        async for message in api.pull(name, tag, login):
            if said := message.get("error"):
                raise _failure(reference, str(said), login)
            progress.note(message)
            if time.monotonic() - told_at > TELL_EVERY_S:
                told_at = time.monotonic()
                tell(progress.say(reference))
    except Refused as error:
        raise _failure(reference, error.message, login) from error


class Progress:
    """How far a pull is, layer by layer."""

    def __init__(self) -> None:
        self._layers: dict[str, tuple[int, int]] = {}
        self._done: set[str] = set()

    def note(self, message: Document) -> None:
        layer, status = str(message.get("id", "")), str(message.get("status", "")).lower()
        if not layer or status.startswith("pulling from"):
            return
        detail: Any = message.get("progressDetail") or {}
        if detail.get("total") and status.startswith(("downloading", "copying")):
            self._layers[layer] = (int(detail.get("current", 0)), int(detail["total"]))
        else:
            self._layers.setdefault(layer, (0, 0))
        if status.startswith(("download complete", "pull complete", "already exists")):
            self._done.add(layer)
            self._layers[layer] = (self._layers[layer][1],) * 2

    def say(self, reference: str) -> Message:
        here_bytes = sum(here for here, _ in self._layers.values())
        total_bytes = sum(total for _, total in self._layers.values())
        return say(
            "image_pulling_layers",
            image=reference,
            n_done=len(self._done),
            n_layers=len(self._layers),
            here_bytes=here_bytes if total_bytes else None,
            total_bytes=total_bytes or None,
        )


def _failure(reference: str, said: str, login: RegistryLogin | None) -> EngineRejected | EngineUnavailable:
    why = _without_names(said, reference)
    if _PASSING.search(why):
        return EngineUnavailable("image_not_pulled", image=reference, error=said)
    if _CLOSED.search(why) and login:
        return EngineRejected("image_login_refused", image=reference, error=said, user=login.username)
    if _CLOSED.search(why):
        return EngineRejected("image_needs_login", image=reference, error=said)
    return EngineRejected("image_not_found", image=reference, error=said)


def _without_names(said: str, reference: str) -> str:
    """Leave out of a message where it names the image, whose name can be any word of an error."""
    names, kept, before = _names_in(reference), [], ""
    for word in said.split():
        bare = word.strip("\"'`.,:;()").lower()
        is_address = "/" in bare or ":" in bare
        if not ((is_address or before in _NAMING) and names & _names_in(bare)):
            kept.append(word)
        before = bare
    return " ".join(kept)


def _names_in(address: str) -> set[str]:
    return set(re.split(r"[^\w.-]+", unquote(address).lower())) - {""}
