"""Storages: which there are for whom, and whether a job may use those that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from footplate.domain.errors import InvalidInput, Problem, problem
from footplate.domain.messages import Message, say
from footplate.domain.spec import CodeRef, DataMount, JobSpec
from footplate.domain.storage import OWN, OWN_FOLDERS, Storage
from footplate.services.access import Caller
from footplate.services.platform import Platform


def all_usable(platform: Platform, caller: Caller) -> list[Storage]:
    """Name the storages that some queue of the caller's may use."""
    queues = [name for name in platform.cluster.queues if caller.rank_in(name)]
    return [
        storage
        for storage in platform.storages.values()
        if caller.is_admin or any(map(storage.is_open_to, queues))
    ]


def check_named(platform: Platform, spec: JobSpec) -> None:
    """Raise `InvalidInput` when a job names a storage that its queue may not use, or would write to one."""
    problems = list(_problems(platform, spec))
    if problems:
        raise InvalidInput(problems)


def _problems(platform: Platform, spec: JobSpec) -> Iterable[Problem]:
    known = {name: one for name, one in platform.storages.items() if one.is_open_to(spec.queue)}
    if spec.code is not None and spec.code.storage:
        yield from _problems_of_code(spec.code, spec.queue, known)
    for number, data in enumerate(spec.data):
        for field, said in _problems_of_data(data, spec, known):
            yield Problem(f"data[{number}].{field}", said)


def _problems_of_code(code: CodeRef, queue: str, known: Mapping[str, Storage]) -> Iterable[Problem]:
    if code.upload:
        yield problem("code.storage", "code_twice")
    if code.storage == OWN:
        yield problem("code.storage", "code_in_own_folders")
    elif code.storage not in known:
        yield Problem("code.storage", _unknown(code.storage, queue, known))


def _problems_of_data(
    data: DataMount, spec: JobSpec, known: Mapping[str, Storage]
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
    elif data.storage != OWN and known[data.storage].read_only and not data.read_only:
        yield "read_only", say("storage_read_only", storage=data.storage)


def _unknown(name: str, queue: str, known: Mapping[str, Storage]) -> Message:
    return say("storage_unknown", storage=name, queue=queue, known=_names(known))


def _names(known: Mapping[str, Storage]) -> list[str]:
    return [*sorted(known), OWN]
