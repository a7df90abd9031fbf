"""How many tasks a batch script means, and what each of them gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from footplate.dialects.slurm import amounts
from footplate.dialects.slurm.amounts import MIB, Gpus
from footplate.domain.messages import Message, say

# What is read here; every other option is read elsewhere, or nowhere.
OPTIONS = frozenset(
    {
        "nodes",
        "ntasks",
        "ntasks-per-node",
        "cpus-per-task",
        "mem",
        "mem-per-cpu",
        "mem-per-gpu",
        "gres",
        "gpus",
        "gpus-per-node",
        "gpus-per-task",
    }
)
NO_GPUS = Gpus(0)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shape:
    """Tasks, and the resources of each; `memory_bytes` is None where the script does not say."""

    count: int
    cpus: int
    memory_bytes: int | None
    gpus: Gpus


class Spread:
    """Spreads over tasks what Slurm gives to nodes.

    With `srun` the tasks are those that it starts. Without, the script runs once and has the share of one
    node for itself.
    """

    def __init__(self, options: Mapping[str, str], uses_srun: bool) -> None:
        self._options = options
        self._uses_srun = uses_srun
        self.notes: list[Message] = []

    def shape(self) -> Shape:
        nodes, per_node = self._count("nodes"), self._count("ntasks-per-node")
        ntasks = self._count("ntasks") or (nodes or 1) * (per_node or 1)
        nodes = nodes or (-(-ntasks // per_node) if per_node else 1)
        per_node = per_node or -(-ntasks // nodes)
        count = ntasks if self._uses_srun else 1
        cpus = self._count("cpus-per-task") or 1
        cpus = cpus if count > 1 else cpus * per_node
        n_sharing = per_node if count > 1 else 1
        gpus = self._gpus(nodes, per_node, n_sharing)
        shape = Shape(count, cpus, self._memory(cpus, gpus.count, n_sharing), gpus)
        if count > 1:
            self.notes.append(say("slurm_runs_in_every_task", n=count))
        elif max(ntasks, nodes) > 1:
            self.notes.append(say("slurm_runs_once", n_cpus=cpus))
        return shape

    def _gpus(self, nodes: int, per_node: int, n_sharing: int) -> Gpus:
        """The GPUs of each task."""
        if each := self._read("gpus-per-task", amounts.read_gpus):
            return each if n_sharing > 1 or per_node == 1 else Gpus(each.count * per_node, each.type)
        total = self._read("gpus", amounts.read_gpus)
        of_node = self._read("gpus-per-node", amounts.read_gpus) or self._gres()
        if of_node is None and total is not None:
            of_node = Gpus(-(-total.count // nodes), total.type)
        if of_node is None:
            return NO_GPUS
        share, rest = divmod(of_node.count, n_sharing)
        if rest:
            share = max(share, 1)
            self.notes.append(
                say("slurm_gpus_not_shared", n_gpus=of_node.count, n_tasks=n_sharing, share=share)
            )
        return Gpus(share, of_node.type)

    def _gres(self) -> Gpus | None:
        given = self._options.get("gres")
        if given is None:
            return None
        gpus, others = amounts.read_gres(given)
        self.notes += [say("slurm_option_unmapped", option=f"--gres={other}") for other in others]
        return gpus

    def _memory(self, cpus: int, n_gpus: int, n_sharing: int) -> int | None:
        """The memory of each task, in whole megabytes."""
        total = self._read("mem", amounts.read_bytes)
        each = self._read("mem-per-cpu", amounts.read_bytes)
        of_gpu = self._read("mem-per-gpu", amounts.read_bytes)
        if total == 0:
            self.notes.append(say("slurm_all_memory"))
            total = None
        if total is not None:
            wanted = total / n_sharing
        elif each is not None:
            wanted = each * cpus
        elif of_gpu is not None and n_gpus:
            wanted = of_gpu * n_gpus
        else:
            return None
        return max(1, -int(-wanted // MIB)) * MIB

    def _count(self, name: str) -> int | None:
        return self._read(name, amounts.read_count)

    def _read(self, name: str, read: Callable[[str], T | None]) -> T | None:
        given = self._options.get(name)
        if given is None:
            return None
        found = read(given)
        if found is None:
            self.notes.append(say("slurm_value_unreadable", option=f"--{name}", value=given))
        return found
