"""Images that came with a login: known by name and id, after a restart and a crash too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.secret import RegistryLogin
from footplate.engines.local.containers.api import ContainerApi, Document
from footplate.engines.local.containers.guarded import FILE
from footplate.engines.local.containers.images import Images
from footplate.engines.local.containers.references import full_name

PRIVATE = "hub.example.com/team/train:1"
ID = "sha256:" + "ab12" * 16
LOGIN = RegistryLogin("hub.example.com", "ann", "sesame")


class FakeEngine:
    """Knows images by every name of theirs; its registry hands out `PRIVATE` for a login only."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.pulled: list[tuple[str, bool]] = []

    async def image(self, reference: str) -> Document | None:
        found = self.names.get(reference)
        if found is None:
            found = next((one for one in self.names.values() if one[7:].startswith(reference[:12])), None)
        if found is None:
            return None
        return {"Id": found, "RepoTags": [name for name, one in self.names.items() if one == found]}

    async def pull(self, name: str, tag: str, login: RegistryLogin | None) -> AsyncIterator[Document]:
        self.pulled.append((f"{name}:{tag}", login is not None))
        if login is None:
            yield {"error": "unauthorized: authentication required"}
        self.names[f"{name}:{tag}"] = ID


def ensure(engine: FakeEngine, home: Path, image: str, login: RegistryLogin | None = None) -> bool:
    """Do what a server that was just started does for its first job."""

    async def find() -> RegistryLogin | None:
        return login

    async def main() -> bool:
        return await Images(home).ensure(cast("ContainerApi", engine), image, find, lambda _said: None)

    return asyncio.run(main())


def refused(engine: FakeEngine, home: Path, image: str) -> str:
    with pytest.raises(EngineRejected) as caught:
        ensure(engine, home, image)
    return caught.value.message


def test_an_image_that_came_with_a_login_is_asked_for_again_by_everybody(tmp_path: Path) -> None:
    engine = FakeEngine()
    assert ensure(engine, tmp_path, PRIVATE, LOGIN)
    assert ensure(engine, tmp_path, PRIVATE, LOGIN)
    assert "image_credentials" in refused(engine, tmp_path, PRIVATE)
    assert engine.pulled == [(PRIVATE, True), (PRIVATE, True), (PRIVATE, False)]
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["localhost/mine:1", ID[7:], ID[7:19]])
def test_another_name_opens_no_image_that_came_with_a_login(tmp_path: Path, name: str) -> None:
    engine = FakeEngine()
    ensure(engine, tmp_path, PRIVATE, LOGIN)
    engine.names["localhost/mine:1"] = ID
    assert "image_credentials" in refused(engine, tmp_path, name)


def test_a_pull_that_the_server_did_not_see_the_end_of_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"pulling": [PRIVATE]}))
    engine = FakeEngine()
    engine.names = {PRIVATE: ID}
    refused(engine, tmp_path, PRIVATE)
    engine.names["localhost/mine:1"] = ID
    refused(engine, tmp_path, "localhost/mine:1")


def test_an_image_that_was_here_before_a_login_brought_it_again_stays_open(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.names["localhost/base:1"] = ID
    ensure(engine, tmp_path, PRIVATE, LOGIN)
    assert not ensure(engine, tmp_path, "localhost/base:1")
    refused(engine, tmp_path, PRIVATE)


def test_a_pull_that_failed_leaves_nothing_guarded(tmp_path: Path) -> None:
    engine = FakeEngine()

    async def fail(*_words: Any) -> AsyncIterator[Document]:
        yield {"error": "manifest unknown"}

    engine.pull = fail  # type: ignore[method-assign]
    with pytest.raises(EngineRejected):
        ensure(engine, tmp_path, "hub.example.com/base:2", LOGIN)
    assert json.loads((tmp_path / FILE).read_text()) == {"references": [], "ids": [], "pulling": []}


def test_a_damaged_record_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("[")
    engine = FakeEngine()
    engine.names = {PRIVATE: ID}
    with pytest.raises(EngineUnavailable, match=FILE):
        ensure(engine, tmp_path, PRIVATE)


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("python", "docker.io/library/python:latest"),
        ("team/train:2", "docker.io/team/train:2"),
        ("localhost/busybox:1", "localhost/busybox:1"),
        ("hub:5000/train", "hub:5000/train:latest"),
        ("hub:5000/train@sha256:12", "hub:5000/train@sha256:12"),
    ],
)
def test_short_names_mean_what_engines_take_them_for(short: str, whole: str) -> None:
    assert full_name(short) == whole


def test_an_absent_image_of_this_machine_is_looked_for_nowhere_else(tmp_path: Path) -> None:
    engine = FakeEngine()
    assert "localhost/nosuch:9 is not on this machine" in refused(engine, tmp_path, "localhost/nosuch:9")
    assert engine.pulled == []


def test_names_of_images_that_nobody_waits_for_are_forgotten(tmp_path: Path) -> None:
    async def find() -> RegistryLogin | None:
        return LOGIN

    async def main() -> None:
        images = Images(tmp_path)
        for name in ("hub.example.com/a:1", "hub.example.com/b:1"):
            await images.ensure(cast("ContainerApi", FakeEngine()), name, find, lambda _said: None)
        assert not images._locks

    asyncio.run(main())
