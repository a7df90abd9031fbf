"""Job files converted by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import Command

from footplate.wire import documents

V1 = {
    "jobName": "mnist",
    "image": "python:3.9",
    "codeDir": "hdfs://x",
    "taskRoles": [{"name": "main", "command": "python a.py", "memoryMB": 512}],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "job.json"
    path.write_text(json.dumps(V1))
    return path


def test_the_result_is_printed_and_the_notes_beside_it(footplate: Command, file: Path) -> None:
    result = footplate("convert", str(file))
    assert result.exit_code == 0
    document = documents.load(result.out, "job.yaml")
    assert (document["name"], document["roles"][0]["memory"]) == ("mnist", "512MB")
    assert "Converted:\n- `jobName` became `name`" in result.err
    assert "Could not be converted:\n- `codeDir`" in result.err


def test_it_goes_from_one_foreign_system_to_another(footplate: Command, file: Path) -> None:
    result = footplate("convert", str(file), "--to", "pai-v2")
    assert result.exit_code == 0
    assert documents.load_plain(result.out, "x")["taskRoles"]["main"]["commands"] == ["python a.py"]
    batch = footplate("convert", str(file), "--to", "sbatch").out
    assert batch.startswith("#!/bin/bash\n#SBATCH --job-name=mnist\n")


def test_a_job_of_ours_goes_there(footplate: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\ncommand: echo hi\ncode: .\ntime_limit: 1h\n")
    result = footplate("convert", "mine.yaml", "--to", "pai-v1", "--json")
    answer = json.loads(result.out)
    assert json.loads(answer["text"])["taskRoles"][0]["command"] == "echo hi"
    assert [one["code"] for one in answer["lost"]] == ["field_inexpressible", "image_needed"]


def test_a_file_is_written_and_not_overwritten_unasked(footplate: Command, file: Path) -> None:
    assert footplate("convert", str(file), "-o", "out.yaml").exit_code == 0
    again = footplate("convert", str(file), "-o", "out.yaml")
    assert (again.exit_code, "--force" in again.err) == (1, True)
    assert footplate("convert", str(file), "-o", "out.yaml", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("jobName: 1\n", "jobName"),
        ("apiVersion: v1\nkind: Pod\n", "Kubernetes"),
        ("[]", "mapping"),
        ("name: x\n", "command"),
        ("\0", ""),
    ],
)
def test_what_cannot_be_converted_is_refused(
    footplate: Command, tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    result = footplate("convert", "bad.yaml")
    assert result.exit_code != 0
    assert says in result.err
