"""The demo where it must not begin, and what its jobs ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import Command

from footplate.cli.demo.jobs import PROGRAMS, jobs_for
from footplate.domain.jobfile import read_job
from footplate.domain.states import JobState


def test_a_demo_is_not_begun_in_a_folder_that_holds_something(footplate: Command, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "footplate.db").touch()
    result = footplate("up", "--demo", "--home", str(tmp_path / "real"))
    assert result.exit_code != 0
    assert "is not empty: a demo needs a folder of its own" in result.err
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["footplate.db"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--demo", "--standby"], "--standby does not go with --demo"),
        (["--demo", "--take-over"], "--take-over does not go with --demo"),
        (["--demo", "--account", "ada"], "--account does not go with --demo"),
        (["--keep"], "--keep goes only with --demo"),
    ],
)
def test_options_that_mean_nothing_are_refused(footplate: Command, options: list[str], says: str) -> None:
    result = footplate("up", *options)
    assert result.exit_code == 2
    assert says in result.err


@pytest.mark.parametrize("n_cpus", [1.0, 2.0, 64.0])
def test_what_runs_fits_on_one_cpu_and_what_waits_does_not_fit_beside_it(n_cpus: float) -> None:
    jobs = jobs_for(n_cpus, limits_memory=True)
    asked = dict.fromkeys(JobState, 0)
    memory = 0
    for one in jobs:
        spec = read_job(one.fields)
        for role in spec.roles:
            asked[one.state] += role.count * role.resources.milli_cpus
            memory += role.count * role.resources.memory_bytes
    assert sum(asked.values()) - asked[JobState.QUEUED] <= 1000
    assert asked[JobState.QUEUED] + asked[JobState.RUNNING] > 1000 * n_cpus
    assert asked[JobState.QUEUED] <= 1000 * n_cpus
    assert memory < 1 << 30


def test_each_job_runs_a_program_that_goes_along() -> None:
    for one in jobs_for(2, limits_memory=False):
        command = one.fields.get("command") or one.fields["roles"][0]["command"]
        (program,) = [word for word in command.split() if word.endswith(".py")]
        assert (PROGRAMS / program).is_file()


def test_where_memory_is_not_limited_the_shell_does_it() -> None:
    (failing,) = [one for one in jobs_for(2, limits_memory=False) if one.state == JobState.FAILED]
    assert "ulimit -v" in failing.fields["command"]
    (failing,) = [one for one in jobs_for(2, limits_memory=True) if one.state == JobState.FAILED]
    assert "ulimit" not in failing.fields["command"]
