"""The environments of this machine: provided to launches, listed, removed, and cleaned up."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from footplate.domain.environment import BuiltEnvironment
from footplate.domain.errors import Conflict, EngineRejected, NotFound
from footplate.domain.messages import Message, say
from footplate.engines.base import Step
from footplate.engines.local.environments import shelf
from footplate.engines.local.environments.building import Builds, Run, RunInImage
from footplate.engines.local.environments.inputs import Image, gather
from footplate.engines.local.environments.order import Order
from footplate.engines.local.environments.settings import EnvironmentSettings
from footplate.engines.local.environments.shelf import Place
from footplate.engines.local.exchange import LocalRequest, LocalTask, Packages
from footplate.engines.local.wanted import Wanted
from footplate.machine.foldertree import remove_tree, size_of

STEP = "environment"


class Environments:
    """What was built, and what is being built."""

    def __init__(
        self,
        home: Path,
        settings: EnvironmentSettings,
        run: Run,
        run_in_image: RunInImage,
        variables: Mapping[str, str],
        tell: Callable[[Step], None],
    ) -> None:
        self._home = home
        self._settings = settings
        self._tell = tell
        self._builds = Builds(run, run_in_image, variables, settings)
        # Those that a launch is about to use, by folder: no sweep may take them meanwhile.
        self._held: Counter[Path] = Counter()
        self._wanted: Wanted[dict[str, str]] = Wanted("environment_not_wanted")

    @property
    def is_closing(self) -> asyncio.Event:
        return self._builds.is_closing

    async def provide(
        self, request: LocalRequest, packages: Packages, images: Mapping[str, str]
    ) -> LocalRequest:
        """Have the environment of a request built, unless it is there, and lead its tasks there.

        Each of the `images`, whose ids these are, has one of its own.
        """
        attempt_id = request["attempt_id"]
        seen = await self._wanted.wait(attempt_id, self._provide(request, packages, images))
        return {
            **request,
            "tasks": [{**task, "environment": seen.get(_image_of(task))} for task in request["tasks"]],
        }

    def abandon(self, attempt_id: str) -> None:
        self._wanted.abandon(attempt_id)

    async def _provide(
        self, request: LocalRequest, wish: Packages, images: Mapping[str, str]
    ) -> dict[str, str]:
        """Say by image, empty for processes, which folder tasks must see."""
        bases = [Image(name, image_id) for name, image_id in images.items()]
        places = {base.name: await self._provide_one(request, wish, base) for base in bases}
        seen = {name: str(place.target) for name, place in places.items()}
        if not all(task["in_container"] for task in request["tasks"]):
            place = await self._provide_one(request, wish, None)
            await asyncio.to_thread(shelf.lead_to, place, Path(wish["link"]))
            seen[""] = str(place.files)
        return seen

    async def _provide_one(self, request: LocalRequest, wish: Packages, image: Image | None) -> Place:
        attempt_id, began_at = request["attempt_id"], time.monotonic()
        inputs = replace(await asyncio.to_thread(gather, wish, wish["code"], wish["digest"]), image=image)
        place = shelf.place_of(self._home, request["owner"], request["owner_number"], inputs)

        def tell(said: Message, is_done: bool = False) -> None:
            self._tell(Step(attempt_id, STEP, said, time.monotonic() - began_at, is_done))

        with self._holding(place):
            was_there = await asyncio.to_thread(lambda: place.is_ready)
            if not was_there:
                try:
                    await self._builds.build(Order(place, inputs, request), attempt_id, tell)
                except EngineRejected:
                    tell(say("environment_failed", what=inputs.what), True)
                    raise
            await asyncio.to_thread(shelf.use, place, attempt_id)
        tell(say("environment_present" if was_there else "environment_ready", what=inputs.what), True)
        return place

    @contextmanager
    def _holding(self, place: Place) -> Iterator[None]:
        self._held[place.target] += 1
        try:
            yield
        finally:
            self._held[place.target] -= 1

    def _is_held(self, place: Place) -> bool:
        return self._held[place.target] > 0 or place.target in self._builds.places

    async def all(self, known_attempts: Container[str]) -> list[BuiltEnvironment]:
        ready = await asyncio.to_thread(lambda: [built for _, built in self._described(known_attempts)])
        building = {one.id: one for one in self._builds.described()}
        return [*building.values(), *(one for one in ready if one.id not in building)]

    async def log_of(self, environment_id: str) -> str:
        places = await asyncio.to_thread(lambda: list(shelf.places(self._home)))
        place = next((one for one in places if one.key == environment_id), None)
        if place is None:
            raise NotFound("no_such_environment", environment=environment_id[:64])
        return await asyncio.to_thread(self._builds.log_of, place)

    def _described(self, known_attempts: Container[str]) -> Iterator[tuple[Place, BuiltEnvironment]]:
        for place in shelf.places(self._home):
            if (built := shelf.describe(place, known_attempts)) is not None:
                yield place, built

    async def remove(self, environment_id: str, known_attempts: Container[str]) -> None:
        for building in self._builds.described():
            if building.id == environment_id:
                n_jobs = len(building.attempts)
                raise Conflict("environment_in_use", environment=environment_id, n_jobs=n_jobs)
        found = await asyncio.to_thread(lambda: dict(self._by_id(known_attempts)))
        if environment_id not in found:
            raise NotFound("no_such_environment", environment=environment_id[:64])
        place, built = found[environment_id]
        if built.attempts or self._is_held(place):
            n_jobs = max(1, len(built.attempts))
            raise Conflict("environment_in_use", environment=environment_id, n_jobs=n_jobs)
        await asyncio.to_thread(shelf.remove, place)

    def _by_id(self, known: Container[str]) -> Iterator[tuple[str, tuple[Place, BuiltEnvironment]]]:
        return ((built.id, (place, built)) for place, built in self._described(known))

    async def sweep(self, known_attempts: Container[str]) -> None:
        """Remove what nobody has used for long, what was left half built, and the oldest beyond the bound."""
        described = await asyncio.to_thread(lambda: list(self._described(known_attempts)))
        ready = {place.target for place, _ in described}
        for place in await asyncio.to_thread(lambda: list(shelf.places(self._home))):
            if place.target not in ready and not self._is_held(place):
                await asyncio.to_thread(_remove_half_built, place)
        await self._remove_caches()
        idle = [(place, built) for place, built in described if not built.attempts]
        idle.sort(key=lambda pair: pair[1].used_at)
        total = sum(built.size_bytes for _, built in described)
        for place, built in idle:
            is_old = time.time() - built.used_at > self._settings.kept_s
            if (is_old or total > self._settings.most_bytes) and not self._is_held(place):
                await asyncio.to_thread(shelf.remove, place)
                total -= built.size_bytes

    async def _remove_caches(self) -> None:
        """Remove what uv keeps for people whose environments nobody builds now, where it takes too much."""
        building = {target.parent for target in self._builds.places}
        for person in await asyncio.to_thread(shelf.people, self._home):
            cache = person / "files" / shelf.CACHE
            if cache.parent in building:
                continue
            if await asyncio.to_thread(size_of, cache) > self._settings.most_bytes // 4:
                await asyncio.to_thread(remove_tree, cache)

    async def close(self) -> None:
        await self._builds.close()


def _remove_half_built(place: Place) -> None:
    if not shelf.goes_on(place):
        shelf.remove(place)


def _image_of(task: LocalTask) -> str:
    return task["image"] if task["in_container"] else ""


def led(packages: Packages) -> str | None:
    """Name the folder with the environment that a job was led to, which its tasks must see."""
    found = shelf.led_to(Path(packages["link"]))
    return str(found.parent) if found is not None else None
