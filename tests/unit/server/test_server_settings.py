"""What a server reads from its settings file."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.domain.errors import InvalidInput
from footplate.domain.pauses import Pauses
from footplate.domain.storage import Storage
from footplate.server.settings import load


def read(home: Path, text: str) -> tuple[Storage, ...]:
    (home / "settings.toml").write_text(text)
    return load(home, {}).storages


def test_storages_are_read_only_and_for_all_queues_unless_said_otherwise(tmp_path: Path) -> None:
    text = """
[[storages]]
name = "sets"
path = "/srv/sets"
[[storages]]
name = "scratch"
path = "/srv/scratch"
read_only = false
queues = ["vision"]
"""
    assert read(tmp_path, text) == (
        Storage("sets", "/srv/sets"),
        Storage("scratch", "/srv/scratch", read_only=False, queues=("vision",)),
    )


@pytest.mark.parametrize(
    ("storage", "field", "message"),
    [
        ('name = "job"\npath = "/srv"', "storages[0].name", "choose another name"),
        ('name = "a/b"\npath = "/srv"', "storages[0].name", "letters, digits"),
        ('name = "sets"\npath = "srv"', "storages[0].path", "must be absolute"),
        ('name = "sets"', "storages[0].path", "is required"),
        ('name = "sets"\npath = "/srv"\n[[storages]]\nname = "sets"\npath = "/x"', "storages[1]", "sets"),
    ],
)
def test_a_bad_storage_is_named(tmp_path: Path, storage: str, field: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(tmp_path, f"[[storages]]\n{storage}")
    (problem,) = refused.value.problems
    assert field in problem.path
    assert message in problem.message


@pytest.mark.parametrize("place", ["", "/jobs", "/..", "/../..", "-link"])
def test_a_storage_through_which_the_platforms_own_files_are_seen_is_refused(
    tmp_path: Path, place: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "home-link").symlink_to(home)
    with pytest.raises(InvalidInput, match="jobs would see the platform's files"):
        read(home, f'[[storages]]\nname = "sets"\npath = "{home}{place}"')
    assert read(home, f'[[storages]]\nname = "sets"\npath = "{home}-sets"')


def pauses(home: Path, text: str) -> Pauses:
    (home / "settings.toml").write_text(text)
    return load(home, {}).pauses


def test_pauses_before_retries_begin_with_a_second_and_end_with_five_minutes(tmp_path: Path) -> None:
    assert pauses(tmp_path, "") == Pauses(1, 300)


def test_pauses_before_retries_can_be_set(tmp_path: Path) -> None:
    assert pauses(tmp_path, 'retry_pause = "5s"\nretry_pause_most = "1h"\n') == Pauses(5, 3600)
    assert pauses(tmp_path, "retry_pause = 0\n").length_s(9) == 0


@pytest.mark.parametrize("value", ['"-1s"', '"2d"', '"soon"', "-1"])
def test_a_pause_that_cannot_be_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(InvalidInput, match="retry_pause"):
        pauses(tmp_path, f"retry_pause = {value}\n")
