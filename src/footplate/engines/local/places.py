"""Paths of the files of attempts on this machine; tasks see them at the same paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from footplate.domain.attempt import Attempt, TaskRun
from footplate.domain.cluster import TaskPlacement
from footplate.domain.spec import CodeRef
from footplate.domain.storage import OWN, OWN_FOLDERS, Storage, StorageKind, Volume
from footplate.engines.base import LaunchPlan, TaskPaths
from footplate.engines.local.containers.choosing import choose
from footplate.engines.local.exchange import Mount
from footplate.home import layout
from footplate.home.volumes import folder_of

STRATEGY = "strategy"


@dataclass(frozen=True, slots=True)
class Places:
    """The home folder, and the folders of the storages."""

    home: Path
    storages: Mapping[str, Storage] = field(default_factory=dict)

    def attempt(self, job_id: str, number: int) -> Path:
        return layout.attempt_folder(self.home, job_id, number)

    def run(self, attempt: Attempt, task: TaskRun) -> Path:
        """Name where the claim and the end of a run are recorded."""
        folder = self.attempt(attempt.job_id, attempt.number)
        return layout.run_folder(layout.task_folder(folder, task.role, task.index), task.run)

    def notice(self, attempt: Attempt, role: str, index: int) -> Path:
        folder = self.attempt(attempt.job_id, attempt.number)
        return layout.notice_file(layout.task_folder(folder, role, index))

    def person(self, plan: LaunchPlan) -> Path:
        return layout.person_folder(self.home, plan.owner, plan.owner_number)

    def paths(self, plan: LaunchPlan, task: TaskPlacement) -> TaskPaths:
        folder = self.attempt(plan.job_id, plan.attempt)
        own = layout.task_folder(folder, task.role, task.index)
        work = self.code(plan) if starts_in_code(plan) else layout.work_folder(own)
        return TaskPaths(
            work=str(work),
            checkpoints=str(self.volume(plan, plan.results.checkpoints)),
            output=str(self.volume(plan, plan.results.output)),
            notice=str(layout.notice_file(own)),
            strategy=str(folder / STRATEGY),
        )

    def volume(self, plan: LaunchPlan, volume: Volume) -> Path:
        return folder_of(self.home, self.storages, plan.job_id, volume)

    def code(self, plan: LaunchPlan) -> Path:
        return layout.code_folder(self.home, plan.job_id)

    def code_source(self, plan: LaunchPlan) -> tuple[str, str] | None:
        """Say where the code lies on this machine: a folder, and the path below that it must not leave.

        Of what is brought from elsewhere that is known once it is here.
        """
        code = plan.spec.code
        if code is not None and code.upload:
            return str(self.code(plan)), ""
        if code is None or code.storage not in self.storages:
            return None
        return None if self._is_elsewhere(code) else (self._root(plan, code.storage), code.path)

    def _is_elsewhere(self, code: CodeRef) -> bool:
        return self.storages[code.storage].kind is not StorageKind.FOLDER

    def environment_link(self, plan: LaunchPlan) -> Path:
        return layout.environment_link(self.home, plan.job_id)

    def environment(self, plan: LaunchPlan) -> str | None:
        """Say where tasks see the environment that their job asks for, if it does."""
        asked = plan.spec.environment
        return None if asked is None else asked.path or str(self.environment_link(plan))

    def mounts(self, plan: LaunchPlan) -> Iterator[Mount]:
        """Write what tasks find at other paths than this machine has it.

        What lies on a storage that is no longer declared is left out: whoever launches has looked for it.
        """
        code = plan.spec.code
        if code is not None and starts_in_code(plan):
            yield from self._code(plan, code)
        for volume in plan.volumes:
            yield from self._volume(plan, volume)

    def _root(self, plan: LaunchPlan, storage: str) -> str:
        """Name the folder of a storage that the job's owner sees, out of which nothing may lead."""
        return self.storages[storage].path_for(plan.owner, plan.owner_number)

    def _code(self, plan: LaunchPlan, code: CodeRef) -> Iterator[Mount]:
        target = self.code(plan)
        if code.upload:
            yield _mount(str(target.parent), target.name, str(target), read_only=True, is_fixed=True)
        elif code.storage in self.storages and self._is_elsewhere(code):
            yield _staged(code.storage, code.path, str(target))
        elif code.storage in self.storages:
            yield self._of_storage(plan, Volume(code.storage, code.path, str(target)))

    def _volume(self, plan: LaunchPlan, volume: Volume) -> Iterator[Mount]:
        if volume.staged:
            yield _staged(volume.storage, volume.inner, volume.target)
        elif volume.storage == OWN:
            # Tasks can put links there: they are followed no further than the job's own folder.
            root = str(layout.job_folder(self.home, volume.of_job or plan.job_id))
            is_fixed = volume.inner in OWN_FOLDERS
            yield _mount(root, volume.inner, volume.target, volume.read_only, is_fixed)
        elif volume.storage in self.storages:
            yield self._of_storage(plan, volume)

    def _of_storage(self, plan: LaunchPlan, volume: Volume) -> Mount:
        storage, root = self.storages[volume.storage], self._root(plan, volume.storage)
        if volume.inner and volume.read_only and not storage.read_only and _has_containers(plan):
            # A container engine finds the path by itself, and a task that writes there could have put a link
            # on the way by then: what cannot be mounted safely is copied.
            return _staged(volume.storage, volume.inner, volume.target)
        mount = _mount(root, volume.inner, volume.target, volume.read_only, storage.read_only)
        return {**mount, "kept_for": "one" if storage.per_user else "all"} if storage.is_own else mount


def _has_containers(plan: LaunchPlan) -> bool:
    return any(choose(plan, task)["in_container"] for task in plan.placement.tasks)


def starts_in_code(plan: LaunchPlan) -> bool:
    """Tell whether tasks work in the code itself, which they may only read, and not in a copy of it."""
    code = plan.spec.code
    return code is not None and code.is_read_only and bool(code.upload or code.storage)


def _staged(storage: str, inner: str, target: str) -> Mount:
    return {**_mount("", inner, target, read_only=True, is_fixed=True), "staged": storage}


def _mount(source: str, inner: str, target: str, read_only: bool, is_fixed: bool) -> Mount:
    return {
        "source": source,
        "inner": inner,
        "is_fixed": is_fixed,
        "target": target,
        "read_only": read_only,
    }
