"""What the settings say of this machine as a node."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.cluster import Gpu
from footplate.domain.fields import Field, ListOf, Nullable, Record
from footplate.domain.kinds import Cpus, Integer, Size, Text
from footplate.domain.resources import MIB


@dataclass(frozen=True, slots=True)
class GpuGroup:
    """Equal cards declared for this machine."""

    type: str = ""
    count: int = 1
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """This machine as a node; what is not declared is detected."""

    name: str = ""
    address: str = "127.0.0.1"
    milli_cpus: int | None = None
    memory_bytes: int | None = None
    gpus: tuple[GpuGroup, ...] | None = None
    n_processes: int = 4096

    def declared_gpus(self) -> tuple[Gpu, ...] | None:
        if self.gpus is None:
            return None
        cards = [group for group in self.gpus for _ in range(group.count)]
        return tuple(Gpu(index, card.type, card.memory_bytes) for index, card in enumerate(cards))


_GPU_GROUP = Record(
    GpuGroup,
    (
        Field("type", Text(64), "Type of the cards.", ""),
        Field("count", Integer(1, 1024), "How many.", 1),
        Field("memory", Size(0, 1024**4), "Memory of each.", 0, "memory_bytes"),
    ),
)
NODE = Record(
    NodeSettings,
    (
        Field("name", Text(255), "Name of this node (default: the host name).", ""),
        Field("address", Text(255), "Address at which tasks reach each other.", "127.0.0.1"),
        Field(
            "cpus",
            Nullable(Cpus(10, 1_000_000_000)),
            "CPUs for tasks (default: all that are detected).",
            None,
            "milli_cpus",
        ),
        Field(
            "memory",
            Nullable(Size(16 * MIB, 2**60)),
            "Memory for tasks (default: what is detected, less a tenth, at most 1GB, for the system).",
            None,
            "memory_bytes",
        ),
        Field(
            "gpus", Nullable(ListOf(_GPU_GROUP, 64)), "GPUs for tasks (default: all that are detected).", None
        ),
        Field(
            "max_processes",
            Integer(16, 4_000_000),
            "Maximum number of processes and threads per task.",
            4096,
            "n_processes",
        ),
    ),
)
