"""The first job file: from options, from two answers on a terminal, or from neither."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click
import pytest
from commandline import Command, Start, read_until

from footplate.cli.initialize import HELLO, PRESETS, Resources, read_resources, write_job_file
from footplate.domain.jobfile import read_job
from footplate.domain.spec import JobSpec
from footplate.wire.documents import load

GIB = 1 << 30


def spec_of(text: str) -> JobSpec:
    """The job of a file; its code is a folder that a submit replaces."""
    return read_job({**load(text, "f"), "code": None})


def test_without_a_terminal_nothing_is_asked_and_the_file_is_a_valid_job(
    footplate: Command, tmp_path: Path
) -> None:
    assert footplate("init").exit_code == 0
    text = (tmp_path / "footplate.yaml").read_text()
    spec = read_job(load(text, "f"))
    assert spec.roles[0].command.startswith("python -c")
    assert spec.roles[0].resources.memory_bytes == GIB


def test_a_file_is_not_overwritten_unasked(footplate: Command, tmp_path: Path) -> None:
    footplate("init")
    text = (tmp_path / "footplate.yaml").read_text()
    again = footplate("init", "--name", "other")
    assert again.exit_code == 1
    assert "--force overwrites it" in again.err
    assert (tmp_path / "footplate.yaml").read_text() == text
    assert footplate("init", "--name", "other", "--force").exit_code == 0
    assert "name: other\n" in (tmp_path / "footplate.yaml").read_text()


def test_options_say_what_to_run_and_with_what(footplate: Command, tmp_path: Path) -> None:
    footplate("init", "--command", "echo 'a: b' # c", "--resources", "2.5 cores, 512MB, 2 GPUs")
    (role,) = spec_of((tmp_path / "footplate.yaml").read_text()).roles
    assert role.command == "echo 'a: b' # c"
    assert (role.resources.milli_cpus, role.resources.gpus) == (2500, 2)
    assert role.resources.memory_bytes == 512 << 20


def test_on_a_terminal_two_questions_are_asked(
    terminal: tuple[int, int], start: Start, footplate: Command, tmp_path: Path
) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "requirements.txt").touch()
    process = start(terminal[1], "init")
    assert "[python train.py]" in read_until(terminal[0], "run? [python train.py]: ")
    os.write(terminal[0], b"\n")
    read_until(terminal[0], "[small]: ")
    os.write(terminal[0], b"plenty\n")
    assert "write small, medium, gpu, or amounts" in read_until(terminal[0], "[small]: ")
    os.write(terminal[0], b"4 cpus 8GB\n")
    read_until(terminal[0], "Wrote footplate.yaml")
    assert process.wait(10) == 0
    document = load((tmp_path / "footplate.yaml").read_text(), "f")
    assert document["command"] == "python train.py"
    assert (document["cpus"], document["memory"], document["code"]) == (4, "8GB", ".")
    assert document["environment"] == {"requirements": "requirements.txt"}
    assert "gpus" not in document


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("small", PRESETS["small"]),
        (" GPU ", PRESETS["gpu"]),
        ("4 CPUs 16GB 1 GPU", Resources("4", "16GB", 1)),
        ("1gpu,2cpu", Resources("2", "1GB", 1)),
        ("8 cores", Resources("8", "1GB")),
        ("1.5 gib", Resources("1", "1.5GIB")),
        ("4 核 16GB，1 张卡", Resources("4", "16GB", 1)),
        ("8核CPU、2 张 GPU", Resources("8", "1GB", 2)),
    ],
)
def test_resources_are_read_as_people_write_them(text: str, wanted: Resources) -> None:
    assert read_resources(text) == wanted
    spec_of(write_job_file("x", "true", wanted, Path("/")))


@pytest.mark.parametrize("text", ["", "large", "4", "4 cpus and a bit", "16 GBs", "-1 cpu", "1 gpux"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="small, medium, gpu"):
        read_resources(text)


@pytest.mark.parametrize("language", ["en_GB.UTF-8", "zh_CN.UTF-8"])
def test_what_the_file_shows_as_comments_is_valid_too(
    tmp_path: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", language)
    text = write_job_file("x", HELLO, PRESETS["small"], tmp_path)
    shown = re.findall(r"^# ((?: *- | +)?[a-z_]+:.*)$", text, re.MULTILINE)
    # Fields of GPUs go with a command beside the name, and the code is a folder that a submit replaces.
    kept = (line for line in shown if not line.startswith(("gpu", "code")))
    spec = read_job(load("\n".join(["name: x", *kept]), "f"))
    assert (spec.roles[0].count, spec.time_limit_s, spec.parameters) == (2, 3600, {"epochs": 5})
    assert ("只有 name 和 command 是必填的" in text) == language.startswith("zh")
    assert spec.environment is not None
