"""The agent, the launcher and the remote shell of a gang, as the real processes they are."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import footplate.runtime
from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.engines.base import LaunchPlan
from footplate.engines.strategies import prepare
from footplate.runtime.channel import NONCE_BYTES, Closed, Refused, gang_secret, greet, welcome
from footplate.runtime.reach import split
from footplate.testing.process import await_that, free_port
from footplate.testing.task_environments import paths_below

TOKEN = "fpj_a-token-that-nobody-may-see"
RUNTIME = str(Path(footplate.runtime.__file__).parent)
BASE = {"PATH": f"{sys.prefix}/bin:{os.environ['PATH']}", "HOME": os.environ.get("HOME", "/")}


class Gang:
    """Tasks of one launch, started by hand the way an engine starts them."""

    def __init__(self, folder: Path, *roles: RoleSpec) -> None:
        names = [(role, index) for role in roles for index in range(role.count)]
        tasks = tuple(
            TaskPlacement(role.name, index, "here", role.resources, (), (("main", (free_port(),)),))
            for role, index in names
        )
        spec = JobSpec("fit", roles, strategy="mpi")
        self.plan = LaunchPlan("j1", "ann", 0, spec, Placement(tasks), token=TOKEN)
        self.folder = folder
        self.prepared = prepare(self.plan, lambda plan, task: paths_below(str(folder), plan, task))
        self.started: dict[str, subprocess.Popen[bytes]] = {}
        for path, text in self.prepared.files.items():
            place = Path(self.prepared.shared_paths.strategy) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def environment(self, name: str, **more: str) -> dict[str, str]:
        rank, task = next(
            (rank, task)
            for rank, task in enumerate(self.prepared.tasks)
            if f"{task.role}-{task.index}" == name
        )
        return {**BASE, **self.prepared.gang_env, **self.prepared.own_env(task, rank), **more}

    def start(self, name: str, **more: str) -> subprocess.Popen[bytes]:
        role, _, index = name.partition("-")
        words = ["bash", "-e", "-c", self.prepared.command(role, int(index))]
        with self._log(name).open("wb") as out:
            self.started[name] = subprocess.Popen(
                words,
                env=self.environment(name, **more),
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
                start_new_session=True,
            )
        return self.started[name]

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def log(self, name: str) -> str:
        return self._log(name).read_text() if self._log(name).exists() else ""

    def await_log(self, name: str, text: str) -> str:
        return str(await_that(lambda: text in self.log(name) and self.log(name), what=f"{name} says {text}"))

    def reach(self, *words: str, as_task: str = "launcher-0", **options: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", RUNTIME, "reach", *words],
            env=self.environment(as_task),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **{"stdin": subprocess.DEVNULL, **options},  # type: ignore[call-overload]
        )

    def end(self) -> None:
        for process in self.started.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


LAUNCHER, WORKER = RoleSpec("true", "launcher"), RoleSpec("true", "worker", 2)


@pytest.fixture
def gang(tmp_path: Path) -> Iterator[Gang]:
    made = Gang(tmp_path, LAUNCHER, WORKER)
    yield made
    made.end()


def launching(tmp_path: Path, command: str) -> Gang:
    return Gang(tmp_path, RoleSpec(command, "launcher"), WORKER)


def served(gang: Gang, *names: str) -> None:
    for name in names:
        gang.start(name)
    for name in names:
        gang.await_log(name, "is ready for the launcher")


def test_a_command_runs_in_the_other_tasks_environment_and_its_code_comes_back(gang: Gang) -> None:
    served(gang, "worker-1")
    out, err = (
        caller := gang.reach("worker-1", "echo in $FOOTPLATE_TASK; echo oops >&2; exit 3")
    ).communicate(timeout=20)
    assert (out, err, caller.returncode) == (b"in worker-1\n", b"oops\n", 3)


def test_input_is_passed_on_to_its_end(gang: Gang) -> None:
    served(gang, "worker-0")
    data = os.urandom(300_000)
    caller = gang.reach("worker-0", "cat", stdin=subprocess.PIPE)
    assert caller.communicate(data, timeout=20)[0] == data


def test_a_program_ended_by_a_signal_is_reported_as_shells_do(gang: Gang) -> None:
    served(gang, "worker-0")
    caller = gang.reach("worker-0", "kill -9 $$")
    caller.communicate(timeout=20)
    assert caller.returncode == 137


def test_a_task_reaches_itself_without_a_connection(gang: Gang) -> None:
    words = [sys.executable, "-I", RUNTIME, "reach", "launcher-0", "echo $FOOTPLATE_TASK"]
    ran = subprocess.run(words, env=gang.environment("launcher-0"), capture_output=True, check=False)
    assert ran.stdout == b"launcher-0\n"


def test_a_task_that_does_not_serve_is_named(gang: Gang) -> None:
    caller = gang.reach("worker-0", "true")
    _, err = caller.communicate(timeout=20)
    assert caller.returncode == 255
    assert b"footplate: task worker-0 cannot be reached at 127.0.0.1:" in err


def test_a_caller_with_another_token_is_turned_away(gang: Gang) -> None:
    served(gang, "worker-0")
    words = [sys.executable, "-I", RUNTIME, "reach", "worker-0", "touch stolen"]
    env = gang.environment("launcher-0", FOOTPLATE_TOKEN="fpj_other")
    ran = subprocess.run(words, env=env, capture_output=True, check=False, timeout=20)
    assert ran.returncode == 255
    assert not (gang.folder / "stolen").exists()
    assert "a caller was turned away" in gang.await_log("worker-0", "turned away")


def test_a_listener_that_does_not_know_the_secret_gets_no_command() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"n" * NONCE_BYTES + b"x" * 32)
        with pytest.raises(Refused):
            greet(ours, b"secret", "worker-0")


def test_a_proof_for_one_task_is_worth_nothing_at_another() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, ThreadPoolExecutor(1) as pool:
        caller = pool.submit(greet, ours, b"secret", "worker-0")
        with pytest.raises(Refused):
            welcome(theirs, b"secret", "worker-1")
        theirs.close()
        assert isinstance(caller.exception(timeout=20), Closed)


def test_without_a_token_nothing_is_served() -> None:
    with pytest.raises(SystemExit, match="FOOTPLATE_TOKEN is not set"):
        gang_secret({})


def test_the_token_is_on_no_command_line(tmp_path: Path) -> None:
    gang = launching(tmp_path, 'ssh worker-0 \'cat /proc/[0-9]*/cmdline | tr "\\0" " "\' > seen')
    try:
        served(gang, "worker-0", "worker-1")
        assert gang.start("launcher-0").wait(20) == 0, gang.log("launcher-0")
        seen = (tmp_path / "seen").read_text(errors="replace")
        assert " serve" in seen
        assert " reach worker-0" in seen
        assert TOKEN not in seen
    finally:
        gang.end()


def test_the_launcher_waits_for_the_last_task_and_all_end_with_it(tmp_path: Path) -> None:
    gang = launching(tmp_path, "echo began; ssh worker-1 echo hello from '$FOOTPLATE_TASK'")
    try:
        served(gang, "worker-0")
        launcher = gang.start("launcher-0")
        # The agent tells its launcher that it is there before the last one is.
        await_that(lambda: launcher.poll() is None and _n_connections(gang, "worker-0"))
        assert "began" not in gang.log("launcher-0")
        gang.start("worker-1")
        assert launcher.wait(20) == 0
        assert gang.log("launcher-0").endswith("began\nhello from worker-1\n")
        assert [gang.started[name].wait(20) for name in ("worker-0", "worker-1")] == [0, 0]
    finally:
        gang.end()


def _n_connections(gang: Gang, name: str) -> int:
    port = next(t.ports[0][1][0] for t in gang.prepared.tasks if f"{t.role}-{t.index}" == name)
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    return sum(words[1].endswith(f":{port:04X}") and words[3] == "01" for words in lines)


def test_the_launchers_failure_is_its_own_and_agents_end_in_order(tmp_path: Path) -> None:
    gang = launching(tmp_path, "exit 7")
    try:
        served(gang, "worker-0", "worker-1")
        assert gang.start("launcher-0").wait(20) == 7
        assert [gang.started[name].wait(20) for name in ("worker-0", "worker-1")] == [0, 0]
    finally:
        gang.end()


def test_a_launcher_that_is_killed_takes_what_it_ran_elsewhere_with_it(tmp_path: Path) -> None:
    gang = launching(tmp_path, "ssh worker-0 'echo $$ > running; exec sleep 600'")
    try:
        served(gang, "worker-0", "worker-1")
        launcher = gang.start("launcher-0")
        pid = await_that(lambda: _read_pid(tmp_path / "running"), what="the program runs")
        os.killpg(launcher.pid, signal.SIGKILL)
        assert [gang.started[name].wait(20) for name in ("worker-0", "worker-1")] == [1, 1]
        await_that(lambda: not _is_alive(pid), what="the program has ended")
        assert "the launcher has gone without a word" in gang.log("worker-0")
    finally:
        gang.end()


def test_a_caller_that_is_killed_takes_its_program_with_it(gang: Gang) -> None:
    served(gang, "worker-0")
    caller = gang.reach("worker-0", "echo $$ > running; exec sleep 600")
    pid = await_that(lambda: _read_pid(gang.folder / "running"), what="the program runs")
    caller.kill()
    caller.communicate()
    await_that(lambda: not _is_alive(pid), what="the program has ended")


def test_a_polite_stop_reaches_the_launchers_command_and_the_agents(tmp_path: Path) -> None:
    gang = launching(tmp_path, "trap 'echo asked; exit 5' TERM; echo began; while :; do sleep 0.05; done")
    try:
        served(gang, "worker-0", "worker-1")
        launcher = gang.start("launcher-0")
        gang.await_log("launcher-0", "began")
        gang.started["worker-1"].terminate()
        assert gang.started["worker-1"].wait(20) == 143
        launcher.terminate()
        assert launcher.wait(20) == 5
        assert "asked" in gang.log("launcher-0")
        assert gang.started["worker-0"].wait(20) == 0
    finally:
        gang.end()


def _read_pid(path: Path) -> int:
    text = path.read_text() if path.exists() else ""
    return int(text) if text.endswith("\n") else 0


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("words", "wants_input", "host", "command"),
    [
        (["worker-0", "ls", "-l"], True, "worker-0", ["ls", "-l"]),
        (["-x", "root@worker-0", "true"], True, "worker-0", ["true"]),
        (["-x", "worker-0", "-o", "ConnectTimeout=10", "-n", "ls", "-l"], False, "worker-0", ["ls", "-l"]),
        (["-n", "-o", "BatchMode=yes", "-p", "22", "worker-0", "true"], False, "worker-0", ["true"]),
        (["-oBatchMode=yes", "-p22", "worker-0", "true"], True, "worker-0", ["true"]),
        (["--", "worker-0", "-x"], True, "worker-0", ["-x"]),
    ],
)
def test_the_remote_shell_is_called_as_ssh_is(
    words: list[str], wants_input: bool, host: str, command: list[str]
) -> None:
    assert split(words) == (wants_input, host, command)


def test_the_runtime_runs_from_any_folder_without_footplate(tmp_path: Path) -> None:
    shutil.copytree(RUNTIME, tmp_path / "beside", ignore=shutil.ignore_patterns("__pycache__"))
    words = [shutil.which("python3", path=os.defpath) or sys.executable, "-I", "-S", tmp_path / "beside"]
    ran = subprocess.run([*words, "reach"], capture_output=True, text=True, check=False)
    assert "usage: footplate-rsh" in ran.stderr
    ran = subprocess.run([*words, "fly"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "launch|serve|reach" in ran.stderr


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun: apt-get install openmpi-bin")
def test_mpirun_starts_ranks_inside_the_other_tasks(tmp_path: Path) -> None:
    rank = "echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE in $FOOTPLATE_TASK"
    gang = launching(tmp_path, f"mpirun -np 2 --map-by node --hostfile $FOOTPLATE_HOSTFILE sh -c '{rank}'")
    try:
        for name in ("launcher-0", "worker-0", "worker-1"):
            gang.start(name)
        assert gang.started["launcher-0"].wait(40) == 0, gang.log("launcher-0")
        said = sorted(line for line in gang.log("launcher-0").splitlines() if line.startswith("rank"))
        assert said == ["rank 0 of 2 in worker-0", "rank 1 of 2 in worker-1"]
        assert [gang.started[name].wait(20) for name in ("worker-0", "worker-1")] == [0, 0]
    finally:
        gang.end()
