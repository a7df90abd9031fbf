"""Job files of OpenPAI v1, which SCM has unchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from footplate.dialects.pai import plugins, v1
from footplate.dialects.pai.write import write_v1
from footplate.dialects.registry import translate
from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import read_job
from footplate.domain.resources import MIB
from footplate.domain.spec import Completion, JobSpec, PortRange


def job(**changes: Any) -> dict[str, Any]:
    return {"jobName": "demo", "image": "python:3.9", "taskRoles": [role()], **changes}


def role(**changes: Any) -> dict[str, Any]:
    return {"name": "main", "command": "true", **changes}


def spec_of(document: Mapping[str, Any]) -> JobSpec:
    return read_job(v1.translate(json.dumps(document)).document)


def refused(document: Mapping[str, Any]) -> list[str]:
    with pytest.raises(InvalidInput) as refusal:
        v1.translate(json.dumps(document))
    return [problem.path for problem in refusal.value.problems]


def test_what_is_not_said_has_the_defaults_of_the_original() -> None:
    spec = spec_of(job())
    (main,) = spec.roles
    assert (spec.name, spec.image, spec.queue, spec.retry) == ("demo", "python:3.9", "default", 0)
    assert (main.count, main.milli_cpus, main.memory_bytes, main.gpus) == (1, 1000, 100 * MIB, 0)
    assert (main.shm_bytes, main.completion) == (64 * MIB, Completion(1, None))


def test_a_whole_file_is_taken_over() -> None:
    spec = spec_of(
        job(
            virtualCluster="vision",
            gpuType="H200",
            retryCount=2,
            jobEnvs={"isDebug": True, "N": 3, "deep": {"a": 1}, "PAI_X": "no"},
            extras={"any": "thing"},
            taskRoles=[
                role(
                    taskNumber=2,
                    cpuNumber=4,
                    memoryMB=2048,
                    shmMB=128,
                    gpuNumber=1,
                    portList=[{"label": "web", "beginAt": 8080, "portNumber": 2}],
                    minFailedTaskCount=2,
                    minSucceededTaskCount=1,
                )
            ],
        )
    )
    (main,) = spec.roles
    assert (spec.queue, spec.retry, spec.keep_on_failure_s) == ("vision", 2, 86400)
    assert spec.env == {"isDebug": "true", "N": "3", "deep": '{"a": 1}'}
    assert main.ports == (PortRange("web", 8080, 2), PortRange("http"), PortRange("ssh"))
    assert (main.gpu_type, main.completion) == ("H200", Completion(2, 1))
    assert spec.extras["any"] == "thing"


def test_people_come_into_every_task_by_ssh_as_they_did_and_no_file_says_so() -> None:
    spec = spec_of(job(extras={"any": "thing"}))
    assert plugins.wants_ssh(spec.extras, "main")
    assert json.loads(write_v1(spec).text)["extras"] == {"any": "thing"}


def test_numbers_that_come_as_texts_are_numbers() -> None:
    spec = spec_of(job(retryCount="1", taskRoles=[role(taskNumber="2", memoryMB="512")]))
    assert (spec.retry, spec.roles[0].count, spec.roles[0].memory_bytes) == (1, 2, 512 * MIB)


@pytest.mark.parametrize("count", [-1, -2])
def test_endless_retries_are_as_many_as_there_can_be(count: int) -> None:
    made = v1.translate(json.dumps(job(retryCount=count)))
    assert read_job(made.document).retry == 1000
    assert "retries_bounded" in [one.code for one in made.lost]
    # Whatever the failure was.
    assert read_job(made.document).on_failure == ()
    assert spec_of(job(retryCount=1)).on_failure


def test_no_count_of_failures_never_fails_the_job() -> None:
    assert spec_of(job(taskRoles=[role(minFailedTaskCount=None)])).roles[0].completion.min_failed is None


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"jobName": None}, "jobName"),
        ({"jobName": "a b"}, "jobName"),
        ({"image": ""}, "image"),
        ({"mystery": 1}, "mystery"),
        ({"retryCount": -3}, "retryCount"),
        ({"jobEnvs": []}, "jobEnvs"),
        ({"taskRoles": []}, "taskRoles"),
        ({"taskRoles": {}}, "taskRoles"),
        ({"taskRoles": [role(), role()]}, "taskRoles[1].name"),
        ({"taskRoles": [role(name="a-b")]}, "taskRoles[0].name"),
        ({"taskRoles": [role(taskNumber=0)]}, "taskRoles[0].taskNumber"),
        ({"taskRoles": [role(cpuNumber=0)]}, "taskRoles[0].cpuNumber"),
        ({"taskRoles": [role(memoryMB=99)]}, "taskRoles[0].memoryMB"),
        ({"taskRoles": [role(gpuNumber=-1)]}, "taskRoles[0].gpuNumber"),
        ({"taskRoles": [role(shmMB=101)]}, "taskRoles[0].shmMB"),
        ({"taskRoles": [role(command="")]}, "taskRoles[0].command"),
        ({"taskRoles": [role(minFailedTaskCount=0)]}, "taskRoles[0].minFailedTaskCount"),
        ({"taskRoles": [role(minSucceededTaskCount=2)]}, "taskRoles[0].minSucceededTaskCount"),
        ({"taskRoles": [role(portList=[{"beginAt": 0}])]}, "taskRoles[0].portList[0].label"),
        ({"taskRoles": [role(portList=[{"label": "a-b"}])]}, "taskRoles[0].portList[0].label"),
        ({"taskRoles": [role(mystery=1)]}, "taskRoles[0].mystery"),
    ],
)
def test_what_the_original_refuses_is_refused_with_the_field_named(
    changes: dict[str, Any], path: str
) -> None:
    assert path in refused(job(**changes))


def test_folders_are_passed_on_as_variables_and_told_not_to_be_fetched() -> None:
    made = v1.translate(
        json.dumps(job(dataDir="$PAI_DEFAULT_FS_URI/it's", outputDir="hdfs://o", codeDir="hdfs://h/c/"))
    )
    command = made.document["roles"][0]["command"]
    named = """export PAI_DATA_DIR="$PAI_DEFAULT_FS_URI"'/it'"'"'s'"""
    assert command == f'[ -n "${{PAI_DATA_DIR:-}}" ] || {named}\ntrue'
    written = json.loads(write_v1(read_job(made.document)).text)
    assert (written["dataDir"], written["codeDir"]) == ("$PAI_DEFAULT_FS_URI/it's", "hdfs://h/c/")
    assert {one.code for one in made.lost} == {"output_folder_lost", "code_folder_lost", "data_folder_lost"}


@pytest.mark.parametrize(
    ("folder", "line"),
    [
        ("hdfs://h/a/code/", "[ -e code ] || ln -s /mnt/code code 2> /dev/null || true"),
        ("$PAI_DEFAULT_FS_URI/c.1", "[ -e c.1 ] || ln -s /mnt/code c.1 2> /dev/null || true"),
        ("hdfs://h/a b", ""),
        ("hdfs://h/..", ""),
        ("hdfs://h/a;reboot", ""),
    ],
)
def test_code_is_found_by_the_name_of_the_folder_that_it_was_in(folder: str, line: str) -> None:
    assert v1.linked(folder) == line


def test_variables_named_like_secrets_are_masked_in_the_kept_text() -> None:
    made = v1.translate(json.dumps(job(jobEnvs={"HF_TOKEN": "hunter2", "N": 1})))
    assert "hunter2" not in made.text
    assert json.loads(made.text)["jobEnvs"] == {"HF_TOKEN": "******", "N": 1}
    assert made.document["env"]["HF_TOKEN"] == "hunter2"


def test_braces_of_ours_mean_nothing_in_it() -> None:
    spec = spec_of(job(taskRoles=[role(command="echo '${{ x }}'")]))
    assert spec.parameters == {"opening_braces": "${{"}


def test_comments_are_not_json_there_either() -> None:
    with pytest.raises(InvalidInput):
        translate('{"jobName": "x", // mine\n "image": "y", "taskRoles": []}')


def test_the_registry_knows_it() -> None:
    assert translate(json.dumps(job())).dialect == "pai_v1"
