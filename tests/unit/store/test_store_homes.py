"""A home folder has a name of its own, and no copy of it or other folder takes its place unasked."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from footplate.domain.errors import Conflict
from footplate.store import homes, leases
from footplate.store.database import open_engine
from footplate.store.homes import FILE, Identity, judge, read
from footplate.store.leases import Sign
from footplate.store.store import Store

HERE = "this machine"


@pytest.fixture
def engine(database_url: str) -> Iterator[sa.Engine]:
    opened = open_engine(database_url)
    yield opened
    opened.dispose()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def test_a_home_keeps_its_identity_over_starts(engine: sa.Engine, home: Path) -> None:
    first = homes.claim(engine, home, 1.0)
    assert first
    assert homes.claim(engine, home, 2.0) == first
    assert (home / FILE).stat().st_mode & 0o077 == 0


def test_another_home_on_the_same_database_is_refused_and_says_what_to_do(
    engine: sa.Engine, home: Path, tmp_path: Path
) -> None:
    homes.claim(engine, home, 1.0)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(Conflict, match=f"belongs to the home folder {home}, not to {other}.*--take-over"):
        homes.claim(engine, other, 2.0)
    with pytest.raises(Conflict):
        homes.check(engine, other)
    assert read(other) is None


def test_who_takes_over_is_known_from_then_on_and_the_other_one_is_refused(
    engine: sa.Engine, home: Path, tmp_path: Path
) -> None:
    first = homes.claim(engine, home, 1.0)
    other = tmp_path / "other"
    other.mkdir()
    second = homes.claim(engine, other, 2.0, takes_over=True)
    assert second != first
    assert homes.claim(engine, other, 3.0) == second
    with pytest.raises(Conflict, match=f"belongs to the home folder {other}"):
        homes.claim(engine, home, 4.0)


def test_a_copy_of_a_home_is_found_out_and_gets_a_new_name(
    engine: sa.Engine, home: Path, tmp_path: Path
) -> None:
    first = homes.claim(engine, home, 1.0)
    copy = tmp_path / "copy"
    shutil.copytree(home, copy)
    with pytest.raises(Conflict, match=f"{copy} is a copy of {home}.*--take-over"):
        homes.claim(engine, copy, 2.0)
    assert homes.claim(engine, copy, 3.0, takes_over=True) != first


def test_a_home_that_was_moved_is_the_same(engine: sa.Engine, home: Path, tmp_path: Path) -> None:
    first = homes.claim(engine, home, 1.0)
    moved = home.rename(tmp_path / "moved")
    assert homes.claim(engine, moved, 2.0) == first
    (tmp_path / "link").symlink_to(moved)
    assert homes.claim(engine, tmp_path / "link", 3.0) == first


def test_a_home_from_another_machine_is_taken_for_a_copy(home: Path) -> None:
    own = Identity("a", "another machine", str(home))
    with pytest.raises(Conflict, match="on another machine"):
        judge(own, own, home, HERE, takes_over=False)
    taken = judge(own, own, home, HERE, takes_over=True)
    assert (taken.id != "a", taken.machine, taken.path) == (True, HERE, str(home))


def test_what_is_restored_elsewhere_gets_a_name_of_its_own_and_at_its_old_place_its_old_one(
    engine: sa.Engine, home: Path, tmp_path: Path
) -> None:
    first = homes.claim(engine, home, 1.0)
    (home / FILE).unlink()
    homes.forget_elsewhere(engine, home)
    assert homes.claim(engine, home, 2.0) == first
    other = tmp_path / "other"
    other.mkdir()
    homes.forget_elsewhere(engine, other)
    assert homes.claim(engine, other, 3.0) != first


def test_a_home_whose_file_was_lost_is_known_by_its_place(home: Path) -> None:
    known = Identity("a", HERE, str(home))
    assert judge(None, known, home, HERE, takes_over=False) == known


def test_a_damaged_file_says_so(engine: sa.Engine, home: Path) -> None:
    (home / FILE).write_text('{"id": 3')
    with pytest.raises(Conflict, match="is damaged"):
        homes.claim(engine, home, 1.0)


def test_a_server_leaves_signs_of_life_and_says_when_it_ends(engine: sa.Engine) -> None:
    async def live() -> tuple[Sign | None, Sign | None]:
        store = Store(engine, "one:1", 1.0)
        first = leases.last_sign(engine)
        await store.renew_lease(2.0)
        second = leases.last_sign(engine)
        store.close()
        return first, second

    taken, renewed = asyncio.run(live())
    released = leases.last_sign(engine)
    assert taken is not None
    assert (taken.holder, taken.renewed_at) == ("one:1", None)
    assert renewed is not None
    assert (renewed.holder, renewed.renewed_at) == ("one:1", 2.0)
    assert released is not None
    assert released.holder == ""
