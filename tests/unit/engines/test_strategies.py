"""Strategies: what they check, the variables, files and commands they add, and other people's plug-ins."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import read_job, write_job
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.engines import strategies
from footplate.engines.base import LaunchPlan
from footplate.engines.strategies import Prepared, registry
from footplate.engines.strategies import prepare as prepare_with
from footplate.engines.strategies.lastline import insert_launcher
from footplate.testing.task_environments import paths_of

SAMPLE = Path(__file__).parents[2] / "samples" / "ring_strategy"
BUILT_IN = {"ddp", "deepspeed", "horovod", "jax", "mpi", "plain", "tensorflow", "torchrun"}
LAUNCHER = RoleSpec("mpirun prog", "launcher")
WORKER = RoleSpec("pip install x", "worker", 2, milli_cpus=2500)


def plan(strategy: str, *roles: RoleSpec, gpus: tuple[int, ...] = (), **spec: Any) -> LaunchPlan:
    names = [(role, index) for role in roles for index in range(role.count)]
    tasks = tuple(
        TaskPlacement(role.name, index, "n1", role.resources, gpus, (("main", (5000 + i,)),))
        for i, (role, index) in enumerate(names)
    )
    job = JobSpec("fit", roles, strategy=strategy, **spec)
    return LaunchPlan("j1", "ann", 0, job, Placement(tasks), token="secret")


def prepare(launch: LaunchPlan) -> Prepared:
    return prepare_with(launch, paths_of)


def environment(prepared: Prepared, rank: int) -> dict[str, str]:
    return {**prepared.gang_env, **prepared.own_env(prepared.tasks[rank], rank)}


def problems(strategy: str, *roles: RoleSpec) -> dict[str, str]:
    found = strategies.problems(JobSpec("fit", roles, strategy=strategy))
    return {problem.path: problem.message for problem in found}


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(SAMPLE))
    registry.installed.cache_clear()
    yield
    registry.installed.cache_clear()


def test_every_built_in_strategy_has_a_line_about_it() -> None:
    known = strategies.known()
    assert set(known) >= BUILT_IN
    assert all(known.values())
    assert not strategies.broken()


def test_an_unknown_strategy_is_refused_with_the_list_of_known_ones() -> None:
    message = strategies.unknown("torchrum")
    assert message is not None
    assert str(message).startswith("there is no strategy torchrum; known: ddp, ")
    assert problems("torchrum", RoleSpec("true")) == {"strategy": str(message)}
    assert strategies.unknown("torchrun") is None
    assert strategies.unknown("") is None


def test_a_job_without_a_strategy_gets_all_conventions_and_its_command_as_it_is() -> None:
    prepared = prepare(plan("", RoleSpec("run ${{ parameters.x }}", count=2), parameters={"x": 3}))
    env = environment(prepared, 1)
    assert {"RANK", "PET_NNODES", "JAX_PROCESS_ID", "SLURM_PROCID", "PAI_TASK_INDEX"} <= set(env)
    assert prepared.command("main", 1) == "run 3"
    assert not prepared.files


def test_plain_gives_no_frameworks_variables() -> None:
    env = environment(prepare(plan("plain", RoleSpec("true", count=2))), 1)
    assert not {"RANK", "PET_NNODES", "JAX_PROCESS_ID", "SLURM_PROCID", "TF_CONFIG"} & set(env)
    assert "FOOTPLATE_TASKS" in env


@pytest.mark.parametrize(
    ("command", "launched"),
    [
        ("python train.py --lr 1", "python -u -m M train.py --lr 1"),
        ("python3.11 -u train.py", "python3.11 -u -m M train.py"),
        ("python -m pkg.train", "python -u -m M -m pkg.train"),
        ("exec python train.py", "exec python -u -m M train.py"),
        ("OMP_NUM_THREADS=1 A= python train.py", "OMP_NUM_THREADS=1 A= python -u -m M train.py"),
        (".venv/bin/python train.py", ".venv/bin/python -u -m M train.py"),
        ("pip install x\npython train.py\n", "pip install x\npython -u -m M train.py"),
        ("python a.py\npython b.py \\\n  --lr 1", "python a.py\npython -u -m M b.py \\\n  --lr 1"),
        ("python -c 'print(1)'", None),
        ("for i in 1; do\npython a.py\ndone", None),
        ("tensorboard --logdir x", None),
        ("pythonic train.py", None),
        ("python", None),
    ],
)
def test_the_last_line_is_launched_where_it_begins_with_python(command: str, launched: str | None) -> None:
    assert insert_launcher(command, "M") == launched


def test_torchrun_wraps_python_and_counts_only_the_roles_it_starts() -> None:
    roles = (RoleSpec("tensorboard --logdir x", "board"), RoleSpec("python train.py", "trainer", 2))
    prepared = prepare(plan("torchrun", *roles, gpus=(0, 1)))
    assert prepared.command("trainer", 1) == "python -u -m torch.distributed.run train.py"
    assert prepared.command("board", 0) == "tensorboard --logdir x"
    env = environment(prepared, 2)
    assert (env["RANK"], env["WORLD_SIZE"], env["PET_NNODES"], env["PET_NODE_RANK"]) == ("1", "2", "2", "1")
    assert (env["PET_NPROC_PER_NODE"], env["MASTER_PORT"]) == ("2", "5001")
    assert not {"RANK", "WORLD_SIZE", "PET_NNODES"} & set(environment(prepared, 0))


def test_a_command_that_calls_torchrun_itself_is_left_alone_and_decides_who_takes_part() -> None:
    roles = (RoleSpec("python data.py", "feeder"), RoleSpec("torchrun train.py", "trainer", 2))
    prepared = prepare(plan("torchrun", *roles))
    assert prepared.command("feeder", 0) == "python data.py"
    assert prepared.command("trainer", 0) == "torchrun train.py"
    assert environment(prepared, 1)["RANK"] == "0"
    assert "RANK" not in environment(prepared, 0)


def test_ddp_starts_scripts_by_the_older_launcher() -> None:
    prepared = prepare(plan("ddp", RoleSpec("python train.py", count=2)))
    assert prepared.command("main", 0) == "python -u -m torch.distributed.launch train.py"


def test_torchrun_refuses_a_command_that_it_cannot_launch() -> None:
    assert "must begin with python" in problems("torchrun", RoleSpec("./run.sh"))["roles[0].command"]
    assert not problems("torchrun", RoleSpec("python train.py"))


def test_tensorflow_checks_the_roles() -> None:
    assert "needs a role named chief or worker" in problems("tensorflow", RoleSpec("t", "ps"))["roles"]
    both = problems("tensorflow", RoleSpec("t", "chief"), RoleSpec("t", "master"))
    assert "not both" in both["roles"]
    two = problems("tensorflow", RoleSpec("t", "chief", 2), RoleSpec("t", "worker"))
    assert two == {"roles[0].count": "must be 1, not 2: TensorFlow has one chief"}
    assert not problems("tensorflow", RoleSpec("t", count=2))


def test_jax_gives_what_its_own_start_looks_for() -> None:
    env = environment(prepare(plan("jax", RoleSpec("t", count=2))), 1)
    assert env["JAX_COORDINATOR_ADDRESS"] == "127.0.0.1:5000"
    # The names by which JAX knows its place without arguments.
    looked_for = ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID")
    assert set(looked_for) <= set(env)
    assert int(env["SLURM_JOB_ID"]) > 0
    assert "PET_NNODES" not in env


def test_mpi_lists_hosts_with_slots_and_leaves_the_launcher_out() -> None:
    prepared = prepare(plan("mpi", LAUNCHER, WORKER))
    assert prepared.files == {
        "hostfile": "worker-0 slots=2\nworker-1 slots=2\n",
        "hostfile.mpich": "worker-0:2\nworker-1:2\n",
        "tasks": "launcher-0 127.0.0.1 5000\nworker-0 127.0.0.1 5001\nworker-1 127.0.0.1 5002\n",
    }
    env = environment(prepared, 0)
    assert (
        env["FOOTPLATE_HOSTFILE"]
        == env["OMPI_MCA_orte_default_hostfile"]
        == "/jobs/j1/attempt-0/strategy/hostfile"
    )
    assert (env["FOOTPLATE_HOSTS"], env["FOOTPLATE_SLOTS"]) == ("worker-0:2,worker-1:2", "4")
    # Ranks come from the launcher, and mpirun takes Slurm's variables for an order to call srun.
    assert not {"RANK", "WORLD_SIZE", "SLURM_JOB_ID"} & set(env)


def test_mpi_slots_are_cards_where_tasks_have_some() -> None:
    prepared = prepare(plan("mpi", RoleSpec("mpirun p", count=2, milli_cpus=8000), gpus=(0, 1, 2)))
    assert prepared.files["hostfile"] == "main-0 slots=3\nmain-1 slots=3\n"


@pytest.mark.parametrize("strategy", ["deepspeed", "horovod"])
def test_deepspeed_and_horovod_have_slots_for_processes_not_cpus(strategy: str) -> None:
    prepared = prepare(plan(strategy, RoleSpec("launch t.py", count=2, milli_cpus=8000)))
    assert prepared.files["hostfile"] == "main-0 slots=1\nmain-1 slots=1\n"


def test_mpi_workers_prepare_then_serve_and_the_launcher_launches() -> None:
    prepared = prepare(plan("mpi", RoleSpec("mpirun 'a b'", "launcher"), WORKER))
    launch = """exec python3 -I "$FOOTPLATE_RUNTIME" launch 'mpirun '"'"'a b'"'"''"""
    assert prepared.command("launcher", 0) == launch
    assert prepared.command("worker", 1) == 'pip install x\nexec python3 -I "$FOOTPLATE_RUNTIME" serve'


def test_mpi_without_a_launcher_role_launches_from_the_first_task() -> None:
    prepared = prepare(plan("mpi", RoleSpec("mpirun p", count=2)))
    assert " launch " in prepared.command("main", 0)
    assert prepared.command("main", 1) == 'exec python3 -I "$FOOTPLATE_RUNTIME" serve'
    env = environment(prepared, 1)
    assert (env["MASTER_ADDR"], env["MASTER_PORT"]) == ("127.0.0.1", "5000")


def test_mpi_gives_no_master_port_on_which_an_agent_listens() -> None:
    assert "MASTER_PORT" not in environment(prepare(plan("mpi", LAUNCHER, WORKER)), 0)
    launch = plan("mpi", LAUNCHER, WORKER)
    ports = (("main", (5001,)), ("rendezvous", (5009,)))
    tasks = tuple(replace(task, ports=ports) for task in launch.placement.tasks)
    env = environment(prepare(replace(launch, placement=Placement(tasks))), 0)
    assert env["MASTER_PORT"] == "5009"


def test_mpi_needs_one_launcher_and_somebody_to_launch_on() -> None:
    assert "roles[0].count" in problems("mpi", RoleSpec("m", "launcher", 2), WORKER)
    assert "second role" in problems("mpi", LAUNCHER)["roles"]
    assert not problems("mpi", LAUNCHER, WORKER)


def test_the_gangs_secret_is_nowhere_in_commands_or_files() -> None:
    prepared = prepare(plan("mpi", LAUNCHER, WORKER))
    texts = [*prepared.files.values(), prepared.command("launcher", 0), prepared.command("worker", 0)]
    assert not any("secret" in text for text in texts)


def test_a_repeated_launch_is_described_the_same() -> None:
    first, second = prepare(plan("mpi", LAUNCHER, WORKER)), prepare(plan("mpi", LAUNCHER, WORKER))
    assert first.gang_env == second.gang_env
    assert first.files == second.files


@pytest.mark.usefixtures("plug_in")
def test_a_third_partys_strategy_appears_as_a_choice_and_is_used() -> None:
    assert strategies.known()["ring"].startswith("tasks in a ring")
    prepared = prepare(plan("ring", RoleSpec("work", count=3)))
    env = environment(prepared, 0)
    assert (env["RING_LEFT"], env["RING_RIGHT"]) == ("127.0.0.1:5002", "127.0.0.1:5001")
    assert env["RING_FILE"] == "/jobs/j1/attempt-0/strategy/ring"
    assert prepared.files["ring"].count("\n") == 3
    assert prepared.command("main", 2) == "echo in a ring of 3\nwork"
    assert problems("ring", RoleSpec("work")) == {"roles": "a ring needs at least two tasks"}


@pytest.mark.usefixtures("plug_in")
def test_a_plug_in_that_does_not_load_is_reported_by_name_and_hurts_nobody() -> None:
    faults = strategies.broken()
    assert set(faults) == {"absent", "wrong"}
    assert "No module named 'no_such_module' (from ring-strategy)" in faults["absent"]
    assert "is no class derived from" in faults["wrong"]
    assert set(strategies.known()) >= BUILT_IN
    assert "its plug-in does not load" in str(strategies.unknown("absent"))


@pytest.mark.usefixtures("plug_in")
def test_nobody_replaces_a_built_in_strategy() -> None:
    assert "torchrun" in strategies.known()["torchrun"]


@pytest.mark.usefixtures("plug_in")
def test_a_plug_in_that_fails_refuses_the_job_it_is_asked_about() -> None:
    message = problems("faulty", RoleSpec("true"))["strategy"]
    assert message == "strategy faulty failed to check this job: RuntimeError: no idea"


@pytest.mark.usefixtures("plug_in")
def test_a_launch_whose_strategy_fails_says_so_in_every_task() -> None:
    assert_fails_saying(prepare(plan("faulty", RoleSpec("true"))), "strategy faulty failed: RuntimeError")


def test_a_launch_whose_strategy_is_gone_says_so_in_every_task() -> None:
    assert_fails_saying(prepare(plan("gone", RoleSpec("true"))), "there is no strategy gone")


def assert_fails_saying(prepared: Prepared, text: str) -> None:
    command = prepared.command("main", 0)
    ran = subprocess.run(["/bin/sh", "-e", "-c", command], capture_output=True, text=True, check=False)
    assert ran.returncode == 126
    assert f"footplate: {text}" in ran.stderr


def test_looking_for_plug_ins_costs_nothing_where_no_job_names_one() -> None:
    program = (
        "import sys, importlib.metadata as m\n"
        "m.entry_points = lambda **_: sys.exit('looked')\n"
        "from footplate.engines.strategies import problems\n"
        "from footplate.domain.spec import JobSpec, RoleSpec\n"
        "problems(JobSpec('fit', (RoleSpec('true'),)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_the_field_of_the_job_file_is_read_and_written_back() -> None:
    document = {"name": "fit", "command": "true", "strategy": "torchrun"}
    assert write_job(read_job(document))["strategy"] == "torchrun"
    assert read_job({"name": "fit", "command": "true"}).strategy == ""


@pytest.mark.parametrize("name", ["two words", "-x", "../x", "x" * 64])
def test_a_name_that_no_strategy_can_have_is_refused_when_read(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_job({"name": "fit", "command": "true", "strategy": name})
    assert [problem.path for problem in refused.value.problems] == ["strategy"]


@pytest.mark.parametrize("name", ["ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "FOOTPLATE_HOSTFILE"])
def test_variables_that_decide_what_a_task_may_see_cannot_be_set(name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be replaced"):
        read_job({"name": "fit", "command": "true", "env": {name: "0"}})
