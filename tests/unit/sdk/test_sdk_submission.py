from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.errors import InvalidInput
from footplate.sdk.submission import prepare

DOCUMENT: dict[str, Any] = {
    "name": "x",
    "command": "python t.py ${{ parameters.epochs }} ${{ parameters.must }}",
    "parameters": {"epochs": 5, "rate": 0.1},
    "env": {"A": "1"},
}


def test_parameters_and_environment_are_merged_and_the_rest_replaced() -> None:
    made = prepare(DOCUMENT, name="y", parameters={"epochs": 9}, env={"B": "2"}, queue=None).document
    assert made["name"] == "y"
    assert made["parameters"] == {"epochs": 9, "rate": 0.1}
    assert made["env"] == {"A": "1", "B": "2"}
    assert "queue" not in made
    assert DOCUMENT["name"] == "x"


def test_a_parameter_that_only_the_command_names_can_be_given() -> None:
    assert prepare(DOCUMENT, parameters={"must": 1}).document["parameters"]["must"] == 1


def test_a_parameter_that_nothing_uses_is_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"parameters.epoch: is not used by the job; it uses epochs, must, rate"
    ):
        prepare(DOCUMENT, parameters={"epoch": 1})


def test_fields_of_one_role_cannot_override_a_job_with_several() -> None:
    roles = [{"name": "a", "command": "true"}, {"name": "b", "command": "true"}]
    with pytest.raises(InvalidInput, match="cpus: the job has several roles"):
        prepare({"name": "x", "roles": roles}, cpus=2)


def test_fields_of_a_role_go_into_the_only_one() -> None:
    document = prepare({"name": "x", "roles": [{"command": "true", "gpus": 1}]}, cpus=2, retry=1).document
    assert document == {"name": "x", "roles": [{"command": "true", "gpus": 1, "cpus": 2}], "retry": 1}


@pytest.mark.parametrize("code", [".", {"path": "."}, {"path": "./", "read_only": True}])
def test_a_folder_beside_the_job_file_is_sent_along(tmp_path: Path, code: Any) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "job.json").write_text(json.dumps({**DOCUMENT, "code": code}))
    sent = prepare(tmp_path / "job.json").code
    assert sent is not None
    assert (sent.root, sent.n_files) == (tmp_path, 2)


@pytest.mark.parametrize(
    "code",
    [{"storage": "team", "path": "src"}, {"upload": "sha256:0", "path": "x"}, {"path": ""}, {"path": 3}],
)
def test_code_that_lies_elsewhere_sends_nothing(code: Any) -> None:
    assert prepare({**DOCUMENT, "code": code}).code is None


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none.yaml cannot be read: No such file"):
        prepare(tmp_path / "none.yaml")


def test_a_file_that_holds_no_mapping_is_refused(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("- a\n- b\n")
    with pytest.raises(InvalidInput, match="must contain a mapping"):
        prepare(tmp_path / "job.yaml")
