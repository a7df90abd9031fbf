"""Uploaded archives: whole and harmless ones are kept, everything else is refused."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import random
import stat
import struct
import tarfile
import zipfile
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidInput, TooLarge
from footplate.engines.local.code import unpack
from footplate.store import blobs
from footplate.store.blobs import Blobs, check_archive

Build = Callable[[tarfile.TarFile], None]


def add_file(archive: tarfile.TarFile, name: str, content: bytes = b"x", **fields: object) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    for field, value in fields.items():
        setattr(entry, field, value)
    archive.addfile(entry, io.BytesIO(content))


def add_link(archive: tarfile.TarFile, name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mode = kind, target, 0o755
    archive.addfile(entry)


def add_special(archive: tarfile.TarFile, kind: bytes) -> None:
    entry = tarfile.TarInfo("special")
    entry.type = kind
    archive.addfile(entry)


def tar(*builds: Build, mode: str = "w:gz") -> bytes:
    """An archive made by some functions over it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for build in builds:
            build(archive)
    return out.getvalue()


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def zipped_as(name: str) -> bytes:
    return zipped(**{name: b"x"})


def save(store: Blobs, content: bytes, expected: str = "", chunk: int = 1000) -> tuple[str, int]:
    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(content), chunk):
            yield content[start : start + chunk]

    return asyncio.run(store.save(chunks(), expected))


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


CODE = (
    lambda archive: add_file(archive, "train.py", b"print(1)", mode=0o755),
    lambda archive: add_file(archive, "pkg/data.txt", b"digits" * 1000),
    lambda archive: add_link(archive, "pkg/again.txt", "data.txt"),
    lambda archive: add_link(archive, "pkg/up.py", "../train.py"),
    lambda archive: add_link(archive, "hard.py", "train.py", tarfile.LNKTYPE),
)


@pytest.fixture
def kept(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_archive_is_kept_and_unpacked_as_it_was(kept: Blobs, tmp_path: Path, mode: str) -> None:
    content = tar(*CODE, mode=mode)
    name, size = save(kept, content)
    assert (name, size) == (f"sha256:{hashlib.sha256(content).hexdigest()}", len(content))
    path = kept.path(name)
    assert path is not None
    unpack(path, tmp_path / "code")
    assert files_below(tmp_path / "code") == [
        "hard.py",
        "pkg/again.txt",
        "pkg/data.txt",
        "pkg/up.py",
        "train.py",
    ]
    assert (tmp_path / "code/pkg/up.py").read_bytes() == b"print(1)"
    assert (tmp_path / "code/train.py").stat().st_mode & stat.S_IXUSR


def test_a_zip_archive_is_kept_and_unpacked_as_it_was(kept: Blobs, tmp_path: Path) -> None:
    name, _ = save(kept, zipped(**{"train.py": b"print(1)", "pkg/a.txt": b"a" * 5000}))
    path = kept.path(name)
    assert path is not None
    unpack(path, tmp_path / "code")
    assert files_below(tmp_path / "code") == ["pkg/a.txt", "train.py"]


def test_the_same_archive_twice_is_kept_once(kept: Blobs, tmp_path: Path) -> None:
    assert save(kept, tar(*CODE, mode="w")) == save(kept, tar(*CODE, mode="w"))
    assert len(files_below(tmp_path / "blobs")) == 1


def test_an_announced_digest_is_checked(kept: Blobs, tmp_path: Path) -> None:
    content = tar(*CODE)
    digest = hashlib.sha256(content).hexdigest()
    assert save(kept, content, f"sha256:{digest}")[0] == save(kept, content, digest)[0]
    with pytest.raises(InvalidInput, match="digest"):
        save(kept, tar(mode="w"), f"sha256:{digest}")
    assert len(files_below(tmp_path / "blobs")) == 1


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "sha256:",
        "sha256:" + "g" * 64,
        "../../etc/passwd",
        "sha256:" + "0" * 64,
        "sha256:" + "0" * 63 + "\n",
    ],
)
def test_an_unknown_or_malformed_digest_names_no_upload(kept: Blobs, digest: str) -> None:
    assert kept.path(digest) is None


HOSTILE_TARS: dict[str, tuple[Build, ...]] = {
    "an absolute name": (lambda a: add_file(a, "/etc/evil"),),
    "a name that climbs": (lambda a: add_file(a, "../evil"),),
    "a name that climbs later": (lambda a: add_file(a, "a/../../evil"),),
    "a name that climbs by backslashes": (lambda a: add_file(a, "..\\evil"),),
    "a name with a drive": (lambda a: add_file(a, "C:evil"),),
    "a folder outside": (lambda a: add_file(a, "../evil/", b"", type=tarfile.DIRTYPE),),
    "a link to an absolute path": (lambda a: add_link(a, "link", "/etc/passwd"),),
    "a link that climbs out": (lambda a: add_link(a, "link", "../evil"),),
    "a link that climbs out of a folder": (lambda a: add_link(a, "a/link", "../../evil"),),
    "a link that climbs after a name": (lambda a: add_link(a, "a/link", "b/../../../evil"),),
    "a hard link outside": (lambda a: add_link(a, "link", "../evil", tarfile.LNKTYPE),),
    "a hard link to an absolute path": (lambda a: add_link(a, "link", "/etc/passwd", tarfile.LNKTYPE),),
    "a file below a link": (lambda a: add_link(a, "d", "e"), lambda a: add_file(a, "d/evil")),
    "a file above which a link comes later": (
        lambda a: add_file(a, "d/evil"),
        lambda a: add_link(a, "d", "e"),
    ),
    "links that climb out together": (
        lambda a: add_link(a, "x/y/root", "../.."),
        lambda a: add_link(a, "out", "x/y/root/.."),
        lambda a: add_file(a, "out/evil"),
    ),
    "a hard link that moves a link": (
        lambda a: add_link(a, "x/y/root", "../.."),
        lambda a: add_link(a, "out", "x/y/root", tarfile.LNKTYPE),
        lambda a: add_file(a, "out/evil"),
    ),
    "a device": (lambda a: add_special(a, tarfile.CHRTYPE),),
    "a block device": (lambda a: add_special(a, tarfile.BLKTYPE),),
    "a pipe": (lambda a: add_special(a, tarfile.FIFOTYPE),),
}


@pytest.mark.parametrize("trick", HOSTILE_TARS)
def test_a_tar_that_would_leave_its_folder_is_refused(kept: Blobs, tmp_path: Path, trick: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        save(kept, tar(*HOSTILE_TARS[trick]))
    assert refused.value.problems[0].path == "code"
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("name", ["/etc/evil", "../evil", "a/../../evil", "..\\evil", "C:\\evil"])
def test_a_zip_that_would_leave_its_folder_is_refused(kept: Blobs, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="leave the folder"):
        save(kept, zipped_as(name))
    assert files_below(tmp_path) == []


def _encrypted() -> bytes:
    """A zip whose only entry claims to be encrypted, in its own header and in the directory."""
    content = bytearray(zipped(secret=b"x"))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def _with_unknown_compression() -> bytes:
    content = bytearray(zipped(odd=b"x" * 100))
    struct.pack_into("<H", content, 8, 97)
    struct.pack_into("<H", content, content.index(b"PK\x01\x02") + 10, 97)
    return bytes(content)


DAMAGED: dict[str, bytes] = {
    "nothing": b"",
    "text": b"just some text, no archive at all",
    "noise": random.Random(7).randbytes(5000),
    "a gzip that ends early": tar(*CODE)[:-200],
    "a gzip of nothing": gzip.compress(b""),
    "a gzip of text": gzip.compress(b"hello" * 1000),
    "a tar that ends early": tar(*CODE, mode="w")[:4000],
    "an xz that ends early": tar(*CODE, mode="w:xz")[:200],
    "a zip that ends early": zipped(a=b"a" * 9000)[:-40],
    "an encrypted zip": _encrypted(),
    "a zip of unknown compression": _with_unknown_compression(),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_archive_is_refused(kept: Blobs, tmp_path: Path, damage: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        save(kept, DAMAGED[damage])
    assert refused.value.problems[0].path == "code"
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("kind", ["w", "w:gz", "w:bz2", "w:xz", "zip"])
def test_no_flipped_byte_makes_anything_but_a_refusal_or_an_archive_that_unpacks(
    tmp_path: Path, kind: str
) -> None:
    content = zipped(a=b"abc" * 500, b=b"d" * 100) if kind == "zip" else tar(*CODE, mode=kind)
    chance = random.Random(kind)
    path = tmp_path / "archive"
    for number in range(60):
        damaged = bytearray(content)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            check_archive(path)
        except InvalidInput:
            continue
        unpack(path, tmp_path / f"code-{number}")
    assert {one.name.split("-")[0] for one in tmp_path.iterdir()} <= {"archive", "code"}


def test_an_archive_above_the_bound_is_refused_and_leaves_nothing(
    kept: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "MAX_ARCHIVE_BYTES", 1000)
    with pytest.raises(TooLarge, match="1000B"):
        save(kept, random.Random(1).randbytes(1001), chunk=100)
    assert files_below(tmp_path) == []


def test_an_archive_that_would_unpack_beyond_the_bound_is_refused(
    kept: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "MAX_UNPACKED_BYTES", 100_000)
    bomb = b"0" * 60_000
    save(kept, zipped(a=bomb))
    for content in (
        zipped(a=bomb, b=bomb),
        tar(*(partial(add_file, name=name, content=bomb) for name in "ab")),
    ):
        with pytest.raises(TooLarge, match="unpacks to more"):
            save(kept, content)


def test_an_archive_of_too_many_entries_is_refused(kept: Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "MAX_FILES", 10)
    with pytest.raises(TooLarge, match="more than 10 entries"):
        save(kept, zipped(**{f"f{n}": b"" for n in range(11)}))
    with pytest.raises(TooLarge, match="more than 10 entries"):
        save(kept, tar(*(partial(add_file, name=f"f{n}") for n in range(11))))


def test_an_oversized_header_is_refused_before_it_is_read(kept: Blobs) -> None:
    def bomb(archive: tarfile.TarFile) -> None:
        add_file(archive, "harmless")
        add_file(archive, "././@PaxHeader", b"0" * (blobs.MAX_HEADER_BYTES + 1), type=tarfile.XHDTYPE)

    with pytest.raises(TooLarge, match="header"):
        save(kept, tar(bomb))


def test_unpacking_makes_the_folder_whole_or_not_at_all(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(tar(*CODE, mode="w")[:4000])
    with pytest.raises(tarfile.TarError):
        unpack(archive, tmp_path / "code")
    assert files_below(tmp_path) == ["archive"]
    assert [path.name for path in tmp_path.iterdir()] == ["archive"]


def test_unpacking_again_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(tar(*CODE))
    unpack(archive, tmp_path / "code")
    (tmp_path / "code/train.py").write_text("changed by a task")
    unpack(archive, tmp_path / "code")
    assert (tmp_path / "code/train.py").read_text() == "changed by a task"


def test_a_folder_that_nobody_may_enter_is_made_enterable(tmp_path: Path) -> None:
    def closed(archive: tarfile.TarFile) -> None:
        add_file(archive, "closed", b"", type=tarfile.DIRTYPE, mode=0o000)
        add_file(archive, "closed/inside", mode=0o7777)

    archive = tmp_path / "archive"
    archive.write_bytes(tar(closed))
    unpack(archive, tmp_path / "code")
    assert stat.S_IMODE((tmp_path / "code/closed").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "code/closed/inside").stat().st_mode) == 0o755
