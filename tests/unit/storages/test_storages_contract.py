"""What every kind of storage guarantees."""

from __future__ import annotations

import hashlib
import time

import pytest

from footplate.storages.base import Entry, EntryKind, Files
from footplate.storages.parts import fresh_id


def put(files: Files, path: str, content: bytes = b"content", replaces: bool = True) -> Entry:
    part_id = fresh_id()
    part = files.part(part_id, is_new=True)
    part.append(content)
    part.close()
    return files.place(part_id, path, replaces=replaces)


def read(files: Files, path: str) -> bytes:
    source = files.open(path)
    try:
        return source.read(0, 10**6)
    finally:
        source.close()


def names(files: Files, path: str = "") -> list[str]:
    return [entry.name for entry in files.page(path, "", 1000).entries]


def test_an_empty_storage_has_a_root_and_nothing_in_it(files: Files) -> None:
    assert files.stat("").is_folder
    assert names(files) == []
    assert list(files.walk("")) == []


def test_what_is_written_is_read_listed_and_walked_through(files: Files) -> None:
    made = put(files, "a/b c/ü%.txt", b"hello")
    assert (made.path, made.kind, made.size_bytes) == ("a/b c/ü%.txt", EntryKind.FILE, 5)
    assert read(files, "a/b c/ü%.txt") == b"hello"
    put(files, "a/z")
    walked = {entry.path: entry for entry in files.walk("")}
    assert sorted(walked) == ["a", "a/b c", "a/b c/ü%.txt", "a/z"]
    assert [path for path in walked if walked[path].is_folder] == ["a", "a/b c"]
    assert list(walked).index("a/b c") < list(walked).index("a/b c/ü%.txt")
    assert [entry.path for entry in files.walk("a/b c")] == ["a/b c/ü%.txt"]
    assert names(files, "a") == ["b c", "z"]


def test_ranges_are_read(files: Files) -> None:
    put(files, "x", b"0123456789")
    source = files.open("x")
    assert [source.read(offset, 3) for offset in (0, 3, 9, 10, 2)] == [b"012", b"345", b"9", b"", b"234"]
    source.close()


def test_pages_have_every_name_once_in_order(files: Files) -> None:
    with files.batch() as batch:
        for number in range(7):
            batch.write(f"d/{number}", b"", is_executable=False)
        batch.write("d/deep/x", b"", is_executable=False)
    first = files.page("d", "", 5)
    second = files.page("d", first.after, 5)
    assert [entry.name for entry in (*first.entries, *second.entries)] == [*"0123456", "deep"]
    assert second.after == ""


def test_a_file_is_replaced_or_refused_as_asked(files: Files) -> None:
    before = put(files, "x", b"old")
    with pytest.raises(FileExistsError):
        put(files, "x", b"new", replaces=False)
    assert read(files, "x") == b"old"
    after = put(files, "x", b"new")
    assert read(files, "x") == b"new"
    assert after.tag != before.tag


def test_a_part_goes_on_where_it_was_and_is_no_file_yet(files: Files) -> None:
    part_id = fresh_id()
    part = files.part(part_id, is_new=True)
    part.append(b"abcdef")
    part.close()
    again = files.part(part_id, is_new=False)
    assert again.size_bytes == 6
    again.truncate(3)
    again.append(b"DEF")
    again.close()
    assert names(files) == []
    assert list(files.walk("")) == []
    assert files.digest(part_id) == hashlib.sha256(b"abcDEF").hexdigest()
    files.place(part_id, "x", replaces=True)
    assert read(files, "x") == b"abcDEF"
    with pytest.raises(FileNotFoundError):
        files.part(part_id, is_new=False)


def test_parts_are_discarded_and_swept(files: Files) -> None:
    ids = [fresh_id(), fresh_id()]
    for part_id in ids:
        files.part(part_id, is_new=True).close()
    files.discard(ids[0])
    files.discard(ids[0])
    assert files.sweep(time.time() - 60) == 0
    assert files.sweep(time.time() + 60) == 1
    with pytest.raises(FileNotFoundError):
        files.part(ids[1], is_new=False)


@pytest.mark.parametrize("part_id", ["", "../x", "a/b", "A" * 32, "x" * 32, ".", "f" * 65])
def test_an_id_that_is_none_finds_nothing(files: Files, part_id: str) -> None:
    with pytest.raises(FileNotFoundError):
        files.part(part_id, is_new=True)


def test_folders_are_made_and_stay_when_empty(files: Files) -> None:
    assert files.make_folder("a/b").is_folder
    assert files.make_folder("a/b").is_folder
    with pytest.raises(FileExistsError):
        files.make_folder("a/b", is_new=True)
    assert names(files) == ["a"]
    assert names(files, "a") == ["b"]
    assert names(files, "a/b") == []
    assert files.stat("a/b").is_folder


def test_a_file_takes_no_folders_place_nor_a_folder_a_files(files: Files) -> None:
    put(files, "d/x")
    with pytest.raises(IsADirectoryError):
        put(files, "d")
    with pytest.raises(NotADirectoryError):
        files.make_folder("d/x")
    with pytest.raises(IsADirectoryError):
        files.open("d")
    with pytest.raises(NotADirectoryError):
        files.page("d/x", "", 10)


def test_what_is_not_there_is_not_found(files: Files) -> None:
    for ask in (
        lambda: files.stat("none"),
        lambda: files.page("none", "", 10),
        lambda: files.open("none"),
        lambda: files.move("none", "x", replaces=False),
        lambda: files.copy("none", "x", replaces=False),
        lambda: files.remove("none", recursive=True),
    ):
        with pytest.raises(FileNotFoundError):
            ask()


def test_files_and_folders_move_and_copy(files: Files) -> None:
    put(files, "a/1", b"one")
    put(files, "a/deep/2", b"two")
    assert files.move("a", "b/c", replaces=False).path == "b/c"
    assert read(files, "b/c/deep/2") == b"two"
    with pytest.raises(FileNotFoundError):
        files.stat("a")
    files.copy("b/c/1", "1", replaces=False)
    assert read(files, "1") == b"one"
    with pytest.raises(FileExistsError):
        files.copy("b/c/deep/2", "1", replaces=False)
    with pytest.raises(FileExistsError):
        files.move("b/c/deep/2", "1", replaces=False)
    files.move("b/c/deep/2", "1", replaces=True)
    assert read(files, "1") == b"two"


def test_a_folder_that_is_not_empty_is_removed_only_with_all_that_is_in_it(files: Files) -> None:
    put(files, "a/deep/2", b"two")
    files.make_folder("empty")
    files.remove("empty", recursive=False)
    with pytest.raises(OSError, match="not empty"):
        files.remove("a", recursive=False)
    files.remove("a", recursive=True)
    assert names(files) == []


def test_a_batch_writes_many_files_and_replaces(files: Files) -> None:
    put(files, "d/1", b"old")
    with files.batch() as batch:
        batch.write("d/1", b"new", is_executable=False)
        batch.write("d/e/2", b"two", is_executable=True)
        batch.write("3", b"", is_executable=False)
    assert [read(files, path) for path in ("d/1", "d/e/2", "3")] == [b"new", b"two", b""]


def test_a_large_file_arrives_whole(files: Files) -> None:
    content = bytes(range(256)) * 4096 * 20
    put(files, "large", content)
    source = files.open("large")
    held = bytearray()
    while piece := source.read(len(held), 1024**2):
        held += piece
    source.close()
    assert bytes(held) == content
