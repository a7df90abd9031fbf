"""Remembers which images were pulled with a login, so that jobs without a login cannot use the local copy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from footplate.domain.errors import EngineUnavailable
from footplate.engines.local.containers.api import ContainerApi, Document
from footplate.engines.local.containers.references import full_name
from footplate.machine.wholefile import write_private

FILE = "guarded-images.json"
_PARTS = ("references", "ids", "pulling")


class GuardedImages:
    """Knows them by name and by id; what it knows outlives the server when there is a `home`."""

    def __init__(self, home: Path | None) -> None:
        self._file = home / FILE if home else None
        self._known: dict[str, set[str]] | None = None
        self._saving = asyncio.Lock()

    async def holds(self, api: ContainerApi, reference: str, image: Document) -> bool:
        """Tell whether jobs with this image must ask its registry, although the image is on this machine."""
        known = await self._load()
        await self._settle(api, known["pulling"])
        return full_name(reference) in known["references"] or image["Id"] in known["ids"]

    @asynccontextmanager
    async def pulling(self, api: ContainerApi, reference: str) -> AsyncIterator[None]:
        """Note around a pull with a login what it brings; noted before, so that a crash lets nothing slip."""
        known = await self._load()
        known["pulling"].add(reference)
        await self._save()
        try:
            yield
            await self._settle(api, [reference])
        finally:
            known["pulling"].discard(reference)
            await self._save()

    async def _settle(self, api: ContainerApi, references: Iterable[str]) -> None:
        known = await self._load()
        n_before = len(known["references"]) + len(known["ids"])
        for reference in tuple(references):
            if (image := await api.image(reference)) is not None:
                known["references"].add(full_name(reference))
                known["ids"].update(await self._closed_id(image))
        if n_before != len(known["references"]) + len(known["ids"]):
            await self._save()

    async def _closed_id(self, image: Document) -> Iterable[str]:
        """Name the image's id, unless the same image is here under a name that needed no login."""
        known = await self._load()
        guarded = known["references"] | {full_name(reference) for reference in known["pulling"]}
        names = {full_name(tag) for tag in image.get("RepoTags") or () if not tag.startswith("<none>")}
        return [image["Id"]] if names <= guarded else ()

    async def _load(self) -> dict[str, set[str]]:
        if self._known is None:
            try:
                self._known = await asyncio.to_thread(_read, self._file)
            except (OSError, TypeError, ValueError) as error:
                raise EngineUnavailable(
                    "guarded_unreadable", file=str(self._file), error=str(error)
                ) from error
        return self._known

    async def _save(self) -> None:
        known = await self._load()
        async with self._saving:
            text = json.dumps({part: sorted(names) for part, names in known.items()}, indent=1)
            try:
                await asyncio.to_thread(_write, self._file, text)
            except OSError as error:
                raise EngineUnavailable(
                    "guarded_unwritable", file=str(self._file), error=str(error)
                ) from error


def _read(file: Path | None) -> dict[str, set[str]]:
    if file is None or not file.exists():
        return {part: set() for part in _PARTS}
    found = dict(json.loads(file.read_text()))
    return {part: set(map(str, found.get(part, ()))) for part in _PARTS}


def _write(file: Path | None, text: str) -> None:
    if file is not None:
        write_private(file, text.encode())
