"""The job file: short and long form, all problems at once, bounds said, and read what was written."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import job_schema, read_job, write_job
from footplate.domain.resources import GIB, MIB
from footplate.domain.spec import EnvironmentSpec, JobSpec

FULL: dict[str, Any] = {
    "name": "everything",
    "description": "all fields · 全部",
    "queue": "vision",
    "priority": 5,
    "image": "python:3.12",
    "code": {"upload": "sha256:" + "0" * 64},
    "data": [{"path": "/data", "storage": "lab", "source": "digits", "read_only": False}],
    "results": {"storage": "lab", "path": "out"},
    "env": {"A": "1"},
    "parameters": {"epochs": 5, "lr": 0.1, "fast": True, "name": "x"},
    "secrets": {"WANDB_API_KEY": "wandb"},
    "roles": [
        {
            "name": "ps",
            "command": "python ps.py",
            "cpus": 0.5,
            "memory": "512MB",
            "shm": "128MB",
            "image": "python:3.11",
            "env": {"ROLE": "ps"},
            "completion": {"min_failed": None},
        },
        {
            "name": "worker",
            "command": "python w.py ${{ parameters.epochs }}",
            "count": 4,
            "gpus": 2,
            "gpu_type": "A100",
            "ports": [{"label": "grpc", "begin_at": 5000, "count": 2}],
            "completion": {"min_failed": 2, "min_succeeded": 3},
            "task_retry": 2,
        },
    ],
    "services": [{"kind": "jupyter", "role": "worker", "path": "notebooks"}],
    "alerts": [
        {"on": "overtime", "after": "2h", "to": ["ann@example.org"], "level": "major", "every": "30m"}
    ],
    "retry": 3,
    "time_limit": "1h30m",
    "deadline": "2040-01-31T18:00:00.000Z",
    "grace": "30s",
    "keep_on_failure": "30m",
    "tags": ["digits", "test"],
    "extras": {"any": {"thing": [1, None, "x"]}},
}


def problems_of(document: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        read_job(document)
    return {problem.path: problem.message for problem in caught.value.problems}


def test_a_name_and_a_command_are_a_whole_job() -> None:
    spec = read_job({"name": "hello", "command": "echo hi", "gpus": 1, "memory": "2GB"})
    (role,) = spec.roles
    assert (role.name, role.count, role.command, role.gpus, role.memory_bytes) == (
        "main",
        1,
        "echo hi",
        1,
        2 * GIB,
    )
    assert spec.queue == "default"
    assert role.shm_bytes == 64 * MIB


def test_every_field_is_read_and_written_back_unchanged() -> None:
    assert write_job(read_job(FULL)) == FULL


def test_what_is_written_is_json() -> None:
    assert read_job(json.loads(json.dumps(write_job(read_job(FULL))))) == read_job(FULL)


def test_all_problems_are_told_at_once_with_their_paths() -> None:
    found = problems_of(
        {
            "name": "../etc",
            "comand": "typo",
            "priority": 5000,
            "env": {"PAI_JOB_NAME": "x", "1BAD": "y"},
            "time_limit": "soon",
            "roles": [
                {"name": "a-b", "command": "", "count": 0, "memory": 4},
                {"name": "w", "command": "run ${{ parameters.lr }}", "completion": {"min_succeeded": 9}},
                {"name": "w", "command": "x", "cpus": 1e9},
            ],
        }
    )
    assert set(found) == {
        "name",
        "comand",
        "priority",
        "env.PAI_JOB_NAME",
        "env.1BAD",
        "time_limit",
        "roles[0].name",
        "roles[0].command",
        "roles[0].count",
        "roles[0].memory",
        "roles[1].command",
        "roles[1].completion.min_succeeded",
        "roles[2].name",
        "roles[2].cpus",
    }


@pytest.mark.parametrize(
    ("document", "path", "says"),
    [
        ({"command": "x"}, "name", "is required"),
        ({"name": "x"}, "command", "is required"),
        ({"name": "x", "roles": []}, "roles", "at least 1 entry"),
        ({"name": "x", "command": "  \n "}, "command", "must not be empty"),
        ({"name": "x", "command": "x", "count": 10_001}, "count", "from 1 to 10000"),
        ({"name": "x", "command": "x", "count": True}, "count", "a yes/no value"),
        ({"name": "x", "command": "x", "count": "2"}, "count", "must be a whole number"),
        ({"name": "x", "command": "x", "cpus": 0}, "cpus", "from 0.01 to 1024 CPUs"),
        ({"name": "x", "command": "x", "cpus": float("nan")}, "cpus", "from 0.01 to 1024"),
        ({"name": "x", "command": "x", "cpus": float("inf")}, "cpus", "from 0.01 to 1024"),
        ({"name": "x", "command": "x", "memory": 4}, "memory", "did you mean 4GB?"),
        ({"name": "x", "command": "x", "memory": "99999TB"}, "memory", "from 16MB to 64TB"),
        ({"name": "x", "command": "x", "memory": "1 potato"}, "memory", "with a unit"),
        ({"name": "x", "command": "x", "shm": "8GB"}, "shm", "at most the task's memory of 1GB"),
        ({"name": "x", "command": "x", "gpus": 2**70}, "gpus", "from 0 to 1024"),
        ({"name": "x", "command": "x", "gpu_type": "A100"}, "gpu_type", "gpus is 0"),
        (
            {"name": "x", "command": "x", "ports": ["web-ui", "http", "WEB_UI"]},
            "ports[2].label",
            "'WEB_UI' and 'web-ui' would share the variable FOOTPLATE_PORT_WEB_UI",
        ),
        (
            {"name": "x", "command": "x", "ports": [{"label": "a", "begin_at": 80}]},
            "ports[0].begin_at",
            "1024",
        ),
        (
            {"name": "x", "command": "x", "ports": [{"label": "a"}, {"label": "a"}]},
            "ports[1].label",
            "already used",
        ),
        ({"name": "x", "command": "x", "retry": -1}, "retry", "from 0 to 1000"),
        ({"name": "x", "command": "x", "priority": None, "time_limit": "0s"}, "time_limit", "from 1 second"),
        (
            {"name": "x", "command": "x", "env": {"CUDA_VISIBLE_DEVICES": "0"}},
            "env.CUDA_VISIBLE_DEVICES",
            "platform",
        ),
        ({"name": "x", "command": "x", "env": ["A=1"]}, "env", "must be a mapping"),
        ({"name": "x", "command": "bad\x00byte"}, "command", "control character"),
        ({"name": "x", "command": "x", "description": "\x1b]0;x\x07"}, "description", "control character"),
        ({"name": "x", "command": "x", "tags": ["\x9b31m"]}, "tags[0]", "control character"),
        ({"name": "x", "command": "bad \ud800"}, "command", "invalid Unicode"),
        ({"name": "x\u202e", "command": "x"}, "name", "is not allowed"),
        ({"name": "x" * 256, "command": "x"}, "name", "at most 255"),
        ({"name": "..", "command": "x"}, "name", "is not allowed"),
        ({"name": "x", "command": "x", "code": {"path": "a/../../b"}}, "code.path", "'..'"),
        ({"name": "x", "command": "x", "code": "."}, "code.path", "needs `storage`"),
        ({"name": "x", "memory": "1GB", "roles": [{"command": "x"}]}, "memory", "move it into each role"),
        ({"name": "x", "command": "x", "deadline": "tomorrow"}, "deadline", "date and time"),
        ({"name": "x", "command": "x", "alerts": [{"on": "overtime"}]}, "alerts[0].after", "is required"),
        ({"name": "x", "command": "x", "services": ["sauna"]}, "services[0].kind", "must be one of"),
        ({"name": "x", "command": "x", "memmory": "1GB"}, "memmory", "did you mean 'memory'?"),
        ({"name": "x", "command": "${{ env.HOME }}"}, "command", "refers to 'env.HOME'"),
        ({"name": "x", "command": "x", "extras": {"a": {1, 2}}}, "extras.a", "plain JSON"),
        ({"name": "x", "command": "x", "extras": {"a": "y" * 70_000}}, "extras.a", "at most 65536"),
        (
            {"name": "x", "roles": [{"name": f"r{i}", "count": 9000, "command": "x"} for i in range(2)]},
            "roles",
            "18000",
        ),
    ],
)
def test_bad_input_names_the_field_and_the_bound(document: dict[str, Any], path: str, says: str) -> None:
    found = problems_of(document)
    assert path in found, found
    assert says in found[path]


@pytest.mark.parametrize("document", [None, 5, "text", [], [{"name": "x"}], True])
def test_a_document_that_is_no_mapping_is_refused(document: Any) -> None:
    assert "must be a mapping" in problems_of(document)[""]


@pytest.mark.parametrize(
    ("written", "memory"),
    [
        ("1GB", GIB),
        ("1Gb", GIB),
        ("1 GiB", GIB),
        ("1g", GIB),
        ("0.5G", GIB // 2),
        ("512M", 512 * MIB),
        (GIB, GIB),
    ],
)
def test_sizes_are_read_as_people_write_them(written: Any, memory: int) -> None:
    assert read_job({"name": "x", "command": "x", "memory": written}).roles[0].memory_bytes == memory


@pytest.mark.parametrize(
    ("written", "seconds"), [("90s", 90), ("10m", 600), ("1h30m", 5400), ("2d", 172_800), (45, 45)]
)
def test_durations_are_read_as_people_write_them(written: Any, seconds: int) -> None:
    assert read_job({"name": "x", "command": "x", "time_limit": written}).time_limit_s == seconds


def test_null_means_the_default_where_a_field_has_one() -> None:
    assert read_job({"name": "x", "command": "x", "description": None, "env": None}) == read_job(
        {"name": "x", "command": "x"}
    )


def test_the_command_true_is_a_program() -> None:
    assert read_job({"name": "x", "command": True}).roles[0].command == "true"


@pytest.mark.parametrize("written", [["numpy>=2", "einops"], {"requirements": ["numpy>=2", "einops"]}])
def test_a_bare_list_of_packages_is_an_environment(written: Any) -> None:
    environment = read_job({"name": "x", "command": "x", "environment": written}).environment
    assert environment == EnvironmentSpec(requirements=("numpy>=2", "einops"))


def test_a_list_where_a_mapping_belongs_is_refused() -> None:
    job = {"name": "x", "command": "x", "code": ["a"]}
    with pytest.raises(InvalidInput, match="code: must be a mapping, not a list"):
        read_job(job)


def test_environment_values_are_texts_for_the_shell() -> None:
    assert read_job({"name": "x", "command": "x", "env": {"N": 1, "B": True, "F": 0.5}}).env == {
        "N": "1",
        "B": "true",
        "F": "0.5",
    }


def test_the_schema_knows_every_field_that_the_reader_knows() -> None:
    schema = job_schema()
    assert set(FULL) <= set(schema["properties"])
    assert {"command", "cpus", "gpus", "memory"} <= set(schema["properties"])
    assert all("description" in entry for entry in schema["properties"].values())


@pytest.mark.alone
@pytest.mark.parametrize(
    "field",
    [
        {"time_limit": "1d" + " " * 50_000 + "x"},
        {"command": "${{" + " " * 60_000},
        {"command": "${{ a" * 12_000},
        {"memory": "1" + " " * 50_000 + "x"},
        {"deadline": "2030" + " " * 50_000},
    ],
    ids=lambda field: next(iter(field)),
)
def test_no_text_takes_long_to_read(field: dict[str, str]) -> None:
    began = time.process_time()
    with contextlib.suppress(InvalidInput):
        read_job({"name": "x", "command": "true", **field})
    assert time.process_time() - began < 0.5


@pytest.mark.alone
def test_thousands_of_unknown_fields_are_all_told_and_soon() -> None:
    began = time.process_time()
    found = problems_of({"name": "x", "command": "true", **{f"unknown{i}": 1 for i in range(20_000)}})
    assert len(found) == 20_000
    assert time.process_time() - began < 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda children: (
        st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=12), children, max_size=4)
    ),
    max_leaves=12,
)
field_names = st.sampled_from([*FULL, "command", "cpus", "memory", "count", "nonsense"])


@given(st.dictionaries(field_names, json_values, max_size=8))
def test_whatever_is_sent_is_read_or_refused_with_problems(document: dict[str, Any]) -> None:
    try:
        spec = read_job(document)
    except InvalidInput as refused:
        assert refused.problems
        assert all(problem.message for problem in refused.problems)
    else:
        assert isinstance(spec, JobSpec)
        assert read_job(write_job(spec)) == spec


@pytest.mark.parametrize(
    "fields",
    [
        {"data": [{"path": "/data"}]},
        {"data": [{"path": "/data", "storage": "job"}]},
        {"code": {"upload": "sha256:" + "0" * 64, "storage": "lab"}},
    ],
)
def test_jobs_that_were_stored_before_storages_had_rules_can_be_read(fields: dict[str, Any]) -> None:
    spec = read_job({"name": "old", "command": "true", **fields})
    assert read_job(write_job(spec)) == spec


@pytest.mark.parametrize("text", ["2G", "2GB", "2Gi", "2GiB", "2gi", "2048Mi", "2097152 Ki", "2097152KiB"])
def test_sizes_are_read_with_and_without_the_b(text: str) -> None:
    assert read_job({"name": "x", "command": "x", "memory": text}).roles[0].memory_bytes == 2 * 1024**3


@pytest.mark.parametrize("text", ["2Gib i", "2i", "2iB", "2GBi", "2Gii"])
def test_what_only_looks_like_a_size_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="with a unit"):
        read_job({"name": "x", "command": "x", "memory": text})
