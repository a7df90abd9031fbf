"""Archives of a job's files: whole, harmless, and no burden to the rest of the server."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
import threading
from pathlib import Path

import pytest

from footplate.services.files import _has_files, _Whole, archive
from footplate.testing.engine_bench import until


async def fetch(folder: Path) -> dict[str, tarfile.TarInfo]:
    data = b"".join([chunk async for chunk in archive(folder, "a")])
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {entry.name: entry for entry in tar}


def writers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "footplate-files"]


def test_files_folders_and_links_are_in_the_archive_and_nothing_that_links_lead_to(tmp_path: Path) -> None:
    folder = tmp_path / "output"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file").write_text("content")
    (folder / "link").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    found = asyncio.run(fetch(folder))
    assert sorted(found) == ["a/link", "a/sub", "a/sub/file"]
    assert (found["a/link"].linkname, found["a/sub/file"].size) == ("/etc", 7)


def test_a_link_in_place_of_the_folder_gives_nothing_of_what_it_leads_to(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "secret").touch()
    (tmp_path / "output").symlink_to(hidden)
    assert not _has_files(tmp_path / "output")
    with pytest.raises(NotADirectoryError):
        asyncio.run(fetch(tmp_path / "output"))


def test_a_file_that_shrinks_meanwhile_does_not_spoil_the_archive() -> None:
    assert _Whole(io.BytesIO(b"123")).read(8) == b"123" + bytes(5)


def test_readers_that_are_slow_or_go_away_hold_up_nobody_else(tmp_path: Path) -> None:
    folder = tmp_path / "output"
    folder.mkdir()
    (folder / "noise").write_bytes(os.urandom(8 * 1024**2))

    async def main() -> None:
        slow = [archive(folder, "a") for _ in range(40)]
        for reader in slow:
            await anext(reader)
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(lambda: "done") == "done"
        for reader in slow:
            await reader.aclose()  # type: ignore[attr-defined]  # a generator

        async def gone() -> bool | None:
            return not writers() or None

        await until(gone)

    asyncio.run(main())


def test_what_packs_to_nearly_nothing_is_sent_too(tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / f"{number:0200}").touch()
    found = asyncio.run(asyncio.wait_for(fetch(tmp_path), 20))
    assert len(found) == 3000
