"""Names of the catalogue in place of references."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.domain.image import Image
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.store import image_queries
from footplate.store.catalogue import Catalogue
from footplate.store.database import open_engine


def stored(database_url: str, *images: Image) -> tuple[sa.Engine, Catalogue]:
    engine, catalogue = open_engine(database_url), Catalogue()
    with engine.execution_options(footplate_writer=True).begin() as connection:
        for image in images:
            image_queries.put_image(connection, image)
        catalogue.load(connection)
    return engine, catalogue


def test_a_name_of_the_catalogue_stands_for_its_reference(database_url: str) -> None:
    engine, catalogue = stored(database_url, Image("torch", "example.com/torch:2"))
    assert catalogue.reference_of("torch") == "example.com/torch:2"
    assert catalogue.reference_of("python:3.12") == "python:3.12"
    assert catalogue.reference_of("") == ""
    engine.dispose()


def test_a_job_refers_to_the_images_of_its_roles_too(database_url: str) -> None:
    engine, catalogue = stored(database_url, Image("torch", "example.com/torch:2"))
    spec = JobSpec("j", (RoleSpec("true", image="torch"), RoleSpec("true", "b")), image="python:3.12")
    referred = catalogue.refer(spec)
    assert (referred.image, [role.image for role in referred.roles]) == (
        "python:3.12",
        ["example.com/torch:2", ""],
    )
    engine.dispose()


def test_there_is_one_default_at_most_and_it_comes_first(database_url: str) -> None:
    images = (Image("a", "a"), Image("b", "b", is_default=True), Image("c", "c", is_default=True))
    engine, catalogue = stored(database_url, *images)
    assert [(image.name, image.is_default) for image in catalogue.images.values()] == [
        ("c", True),
        ("a", False),
        ("b", False),
    ]
    engine.dispose()
