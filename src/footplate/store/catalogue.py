"""The catalogue of images as it is now, in memory."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.domain.cluster import Queue
from footplate.domain.image import ChosenImage, Image, refer
from footplate.domain.spec import JobSpec
from footplate.store import image_queries


class Catalogue:
    """Filled at start, and again after each change."""

    def __init__(self) -> None:
        self.images: dict[str, Image] = {}

    def load(self, connection: sa.Connection) -> None:
        self.images = {image.name: image for image in image_queries.all_images(connection)}

    def reference_of(self, name: str) -> str:
        """What an engine pulls for the image of a job: the catalogue's reference, or the name itself."""
        known = self.images.get(name)
        return name if known is None else known.reference

    def environments(self, queue: Queue | None) -> dict[str, str]:
        """The local folders that stand in for images in a queue, by the name and by the reference of each."""
        own = dict(queue.environments) if queue else {}
        return {**{self.reference_of(name): path for name, path in own.items()}, **own}

    def refer(self, spec: JobSpec) -> JobSpec:
        """A job with the references of its images in place of their names."""
        return refer(spec, {name: image.reference for name, image in self.images.items()})

    def choose(self, spec: JobSpec, queue: Queue | None) -> tuple[ChosenImage, ...]:
        """What each image of a job resolves to in its queue now."""
        names = sorted({spec.image, *(role.image for role in spec.roles)} - {""})
        environments = self.environments(queue)
        references = {name: self.reference_of(name) for name in names}
        return tuple(ChosenImage(name, to, environments.get(to)) for name, to in references.items())
