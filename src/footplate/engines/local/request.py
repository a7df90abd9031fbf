"""What the local engine is asked to start, as JSON: the same for a launch and for a dry run."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, chain
from pathlib import Path

from footplate.domain.cluster import TaskPlacement
from footplate.domain.errors import EngineRejected
from footplate.engines.base import LaunchPlan, TaskPaths
from footplate.engines.local.confine.confinement import Confinement
from footplate.engines.local.confine.view import tmp_folder
from footplate.engines.local.containers.choosing import choose, enter
from footplate.engines.local.environments.inputs import wish_of
from footplate.engines.local.exchange import (
    LocalRequest,
    LocalTask,
    Packages,
    ProcessRequest,
    ProcessTask,
    SpawnOrder,
)
from footplate.engines.local.observe.watches import HOME_ID, TaskKey
from footplate.engines.local.places import Places, starts_in_code
from footplate.engines.local.process.simplecommand import words_of
from footplate.engines.strategies import Prepared, prepare
from footplate.home.layout import log_file, run_folder, task_folder

INHERITED = frozenset(
    {
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "TZ",
        "CUDA_HOME",
        "CUDA_PATH",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
    }
)
# What is set for the machine as a whole: its language, and how its cards and tasks talk to each other.
PASSED_ON = ("LC_", "NCCL_", "GLOO_")
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The kernel's bound for one argument or variable, its closing zero included.
MAX_WORD_BYTES = 128 * 1024
MOST_BYTES_OF_A_CHARACTER = 4


def inherited_environment(server: Mapping[str, str], more: Sequence[str] = ()) -> dict[str, str]:
    """Pick what tasks may know of the server's environment; its interpreter comes first in PATH."""
    names = INHERITED.union(more)
    picked = {name: value for name, value in server.items() if name in names or name.startswith(PASSED_ON)}
    return {**picked, "PATH": f"{sys.prefix}/bin:{server.get('PATH', DEFAULT_PATH)}"}


def person_environment(plan: LaunchPlan, home: Path) -> dict[str, str]:
    """Say who a task is and where at home: its owner, never the account that the server runs as."""
    return {
        "HOME": str(home),
        "LOGNAME": plan.owner,
        "USER": plan.owner,
        "SHELL": _shell(),
    }


def task_program() -> list[str]:
    """Name the words that run a command, ending at the first failing line.

    A pipeline fails with any of its commands: `python train.py | tee log` must not hide a failed training.
    """
    shell = _shell()
    # Only bash has it everywhere.
    return [shell, "-e", *(["-o", "pipefail"] if shell.endswith("bash") else []), "-c"]


@cache
def _shell() -> str:
    return shutil.which("bash") or "/bin/sh"


def compile_request(
    plan: LaunchPlan, places: Places, inherited: Mapping[str, str], home_id: str
) -> LocalRequest:
    prepared = prepare(plan, places.paths)
    person = places.person(plan)
    inherited = {**inherited, **person_environment(plan, person)}
    mark = {HOME_ID: home_id} if home_id else {}
    gang = {**prepared.gang_env, **plan.secrets, **mark}
    paths = prepared.shared_paths
    in_code, code = starts_in_code(plan), str(places.code(plan))
    digest = plan.spec.code.upload if plan.spec.code else ""
    return {
        "attempt_id": plan.attempt_id,
        "home_id": home_id,
        "owner": plan.owner,
        "owner_number": plan.owner_number,
        "person_folder": str(person),
        "folder": str(places.attempt(plan.job_id, plan.attempt)),
        "files": {f"{paths.strategy}/{path}": text for path, text in prepared.files.items()},
        "code": {"digest": digest, "folder": code} if digest else None,
        "code_folder": code if digest and not in_code else None,
        "env": {**inherited, **gang},
        "inherited": sorted(inherited.keys() - gang.keys()),
        "folders": [paths.checkpoints, paths.output, *([code] if in_code else [])],
        "writable": _writable_folders(paths, prepared),
        "code_is_read_only": in_code,
        "mounts": list(places.mounts(plan)),
        "packages": _packages(plan, places),
        "environment_path": plan.spec.environment.path if plan.spec.environment else "",
        "tasks": [
            _task(plan, places, prepared, task, rank, inherited) for rank, task in enumerate(prepared.tasks)
        ],
    }


def _packages(plan: LaunchPlan, places: Places) -> Packages | None:
    """Write what is to be installed, where the code lies that may say so, and what will lead to it."""
    wish = wish_of(plan.spec.environment)
    if wish is None:
        return None
    digest = plan.spec.code.upload if plan.spec.code else ""
    link = places.environment_link(plan)
    return {**wish, "code": places.code_source(plan), "digest": digest, "link": str(link)}


def key_of(request: LocalRequest, task: LocalTask) -> TaskKey:
    run = (request["attempt_id"], task["role"], task["index"], task["run"])
    return TaskKey(*run, task["in_container"], request["home_id"])


def spawn_order(
    request: ProcessRequest, task: ProcessTask, program: Sequence[str], confinement: Confinement
) -> SpawnOrder:
    """Write one task of a request the way the spawner reads it."""
    confined = confinement.order(request, task)
    tmp = [tmp_folder(task)] if confined["view"] else []
    home = [request["person_folder"]] if request["person_folder"] else []
    shared = dict.fromkeys([*request["folders"], *request["writable"]])
    return {
        "folder": task["folder"],
        "folders": [task["folder"], task["work_folder"], *request["folders"], *home, *tmp],
        "given": [task["work_folder"], *shared, *home, *tmp],
        "passages": _passages(request, task),
        "work_folder": task["work_folder"],
        "log": task["log"],
        "argv": [*program, task["command"]],
        "words": words_of(task["command"], chain(request["env"], task["env"])) if program else [],
        "env": {**task["env"], "PWD": task["work_folder"]},
        **confined,
    }


def _passages(request: ProcessRequest, task: ProcessTask) -> list[str]:
    """Name the folders from the job's own down to that of a run of a task."""
    attempt: str = request["folder"]
    inner = task["folder"].removeprefix(f"{attempt}/").split("/")
    job, _, _ = attempt.rpartition("/")
    return [job, *accumulate([attempt, *inner], "{}/{}".format)]


def _writable_folders(paths: TaskPaths, prepared: Prepared) -> list[str]:
    own = [paths.checkpoints, paths.output]
    # Agents of a gang keep what they need beside the files that they were given.
    return [*own, paths.strategy] if prepared.files else own


def _task(
    plan: LaunchPlan,
    places: Places,
    prepared: Prepared,
    task: TaskPlacement,
    rank: int,
    inherited: Mapping[str, str],
) -> LocalTask:
    folder = task_folder(places.attempt(plan.job_id, plan.attempt), task.role, task.index)
    chosen = choose(plan, task)
    run = plan.runs.get((task.role, task.index), 0)
    return {
        "role": task.role,
        "index": task.index,
        "run": run,
        "node": task.node,
        **chosen,
        "command": prepared.command(task.role, task.index),
        "env": enter(
            chosen["environment"] or places.environment(plan),
            prepared.own_env(task, rank),
            {} if chosen["in_container"] else inherited,
            is_conda=plan.spec.environment is not None and bool(plan.spec.environment.conda),
        ),
        "folder": str(run_folder(folder, run)),
        "work_folder": prepared.paths(task).work,
        "log": str(log_file(folder)),
        "milli_cpus": task.resources.milli_cpus,
        "memory_bytes": task.resources.memory_bytes,
        "shm_bytes": plan.spec.role(task.role).shm_bytes,
        "gpus": list(task.gpus),
    }


def refuse_impossible(request: LocalRequest) -> None:
    """Raise `EngineRejected` for what no process of this machine can be given."""
    words = dict(request["env"])
    for task in request["tasks"]:
        words.update(task["env"])
        words[f"the command of role {task['role']}"] = task["command"]
        longest = max(map(len, words)) + max(map(len, words.values()))
        if MOST_BYTES_OF_A_CHARACTER * longest + 2 <= MAX_WORD_BYTES:
            words.clear()
            continue
        for name, value in words.items():
            size_bytes = len(os.fsencode(name)) + len(os.fsencode(value)) + 2
            if size_bytes > MAX_WORD_BYTES:
                raise EngineRejected("word_too_long", name=name, size=size_bytes, most=MAX_WORD_BYTES)
        words.clear()
