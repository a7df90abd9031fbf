"""`make test`: a failure hides nothing that comes after it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).resolve().parents[2] / "tools" / "suite.py"
TESTS = """
from pathlib import Path
import pytest

def test_first():
    assert {first}

@pytest.mark.alone
def test_alone():
    Path("ran-alone").touch()
    assert {alone}
"""


@pytest.mark.parametrize(("first", "alone", "status"), [(False, True, 1), (True, False, 1)])
def test_the_tests_that_run_alone_run_in_any_case(
    first: bool, alone: bool, status: int, tmp_path: Path
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = alone\n")
    (tmp_path / "test_sample.py").write_text(TESTS.format(first=first, alone=alone))
    ran = subprocess.run([sys.executable, SUITE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == status, ran.stdout
    assert (tmp_path / "ran-alone").exists()
