"""The job field that names a login at a registry."""

from __future__ import annotations

from typing import Any

import pytest

from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import read_job, write_job


def problems(**fields: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refusal:
        read_job({"name": "j", **fields})
    return {problem.path: problem.message for problem in refusal.value.problems}


def test_the_name_of_a_login_is_kept() -> None:
    spec = read_job({"name": "j", "command": "true", "image": "x/y", "image_credentials": "hub"})
    assert spec.image_credentials == "hub"
    assert write_job(spec)["image_credentials"] == "hub"


def test_the_image_of_a_role_may_need_a_login_too() -> None:
    roles = [{"command": "true", "image": "x/y"}]
    assert read_job({"name": "j", "roles": roles, "image_credentials": "hub"}).image_credentials == "hub"


def test_a_login_without_an_image_is_refused() -> None:
    assert "no image" in problems(command="true", image_credentials="hub")["image_credentials"]


@pytest.mark.parametrize("name", ["a b", "/x", 5, ["hub"], "x" * 64])
def test_what_is_no_name_of_a_secret_is_refused(name: Any) -> None:
    assert list(problems(command="true", image="x/y", image_credentials=name)) == ["image_credentials"]
