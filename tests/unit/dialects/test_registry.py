"""Every dialect: recognised, read, written again, and never at a loss for words."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate.cli.convert import TARGETS
from footplate.dialects.pai import v1, v2
from footplate.dialects.registry import DIALECTS, OURS, recognise, translate
from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import read_job, write_job
from footplate.domain.spec import JobSpec, PortRange

EXAMPLES = settings(max_examples=200, deadline=2000, suppress_health_check=list(HealthCheck))
MINE: dict[str, Any] = {
    "name": "mine",
    "image": "python:3.9",
    "queue": "vision",
    "retry": 2,
    "env": {"A": "it's ${{ parameters.lr }}"},
    "parameters": {"lr": 0.1, "my_token": "hunter2"},
    "roles": [
        {
            "name": "worker",
            "command": "python a.py --lr ${{ parameters.lr }} ${{ parameters.my_token }}\necho done",
            "count": 2,
            "cpus": 2,
            "memory": "2GB",
            "shm": "512MB",
            "gpus": 1,
            "ports": [{"label": "web"}],
            "completion": {"min_failed": None, "min_succeeded": 1},
        }
    ],
}


def back(name: str, document: dict[str, Any]) -> JobSpec:
    write = DIALECTS[name].write
    assert write is not None
    made = translate(write(read_job(document)).text, name).document
    return read_job({name: value for name, value in made.items() if name != "code"})


def test_the_command_offers_every_dialect_that_can_be_written() -> None:
    writable = {one.name.replace("_", "-") for one in DIALECTS.values() if one.write}
    assert set(TARGETS) == {OURS, *writable}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"jobName": "x"}', "pai_v1"),
        ("protocolVersion: 2\n", "pai_v2"),
        ("taskRoles: {a: {commands: [ls]}}\n", "pai_v2"),
        ('{"jobName": "x", "taskRoles": {}}', "pai_v1"),
        ("name: x\nlearners: 1\ndata_stores: []\n", "ffdl"),
        ("name: x\nnamespace: a\ndata_stores: []\n", "prophecis"),
        ("#!/bin/bash\n#SBATCH --mem=1G\n", "sbatch"),
        ("name: x\ncommand: 'true'\n", None),
        ("}{", None),
    ],
)
def test_a_text_is_recognised_by_its_fields(text: str, name: str | None) -> None:
    assert recognise(text) == name


# What every task of OpenPAI has, so that no file says it.
USUAL = (PortRange("http"), PortRange("ssh"))


@pytest.mark.parametrize("name", ["pai_v1", "pai_v2"])
def test_ports_that_every_task_of_openpai_has_are_given_and_not_written(name: str) -> None:
    again = back(name, MINE)
    written = DIALECTS[name].write
    assert written is not None
    assert "ssh" not in written(again).text
    assert back(name, write_job(again)) == again


def test_what_is_written_as_v2_is_read_back_as_the_same_job() -> None:
    given, again = read_job(MINE), back("pai_v2", MINE)
    (mine,), (read,) = given.roles, again.roles
    assert (again.name, again.queue, again.retry, again.image) == ("mine", "vision", 2, "python:3.9")
    assert (read.resources, read.count, read.shm_bytes) == (mine.resources, mine.count, mine.shm_bytes)
    assert (read.ports, read.completion) == ((*mine.ports, *USUAL), mine.completion)
    assert "${{ parameters.my_token }}" in read.command
    assert again.parameters == given.parameters


def test_what_is_written_as_v1_is_read_back_as_the_same_job() -> None:
    given, again = read_job(MINE), back("pai_v1", MINE)
    (mine,), (read,) = given.roles, again.roles
    assert (again.name, again.queue, again.retry, again.image) == ("mine", "vision", 2, "python:3.9")
    assert (read.resources, read.count, read.shm_bytes) == (mine.resources, mine.count, mine.shm_bytes)
    assert (read.ports, read.completion) == ((*mine.ports, *USUAL), mine.completion)
    assert read.command == "python a.py --lr 0.1 hunter2\necho done"
    assert again.env == {"A": "it's 0.1"}


def test_what_is_written_as_a_batch_script_asks_for_the_same() -> None:
    alone = {**MINE, "roles": [{**MINE["roles"][0], "count": 1}]}
    again = back("sbatch", alone)
    assert (again.name, again.queue, again.image) == ("mine", "vision", "python:3.9")
    assert again.roles[0].resources == read_job(alone).roles[0].resources


@pytest.mark.parametrize("name", ["ffdl", "prophecis"])
def test_what_is_written_as_a_manifest_asks_for_the_same(name: str) -> None:
    alone = {**MINE, "roles": [{**MINE["roles"][0], "count": 1}]}
    again = back(name, alone)
    (mine,), (read,) = read_job(alone).roles, again.roles
    assert (again.name, again.image) == ("mine", "python:3.9")
    assert (read.resources, read.count) == (mine.resources, mine.count)
    assert "\n" not in read.command


def test_distributed_tensorflow_goes_to_prophecis_and_back() -> None:
    alerts = [
        {"on": "failed", "level": "major", "to": ["ann"]},
        {"on": "deadline", "at": "2030-01-01T00:00:00Z", "every": "10m"},
        {"on": "overtime", "after": "90m"},
    ]
    folders = {"/mnt/data/set": "/lake/alice/set", "code": "/lake/alice/work"}
    roles = [
        {"name": "worker", "command": "true", "count": 2, "completion": {"min_succeeded": 2}},
        {"name": "ps", "command": "true", "memory": "2GB", "image": "other:1"},
    ]
    mine = {"name": "x", "image": "a:1", "strategy": "tensorflow", "roles": roles, "alerts": alerts}
    given = read_job({**mine, "extras": {"manifest_folders": folders}})
    written = DIALECTS["prophecis"].write
    assert written is not None
    made = written(given)
    again = read_job(translate(made.text, "prophecis").document)
    assert made.lost == ()
    assert again == given


def test_what_prophecis_cannot_say_of_tensorflow_is_told_or_refused() -> None:
    written = DIALECTS["prophecis"].write
    assert written is not None
    worker, server = ({"name": name, "command": f"run {name}"} for name in ("worker", "ps"))
    with pytest.raises(InvalidInput, match="one kind of task"):
        written(read_job({"name": "x", "roles": [worker, server]}))
    alerts = [{"on": "failed"}, {"on": "hang"}]
    several = {"name": "x", "strategy": "torchrun", "roles": [{**worker, "count": 2}], "alerts": alerts}
    lost = {one.params.get("field") for one in written(read_job(several)).lost}
    assert {"strategy", "alerts"} <= lost


def test_a_command_of_several_lines_survives_a_manifest() -> None:
    command = "echo \"it's\" 'a\\tb' $A\nif true; then\n  echo '%d' done\nfi"
    again = back("ffdl", {"name": "x", "env": {"A": "b c"}, "command": command})
    outputs = [
        subprocess.run(["bash", "-c", text], env={"A": "b c"}, capture_output=True, check=True).stdout
        for text in (command, again.roles[0].command)
    ]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("name", ["ffdl", "prophecis"])
def test_a_job_of_several_roles_is_no_manifest(name: str) -> None:
    roles = [{"name": name, "command": "true"} for name in ("a", "b")]
    with pytest.raises(InvalidInput, match="one kind of task"):
        back(name, {"name": "x", "roles": roles})


def test_what_a_dialect_cannot_say_is_told() -> None:
    rich = {**MINE, "time_limit": "1h", "strategy": "torchrun", "hang": {"after": "10m"}}
    for name, lost in {"pai_v1": 3, "pai_v2": 3, "sbatch": 2, "ffdl": 3}.items():
        write = DIALECTS[name].write
        assert write is not None
        fields = {one.params["field"] for one in write(read_job(rich)).lost if "field" in one.params}
        assert len(fields & {"time_limit", "strategy", "hang"}) == lost, name


def test_a_job_of_several_roles_is_no_batch_script() -> None:
    roles = [{"name": name, "command": "true"} for name in ("a", "b")]
    with pytest.raises(InvalidInput, match="batch script"):
        back("sbatch", {"name": "x", "roles": roles})


@pytest.mark.parametrize("text", ["apiVersion: v1\nkind: Pod\n", "name: x\ncommand: y\n"])
def test_what_is_no_dialect_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        translate(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)
V2_NAMES = [field.name for field in v2.JOB.fields]
V1_NAMES = [field.name for field in v1.JOB.fields]


def documents(names: list[str], good: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Documents that are good but for some fields."""
    bad = st.dictionaries(st.sampled_from(names), JSON, max_size=3)
    return bad.map(lambda changes: {**good, **changes})


V2_ROLE: dict[str, Any] = {
    "dockerImage": "i",
    "resourcePerInstance": {"cpu": 1, "memoryMB": 99, "gpu": 0},
    "commands": ["<% $a.b %>"],
}
GOOD_V2: dict[str, Any] = {
    "protocolVersion": 2,
    "name": "x",
    "type": "job",
    "prerequisites": [{"type": "dockerimage", "name": "i", "uri": "u"}],
    "taskRoles": {"a": V2_ROLE},
}
GOOD_V1: dict[str, Any] = {"jobName": "x", "image": "y", "taskRoles": [{"name": "a", "command": "b"}]}


def _try(text: str) -> None:
    """A text is read or refused; what is read is a document that our own reader reads or refuses."""
    try:
        made = translate(text)
        with made.naming_its_fields():
            spec = read_job({name: value for name, value in made.document.items() if name != "code"})
        for dialect in DIALECTS.values():
            if dialect.write is not None:
                dialect.write(spec)
    except InvalidInput as refused:
        assert refused.problems


@EXAMPLES
@given(documents(V2_NAMES, GOOD_V2), st.dictionaries(st.sampled_from(sorted(V2_ROLE)), JSON, max_size=2))
def test_no_document_of_v2_breaks_the_reader(document: dict[str, Any], role: dict[str, Any]) -> None:
    if role and isinstance(document.get("taskRoles"), dict):
        document = {**document, "taskRoles": {"a": {**V2_ROLE, **role}}}
    _try(json.dumps(document))
    _try(yaml.safe_dump(document, allow_unicode=True))


@EXAMPLES
@given(documents(V1_NAMES, GOOD_V1))
def test_no_document_of_v1_breaks_the_reader(document: dict[str, Any]) -> None:
    _try(json.dumps(document))


@EXAMPLES
@given(st.text(max_size=300))
def test_no_script_breaks_the_reader(text: str) -> None:
    _try(f"#!/bin/bash\n#SBATCH {text}\n")


@EXAMPLES
@given(st.text(alphabet="<%$ {}.parmets[]0a\n", max_size=200))
def test_no_command_breaks_the_templates(command: str) -> None:
    _try(
        json.dumps(
            {**GOOD_V2, "parameters": {"a": 1}, "taskRoles": {"a": {**V2_ROLE, "commands": [command]}}}
        )
    )
