"""The gang's `pkill`: it ends what its own task started, and nothing else."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import footplate.runtime
from footplate.runtime.pkill import split, take_count
from footplate.testing.process import await_that

RUNTIME = str(Path(footplate.runtime.__file__).parent)

needs_pgrep = pytest.mark.skipif(shutil.which("pgrep") is None, reason="needs pgrep: apt-get install procps")


class Tasks:
    """Sleepers of several tasks that look alike in the list of processes."""

    def __init__(self) -> None:
        self.marker = f"rank-{uuid.uuid4().hex}"
        self.started: list[subprocess.Popen[bytes]] = []

    def environment(self, attempt: str, task: str) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "FOOTPLATE_ATTEMPT_ID": attempt, "FOOTPLATE_TASK": task}

    def sleep(self, attempt: str, task: str) -> subprocess.Popen[bytes]:
        program = f"import time; print(flush=True); time.sleep(60)  # {self.marker}"
        sleeper = subprocess.Popen(
            [sys.executable, "-S", "-c", program],
            env=self.environment(attempt, task),
            stdout=subprocess.PIPE,
        )
        self.started.append(sleeper)
        assert sleeper.stdout is not None
        sleeper.stdout.readline()
        return sleeper

    def pkill(self, *words: str) -> int:
        return self.say(*words).returncode

    def say(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", RUNTIME, "pkill", *words],
            env=self.environment("a.0", "worker-0"),
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )

    def end(self) -> None:
        for sleeper in self.started:
            sleeper.kill()
            sleeper.communicate()


@pytest.fixture
def tasks() -> Iterator[Tasks]:
    made = Tasks()
    yield made
    made.end()


@needs_pgrep
def test_pkill_leaves_other_jobs_and_other_tasks_alone(tasks: Tasks) -> None:
    own = tasks.sleep("a.0", "worker-0")
    others = [tasks.sleep("b.0", "worker-0"), tasks.sleep("a.0", "worker-1")]
    assert tasks.pkill("-f", tasks.marker) == 0
    assert await_that(own.poll, what="the own rank has ended") == -signal.SIGTERM
    assert [other.poll() for other in others] == [None, None]


@needs_pgrep
def test_pkill_says_that_nothing_of_this_task_was_found(tasks: Tasks) -> None:
    tasks.sleep("b.0", "worker-0")
    assert tasks.pkill("-9", "-f", tasks.marker) == 1
    assert tasks.started[0].poll() is None


@needs_pgrep
def test_pkill_sends_the_signal_it_is_asked_for(tasks: Tasks) -> None:
    own = tasks.sleep("a.0", "worker-0")
    assert tasks.pkill("-INT", "-f", tasks.marker) == 0
    assert await_that(lambda: own.poll() is not None, what="the rank has ended")
    assert own.returncode in (-signal.SIGINT, 1)


@needs_pgrep
@pytest.mark.parametrize("words", [["-c", "-f"], ["-cf"], ["--count", "--full"]])
def test_pkill_counts_what_it_signalled_and_takes_no_count_for_a_process(
    tasks: Tasks, words: list[str]
) -> None:
    own = [tasks.sleep("a.0", "worker-0") for _ in range(2)]
    other = tasks.sleep("b.0", "worker-0")
    said = tasks.say(*words, tasks.marker)
    assert (said.returncode, said.stdout) == (0, "2\n")
    for one in own:
        assert await_that(one.poll, what="the own rank has ended") == -signal.SIGTERM
    assert other.poll() is None
    none = tasks.say(*words, f"no-{tasks.marker}")
    assert (none.returncode, none.stdout) == (1, "0\n")


@needs_pgrep
@pytest.mark.parametrize("option", ["-a", "-l"])
def test_numbers_in_command_lines_are_not_taken_for_processes(tasks: Tasks, option: str) -> None:
    bystander = tasks.sleep("a.0", "worker-0")
    # The real pgrep says names and command lines with these options.
    tasks.marker = f"{uuid.uuid4().hex} {bystander.pid} "
    named = tasks.sleep("a.0", "worker-0")
    said = tasks.say(option, "-f", tasks.marker)
    assert (said.returncode, said.stdout) == (0, "")
    assert await_that(named.poll, what="the rank that was meant has ended") == -signal.SIGTERM
    assert bystander.poll() is None


@pytest.mark.parametrize(
    ("words", "is_wanted", "rest"),
    [
        (["-f", "x"], False, ["-f", "x"]),
        (["-c", "x"], True, ["x"]),
        (["-xcf", "x"], True, ["-xf", "x"]),
        (["-fuc", "c"], False, ["-fuc", "c"]),
        (["-cuc", "c"], True, ["-uc", "c"]),
        (["--coun", "x"], True, ["x"]),
        (["--cgroup", "c", "-"], False, ["--cgroup", "c", "-"]),
        (["-f", "--", "-c"], False, ["-f", "--", "-c"]),
    ],
)
def test_the_wish_for_a_count_is_told_from_the_rest(
    words: list[str], is_wanted: bool, rest: list[str]
) -> None:
    assert take_count(words) == (is_wanted, rest)


@needs_pgrep
def test_pkill_passes_on_what_pgrep_says_of_a_bad_command_line(tasks: Tasks) -> None:
    assert tasks.pkill("--no-such-option", tasks.marker) > 1


@pytest.mark.parametrize(
    ("words", "number", "rest"),
    [
        (["-f", "x"], signal.SIGTERM, ["-f", "x"]),
        (["-9", "-f", "x"], signal.SIGKILL, ["-f", "x"]),
        (["-SIGHUP", "x"], signal.SIGHUP, ["x"]),
        (["-f", "x", "--signal", "usr1"], signal.SIGUSR1, ["-f", "x"]),
        (["--signal=KILL", "x"], signal.SIGKILL, ["x"]),
        (["-u", "9", "x"], signal.SIGTERM, ["-u", "9", "x"]),
    ],
)
def test_the_signal_is_told_from_the_rest(words: list[str], number: signal.Signals, rest: list[str]) -> None:
    assert split(words) == (number, rest)


def test_an_unknown_signal_is_refused() -> None:
    with pytest.raises(SystemExit, match="LOUD is no signal"):
        split(["--signal", "LOUD", "x"])
