"""The reference pages say what the code says now."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
NAMES = ("states.md", "job-file.md", "environment.md", "settings.md", "cli.md", "errors.md")


@pytest.fixture(scope="module")
def reference() -> Any:
    """The program behind `make docs`, which is no part of the package."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return import_module("reference")
    finally:
        sys.path.remove(str(ROOT / "tools"))


def test_every_generated_page_is_checked(reference: Any) -> None:
    assert sorted(reference.PAGES) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_as_the_code_is_now(reference: Any, name: str) -> None:
    written = (REFERENCE / name).read_text("utf-8")
    assert written == reference.PAGES[name](), f"{name} is out of date: run `make docs`"


def test_every_field_with_fields_of_its_own_has_a_table(reference: Any) -> None:
    job = reference.PAGES["job-file.md"]()
    assert "| mapping |" not in job
    assert "mapping or null" not in job
    assert "list of mapping" not in job
    settings_page = reference.PAGES["settings.md"]()
    for name in ("[environments]", "[retention]", "[prices]", "[clouds]", "[data]", "Each of node.gpus"):
        assert f"### {name}\n" in settings_page
