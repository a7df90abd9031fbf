"""Pages of large folders: names are read once, and again when the folder has changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.storages import listings
from footplate.storages.listings import Listings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(listings, "MANY", 5)
    for number in range(10):
        (tmp_path / f"{number}").touch()
    rest(tmp_path, 10)
    return tmp_path


def rest(folder: Path, for_s: float) -> None:
    """Let a folder look as if it had not changed for a while."""
    at = time.time() - for_s
    os.utime(folder, (at, at))


def first(known: Listings, folder: Path, after: str = "", n: int = 3) -> list[str]:
    fd = os.open(folder, os.O_RDONLY)
    try:
        return known.first(fd, after, n)
    finally:
        os.close(fd)


def test_names_are_read_once_for_all_pages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Listings()
    assert first(known, folder) == ["0", "1", "2"]
    monkeypatch.delattr(os, "listdir")
    assert first(known, folder, "2") == ["3", "4", "5"]
    assert first(known, folder, "25") == ["3", "4", "5"]
    assert first(known, folder, "9") == []


def test_a_change_is_seen_at_once(folder: Path) -> None:
    known = Listings()
    assert first(known, folder) == ["0", "1", "2"]
    (folder / "00").touch()
    (folder / "1").unlink()
    assert first(known, folder) == ["0", "00", "2"]
    # It has changed just now, and may again without a sign: nothing is kept.
    assert not known._kept


def test_what_was_kept_for_long_is_read_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Listings()
    first(known, folder)
    (folder / "00").touch()
    rest(folder, 10)
    os.utime(folder, ns=(0, next(iter(known._kept.values())).changed_ns))
    assert first(known, folder) == ["0", "1", "2"]
    monkeypatch.setattr(listings, "KEPT_S", 0.0)
    assert first(known, folder) == ["0", "00", "1"]


def test_only_the_last_folders_are_kept(folder: Path) -> None:
    known = Listings()
    for number in range(2 * listings.MOST_KEPT):
        one = folder / f"folder-{number}"
        one.mkdir()
        for name in range(10):
            (one / f"{name}").touch()
        rest(one, 10)
        first(known, one)
    assert len(known._kept) == listings.MOST_KEPT


@given(names=st.sets(st.text("abc", min_size=1, max_size=4), max_size=20), after=st.text("abc", max_size=4))
def test_small_and_large_folders_are_listed_alike(
    names: set[str], after: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("names")
    for name in names:
        (place / name).touch()
    rest(place, 10)
    wanted = sorted(name for name in names if name > after)[:5]
    assert first(Listings(), place, after, 5) == wanted
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listings, "MANY", 0)
        assert first(Listings(), place, after, 5) == wanted
