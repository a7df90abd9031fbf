"""Strategies with a launcher (MPI, Horovod, DeepSpeed): one task runs the command, the others wait for it.

The launcher is the role named `launcher`, or else the first task of the first role. The others run what
their own role says as preparation, then serve; tasks of the launcher's own role only serve.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from footplate.domain.cluster import TaskPlacement
from footplate.domain.errors import Problem, problem
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.engines.strategies.base import Strategy, strategy_folder
from footplate.engines.taskenv.devices import devices
from footplate.engines.taskenv.gang import Environment, Gang, n_processes, port_of

LAUNCHER = "launcher"
RUNTIME = Path(__file__).resolve().parents[2] / "runtime"
HOSTFILE, MPICH_HOSTFILE, GANG_FILE = "hostfile", "hostfile.mpich", "tasks"
DEEPSPEED_HOSTFILE = "hostfile.deepspeed"
REMOTE_SHELL = "footplate-rsh"


def has_launcher_role(spec: JobSpec) -> bool:
    return any(role.name == LAUNCHER for role in spec.roles)


class Mpi(Strategy):
    description = "MPI: mpirun in the launcher starts the ranks in the other tasks"

    def takes_part(self, spec: JobSpec, role: RoleSpec) -> bool:
        return role.name != LAUNCHER

    def problems(self, spec: JobSpec) -> Iterable[Problem]:
        for number, role in enumerate(spec.roles):
            if role.name == LAUNCHER and role.count != 1:
                yield problem(f"roles[{number}].count", "one_launcher", given=role.count)
        if has_launcher_role(spec) and len(spec.roles) == 1:
            yield problem("roles", "launcher_alone")

    def slots(self, task: TaskPlacement) -> int:
        """Say how many ranks a task takes: one for each card, or for each whole CPU."""
        return len(task.gpus) or max(1, task.resources.milli_cpus // 1000)

    def variables(self, gang: Gang) -> Mapping[str, str]:
        return {**self._gang_variables(gang), **_launcher_variables(gang), **_master(gang)}

    def _gang_variables(self, gang: Gang) -> Environment:
        folder = strategy_folder(gang)
        variables = {
            "FOOTPLATE_RUNTIME": str(RUNTIME),
            "FOOTPLATE_GANG_FILE": f"{folder}/{GANG_FILE}",
            "FOOTPLATE_HOSTFILE": f"{folder}/{HOSTFILE}",
            "FOOTPLATE_SLOTS": str(sum(map(self.slots, gang.members))),
        }
        if gang.is_listable:
            variables["FOOTPLATE_HOSTS"] = ",".join(
                f"{_name(task)}:{self.slots(task)}" for task in gang.members
            )
        return variables

    def files(self, gang: Gang) -> Mapping[str, str]:
        return {
            HOSTFILE: "".join(f"{_name(task)} slots={self.slots(task)}\n" for task in gang.members),
            MPICH_HOSTFILE: "".join(f"{_name(task)}:{self.slots(task)}\n" for task in gang.members),
            GANG_FILE: "".join(f"{_name(task)} {task.address} {port_of(task) or 0}\n" for task in gang.tasks),
        }

    def command(self, gang: Gang, task: TaskPlacement, command: str) -> str:
        if task == launcher_of(gang):
            return f'exec python3 -I "$FOOTPLATE_RUNTIME" launch {shlex.quote(command)}'
        serve = 'exec python3 -I "$FOOTPLATE_RUNTIME" serve'
        return serve if task.role == launcher_of(gang).role else f"{command.rstrip()}\n{serve}"


class Horovod(Mpi):
    description = "Horovod: like mpi, with one rank per GPU"

    def slots(self, task: TaskPlacement) -> int:
        return n_processes(task)


class DeepSpeed(Horovod):
    """Its launcher counts cards from 0 unless told which ones, and guesses an address unless given one."""

    description = "DeepSpeed: run deepspeed $FOOTPLATE_DEEPSPEED_OPTIONS in the launcher"

    def variables(self, gang: Gang) -> Mapping[str, str]:
        variables = super().variables(gang)
        options = {
            "--hostfile": f"{strategy_folder(gang)}/{DEEPSPEED_HOSTFILE}",
            "--include": _included(gang),
            "--master_addr": variables["MASTER_ADDR"],
            "--master_port": variables.get("MASTER_PORT", ""),
        }
        text = " ".join(f"{name} {shlex.quote(value)}" for name, value in options.items() if value)
        return {**variables, "FOOTPLATE_DEEPSPEED_OPTIONS": text}

    def files(self, gang: Gang) -> Mapping[str, str]:
        # A card that is named must be below the number of slots.
        slots = {task: max(map(int, _cards(gang, task)), default=0) + 1 for task in gang.members}
        lines = [f"{_name(task)} slots={n_slots}\n" for task, n_slots in slots.items()]
        hostfile = "".join(lines) if _included(gang) else super().files(gang)[HOSTFILE]
        return {**super().files(gang), DEEPSPEED_HOSTFILE: hostfile}


def _included(gang: Gang) -> str:
    """Name the cards of every task; nothing where all count from 0."""
    cards = {task: _cards(gang, task) for task in gang.members}
    if not gang.is_listable or all(own == _first(len(own)) for own in cards.values()):
        return ""
    return "@".join(f"{_name(task)}:{','.join(own)}" for task, own in cards.items())


def _cards(gang: Gang, task: TaskPlacement) -> list[str]:
    """Say by which numbers a task's processes know its cards; a container counts its own from 0."""
    image = gang.roles[task.role].image or gang.plan.spec.image
    if image and image not in gang.plan.environments:
        return _first(len(task.gpus))
    visible = devices(gang, task, 0)
    listed = visible.get("ASCEND_RT_VISIBLE_DEVICES") or visible["CUDA_VISIBLE_DEVICES"]
    return listed.split(",") if listed else []


def _first(count: int) -> list[str]:
    return list(map(str, range(count)))


def launcher_of(gang: Gang) -> TaskPlacement:
    return next((task for task in gang.tasks if task.role == LAUNCHER), gang.tasks[0])


def _name(task: TaskPlacement) -> str:
    return f"{task.role}-{task.index}"


def _master(gang: Gang) -> Environment:
    """Say where rank 0 may listen: a port of its task on which no agent does."""
    first = gang.members[0]
    variables = {"MASTER_ADDR": first.address}
    is_serving = first != launcher_of(gang)
    port = next((ports[0] for label, ports in first.ports if not (is_serving and label == "main")), None)
    if port is not None:
        variables["MASTER_PORT"] = str(port)
    return variables


def _launcher_variables(gang: Gang) -> Environment:
    """Tell Open MPI 4, Open MPI 5 and MPICH which hosts there are and how to reach them."""
    folder = strategy_folder(gang)
    hostfile, yes = f"{folder}/{HOSTFILE}", "1"
    variables = {
        "OMPI_MCA_orte_default_hostfile": hostfile,
        "OMPI_MCA_plm_rsh_agent": REMOTE_SHELL,
        # Only the launcher knows the way to every task.
        "OMPI_MCA_plm_rsh_no_tree_spawn": yes,
        "OMPI_MCA_orte_leave_session_attached": yes,
        "OMPI_ALLOW_RUN_AS_ROOT": yes,
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": yes,
        "PRTE_MCA_prte_default_hostfile": hostfile,
        "PRTE_MCA_plm_ssh_agent": REMOTE_SHELL,
        "PRTE_MCA_plm_ssh_no_tree_spawn": yes,
        "PRTE_MCA_prte_leave_session_attached": yes,
        "PRTE_ALLOW_RUN_AS_ROOT": yes,
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": yes,
        "HYDRA_HOST_FILE": f"{folder}/{MPICH_HOSTFILE}",
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_ENV": "none",
        "HYDRA_LAUNCHER_EXEC": REMOTE_SHELL,
    }
    return {**variables, **(_on_loopback() if gang.is_on_loopback else {})}


def _on_loopback() -> Environment:
    return {
        "OMPI_MCA_oob_tcp_if_include": "lo",
        "OMPI_MCA_btl_tcp_if_include": "lo",
        # Ranks of different tasks would all be bound to the first core.
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        "HYDRA_IFACE": "lo",
    }
