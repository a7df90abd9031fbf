"""What holds for the tests themselves."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
CLOCKS = {"monotonic", "perf_counter"}


def _is_marked_alone(node: ast.AST) -> bool:
    return "mark.alone" in ast.unparse(node)


def _reads_a_clock(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in CLOCKS for node in ast.walk(function))


@pytest.mark.parametrize(
    "path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: str(path.relative_to(TESTS))
)
def test_tests_that_measure_seconds_run_alone(path: Path) -> None:
    tree = ast.parse(path.read_text())
    if any(isinstance(node, ast.Assign) and _is_marked_alone(node) for node in tree.body):
        return
    found = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test_")
        and _reads_a_clock(node)
        and not any(_is_marked_alone(decorator) for decorator in node.decorator_list)
    ]
    assert found == []


LEAKS = """
import subprocess, sys
import pytest

@pytest.fixture(scope="module")
def broken():
    process = subprocess.Popen(["sleep", "60"])
    raise ValueError

def test_fixture_fails(broken):
    pass

def test_leaks():
    process = subprocess.Popen(["sleep", "60"])
    process.itself = process
"""
INNOCENT = """
import gc

def test_innocent():
    gc.collect()
"""


def test_a_process_that_one_file_leaks_fails_no_other(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (tmp_path / "test_a.py").write_text(LEAKS)
    (tmp_path / "test_b.py").write_text(INNOCENT)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    told = ran.stdout.partition("short test summary")[2]
    assert "PASSED test_b.py::test_innocent" in told, ran.stdout
    assert "ERROR test_a.py::test_leaks" in told
    assert "test_b" not in told.replace("PASSED test_b.py::test_innocent", "")
