"""Fields of a job that are checked and stored, and that nothing acts on yet."""

from __future__ import annotations

from footplate.domain.messages import Message, say
from footplate.domain.spec import JobSpec

UNUSED = ("results", "services", "alerts")


def warnings_of(spec: JobSpec) -> list[Message]:
    """Say what of a job will have no effect."""
    plain = JobSpec(spec.name, spec.roles)
    return [say("field_unused", field=name) for name in UNUSED if getattr(spec, name) != getattr(plain, name)]
