"""A job file from a batch script, as the command writes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import Command

from footplate.wire import documents

SCRIPT = "#!/bin/bash\n#SBATCH --time=10\n#SBATCH --qos=high\n\tpython a.py  \necho 'ä: #done' \n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.sbatch"
    path.write_text(SCRIPT)
    return path


def test_the_file_says_what_was_not_taken_over_and_so_does_the_command(
    footplate: Command, script: Path
) -> None:
    result = footplate("import-slurm", str(script))
    assert result.exit_code == 0
    written = script.with_suffix(".yaml").read_text()
    for text in (written, result.err):
        assert "- --qos=high: Footplate has nothing like it" in text
    assert documents.load(written.encode(), "train.yaml") == {
        "name": "train",
        "code": ".",
        "cpus": 1,
        "command": "python a.py\necho 'ä: #done'",
        "time_limit": "10m",
    }
    assert "  python a.py\n  echo" in written


def test_a_file_is_not_overwritten_unasked(footplate: Command, script: Path) -> None:
    script.with_suffix(".yaml").write_text("mine")
    result = footplate("import-slurm", str(script))
    assert result.exit_code == 1
    assert "already exists; --force overwrites it" in result.err
    assert script.with_suffix(".yaml").read_text() == "mine"
    assert footplate("import-slurm", str(script), "--force").exit_code == 0


def test_a_file_elsewhere_names_the_folder_of_the_script(
    footplate: Command, script: Path, tmp_path: Path
) -> None:
    (tmp_path / "jobs").mkdir()
    footplate("import-slurm", str(script), str(tmp_path / "jobs" / "job.yaml"))
    assert documents.load((tmp_path / "jobs" / "job.yaml").read_bytes(), "job.yaml")["code"] == ".."


def test_it_is_printed_where_asked(footplate: Command, script: Path) -> None:
    result = footplate("import-slurm", str(script), "-")
    assert result.out.startswith("# From train.sbatch, a batch script of Slurm.")
    assert not script.with_suffix(".yaml").exists()
    answer = json.loads(footplate("import-slurm", str(script), "--json").out)
    assert answer["job"]["name"] == "train"
    assert "slurm_option_unmapped" in [note["code"] for note in answer["notes"]]


@pytest.mark.parametrize("content", [b"\x7fELF\0\0", b"x" * ((1 << 20) + 1)])
def test_what_is_no_script_is_refused(footplate: Command, script: Path, content: bytes) -> None:
    script.write_bytes(content)
    result = footplate("import-slurm", str(script))
    assert result.exit_code == 1
    assert "is not a batch script" in result.err


def test_what_no_job_may_ask_for_is_refused_by_field(footplate: Command, script: Path) -> None:
    script.write_text("#SBATCH -n 99999\nsrun true\n")
    result = footplate("import-slurm", str(script))
    assert result.exit_code == 1
    assert "count" in result.err
    assert not script.with_suffix(".yaml").exists()
