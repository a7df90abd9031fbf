"""Distributed trainings through a real server and the local engine, each started the way its users do."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.testing.process import ServerProcess, await_that, processes_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "ring_strategy"

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch: make test FRAMEWORKS=torch"
)
needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="needs JAX: make test FRAMEWORKS=jax"
)
needs_mpi = pytest.mark.skipif(
    shutil.which("mpirun") is None, reason="needs mpirun: apt-get install openmpi-bin"
)
needs_mpi4py = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None, reason="needs mpi4py: pip install mpi4py"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("strategies") / "home"
    settings = '[node]\ncpus = 4\nmemory = "16GB"\n'
    with ServerProcess(home, settings, PYTHONPATH=_with_sample()) as running:
        # The server answers a moment before the command knows where it is.
        await_that(lambda: running.command("list").returncode == 0, what="the command finds the server")
        yield running


def _with_sample() -> str:
    """Install the sample plug-in for the server, and only for it."""
    return os.pathsep.join(filter(None, (str(SAMPLE), os.environ.get("PYTHONPATH"))))


def run(server: ServerProcess, *words: str) -> str:
    """Submit, follow to the end, and return what was printed; the job must succeed."""
    done = server.command("submit", "--follow", *words, timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_file(server: ServerProcess, folder: Path, document: dict[str, Any]) -> str:
    file = folder / "job.yaml"
    file.write_text(json.dumps(document))
    return run(server, str(file))


def example(server: ServerProcess, name: str) -> str:
    return run(server, str(EXAMPLES / name / "job.yaml"), "--again")


@needs_torch
def test_a_stock_ddp_script_trains_on_two_tasks_by_torchrun(server: ServerProcess) -> None:
    printed = example(server, "torch-ddp")
    assert "trainer-0 | rank 0 of 2" in printed
    assert "trainer-1 | rank 1 of 2" in printed
    assert "weights agree on all ranks: True" in printed


@needs_torch
def test_torch_distributed_launch_forms_the_group_from_the_variables_of_tione(server: ServerProcess) -> None:
    printed = example(server, "torch-launch")
    assert "worker-0 | rank 0 of 2, local rank 0" in printed
    assert "worker-1 | rank 1 of 2, local rank 0" in printed
    assert "worker-0 | y = 2.9" in printed


@needs_torch
def test_plain_torchrun_in_each_task_forms_one_group(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(
        "import torch.distributed as dist\n"
        "dist.init_process_group('gloo')\n"
        "print('rank', dist.get_rank(), 'of', dist.get_world_size(), flush=True)\n"
        "dist.barrier()\n"
        "dist.destroy_process_group()\n"
    )
    role = {"name": "node", "count": 2, "cpus": 0.5, "command": "torchrun hello.py"}
    printed = run_file(
        server, tmp_path, {"name": "bare", "code": ".", "env": {"OMP_NUM_THREADS": "1"}, "roles": [role]}
    )
    assert "node-0 | rank 0 of 2" in printed
    assert "node-1 | rank 1 of 2" in printed


def test_tf_config_drives_a_parameter_server_and_its_workers(server: ServerProcess) -> None:
    printed = example(server, "parameter-server")
    assert "ps-0 | serving weights at 127.0.0.1:" in printed
    assert "test accuracy 0.9" in printed


def test_the_documented_snippet_builds_a_cluster_from_tf_config(
    server: ServerProcess, tmp_path: Path
) -> None:
    # TensorFlow itself is in test_frameworks_for_real: here, what the snippet hands to it.
    (tmp_path / "snippet.py").write_text(
        "import json, os\n"
        'tf_config = json.loads(os.environ.get("TF_CONFIG", "{}"))\n'
        'task, cluster = tf_config.get("task", {}), tf_config.get("cluster", {})\n'
        "sizes = {job: len(tasks) for job, tasks in sorted(cluster.items())}\n"
        "own = cluster[task['type']][task['index']]\n"
        "port = os.environ['FOOTPLATE_PORT_MAIN']\n"
        "print(task['type'], task['index'], 'of', sizes, own.endswith(':' + port))\n"
    )
    roles = [
        {"name": name, "count": count, "cpus": 0.25, "command": "python snippet.py"}
        for name, count in (("chief", 1), ("ps", 2), ("worker", 2))
    ]
    printed = run_file(server, tmp_path, {"name": "tf", "code": ".", "roles": roles})
    sizes = "of {'chief': 1, 'ps': 2, 'worker': 2} True"
    for task in ("chief 0", "ps 0", "ps 1", "worker 0", "worker 1"):
        assert f"{task.replace(' ', '-')} | {task} {sizes}" in printed


@needs_mpi
@needs_mpi4py
def test_stock_mpirun_trains_across_tasks(server: ServerProcess) -> None:
    printed = example(server, "mpi")
    assert "rank 0 of 2 in worker-0" in printed
    assert "rank 1 of 2 in worker-1" in printed
    assert "y = 3.00 x + -1.00" in printed
    # What mpirun prints comes out where mpirun runs.
    assert "worker-1 | rank" not in printed


@needs_mpi
@needs_mpi4py
def test_mpi_carries_large_messages_within_and_between_tasks(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "sum.py").write_text(
        "import os\n"
        "import numpy as np\n"
        "from mpi4py import MPI\n"
        "world = MPI.COMM_WORLD\n"
        "numbers = np.full(1 << 20, world.Get_rank(), np.float64)\n"
        "world.Allreduce(MPI.IN_PLACE, numbers)\n"
        "places = world.gather(os.environ['FOOTPLATE_TASK'])\n"
        "if world.Get_rank() == 0:\n"
        "    print('sum', set(numbers.tolist()), 'in', sorted(places), flush=True)\n"
    )
    role = {"name": "node", "count": 2, "cpus": 2, "command": "mpirun -np 4 python sum.py"}
    printed = run_file(server, tmp_path, {"name": "large", "code": ".", "strategy": "mpi", "roles": [role]})
    assert "node-0 | sum {6.0} in ['node-0', 'node-0', 'node-1', 'node-1']" in printed


@needs_mpi
def test_mpirun_works_in_a_job_that_names_no_strategy(server: ServerProcess) -> None:
    allow_root = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    printed = run(server, "-n", "alone", "--", f"{allow_root}\nmpirun --oversubscribe -np 2 echo a rank")
    assert printed.count("a rank\n") == 2


def test_a_failing_launcher_fails_the_job_and_leaves_no_agent(server: ServerProcess, tmp_path: Path) -> None:
    document = {
        "name": "fails",
        "strategy": "mpi",
        "roles": [
            {"name": "launcher", "cpus": 0.25, "command": "ssh worker-1 'exit 9'"},
            {"name": "worker", "count": 2, "cpus": 0.25, "command": "true"},
        ],
    }
    (tmp_path / "job.yaml").write_text(json.dumps(document))
    done = server.command("submit", str(tmp_path / "job.yaml"), "--follow", timeout=60)
    assert done.returncode == 9, done.stdout + done.stderr
    assert "task launcher-0 exited with code 9" in done.stderr
    await_that(lambda: not processes_of(server.home), what="all agents have ended")


@needs_jax
def test_jax_processes_find_each_other_without_arguments(server: ServerProcess) -> None:
    printed = example(server, "jax")
    assert "process 0 of 2, 2 devices in all" in printed
    assert "y = 3.00 x + -1.00" in printed


@needs_jax
def test_a_psum_crosses_jax_processes_in_a_job_that_names_no_strategy(
    server: ServerProcess, tmp_path: Path
) -> None:
    (tmp_path / "sum.py").write_text(
        "import jax\n"
        "from jax.sharding import PartitionSpec as P\n"
        "jax.distributed.initialize()\n"
        "mesh = jax.make_mesh((jax.device_count(),), ('d',))\n"
        "own = jax.numpy.array([10.0 ** jax.process_index()])\n"
        "spread = jax.make_array_from_process_local_data(jax.NamedSharding(mesh, P('d')), own)\n"
        "add = lambda x: jax.lax.psum(x, 'd')\n"
        "summed = jax.shard_map(add, mesh=mesh, in_specs=P('d'), out_specs=P())(spread)\n"
        "print('sum', float(summed.addressable_data(0)[0]), flush=True)\n"
    )
    role = {"name": "node", "count": 2, "cpus": 0.5, "memory": "1GB", "command": "python sum.py"}
    printed = run_file(server, tmp_path, {"name": "psum", "code": ".", "roles": [role]})
    assert "node-0 | sum 11.0" in printed
    assert "node-1 | sum 11.0" in printed


def test_tasks_meet_over_plain_tcp(server: ServerProcess) -> None:
    printed = example(server, "tcp")
    assert [f"task {i}: the mean is 20" in printed for i in range(3)] == [True] * 3


def test_a_third_partys_strategy_runs_a_job(server: ServerProcess, tmp_path: Path) -> None:
    role = {"name": "main", "count": 2, "cpus": 0.25, "command": "echo between $RING_LEFT; cat $RING_FILE"}
    printed = run_file(server, tmp_path, {"name": "ring", "strategy": "ring", "roles": [role]})
    assert printed.count("in a ring of 2") == 2
    assert printed.count("between 127.0.0.1:") == 2


def test_an_unknown_strategy_is_refused_at_submit_with_the_known_ones(
    server: ServerProcess, tmp_path: Path
) -> None:
    (tmp_path / "job.yaml").write_text("name: typo\nstrategy: torchrum\ncommand: 'true'\n")
    done = server.command("submit", str(tmp_path / "job.yaml"))
    assert done.returncode != 0
    assert "there is no strategy torchrum; known: ddp, deepspeed" in done.stderr
    assert "ring" in done.stderr


def test_a_parameter_given_at_submit_reaches_command_and_environment(
    server: ServerProcess, tmp_path: Path
) -> None:
    (tmp_path / "job.yaml").write_text(
        "name: rate\nparameters: {lr: 0.1, epochs: 3}\nenv: {RATE: '${{ parameters.lr }}'}\n"
        "command: echo train --lr ${{ parameters.lr }} --epochs ${{ parameters.epochs }} with $RATE\n"
    )
    printed = run(server, str(tmp_path / "job.yaml"), "-p", "lr=0.01")
    assert "train --lr 0.01 --epochs 3 with 0.01" in printed
    shown = json.loads(server.command("show", "rate", "--json").stdout)
    assert shown["config"]["parameters"] == {"lr": "0.01", "epochs": 3}
