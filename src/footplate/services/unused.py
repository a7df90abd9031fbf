"""Fields of a job that are checked and stored, and that nothing acts on yet."""

from __future__ import annotations

from footplate.domain.spec import JobSpec

UNUSED = ("results", "services", "alerts")


def warnings_of(spec: JobSpec) -> list[str]:
    """Say what of a job will have no effect."""
    plain = JobSpec(spec.name, spec.roles)
    return [
        f"{name} is stored with the job, and nothing acts on it yet"
        for name in UNUSED
        if getattr(spec, name) != getattr(plain, name)
    ]
