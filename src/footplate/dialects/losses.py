"""What of a job another dialect cannot say."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from footplate.domain.fields import Record
from footplate.domain.messages import Message, say
from footplate.domain.rolefields import ROLE
from footplate.domain.spec import JobSpec
from footplate.domain.specfields import JOB


def losses(spec: JobSpec, said: Collection[str], said_of_role: Collection[str]) -> Iterator[Message]:
    """Name every field that the job uses and that is not among those which the dialect can say."""
    yield from _unsaid(spec, JOB, said, "")
    seen: set[str] = set()
    for role in spec.roles:
        for lost in _unsaid(role, ROLE, said_of_role, "roles[]."):
            field = str(lost.params["field"])
            if field not in seen:
                seen.add(field)
                yield lost


def _unsaid(value: object, record: Record, said: Collection[str], prefix: str) -> Iterator[Message]:
    for one in record.fields:
        if one.name not in said and getattr(value, one.target) != one.default:
            yield say("field_inexpressible", field=f"{prefix}{one.name}")
