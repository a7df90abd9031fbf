"""Images: the catalogue of short names, and how the images of a job resolve to references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from footplate.domain.spec import JobSpec


@dataclass(frozen=True, slots=True)
class Image:
    """One entry of the catalogue; the default is the one that people are offered first."""

    name: str
    reference: str
    description: str = ""
    framework: str = ""
    version: str = ""
    is_default: bool = False
    created_at: float = 0.0
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True)
class ChosenImage:
    """What an image of a job stood for when the job was placed: what is pulled, or a local folder instead."""

    name: str
    reference: str
    environment: str | None = None


def refer(spec: JobSpec, references: Mapping[str, str]) -> JobSpec:
    """A job with the references of its images in place of their names."""
    if not spec.image and not any(role.image for role in spec.roles):
        return spec
    roles = tuple(replace(role, image=references.get(role.image, role.image)) for role in spec.roles)
    return replace(spec, image=references.get(spec.image, spec.image), roles=roles)
