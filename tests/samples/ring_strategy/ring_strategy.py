"""A strategy as somebody else would write it: tasks in a ring, each of which knows its two neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from footplate.domain.cluster import TaskPlacement
from footplate.domain.errors import Problem
from footplate.domain.spec import JobSpec
from footplate.engines.strategies.base import Strategy, strategy_folder
from footplate.engines.taskenv.gang import Gang, Group, address_of


class Ring(Strategy):
    description = "tasks in a ring; RING_LEFT and RING_RIGHT are the neighbours"

    def problems(self, spec: JobSpec) -> Iterable[Problem]:
        if spec.n_tasks < 2:
            yield Problem("roles", "a ring needs at least two tasks")

    def groups(self, gang: Gang) -> Iterable[Group]:
        size = len(gang.members)

        def own(_task: TaskPlacement, rank: int) -> Mapping[str, str]:
            return {
                "RING_LEFT": address_of(gang.members[rank - 1]),
                "RING_RIGHT": address_of(gang.members[(rank + 1) % size]),
            }

        return (Group({"RING_FILE": f"{strategy_folder(gang)}/ring"}, own),)

    def files(self, gang: Gang) -> Mapping[str, str]:
        return {"ring": "".join(f"{address_of(task)}\n" for task in gang.members)}

    def command(self, gang: Gang, task: TaskPlacement, command: str) -> str:
        return f"echo in a ring of {len(gang.members)}\n{command}"


class Faulty(Strategy):
    """Fails wherever it is asked."""

    description = "fails whatever it is asked"

    def problems(self, spec: JobSpec) -> Iterable[Problem]:
        raise RuntimeError("no idea")

    def command(self, gang: Gang, task: TaskPlacement, command: str) -> str:
        raise RuntimeError("still no idea")
