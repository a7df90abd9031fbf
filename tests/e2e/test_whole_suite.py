"""`make test`: a failure hides nothing that comes after it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from footplate.testing.process import await_that

SUITE = Path(__file__).resolve().parents[2] / "tools" / "suite.py"
TESTS = """
from pathlib import Path
import pytest

from footplate.testing.process import await_that

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


def test_a_run_that_is_told_to_end_leaves_nothing_running(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = alone\n")
    (tmp_path / "test_sample.py").write_text(
        "import os, pathlib, time\n\ndef test_waits():\n"
        "    pathlib.Path('pid').write_text(str(os.getppid()))\n    time.sleep(300)\n"
    )
    with subprocess.Popen([sys.executable, SUITE], cwd=tmp_path, stdout=subprocess.DEVNULL) as suite:
        pid = await_that(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), 60)
        suite.terminate()
        assert suite.wait() == 128 + signal.SIGTERM
    assert not Path("/proc", pid).exists()
