"""What an environment is made of, and where packages come from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.errors import EngineRejected
from footplate.domain.spec import EnvironmentSpec, JobSpec, RoleSpec
from footplate.engines.local.environments import indexes
from footplate.engines.local.environments.inputs import MOST_BYTES, Image, Inputs, gather, wish_of
from footplate.engines.local.environments.recipe import commands
from footplate.engines.local.environments.refusing import refuses_packages

DIGEST = "sha256:" + "1" * 64


def read(code: Path, digest: str = DIGEST, **asked: Any) -> Inputs:
    wish = wish_of(EnvironmentSpec(**asked))
    assert wish is not None
    return gather(wish, (str(code), ""), digest)


def test_the_same_content_has_the_same_key_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("requirements.txt", "sub/requirements.txt"):
        (tmp_path / name).write_text("numpy\n")
    first, second = (
        read(tmp_path, requirements=name) for name in ("requirements.txt", "sub/requirements.txt")
    )
    assert first.key == second.key
    assert first.key == read(tmp_path, "sha256:other", requirements="requirements.txt").key


@pytest.mark.parametrize(
    "other",
    [{"requirements": ("numpy", "x")}, {"requirements": ("numpy",), "python": "3.12"}],
    ids=["packages", "python"],
)
def test_what_else_is_asked_for_has_another_key(tmp_path: Path, other: dict[str, Any]) -> None:
    assert read(tmp_path, requirements=("numpy",)).key != read(tmp_path, **other).key


@pytest.mark.parametrize(
    "line",
    ["-r more.txt", "-e .", ".", "./wheels/x.whl", "file:///code/x", "mine @ ./lib", "--constraint=c.txt"],
)
def test_a_file_that_names_other_files_depends_on_the_whole_code(tmp_path: Path, line: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"numpy\n{line}\n")
    inputs = read(tmp_path, requirements="requirements.txt")
    assert inputs.tree == tmp_path
    assert inputs.key != read(tmp_path, "sha256:other", requirements="requirements.txt").key
    with pytest.raises(EngineRejected, match="uploaded code only"):
        read(tmp_path, "", requirements="requirements.txt")


@pytest.mark.parametrize(
    "line", ["numpy>=2  # why/not", "git+https://host/x.git", "x[extra]; sys_platform == 'linux'"]
)
def test_a_file_of_requirements_alone_does_not(tmp_path: Path, line: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"{line}\n")
    assert read(tmp_path, requirements="requirements.txt").tree is None


def test_a_lock_beside_the_project_is_used(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    free = read(tmp_path, pyproject="pyproject.toml")
    (tmp_path / "uv.lock").write_text("version = 1\n")
    locked = read(tmp_path, pyproject="pyproject.toml")
    assert free.key != locked.key
    assert "sync --frozen" in commands(locked, tmp_path, Path("/e"))
    assert "sync" not in commands(free, tmp_path, Path("/e"))


def test_a_link_out_of_the_code_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "secret").write_text("numpy")
    (tmp_path / "code" / "requirements.txt").symlink_to("../secret")
    with pytest.raises(EngineRejected, match="cannot be read"):
        read(tmp_path / "code", requirements="requirements.txt")


def test_what_is_no_file_of_a_fair_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "large.txt").write_bytes(b"x" * (MOST_BYTES + 1))
    with pytest.raises(EngineRejected, match="is not in the code"):
        read(tmp_path, requirements="folder")
    with pytest.raises(EngineRejected, match="larger than 4MB"):
        read(tmp_path, requirements="large.txt")


def test_the_settings_of_pip_reach_uv(tmp_path: Path) -> None:
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://mirror/simple\nextra-index-url =\n  https://a/simple\n  https://b/simple\n"
    )
    variables = indexes.for_uv(
        {"UV_HTTP_TIMEOUT": "5", "UV_CACHE_DIR": "/own", "https_proxy": "http://p"}, [config]
    )
    assert variables == {
        "UV_DEFAULT_INDEX": "https://mirror/simple",
        "UV_INDEX": "https://a/simple https://b/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_HTTP_TIMEOUT": "5",
        "https_proxy": "http://p",
    }
    own = indexes.for_uv({"PIP_INDEX_URL": "https://own/simple", "PIP_NO_INDEX": "false"}, [config])
    assert own["UV_DEFAULT_INDEX"] == "https://own/simple"
    assert indexes.NO_INDEX not in own


def test_a_broken_file_of_settings_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_bytes(b"\xff[")
    assert indexes.for_uv({}, [tmp_path / "pip.conf", tmp_path / "none"]) == {}


def test_passwords_of_indexes_do_not_reach_tasks() -> None:
    environ = {
        "PIP_INDEX_URL": "https://me:hush@mirror/simple",
        "PIP_FIND_LINKS": "/opt/wheels",
        "UV_INDEX_MIRROR_PASSWORD": "secret",
    }
    assert indexes.passwords(indexes.for_uv(environ, [])) == {"hush", "secret"}
    assert indexes.for_tasks(environ, []) == {"PIP_FIND_LINKS": "/opt/wheels", "UV_FIND_LINKS": "/opt/wheels"}


def test_images_are_told_of_indexes_elsewhere_only_and_of_whom_the_site_trusts(tmp_path: Path) -> None:
    trusted = tmp_path / "own.pem"
    trusted.write_text("who we trust")
    environ = {
        "PIP_INDEX_URL": "https://mirror/simple",
        "PIP_EXTRA_INDEX_URL": "file:///opt/simple https://more/simple",
        "PIP_FIND_LINKS": "/opt/wheels",
        "PIP_CERT": str(trusted),
        "no_proxy": "localhost,.example.org",
    }
    told = indexes.for_images(environ, [])
    assert {name: text for name, text in told.items() if name.startswith("PIP_")} == {
        "PIP_INDEX_URL": "https://mirror/simple",
        "PIP_EXTRA_INDEX_URL": "https://more/simple",
    }
    assert told["UV_INDEX"] == "https://more/simple"
    assert told["no_proxy"] == "localhost,.example.org"
    assert str(tmp_path) not in str(told)
    assert indexes.certificates(environ, []) == "who we trust"
    assert indexes.certificates({"PIP_CERT": "/nowhere"}, []) == indexes.certificates({}, []) == ""


def spec_of(image: str, **asked: Any) -> JobSpec:
    return JobSpec("train", (RoleSpec("true", image=image),), environment=EnvironmentSpec(**asked))


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"conda": "environment.yml"}, "conda_in_image"),
        ({"requirements": ("numpy",), "python": "3.12"}, "python_in_image"),
        ({"requirements": ("numpy",)}, None),
        ({"pyproject": "pyproject.toml"}, None),
        ({"path": "/opt/env"}, None),
    ],
)
def test_an_image_takes_packages_for_its_own_python(asked: dict[str, Any], code: str | None) -> None:
    problem = refuses_packages(spec_of("torch:2", **asked), {})
    assert (problem.said.code if problem else None) == code


def test_a_folder_that_stands_for_an_image_is_no_image() -> None:
    asked = spec_of("torch:2", requirements=("numpy",), python="3.12")
    assert refuses_packages(asked, {"torch:2": "/opt/torch"}) is None


def test_an_image_by_another_id_has_another_key(tmp_path: Path) -> None:
    inputs = read(tmp_path, requirements=("numpy",))
    one, other = (replace(inputs, image=Image("torch:2", name)) for name in ("sha256:1", "sha256:2"))
    assert len({inputs.key, one.key, other.key}) == 3
    assert one.key == replace(inputs, image=Image("the-same:1", "sha256:1")).key


def test_places_of_this_machine_are_shown_to_builds_in_images(tmp_path: Path) -> None:
    variables = {"PIP_FIND_LINKS": f"{tmp_path} /no/such https://host/links", "SSL_CERT_FILE": ""}
    assert indexes.local_places(variables) == [str(tmp_path)]


def test_builds_in_images_are_told_the_same_places_with_their_passwords() -> None:
    environ = {"PIP_INDEX_URL": "https://me:sesame@host/simple", "PIP_EXTRA_INDEX_URL": "https://more/simple"}
    variables = indexes.for_builds(environ, [])
    assert variables["PIP_INDEX_URL"] == variables["UV_DEFAULT_INDEX"] == environ["PIP_INDEX_URL"]
    assert variables["PIP_EXTRA_INDEX_URL"] == environ["PIP_EXTRA_INDEX_URL"]
