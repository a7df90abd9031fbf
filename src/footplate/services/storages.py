"""Storages: which there are for whom, and whether a job may use those that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from footplate.domain.errors import InvalidInput, Problem
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
        for field, message in _problems_of_data(data, spec, known):
            yield Problem(f"data[{number}].{field}", message)


def _problems_of_code(code: CodeRef, queue: str, known: Mapping[str, Storage]) -> Iterable[Problem]:
    if code.upload:
        yield Problem("code.storage", "is given beside an upload: code can come from one place only")
    if code.storage == OWN:
        yield Problem("code.storage", "cannot be the job's own folders, which are empty at first")
    elif code.storage not in known:
        yield Problem("code.storage", _unknown(code.storage, queue, known))


def _problems_of_data(
    data: DataMount, spec: JobSpec, known: Mapping[str, Storage]
) -> Iterable[tuple[str, str]]:
    first = data.source.partition("/")[0]
    if not data.storage:
        yield "storage", f"is required; {_names(known)}"
    elif data.storage == OWN and first not in OWN_FOLDERS:
        yield "source", f"must begin with a folder of the job: {', '.join(OWN_FOLDERS)}"
    elif data.storage == OWN and first == "code" and spec.code is None:
        yield "source", "is the job's code, and it has none"
    elif data.storage != OWN and data.storage not in known:
        yield "storage", _unknown(data.storage, spec.queue, known)
    elif data.storage != OWN and known[data.storage].read_only and not data.read_only:
        yield "read_only", f"storage {data.storage} can only be read: leave read_only out"


def _unknown(name: str, queue: str, known: Mapping[str, Storage]) -> str:
    return f"there is no storage {name} for queue {queue}; {_names(known)}"


def _names(known: Mapping[str, Storage]) -> str:
    return f"there are: {', '.join([*sorted(known), OWN])}"
