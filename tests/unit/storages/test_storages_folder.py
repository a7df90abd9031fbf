"""Folders as storages: nothing leads out of them, and a crash leaves the old or the new file."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidInput
from footplate.machine import beneath
from footplate.machine.beneath import LeadsOut, open_beneath, walk_beneath
from footplate.storages.base import EntryKind
from footplate.storages.folder import FolderFiles
from footplate.storages.parts import fresh_id
from footplate.storages.paths import HIDDEN, clean
from footplate.testing.process import await_that

SECRET = b"nobody may read this"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(SECRET)
    inside = tmp_path / "root"
    inside.mkdir()
    return inside


def put(files: FolderFiles, path: str, content: bytes = b"content") -> None:
    part_id = fresh_id()
    part = files.part(part_id, is_new=True)
    part.append(content)
    part.close()
    files.place(part_id, path, replaces=True)


@pytest.mark.parametrize(
    "target", ["../outside", "/etc", "{tmp}/outside", "inner/../../outside", "../root/../outside"]
)
def test_no_verb_follows_a_link_out(root: Path, target: str) -> None:
    (root / "inner").mkdir()
    (root / "out").symlink_to(target.format(tmp=root.parent))
    put(files := FolderFiles(root), "mine")
    before = sorted(path.name for path in (root.parent / "outside").iterdir())
    for ask in (
        lambda: files.stat("out/secret"),
        lambda: files.stat("out"),
        lambda: files.page("out", "", 10),
        lambda: list(files.walk("out")),
        lambda: files.open("out/secret"),
        lambda: put(files, "out/new"),
        lambda: files.make_folder("out/new"),
        lambda: files.move("mine", "out/mine", replaces=True),
        lambda: files.move("out/secret", "mine2", replaces=True),
        lambda: files.copy("out/secret", "mine2", replaces=True),
        lambda: files.remove("out/secret", recursive=True),
    ):
        with pytest.raises(LeadsOut):
            ask()
    assert sorted(path.name for path in (root.parent / "outside").iterdir()) == before
    (entry,) = [one for one in files.page("", "", 10).entries if one.name == "out"]
    assert (entry.kind, entry.is_link, entry.size_bytes) == (EntryKind.OTHER, True, 0)


def test_links_within_the_storage_are_followed_and_removed_as_links(root: Path) -> None:
    files = FolderFiles(root)
    put(files, "a/x", b"inside")
    (root / "link").symlink_to("a")
    assert files.stat("link/x").size_bytes == 6
    assert [one.name for one in files.page("link", "", 10).entries] == ["x"]
    files.remove("link", recursive=True)
    assert files.stat("a/x").size_bytes == 6


def test_writing_to_a_link_replaces_the_link(root: Path) -> None:
    files = FolderFiles(root)
    (root / "x").symlink_to("../outside/secret")
    put(files, "x", b"new")
    assert not (root / "x").is_symlink()
    assert (root.parent / "outside" / "secret").read_bytes() == SECRET


def test_a_walk_neither_follows_links_nor_counts_what_they_lead_to(root: Path) -> None:
    (root / "out").symlink_to("../outside")
    (root / "loop").symlink_to(".")
    assert {one.path: one.size_bytes for one in FolderFiles(root).walk("")} == {"loop": 0, "out": 0}


def test_pipes_and_devices_are_never_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    files = FolderFiles(root)
    assert files.stat("pipe").kind is EntryKind.OTHER
    with pytest.raises(PermissionError):
        files.open("pipe")


def test_what_is_being_written_is_not_for_others(root: Path) -> None:
    files = FolderFiles(root)
    files.part(fresh_id(), is_new=True).close()
    assert stat.S_IMODE((root / HIDDEN).stat().st_mode) == 0o700
    assert files.page("", "", 10).entries == []


def test_a_link_in_the_place_of_the_parts_is_not_followed(root: Path) -> None:
    (root / HIDDEN).symlink_to("../outside")
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        FolderFiles(root).part(fresh_id(), is_new=True)
    assert len(list((root.parent / "outside").iterdir())) == 1


def test_names_that_are_no_text_are_counted_and_left_out(root: Path) -> None:
    (Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe"))).write_text("")
    (root / "line\nbreak").write_text("")
    page = FolderFiles(root).page("", "", 10)
    assert (len(page.entries), page.n_unnamed) in ((1, 1), (0, 2))
    assert list(FolderFiles(root).walk("")) == list(page.entries)


def test_new_files_belong_to_the_owner_of_their_folder(root: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(root, 12345, 12346)
    files = FolderFiles(root)
    put(files, "a/x")
    with files.batch() as batch:
        batch.write("b/y", b"", is_executable=True)
    for path in ("a", "a/x", "b", "b/y"):
        status = (root / path).stat()
        assert (status.st_uid, status.st_gid) == (12345, 12346), path
    assert stat.S_IMODE((root / "b" / "y").stat().st_mode) == 0o755


def test_a_folder_of_the_servers_own_is_made_when_it_is_needed(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path / "deep" / "home", is_own=True)
    assert files.page("", "", 10).entries == []
    assert stat.S_IMODE((tmp_path / "deep" / "home").stat().st_mode) == 0o700
    with pytest.raises(FileNotFoundError):
        FolderFiles(tmp_path / "gone").page("", "", 10)


@pytest.fixture
def swapping(root: Path) -> Iterator[FolderFiles]:
    """A storage in which somebody swaps a folder for a link that leads out, as fast as they can."""
    over = threading.Event()
    (root / "real").mkdir()
    (root / "real" / "secret").write_bytes(b"inside")
    (root / "evil").symlink_to("../outside")

    def swap() -> None:
        while not over.is_set():
            for name in ("real", "evil"):
                # Whoever writes in between makes a folder of this name, which would stay for good.
                shutil.rmtree(root / "way", ignore_errors=True)
                with suppress(OSError):
                    (root / name).rename(root / "way")
                # Long enough for the others to meet it.
                over.wait(0.0005)
                with suppress(OSError):
                    (root / "way").rename(root / name)

    thread = threading.Thread(target=swap)
    thread.start()
    yield FolderFiles(root)
    over.set()
    thread.join()


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(swapping: FolderFiles, root: Path) -> None:
    seen: set[bytes] = set()
    n_led_out = n_read = 0

    def has_met_both() -> bool:
        nonlocal n_led_out, n_read
        for _ in range(100):
            try:
                source = swapping.open("way/secret")
                seen.add(source.read(0, 100))
                source.close()
                n_read += 1
            except LeadsOut:
                n_led_out += 1
            except OSError:
                pass
            with suppress(OSError):
                put(swapping, "way/new")
        return n_read >= 20 and n_led_out >= 20

    await_that(has_met_both)
    assert seen == {b"inside"}
    assert [path.name for path in (root.parent / "outside").iterdir()] == ["secret"]


@pytest.mark.parametrize("is_walked", [False, True])
@given(
    names=st.lists(
        st.sampled_from(["a", "b", "..", ".", "", "out", "loop", "in", "file", "ü", "%2e%2e", "..."]),
        max_size=8,
    ),
    begins_at_root=st.booleans(),
)
def test_no_path_whatever_reaches_the_outside(
    is_walked: bool, names: list[str], begins_at_root: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tmp_path_factory.getbasetemp() / f"property-{is_walked}"
    inside = top / "root"
    if not inside.exists():
        (inside / "a" / "b").mkdir(parents=True)
        (top / "secret").write_bytes(SECRET)
        (inside / "a" / "file").write_text("x")
        (inside / "out").symlink_to("..")
        (inside / "a" / "out").symlink_to("../../")
        (inside / "loop").symlink_to("loop")
        (inside / "in").symlink_to("a/b")
    path = ("/" if begins_at_root else "") + "/".join(names)
    root_fd = os.open(inside, os.O_PATH)
    opener = walk_beneath if is_walked else open_beneath
    try:
        fd = opener(root_fd, path, os.O_PATH)
    except OSError:
        return
    finally:
        os.close(root_fd)
    found = Path(f"/proc/self/fd/{fd}").readlink()
    os.close(fd)
    assert found.is_relative_to(inside)


@given(st.text(max_size=40))
def test_a_clean_path_has_only_names(path: str) -> None:
    try:
        cleaned = clean(path)
    except InvalidInput:
        return
    assert all(name not in ("", ".", "..") for name in cleaned.split("/")) or not cleaned
    assert clean(cleaned) == cleaned
    assert not cleaned.startswith("/")


@pytest.fixture
def old_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel, or a filter around this process, that offers no openat2."""
    monkeypatch.setattr(beneath, "_OPENAT2", 0xFFFF)


@pytest.mark.usefixtures("old_kernel")
def test_without_the_kernels_help_no_link_is_followed_at_all(root: Path) -> None:
    files = FolderFiles(root)
    put(files, "a/x", b"inside")
    assert files.stat("a/x").size_bytes == 6
    (root / "in").symlink_to("a")
    (root / "out").symlink_to("../outside")
    for path in ("in/x", "out/secret", "in", "out"):
        with pytest.raises(LeadsOut):
            files.stat(path)


WRITER = """
import sys
from pathlib import Path
from footplate.storages.folder import FolderFiles
from footplate.storages.parts import fresh_id
files, size = FolderFiles(Path(sys.argv[1])), 300_000
print("ready", flush=True)
number = 0
while True:
    number += 1
    part_id = fresh_id()
    part = files.part(part_id, is_new=True)
    for _ in range(3):
        part.append(bytes([number % 256]) * (size // 3))
    part.close()
    files.place(part_id, "x", replaces=True)
    with files.batch() as batch:
        batch.write("small", bytes([number % 256]) * 1000, is_executable=False)
"""


def test_a_killed_writer_leaves_the_old_or_the_new_file(root: Path) -> None:
    files = FolderFiles(root)
    for number in range(15):
        process = subprocess.Popen([sys.executable, "-c", WRITER, root], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        await_that(lambda: (root / "small").exists())
        # At another moment each time; what matters is only that it is any.
        threading.Event().wait(0.001 * number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for name, size in (("x", 300_000), ("small", 1000)):
            content = (root / name).read_bytes()
            assert (len(content), len(set(content))) == (size, 1)
        assert {one.name for one in files.page("", "", 10).entries} == {"x", "small"}
    files.sweep(time.time() + 60)
    assert list((root / HIDDEN).iterdir()) == []


# Files that are taken in as they are


def adopt(files: FolderFiles, file: Path, path: str) -> bool:
    with file.open("rb") as content:
        return files.adopt(content.fileno(), path, is_executable=False)


def test_a_file_of_the_same_disk_gets_a_second_name_and_takes_no_room(tmp_path: Path, root: Path) -> None:
    files, file = FolderFiles(root), tmp_path / "result"
    file.write_bytes(b"weights")
    file.chmod(0o600)
    (root / "old").write_bytes(b"before")
    assert adopt(files, file, "deep/new")
    assert (root / "deep" / "new").stat().st_ino == file.stat().st_ino
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    # Again, as after a crash: it is there already.
    assert adopt(files, file, "deep/new")
    file.unlink()
    assert (root / "deep" / "new").read_bytes() == b"weights"
    again = tmp_path / "again"
    again.write_bytes(b"after")
    assert adopt(files, again, "old")
    assert (root / "old").read_bytes() == b"after"
    assert list((root / HIDDEN).iterdir()) == []


def test_a_file_with_other_names_keeps_its_owner_and_is_left_to_be_copied(tmp_path: Path, root: Path) -> None:
    files, file = FolderFiles(root), tmp_path / "result"
    file.write_bytes(b"weights")
    file.chmod(0o600)
    (tmp_path / "somebody-elses").hardlink_to(file)
    assert not adopt(files, file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not (root / "new").exists()


def test_a_file_of_another_disk_is_left_to_be_copied(root: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        file = Path(folder) / "result"
        file.write_bytes(b"weights")
        assert not adopt(FolderFiles(root), file, "new")
        assert not (root / "new").exists()


def test_what_is_adopted_cannot_take_the_place_of_a_folder_nor_lead_out(tmp_path: Path, root: Path) -> None:
    files, file = FolderFiles(root), tmp_path / "result"
    file.write_bytes(b"weights")
    (root / "folder").mkdir()
    (root / "out").symlink_to(tmp_path / "outside")
    with pytest.raises(IsADirectoryError):
        adopt(files, file, "folder")
    with pytest.raises(OSError, match=r"."):
        adopt(files, file, "out/new")
    assert not (tmp_path / "outside" / "new").exists()
