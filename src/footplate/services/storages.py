"""Storages: which there are for whom, and whether a job may use those that it names."""

from __future__ import annotations

from collections.abc import Iterable

from footplate.domain.errors import InvalidInput, Problem
from footplate.domain.spec import JobSpec
from footplate.domain.storage import OWN, Storage
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
    there_are = f"there are: {', '.join([*sorted(known), OWN])}"
    if spec.code is not None and spec.code.storage and spec.code.storage not in known:
        message = f"there is no storage {spec.code.storage} for queue {spec.queue}; {there_are}"
        yield Problem("code.storage", message)
    for number, data in enumerate(spec.data):
        storage = known.get(data.storage)
        if storage is None and data.storage != OWN:
            message = f"there is no storage {data.storage} for queue {spec.queue}; {there_are}"
            yield Problem(f"data[{number}].storage", message)
        elif storage is not None and storage.read_only and not data.read_only:
            message = f"storage {data.storage} can only be read: leave read_only out"
            yield Problem(f"data[{number}].read_only", message)
