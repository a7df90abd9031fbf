"""Where a job on the platform would differ from its rehearsal on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from footplate.domain.messages import Message, say
from footplate.domain.spec import JobSpec
from footplate.rehearsal.placing import has_cards_for


def differences(spec: JobSpec, cards: Sequence[int], environment: Mapping[str, str]) -> Iterator[Message]:
    """Say what the platform would do and nobody does here; only what concerns this job."""
    yield say("rehearsed_without_limits")
    if not has_cards_for(spec, cards):
        yield say("rehearsed_without_gpus", asked=spec.resources.gpus, here=len(cards))
    types = sorted({role.instance_type for role in spec.roles if role.instance_type})
    if types:
        yield say("rehearsed_without_types", types=types)
    if spec.framework:
        yield say("rehearsed_without_framework", framework=spec.framework)
    yield from _of_files(spec)
    missing = sorted(variable for variable in spec.secrets if variable not in environment)
    given = sorted(variable for variable in spec.secrets if variable in environment)
    if given:
        yield say("rehearsed_secrets_here", variables=given)
    if missing:
        yield say("rehearsed_secrets_missing", variables=missing)
    yield from _of_the_platform(spec)


def _of_files(spec: JobSpec) -> Iterator[Message]:
    images = sorted({role.image or spec.image for role in spec.roles} - {""})
    if images:
        yield say("rehearsed_without_image", images=images)
    asked = spec.environment
    if asked is not None and not asked.path:
        yield say("rehearsed_without_packages")
    if spec.code is not None and (spec.code.storage or spec.code.git):
        yield say("rehearsed_without_code", source=spec.code.storage or spec.code.git)
    if spec.data:
        yield say("rehearsed_without_data", paths=[mount.path for mount in spec.data])
    if spec.results is not None and spec.results.storage:
        yield say("rehearsed_without_results", storage=spec.results.storage)
    if spec.model is not None:
        yield say("rehearsed_without_model", model=spec.model.name)


def _of_the_platform(spec: JobSpec) -> Iterator[Message]:
    if spec.services:
        yield say("rehearsed_without_services", services=[service.kind for service in spec.services])
    if spec.hang is not None or spec.idle_limit_s is not None:
        yield say("rehearsed_without_hang")
    if spec.alerts:
        yield say("rehearsed_without_alerts")
    if spec.keep_on_failure_s is not None:
        yield say("rehearsed_without_keeping")
