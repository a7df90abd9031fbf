"""The strategies that need no launcher: variables alone, or a wrapped last line."""

from __future__ import annotations

from collections.abc import Iterable

from footplate.domain.cluster import TaskPlacement
from footplate.domain.errors import Problem, problem
from footplate.domain.interpolate import resolve
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.engines.strategies.base import Strategy
from footplate.engines.strategies.lastline import insert_launcher
from footplate.engines.taskenv.environment import CONVENTIONS
from footplate.engines.taskenv.gang import Gang, Group
from footplate.engines.taskenv.tfconfig import CHIEFS, NAMES, task_type_of_roles, tf_config


class Everything(Strategy):
    """What a job gets that names no strategy."""

    description = "Sets the environment variables of all frameworks; runs commands unchanged"
    conventions = tuple(CONVENTIONS)


class Plain(Strategy):
    description = "Sets no variables of frameworks; FOOTPLATE_TASKS lists the addresses of all tasks"


class Jax(Strategy):
    description = "JAX: jax.distributed.initialize() needs no arguments"
    # JAX finds its place through Slurm's variables, which it knows, and its coordinator by its own.
    conventions = ("jax", "slurm")

    def groups(self, gang: Gang) -> Iterable[Group]:
        # It must see a list of nodes to believe in Slurm; where that is too long, the first of them will do.
        first = Group({"SLURM_STEP_NODELIST": gang.members[0].address}, lambda _task, _rank: {})
        return (first, *super().groups(gang))


class Tensorflow(Strategy):
    description = "TensorFlow: sets TF_CONFIG for the roles chief or master, ps, worker and evaluator"

    def takes_part(self, spec: JobSpec, role: RoleSpec) -> bool:
        return role.name in task_type_of_roles(r.name for r in spec.roles)

    def groups(self, gang: Gang) -> Iterable[Group]:
        return (tf_config(gang),)

    def problems(self, spec: JobSpec) -> Iterable[Problem]:
        types = task_type_of_roles(role.name for role in spec.roles)
        if not set(types.values()) - {"ps", "evaluator"}:
            yield problem("roles", "tensorflow_without_worker", names=list(NAMES))
        chiefs = [role for role in spec.roles if types.get(role.name) in CHIEFS]
        if len(chiefs) > 1:
            yield problem("roles", "tensorflow_two_chiefs")
        for number, role in enumerate(spec.roles):
            if types.get(role.name) in (*CHIEFS, "evaluator") and role.count > 1:
                yield problem(
                    f"roles[{number}].count", "tensorflow_one_task", role=role.name, given=role.count
                )


class Launched(Strategy):
    """Starts one process for each card through a module of PyTorch.

    Where a command calls a launcher itself, those roles take part and all commands stay as they are.
    Otherwise every role takes part whose last line begins with python, and that line is launched.
    """

    conventions = ("torch",)
    module = ""
    markers = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate launch")

    def takes_part(self, spec: JobSpec, role: RoleSpec) -> bool:
        if any(self._is_launched(other.command) for other in spec.roles):
            return self._is_launched(role.command)
        return insert_launcher(role.command, self.module) is not None

    def _is_launched(self, command: str) -> bool:
        return any(marker in command for marker in self.markers)

    def problems(self, spec: JobSpec) -> Iterable[Problem]:
        if not any(self.takes_part(spec, role) for role in spec.roles):
            yield problem("roles[0].command", "last_line_not_python", module=self.module)

    def command(self, gang: Gang, task: TaskPlacement, command: str) -> str:
        parameters = gang.plan.spec.parameters
        texts = [resolve(role.command, parameters) for role in gang.plan.spec.roles]
        if any(self._is_launched(text) for text in texts):
            return command
        return insert_launcher(command, self.module) or command


class Torchrun(Launched):
    description = "PyTorch: torchrun starts one process per GPU"
    module = "torch.distributed.run"


class Ddp(Launched):
    description = "PyTorch: torch.distributed.launch, for scripts that take --local-rank"
    module = "torch.distributed.launch"
