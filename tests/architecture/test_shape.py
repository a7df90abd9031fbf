"""The shape of the code: arrows, lengths, complete tables."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from footplate.domain import errors
from footplate.server.errors import STATUS, status_of

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "footplate").rglob("*.py"))
MOST_LINES_OF_A_MODULE = 500
MOST_LINES_OF_A_FUNCTION = 60
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "manager"}


def test_imports_point_only_where_they_may() -> None:
    result = subprocess.run(
        [Path(sys.executable).parent / "lint-imports"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout


def test_no_module_is_too_long() -> None:
    lengths = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: n for path, n in lengths.items() if n > MOST_LINES_OF_A_MODULE} == {}


def test_no_function_is_too_long() -> None:
    long = {}
    for path in SOURCES:
        if "migrations" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                n_lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if n_lines > MOST_LINES_OF_A_FUNCTION:
                    long[f"{path.relative_to(ROOT)}:{node.name}"] = n_lines
    assert long == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [path for path in SOURCES if path.stem in FORBIDDEN_NAMES] == []


def test_every_module_says_in_a_sentence_what_it_is_for() -> None:
    silent = [
        path.relative_to(ROOT)
        for path in SOURCES
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


@pytest.mark.parametrize("kind", sorted(errors.BY_CODE.values(), key=lambda kind: kind.__name__))
def test_every_error_has_a_code_of_its_own_and_a_status(kind: type[errors.FootplateError]) -> None:
    assert [other for other in errors.BY_CODE.values() if other.code == kind.code] == [kind]
    assert any(base in STATUS for base in kind.__mro__)
    assert 400 <= status_of(kind("message")) <= 599
