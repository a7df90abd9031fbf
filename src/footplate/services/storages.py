"""Storages: which there are for whom, and whether a job may use those that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from footplate.domain.errors import InvalidInput, NotFound, Problem, problem
from footplate.domain.messages import Message, say
from footplate.domain.results import DEFAULT_STORAGE
from footplate.domain.spec import CodeRef, DataMount, JobSpec
from footplate.domain.storage import OWN, OWN_FOLDERS, Access, Storage, StorageKind, is_pattern
from footplate.services.access import Caller
from footplate.services.fileaccess import access_of
from footplate.services.platform import Platform


def all_usable(platform: Platform, caller: Caller) -> list[tuple[Storage, Access]]:
    """Name the storages that the caller may use, and what for."""
    found = [(storage, access_of(caller, storage)) for storage in platform.storages.values()]
    return [(storage, access) for storage, access in found if access is not Access.NONE]


def one_usable(platform: Platform, caller: Caller, name: str) -> tuple[Storage, Access]:
    for storage, access in all_usable(platform, caller):
        if storage.name == name:
            return storage, access
    raise NotFound("storage_not_visible", storage=name[:64])


def check_named(platform: Platform, owner: str, spec: JobSpec) -> None:
    """Raise `InvalidInput` when a job names a storage that it may not use, or would write to one."""
    problems = list(_problems(platform, owner, spec))
    if problems:
        raise InvalidInput(problems)


def _problems(platform: Platform, owner: str, spec: JobSpec) -> Iterable[Problem]:
    if not (spec.data or spec.results or (spec.code and spec.code.storage)):
        return
    known = {
        name: replace(one, read_only=access is Access.READ)
        for name, one in platform.storages.items()
        if (access := one.access_of_job(owner, spec.queue)) is not Access.NONE
    }
    engines = platform.engines.of_queue(platform.cluster.queues[spec.queue])
    can_stage = any(engine.capabilities.stages for engine in engines)
    if spec.code is not None and spec.code.storage:
        yield from _problems_of_code(spec.code, spec.queue, known, can_stage)
    if spec.results is not None:
        yield from _problems_of_results(platform, owner, spec, spec.results.storage or DEFAULT_STORAGE)
    for number, data in enumerate(spec.data):
        for field, said in _problems_of_data(data, spec, known, can_stage):
            yield Problem(f"data[{number}].{field}", said)


def _problems_of_code(
    code: CodeRef, queue: str, known: Mapping[str, Storage], can_stage: bool
) -> Iterable[Problem]:
    if code.upload:
        yield problem("code.storage", "code_twice")
    if code.storage == OWN:
        yield problem("code.storage", "code_in_own_folders")
    elif code.storage not in known:
        yield Problem("code.storage", _unknown(code.storage, queue, known))
    elif known[code.storage].kind is StorageKind.HTTP:
        yield problem("code.storage", "code_on_web", storage=code.storage)
    elif known[code.storage].kind is not StorageKind.FOLDER and not can_stage:
        yield problem("code.storage", "storage_not_staged", storage=code.storage)


def _problems_of_data(
    data: DataMount, spec: JobSpec, known: Mapping[str, Storage], can_stage: bool
) -> Iterable[tuple[str, Message]]:
    first = data.source.partition("/")[0]
    if not data.storage:
        yield "storage", say("storage_required", known=_names(known))
    elif data.storage == OWN and first not in OWN_FOLDERS:
        yield "source", say("not_own_folder", folders=list(OWN_FOLDERS))
    elif data.storage == OWN and first == "code" and spec.code is None:
        yield "source", say("no_own_code")
    elif data.storage != OWN and data.storage not in known:
        yield "storage", _unknown(data.storage, spec.queue, known)
    elif data.storage != OWN and known[data.storage].is_staged(data.source):
        yield from _problems_of_staged(data, known[data.storage], can_stage)
    elif data.storage != OWN and known[data.storage].read_only and not data.read_only:
        yield "read_only", say("storage_read_only", storage=data.storage)


def _problems_of_results(platform: Platform, owner: str, spec: JobSpec, name: str) -> Iterable[Problem]:
    access = {one.name: one.access_of(owner, {spec.queue: True}) for one in platform.storages.values()}
    if access.get(name, Access.NONE) is Access.NONE:
        known = sorted(one for one, given in access.items() if given is Access.WRITE)
        yield problem("results.storage", "results_unknown", storage=name, known=known)
    elif access[name] is not Access.WRITE:
        yield problem("results.storage", "results_not_writable", storage=name)


def _problems_of_staged(data: DataMount, storage: Storage, can_stage: bool) -> Iterable[tuple[str, Message]]:
    if not can_stage:
        yield "storage", say("storage_not_staged", storage=storage.name)
    elif not data.read_only:
        yield "read_only", say("staged_read_only", storage=storage.name)
    elif storage.kind is StorageKind.HTTP and (not data.source or is_pattern(data.source)):
        yield "source", say("web_needs_file", storage=storage.name)


def _unknown(name: str, queue: str, known: Mapping[str, Storage]) -> Message:
    return say("storage_unknown", storage=name, queue=queue, known=_names(known))


def _names(known: Mapping[str, Storage]) -> list[str]:
    return [*sorted(known), OWN]
