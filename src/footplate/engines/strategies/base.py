"""What a strategy may add to a launch.

A strategy is found by an entry point of the group `footplate.strategies` that names a class derived from
`Strategy`; the entry point's name is what a job file says. It overrides what it needs:

1. `takes_part` picks the roles that form the training group; ranks count only those.
2. `problems` looks at a job before it is accepted.
3. `variables` and `groups` give variables; a user's own replace them, except names that are reserved.
4. `files` gives texts that are written before any task starts, below `strategy_folder`.
5. `command` gives the shell text that a task runs in place of what the job file says.

All of them are pure and are asked again after a restart: the same launch must give the same answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from footplate.domain.cluster import TaskPlacement
from footplate.domain.errors import Problem
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.engines.taskenv.environment import conventions
from footplate.engines.taskenv.gang import Gang, Group


def strategy_folder(gang: Gang) -> str:
    """Say where every task of a launch sees the files of the strategy."""
    return gang.shared_paths.strategy


class Strategy:
    """A way to start a distributed training; this one adds nothing."""

    description: str = ""
    # Frameworks whose variables the members get: torch, tensorflow, jax, slurm.
    conventions: Sequence[str] = ()

    def takes_part(self, spec: JobSpec, role: RoleSpec) -> bool:
        """Tell whether a role's tasks belong to the training group."""
        return True

    def problems(self, spec: JobSpec) -> Iterable[Problem]:
        """Say what keeps a job from being started this way, each thing with the path of its field."""
        return ()

    def variables(self, gang: Gang) -> Mapping[str, str]:
        """Give the variables of every task, whether it takes part or not."""
        return {}

    def groups(self, gang: Gang) -> Iterable[Group]:
        """Give the variables of those that take part: shared ones, and each one's own by rank."""
        return conventions(gang, self.conventions)

    def files(self, gang: Gang) -> Mapping[str, str]:
        """Give files by path relative to `strategy_folder`."""
        return {}

    def command(self, gang: Gang, task: TaskPlacement, command: str) -> str:
        """Wrap a task's command; `command` has its parameters filled in."""
        return command
