"""Bringing data to this machine: shared, bounded, whole or not at all."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.messages import Message
from footplate.domain.storage import Storage, StorageKind
from footplate.engines.base import Step
from footplate.engines.local.data import fetching
from footplate.engines.local.data.cache import Cache
from footplate.engines.local.data.settings import DataSettings
from footplate.engines.local.data.staging import Staging
from footplate.engines.local.exchange import LocalRequest
from footplate.storages.base import Entry, Files, Source
from footplate.storages.folder import FolderFiles
from footplate.testing.bucket import KEY, BucketServer, running_bucket_server

SETS = Storage("sets", kind=StorageKind.S3, bucket="b")
EVERYTHING = ("",)


class Counted(FolderFiles):
    """A storage that counts what is opened, and can be made to wait, to fail or to lie."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.opened: list[str] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.is_asked = threading.Event()
        self.faults: list[OSError] = []

    def open(self, path: str, entry: Entry | None = None) -> Source:
        self.opened.append(path)
        self.is_asked.set()
        assert self.may_go_on.wait(30)
        if self.faults:
            raise self.faults.pop()
        return super().open(path, entry)


class Bench:
    def __init__(self, folder: Path, files: Files, storage: Storage = SETS, **settings: Any) -> None:
        self.home = folder / "home"
        self.steps: list[Step] = []
        self.asked: list[tuple[str, str]] = []
        self.staging = Staging(self.home, DataSettings(**settings), self.steps.append)

        async def find(attempt_id: str, name: str) -> tuple[Storage, Files]:
            self.asked.append((attempt_id, name))
            return storage, files

        self.staging.use_storages(find)

    async def provide(self, attempt_id: str, inner: str = "", target: str = "/data") -> Path:
        """Stage something, and say where tasks would find it."""
        led = await self.staging.provide(request(attempt_id, inner, target))
        (mount,) = led["mounts"]
        assert mount["read_only"]
        return Path(mount["source"], mount["inner"])

    @property
    def said(self) -> list[Message]:
        return [step.said for step in self.steps if step.is_done]

    def copies(self) -> int:
        return sum(len(files) for _, _, files in os.walk(self.home / "staged" / "files"))


def request(attempt_id: str, inner: str, target: str = "/data") -> LocalRequest:
    mount = {"source": "", "inner": inner, "is_fixed": True, "target": target, "read_only": True}
    return {"attempt_id": attempt_id, "mounts": [{**mount, "staged": "sets"}]}  # type: ignore[typeddict-item]


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await asyncio.wait_for(test(), 60)

    asyncio.run(whole())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "train" / "deep").mkdir(parents=True)
    (root / "train" / "one.csv").write_text("1\n")
    (root / "train" / "deep" / "two.csv").write_text("2\n")
    (root / "train" / "notes.txt").write_text("notes\n")
    (root / "test.csv").write_text("3\n")
    return root


@pytest.fixture
def files(root: Path) -> Counted:
    return Counted(root)


def names(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_a_folder_a_file_and_a_pattern_are_found_by_what_they_name(tmp_path: Path, files: Counted) -> None:
    bench = Bench(tmp_path, files)

    async def test() -> None:
        whole = await bench.provide("a.0", "train")
        assert names(whole) == ["deep/two.csv", "notes.txt", "one.csv"]
        assert (await bench.provide("b.0", "train/one.csv")).read_text() == "1\n"
        assert names(await bench.provide("c.0", "train/*.csv")) == ["one.csv"]
        assert names(await bench.provide("d.0", "train/**/*.csv")) == ["deep/two.csv", "one.csv"]
        assert names(await bench.provide("e.0", "")) == [
            "test.csv",
            "train/deep/two.csv",
            "train/notes.txt",
            "train/one.csv",
        ]

    run(test)
    assert [said.params["n_files"] for said in bench.said] == [3, 1, 1, 2, 4]
    # Each file was fetched once, whatever it was part of.
    assert sorted(files.opened) == ["test.csv", "train/deep/two.csv", "train/notes.txt", "train/one.csv"]


def test_who_asks_for_what_is_being_fetched_waits_for_the_same_copy(tmp_path: Path, files: Counted) -> None:
    bench = Bench(tmp_path, files)
    files.may_go_on.clear()

    async def test() -> None:
        first = asyncio.create_task(bench.provide("a.0", "train"))
        await asyncio.to_thread(files.is_asked.wait, 30)
        second = asyncio.create_task(bench.provide("b.0", "train"))
        while len(bench.asked) < 2:
            await asyncio.sleep(0)
        files.may_go_on.set()
        assert await first == await second

    run(test)
    assert len(files.opened) == 3


def test_one_who_leaves_does_not_end_what_another_waits_for(tmp_path: Path, files: Counted) -> None:
    bench = Bench(tmp_path, files)
    files.may_go_on.clear()

    async def test() -> None:
        first = asyncio.create_task(bench.provide("a.0", "train"))
        second = asyncio.create_task(bench.provide("b.0", "train"))
        await asyncio.to_thread(files.is_asked.wait, 30)
        while len(bench.asked) < 2 or not bench.staging._fetches:
            await asyncio.sleep(0.001)
        bench.staging.abandon("a.0")
        with pytest.raises(EngineUnavailable):
            await first
        files.may_go_on.set()
        assert names(await second) == ["deep/two.csv", "notes.txt", "one.csv"]

    run(test)


def test_one_who_comes_while_a_fetch_is_being_ended_has_one_of_its_own(
    tmp_path: Path, files: Counted
) -> None:
    bench = Bench(tmp_path, files)
    files.may_go_on.clear()

    async def test() -> None:
        first = asyncio.create_task(bench.provide("a.0", "train"))
        await asyncio.to_thread(files.is_asked.wait, 30)
        bench.staging.abandon("a.0")
        with pytest.raises(EngineUnavailable):
            await first
        second = asyncio.create_task(bench.provide("b.0", "train"))
        # Time enough to find what is being ended; it would have joined that.
        await asyncio.wait([second], timeout=0.3)
        files.may_go_on.set()
        assert names(await second) == ["deep/two.csv", "notes.txt", "one.csv"]

    run(test)


def test_a_stop_ends_the_fetch_and_leaves_nothing_half(tmp_path: Path, files: Counted) -> None:
    bench = Bench(tmp_path, files)
    files.may_go_on.clear()

    async def test() -> None:
        fetching_ = asyncio.create_task(bench.provide("a.0", "train"))
        await asyncio.to_thread(files.is_asked.wait, 30)
        bench.staging.abandon("a.0")
        with pytest.raises(EngineUnavailable) as raised:
            await fetching_
        assert raised.value.said.code == "data_not_wanted"
        files.may_go_on.set()
        while bench.staging._fetches:
            await asyncio.sleep(0.001)

    run(test)
    trees = bench.home / "staged" / "trees"
    assert not trees.exists() or not list(trees.iterdir())
    assert not list(bench.home.rglob("*.part"))


@pytest.mark.parametrize(
    ("inner", "fault", "kind", "code"),
    [
        ("nothing", None, EngineRejected, "storage_has_no"),
        ("train/*.parquet", None, EngineRejected, "data_no_match"),
        ("train", PermissionError(errno.EACCES, "no"), EngineRejected, "data_refused"),
        ("train", OSError(errno.EIO, "the server is away"), EngineUnavailable, "data_not_read"),
        ("train", OSError(errno.ENOSPC, "full"), EngineUnavailable, "data_disk_full"),
    ],
)
def test_a_failure_says_whose_it_is(
    tmp_path: Path, files: Counted, inner: str, fault: OSError | None, kind: type, code: str
) -> None:
    bench = Bench(tmp_path, files)
    files.faults = [fault] if fault else []

    async def test() -> None:
        with pytest.raises(kind) as raised:
            await bench.provide("a.0", inner)
        assert raised.value.said.code == code

    run(test)


def test_what_changes_while_it_is_read_is_listed_and_read_again(tmp_path: Path, files: Counted) -> None:
    bench = Bench(tmp_path, files)
    files.faults = [OSError(errno.EAGAIN, "changed")]

    async def test() -> None:
        assert names(await bench.provide("a.0", "train")) == ["deep/two.csv", "notes.txt", "one.csv"]

    run(test)
    assert len(bench.asked) == 2


def test_data_that_has_no_room_is_not_fetched(tmp_path: Path, files: Counted) -> None:
    bench = Bench(tmp_path, files, least_free_bytes=2**62)

    async def test() -> None:
        with pytest.raises(EngineUnavailable) as raised:
            await bench.provide("a.0", "train")
        assert raised.value.said.code == "data_no_room"

    run(test)
    assert files.opened == []


def test_a_changed_file_is_fetched_and_the_others_are_not(tmp_path: Path, root: Path, files: Counted) -> None:
    bench = Bench(tmp_path, files)

    async def test() -> None:
        before = await bench.provide("a.0", "train")
        (root / "train" / "one.csv").write_text("one\n")
        files.opened.clear()
        after = await bench.provide("b.0", "train")
        assert (before / "one.csv").read_text() == "1\n"
        assert (after / "one.csv").read_text() == "one\n"

    run(test)
    assert files.opened == ["train/one.csv"]


def test_what_an_attempt_has_is_not_asked_for_again(tmp_path: Path, files: Counted) -> None:
    """A server that is started again while its storage is away finds what its tasks use."""
    bench = Bench(tmp_path, files)

    async def test() -> None:
        here = await bench.provide("a.0", "train")
        again = Bench(tmp_path, files)
        assert await again.provide("a.0", "train") == here
        assert again.asked == []

    run(test)


def test_the_sweep_keeps_what_is_used_and_removes_what_is_old(tmp_path: Path, files: Counted) -> None:
    bench = Bench(tmp_path, files, kept_s=0.0)

    async def test() -> None:
        used = await bench.provide("a.0", "train")
        old = await bench.provide("b.0", "test.csv")
        await bench.staging.sweep({"a.0"})
        assert names(used) == ["deep/two.csv", "notes.txt", "one.csv"]
        assert not old.exists()
        assert bench.copies() == 3
        await bench.staging.sweep(set())
        assert bench.copies() == 0

    run(test)


def test_the_oldest_go_while_all_take_more_than_they_may(tmp_path: Path, root: Path, files: Counted) -> None:
    for name in ("first", "second"):
        (root / name).write_bytes(b"x" * 1000)
    bench = Bench(tmp_path, files, most_bytes=1500)

    async def test() -> None:
        first = await bench.provide("a.0", "first")
        os.utime(first.parent, (1, 2**31))
        second = await bench.provide("b.0", "second")
        os.utime(second.parent, (1, 2**31 + 1))
        await bench.staging.sweep(set())
        assert not first.exists()
        assert second.exists()

    run(test)


def test_a_sweep_takes_nothing_that_is_being_fetched(tmp_path: Path, files: Counted) -> None:
    bench = Bench(tmp_path, files, kept_s=0.0)
    files.may_go_on.clear()

    async def test() -> None:
        fetch = asyncio.create_task(bench.provide("a.0", "train"))
        await asyncio.to_thread(files.is_asked.wait, 30)
        await bench.staging.sweep({"a.0"})
        files.may_go_on.set()
        assert len(names(await fetch)) == 3

    run(test)


@pytest.fixture(scope="module")
def buckets() -> Any:
    with running_bucket_server() as server:
        yield server


def test_a_large_object_of_a_bucket_comes_by_ranges_and_is_what_it_was(
    tmp_path: Path, buckets: BucketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from footplate.storages.s3 import open_bucket

    monkeypatch.setattr(fetching, "RANGE_BYTES", 64 * 1024)
    storage = Storage(
        "sets", kind=StorageKind.S3, endpoint=buckets.url, bucket=buckets.new_bucket(), read_only=False
    )
    bucket = open_bucket(storage, KEY, tmp_path / "spool")
    content = os.urandom(1_000_003)
    with bucket.batch() as batch:
        batch.write("sets/large.bin", content, False)
        batch.write("sets/empty", b"", False)
    bench = Bench(tmp_path, bucket, storage)

    async def test() -> None:
        here = await bench.provide("a.0", "sets")
        assert (here / "large.bin").read_bytes() == content
        assert (here / "empty").read_bytes() == b""
        assert names(here) == ["empty", "large.bin"]

    run(test)


def test_two_storages_share_no_copy(tmp_path: Path, files: Counted) -> None:
    """Equal names and tags on two storages say nothing about each other."""
    other = Storage("others", kind=StorageKind.S3, bucket="c")
    bench, theirs = Bench(tmp_path, files), Bench(tmp_path, files, other)

    async def test() -> None:
        assert await bench.provide("a.0", "train") != await theirs.provide("b.0", "train")

    run(test)
    assert len(files.opened) == 6


def test_a_sweep_looks_at_each_copy_a_fixed_number_of_times(
    tmp_path: Path, root: Path, files: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_listings, listed = 0, Cache._files

    def counted(cache: Cache) -> Iterator[tuple[Path, os.stat_result]]:
        nonlocal n_listings
        n_listings += 1
        return listed(cache)

    bench = Bench(tmp_path, files, kept_s=0.0)

    async def test() -> None:
        for name in "abcdef":
            (root / name).write_bytes(b"x" * 1000)
            await bench.provide(f"{name}.0", name)
        monkeypatch.setattr(Cache, "_files", counted)
        await bench.staging.sweep({"a.0"})
        assert bench.copies() == 1

    run(test)
    assert n_listings == 2
