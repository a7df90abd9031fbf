"""The reference page of what a task finds in its environment, with the values of a sample job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import meanings
import variables
from markdown_parts import code, page, table, yes

from footplate.domain import names as name_forms
from footplate.domain import spec as s
from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.problems import Problems
from footplate.engines.base import LaunchPlan, TaskPaths
from footplate.engines.local.request import INHERITED
from footplate.testing.task_environments import task_environment


def environment() -> str:
    found = task_environment(_plan(), "worker", 1, _paths)
    listed = [meanings.VARIABLES, *(names for _, _, names in variables.SECTIONS)]
    mismatch = set(found) ^ {name for names in listed for name in names}
    assert not mismatch, f"received by no task, or without a meaning: {mismatch}"
    inherited = ", ".join(map(code, sorted(INHERITED)))
    reserved = " and ".join(code(prefix + "*") for prefix in name_forms.RESERVED_ENV)
    names = ", ".join(map(code, sorted(name_forms.RESERVED_ENV_NAMES)))
    return page(
        "The environment of a task",
        "src/footplate/engines/taskenv",
        "The examples are those of task `worker-1` of a job with the roles `ps` (one task) and `worker` "
        "(two tasks, with ports labelled `http`). Labels of ports are written in capitals, with `_` for any "
        "other sign. *Replaceable* means that `env` in the job file may set another value.",
        _variables(found, meanings.VARIABLES),
        *_sections(found),
        "## Launchers",
        "Only with `strategy: mpi`, `horovod` or `deepspeed`, in every task, beside what Open MPI and MPICH "
        "need to find the host file and the remote shell.",
        table(("variable", "meaning"), ((code(name), text) for name, text in variables.LAUNCHER.items())),
        "## From the server's own environment",
        f"A task also gets {inherited} and every `LC_*`, where the server has them, and `PATH` with the "
        "server's Python environment first. Nothing else of the server's environment reaches a task.",
        "## Reserved names",
        f"A job file may not set {reserved} variables, nor {names}.",
    )


def _sections(found: Mapping[str, str]) -> Iterable[str]:
    for title, about, names in variables.SECTIONS:
        yield f"## {title}"
        yield about
        yield _variables(found, names)


def _variables(found: Mapping[str, str], texts: Mapping[str, str]) -> str:
    return table(
        ("variable", "example", "meaning", "replaceable"),
        (
            (code(name), _example(found[name]), text, yes(_is_replaceable(name)))
            for name, text in sorted(texts.items())
        ),
    )


def _plan(**env: str) -> LaunchPlan:
    """A sample job, as the engine gets it."""
    ports = (s.PortRange("http", 0, 2),)
    roles = (s.RoleSpec("true", "ps"), s.RoleSpec("true", "worker", count=2, gpus=1, ports=ports))
    data = (s.DataMount("/data/digits"),)
    code_ref = s.CodeRef("sha256:" + "0" * 64)
    spec = s.JobSpec("digits", roles, env=env, parameters={"epochs": 5}, data=data, code=code_ref)
    asked = roles[1].resources
    main, more = ("main", (20001,)), ("http", (20002, 20003))
    placement = Placement(
        (
            TaskPlacement("ps", 0, "node1", roles[0].resources, ports=(("main", (20000,)),)),
            TaskPlacement("worker", 0, "node1", asked, (0,), (main, more)),
            TaskPlacement("worker", 1, "node1", asked, (1,), (("main", (20004,)), ("http", (20005, 20006)))),
        )
    )
    return LaunchPlan(
        job_id="2me19e9zbny0",
        owner="ada",
        attempt=0,
        spec=spec,
        placement=placement,
        url="http://127.0.0.1:8750",
        token="fpj_…",
    )


def _paths(_plan: LaunchPlan, task: TaskPlacement) -> TaskPaths:
    own = f"…/{task.role}-{task.index}"
    return TaskPaths(f"{own}/work", "…/checkpoints", "…/output", f"{own}/notice", "…/strategy")


def _example(value: str) -> str:
    shown = value if len(value) <= 60 else value[:57] + "…"
    return code(shown) if shown else "(empty)"


def _is_replaceable(name: str) -> bool:
    problems = Problems()
    name_forms.ENV_NAME.read(name, name, problems)
    return not problems and task_environment(_plan(**{name: "mine"}), "worker", 1, _paths)[name] == "mine"
