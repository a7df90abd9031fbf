"""Commands inside real tasks: what they read and write comes through as it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from footplate.testing.process import FOOTPLATE, ServerProcess, await_that


@pytest.fixture(scope="module")
def job(server: ServerProcess) -> Iterator[str]:
    assert server.command("submit", "--name", "inside", "--", "sleep 600").returncode == 0
    await_that(
        lambda: json.loads(server.command("show", "inside", "--json").stdout)["state"] == "RUNNING",
        what="the job runs",
    )
    yield "inside"
    server.command("stop", "inside", "--wait")


def run(server: ServerProcess, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [FOOTPLATE, "exec", *words], env=server.environment, input=stdin, capture_output=True, check=False
    )


def test_bytes_pass_through_a_command_unchanged(server: ServerProcess, job: str) -> None:
    content = os.urandom(700_000)
    ran = run(server, job, "-i", "--", "cat", stdin=content)
    assert (ran.returncode, ran.stdout == content, ran.stderr) == (0, True, b"")


def test_much_input_is_read_by_a_command(server: ServerProcess, job: str) -> None:
    ran = run(server, job, "-i", "--", "sh", "-c", "wc -c; exit 5", stdin=b"x" * 15_000_000)
    assert (ran.returncode, ran.stdout.strip()) == (5, b"15000000")


def test_without_the_option_a_command_reads_nothing(server: ServerProcess, job: str) -> None:
    assert run(server, job, "--", "cat", stdin=b"not for you").stdout == b""


def test_a_command_that_writes_too_much_or_takes_too_long_says_so(server: ServerProcess, job: str) -> None:
    much = run(server, job, "--", "head", "-c", "2000000", "/dev/zero")
    assert (much.returncode, len(much.stdout)) == (1, 1024**2)
    assert b"the output was cut after 1048576 bytes" in much.stderr
    long = run(server, job, "--timeout", "1", "--", "sh", "-c", "echo begun; sleep 60")
    assert (long.returncode, long.stdout) == (124, b"begun\n")
    assert b"it took longer than 1 s" in long.stderr


def test_a_job_that_uses_its_grace_cannot_be_entered(server: ServerProcess) -> None:
    command = "trap '' TERM; echo ready; while :; do sleep 0.1; done"
    assert server.command("submit", "--name", "slow", "--", command).returncode == 0
    await_that(lambda: "ready" in server.command("logs", "slow").stdout, what="the job runs")
    assert server.command("stop", "slow").returncode == 0
    ran = run(server, "slow", "--", "true")
    assert ran.returncode != 0
    assert b"is STOPPING: commands can be run only in a job that runs" in ran.stderr
    assert server.command("stop", "slow", "--now", "--wait").returncode == 0


def test_ctrl_c_ends_the_command_in_the_task(server: ServerProcess, job: str) -> None:
    command = [FOOTPLATE, "exec", job, "--timeout", "5m", "--", "sh", "-c", "echo $$ > $HOME/pid; sleep 300"]
    running = subprocess.Popen(command, env=server.environment, stderr=subprocess.PIPE)
    alive = ("--", "sh", "-c", 'kill -0 "$(cat $HOME/pid)"')
    await_that(lambda: run(server, job, *alive).returncode == 0, what="the command runs")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=20)
    assert (running.returncode, b"the command in the task is ended" in said) == (130, True)
    await_that(lambda: run(server, job, *alive).returncode != 0, what="the command is ended")
