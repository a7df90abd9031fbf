"""Tars written and read by hand: Python's own reader and writer say the same."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.sdk.smallfiles import Batch, files_in, size_of
from footplate.services.smalltar import plain_files

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=120)
CONTENTS = st.tuples(st.binary(max_size=2000), st.booleans())
FILES = st.dictionaries(NAMES, CONTENTS, max_size=6)


# No file is called so that a slash comes last; readers differ in what they make of one.
@given(st.dictionaries(NAMES.filter(lambda name: not name.endswith("/")), CONTENTS, max_size=6))
def test_python_reads_what_a_batch_writes(files: dict[str, tuple[bytes, bool]]) -> None:
    batch = Batch()
    for name, (data, is_executable) in files.items():
        batch.add(name, data, is_executable)
    with tarfile.open(fileobj=io.BytesIO(batch.content()[0])) as tar:
        read = {one.name: (tar.extractfile(one).read(), bool(one.mode & 0o100)) for one in tar}  # type: ignore[union-attr]
    assert read == files


@given(FILES, st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]))
def test_what_is_found_is_what_python_finds(files: dict[str, tuple[bytes, bool]], kind: int) -> None:
    out = io.BytesIO()
    with tarfile.open(mode="w", fileobj=out, format=kind) as tar:
        for name, (data, is_executable) in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o755 if is_executable else 0o644
            try:
                tar.addfile(info, io.BytesIO(data))
            except ValueError:
                # This kind of tar cannot hold such a name.
                return
    content = out.getvalue()
    found = plain_files(content)
    if found is None:
        assert any(len(name.encode()) > 100 or name.endswith("/") or not name.isascii() for name in files)
        return
    read = {one.name: (content[one.start : one.start + one.size_bytes], one.is_executable) for one in found}
    assert read == files


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_anything_but_plain_files_is_left_to_python(kind: bytes) -> None:
    info = tarfile.TarInfo("odd")
    info.type = kind
    assert plain_files(info.tobuf() + bytes(1024)) is None


def test_a_header_that_is_damaged_or_a_tar_that_is_cut_is_left_to_python() -> None:
    batch = Batch()
    batch.add("a", b"x" * 700, is_executable=False)
    whole = batch.content()[0]
    assert plain_files(whole) is not None
    for n_bytes in (0, 1, 511, 512, 1000, 1024, 1536):
        assert plain_files(whole[:n_bytes]) is None
    assert plain_files(b"b" + whole[1:]) is None


def test_links_to_files_go_along_and_links_to_folders_do_not(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "file").write_text("three")
    (tmp_path / "a").symlink_to("b/c/file")
    (tmp_path / "loop").symlink_to("b")
    (tmp_path / "nowhere").symlink_to("gone")
    skipped: list[str] = []
    assert [one.name for one in files_in(str(tmp_path), skipped)] == ["a", "b/c/file"]
    assert sorted(skipped) == [str(tmp_path / "loop"), str(tmp_path / "nowhere")]
    assert size_of(str(tmp_path)) == 10
