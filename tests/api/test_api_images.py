"""The catalogue of images, and the folders of queues that stand in for images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from apiclient import NODE, Api, Data, Hire, Sign, fresh

from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served
from footplate.wire import images as w
from footplate.wire.queues import QueueBody

TORCH = {
    "reference": "registry.example.com/team/torch:2.13",
    "description": "For everybody",
    "framework": "pytorch",
    "version": "2.13",
}


@pytest.fixture
def empty(admin: Api) -> None:
    for image in admin.ok("GET", "/images")["items"]:
        admin.ok("DELETE", f"/images/{image['name']}", status=204)


def put(api: Api, name: str, **body: Any) -> Data:
    return api.ok("PUT", f"/images/{name}", w.ImageBody, json={"reference": "python:3.12", **body})


def listed(api: Api) -> list[Data]:
    items: list[Data] = api.ok("GET", "/images", w.Images)["items"]
    return items


@pytest.mark.usefixtures("empty")
def test_everybody_sees_what_an_admin_put_there(admin: Api, hire: Hire) -> None:
    made = put(admin, "torch-2.13", **TORCH)
    assert {name: made[name] for name in TORCH} == TORCH
    assert (made["name"], made["is_default"]) == ("torch-2.13", False)
    assert listed(hire()) == [made]


@pytest.mark.usefixtures("empty")
def test_a_change_leaves_what_it_does_not_name(admin: Api, clock: FakeClock) -> None:
    made = put(admin, "torch", **TORCH, is_default=True)
    clock.advance(5)
    changed = put(admin, "torch", reference="python:3.13")
    assert changed == {**made, "reference": "python:3.13", "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > changed["created_at"]
    assert put(admin, "torch", description="")["description"] == ""


@pytest.mark.usefixtures("empty")
def test_there_is_one_default_at_most_and_it_comes_first(admin: Api) -> None:
    put(admin, "a")
    put(admin, "b", is_default=True)
    put(admin, "c", is_default=True)
    assert [(one["name"], one["is_default"]) for one in listed(admin)] == [
        ("c", True),
        ("a", False),
        ("b", False),
    ]
    put(admin, "c", is_default=False)
    assert [one["is_default"] for one in listed(admin)] == [False] * 3


@pytest.mark.usefixtures("empty")
def test_an_image_that_was_deleted_is_gone(admin: Api) -> None:
    put(admin, "torch")
    admin.ok("DELETE", "/images/torch", status=204)
    assert listed(admin) == []
    admin.refused("DELETE", "/images/torch", 404, says="there is no image 'torch' in the catalogue")


def test_only_a_platform_admin_keeps_the_catalogue(ann: Api, server: Served, sign: Sign, admin: Api) -> None:
    task = sign(server.parts.tokens.issue(admin.running()["id"], 0))
    for caller in (ann, task):
        caller.refused("PUT", "/images/mine", 403, json={"reference": "python:3.12"})
        caller.refused("DELETE", "/images/mine", 403)
        listed(caller)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "reference"),
        ({"reference": ""}, "reference"),
        ({"reference": "two words"}, "reference"),
        ({"reference": "https://example.com/x"}, "reference"),
        ({"reference": "-x"}, "reference"),
        ({"reference": "x" * 513}, "reference"),
        ({"reference": "x", "is_default": "maybe"}, "is_default"),
        ({"reference": "x", "framework": "y" * 64}, "framework"),
        ({"reference": "x", "version": "\x07"}, "version"),
        ({"reference": "x", "size": 5}, "size"),
    ],
)
def test_bad_input_is_refused_by_its_field(admin: Api, body: Data, field: str) -> None:
    admin.refused("PUT", "/images/bad", 422, field, json=body)


@pytest.mark.parametrize("name", ["a b", "x:y", ".x", "x" * 64])
def test_a_bad_name_is_refused(admin: Api, name: str) -> None:
    admin.refused("PUT", f"/images/{name}", 422, "name", json={"reference": "x"})


def test_the_catalogue_is_known_to_the_server_at_once_and_after_a_restart(tmp_path: Path) -> None:
    clock = FakeClock()
    for is_first in (True, False):
        with served(tmp_path / "home", FakeEngine(clock, [NODE]), clock) as server:
            if is_first:
                with Api(server, server.sign_in()) as admin:
                    put(admin, "torch", **TORCH)
            catalogue = server.parts.platform.images
            assert catalogue.reference_of("torch") == TORCH["reference"]
            assert catalogue.reference_of("other:1") == "other:1"


# Folders that stand in for images


def test_a_queue_keeps_the_folders_that_stand_in_for_images(admin: Api, ann: Api, tmp_path: Path) -> None:
    name, folder = fresh("queue"), str(tmp_path)
    given = {"torch": folder, "example.com/x:1": folder}
    made = admin.ok("POST", "/queues", QueueBody, 201, json={"name": name, "environments": given})
    assert made["environments"] == given
    changed = admin.ok("PATCH", f"/queues/{name}", QueueBody, json={"environments": {"torch": folder}})
    assert changed["environments"] == {"torch": folder}
    closed = admin.ok("PATCH", f"/queues/{name}", QueueBody, json={"is_open": False})
    assert closed["environments"] == {"torch": folder}
    assert admin.served.parts.platform.cluster.queues[name].environments == (("torch", folder),)
    ann.refused("PATCH", f"/queues/{name}", 403, json={"environments": {}})
    assert admin.ok("PATCH", f"/queues/{name}", json={"environments": {}})["environments"] == {}


def test_a_queue_without_such_folders_has_none(admin: Api) -> None:
    assert admin.ok("GET", "/queues/default", QueueBody)["environments"] == {}


@pytest.mark.parametrize("path", ["relative", "/nothing/such", "/etc/passwd", "~"])
def test_what_is_no_folder_of_the_server_is_refused(admin: Api, path: str) -> None:
    body = {"name": fresh("queue"), "environments": {"torch": path}}
    admin.refused("POST", "/queues", 422, "environments.torch", says=path, json=body)
    admin.refused(
        "PATCH", "/queues/default", 422, "environments.torch", json={"environments": {"torch": path}}
    )


def test_a_folder_that_shows_the_servers_own_files_stands_in_for_no_image(admin: Api, tmp_path: Path) -> None:
    home = admin.served.home
    inside, link = home / "inside", tmp_path / "link"
    inside.mkdir(exist_ok=True)
    link.symlink_to(home)
    for path in (home, inside, home.parent, Path("/"), link):
        body = {"environments": {"torch": str(path)}}
        admin.refused("PATCH", "/queues/default", 422, "environments.torch", says="home", json=body)


@pytest.mark.parametrize("environments", [[], "torch", {"two words": "/"}, {"": "/"}, {"x": 5}, {"x": ""}])
def test_environments_of_another_form_are_refused(admin: Api, environments: Any) -> None:
    body = {"name": fresh("queue"), "environments": environments}
    admin.refused("POST", "/queues", 422, json=body)
