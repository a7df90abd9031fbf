"""Why an engine can never run a job: what its capabilities rule out, then what only the engine knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from footplate.domain.errors import Problem, problem
from footplate.domain.spec import JobSpec
from footplate.engines.base import Capabilities, Engine


def refusal(engine: Engine, spec: JobSpec, environments: Mapping[str, str]) -> Problem | None:
    """Say why an engine can never run a job; None when nothing speaks against it.

    `environments` are the local folders that stand in for images in the job's queue.
    """
    images = dict(_images(spec, environments))
    in_images = len(images) == len(spec.roles)
    mounts = [] if in_images else list(_mounted(spec))
    # Most jobs want neither, and then nobody has to find out what the engine can do.
    ruled_out = _ruled_out(engine.capabilities, images, mounts) if images or mounts else None
    return ruled_out or engine.refuses(spec, environments)


def first_refusal(
    engines: Sequence[Engine], spec: JobSpec, environments: Mapping[str, str]
) -> Problem | None:
    """Say why none of these engines would ever run a job: what the first says, when all of them refuse."""
    problems = [refusal(engine, spec, environments) for engine in engines]
    return problems[0] if problems and None not in problems else None


def _images(spec: JobSpec, environments: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Go through the roles that run in an image: their names, and the image."""
    for role in spec.roles:
        image = role.image or spec.image
        if image and image not in environments:
            yield role.name, image


def _mounted(spec: JobSpec) -> Iterator[str]:
    """Name the fields of a job that need something mounted."""
    if spec.data:
        yield "data"
    if spec.code is not None and spec.code.is_read_only:
        yield "code.read_only"


def _ruled_out(can: Capabilities, images: Mapping[str, str], mounts: Sequence[str]) -> Problem | None:
    if images and can.no_images is not None:
        role, image = next(iter(images.items()))
        return problem("image", "image_without_engine", role=role, image=image, why=can.no_images)
    return Problem(mounts[0], can.no_mounts) if mounts and can.no_mounts is not None else None
