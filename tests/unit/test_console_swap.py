"""Putting a newly built console in its place: whatever goes wrong, one is there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def console() -> ModuleType:
    spec = importlib.util.spec_from_file_location("console_builder", ROOT / "tools" / "console.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def folder(path: Path, content: str) -> Path:
    path.mkdir()
    (path / "index.html").write_text(content)
    return path


def test_a_new_console_takes_the_place_of_the_old_one(console: ModuleType, tmp_path: Path) -> None:
    place, made = folder(tmp_path / "static", "old"), folder(tmp_path / "made", "new")
    console.swap(made, place, tmp_path / "old")
    assert (place / "index.html").read_text() == "new"
    assert (tmp_path / "old" / "index.html").read_text() == "old"


def test_the_first_console_needs_no_old_one(console: ModuleType, tmp_path: Path) -> None:
    console.swap(folder(tmp_path / "made", "new"), tmp_path / "static", tmp_path / "old")
    assert (tmp_path / "static" / "index.html").read_text() == "new"


def test_the_old_console_comes_back_when_the_new_one_cannot_be_put_in_its_place(
    console: ModuleType, tmp_path: Path
) -> None:
    place = folder(tmp_path / "static", "old")
    with pytest.raises(FileNotFoundError):
        console.swap(tmp_path / "never-made", place, tmp_path / "old")
    assert (place / "index.html").read_text() == "old"
