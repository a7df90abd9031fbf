"""Job files of OpenPAI v2: defaults, bounds, templates, and what is kept of the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from footplate.dialects.pai import plugins, v2
from footplate.dialects.registry import translate
from footplate.dialects.translation import Translation, place_of
from footplate.domain.errors import InvalidInput
from footplate.domain.failures import Failure, judge
from footplate.domain.jobfile import read_job
from footplate.domain.messages import text
from footplate.domain.resources import MIB
from footplate.domain.spec import Completion, JobSpec
from footplate.domain.states import Reason, ReasonCode

WHY = Reason(ReasonCode.TASK_FAILED, text("it failed"))


def job(**changes: Any) -> dict[str, Any]:
    return {
        "protocolVersion": 2,
        "name": "demo",
        "type": "job",
        "prerequisites": [{"type": "dockerimage", "name": "img", "uri": "python:3.9"}],
        "taskRoles": {"train": role()},
        **changes,
    }


def role(**changes: Any) -> dict[str, Any]:
    return {
        "dockerImage": "img",
        "resourcePerInstance": {"cpu": 2, "memoryMB": 2048, "gpu": 1},
        "commands": ["true"],
        **changes,
    }


def read(document: Mapping[str, Any]) -> Translation:
    return v2.translate(yaml.safe_dump(dict(document)))


def spec_of(document: Mapping[str, Any]) -> JobSpec:
    return read_job(read(document).document)


def refused(document: Mapping[str, Any]) -> list[str]:
    with pytest.raises(InvalidInput) as refusal:
        read(document)
    return [problem.path for problem in refusal.value.problems]


def test_a_refusal_of_all_roles_names_them_as_the_file_does() -> None:
    assert place_of("roles", read(job()).places) == "taskRoles"


def test_what_is_not_said_has_the_defaults_of_the_original() -> None:
    spec = spec_of(job())
    (train,) = spec.roles
    assert (spec.queue, spec.retry, spec.image) == ("default", 0, "python:3.9")
    assert (train.name, train.count, train.task_retry) == ("train", 1, 0)
    assert train.shm_bytes == 512 * MIB
    assert train.completion == Completion(1, 1)
    assert (train.milli_cpus, train.memory_bytes, train.gpus) == (2000, 2048 * MIB, 1)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, Completion(1, 3)),
        ({"minFailedInstances": None, "minSucceededInstances": None}, Completion(1, 3)),
        ({"minFailedInstances": 0, "minSucceededInstances": 0}, Completion(1, 3)),
        ({"minFailedInstances": -1, "minSucceededInstances": -1}, Completion(None, None)),
        ({"minFailedInstances": 2, "minSucceededInstances": 1}, Completion(2, 1)),
        ({"minFailedInstances": 9, "minSucceededInstances": 9}, Completion(None, None)),
    ],
)
def test_a_completion_policy_means_what_it_means_there(given: dict[str, Any], meant: Completion) -> None:
    spec = spec_of(job(taskRoles={"train": role(instances=3, completion=given)}))
    assert spec.roles[0].completion == meant


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"protocolVersion": 1}, "protocolVersion"),
        ({"protocolVersion": True}, "protocolVersion"),
        ({"name": 12}, "name"),
        ({"name": "a.b"}, "name"),
        ({"name": "a" * 256}, "name"),
        ({"name": None}, "name"),
        ({"type": "model"}, "type"),
        ({"mystery": 1}, "mystery"),
        ({"prerequisites": []}, "prerequisites"),
        ({"prerequisites": [{"type": "dockerimage", "name": "img"}]}, "prerequisites[0].uri"),
        ({"prerequisites": [{"type": "cake", "name": "img"}]}, "prerequisites[0].type"),
        (
            {"prerequisites": [{"type": "dockerimage", "name": "img", "uri": "x", "more": 1}]},
            "prerequisites[0].more",
        ),
        ({"jobRetryCount": -1}, "jobRetryCount"),
        ({"taskRoles": {}}, "taskRoles"),
        ({"taskRoles": []}, "taskRoles"),
        ({"taskRoles": {"0x": role()}}, "taskRoles.0x"),
        ({"taskRoles": {"a": role(instances=0)}}, "taskRoles.a.instances"),
        ({"taskRoles": {"a": role(instances="2")}}, "taskRoles.a.instances"),
        ({"taskRoles": {"a": role(mystery=1)}}, "taskRoles.a.mystery"),
        (
            {"taskRoles": {"a": role(completion={"minSucceededTaskCount": 1})}},
            "taskRoles.a.completion.minSucceededTaskCount",
        ),
        ({"taskRoles": {"a": role(commands=[])}}, "taskRoles.a.commands"),
        ({"taskRoles": {"a": role(commands="true")}}, "taskRoles.a.commands"),
        ({"taskRoles": {"a": role(dockerImage="other")}}, "taskRoles.a.dockerImage"),
        ({"taskRoles": {"a": role(data="nothing")}}, "taskRoles.a.data"),
        ({"taskRoles": {"a": role(prerequisites=["nothing"])}}, "taskRoles.a.prerequisites[0]"),
        (
            {"taskRoles": {"a": role(resourcePerInstance={"cpu": 1, "memoryMB": 1})}},
            "taskRoles.a.resourcePerInstance.gpu",
        ),
        (
            {"taskRoles": {"a": role(resourcePerInstance={"cpu": 1, "memoryMB": 99, "gpu": 0, "disk": 1})}},
            "taskRoles.a.resourcePerInstance.disk",
        ),
        ({"taskRoles": {"a": role(extraContainerOptions={"shmMB": "1"})}},
         "taskRoles.a.extraContainerOptions.shmMB"),
        ({"defaults": {"deployment": "none"}}, "defaults.deployment"),
        ({"extras": {"hivedScheduler": {"jobPriorityClass": "crit"}}},
         "extras.hivedScheduler.jobPriorityClass"),
        ({"secrets": "******"}, "secrets"),
    ],
)  # fmt: skip
def test_what_the_original_refuses_is_refused_with_the_field_named(
    changes: dict[str, Any], path: str
) -> None:
    assert path in refused(job(**changes))


def test_a_prerequisite_that_is_there_twice_is_refused() -> None:
    twice = [{"type": "dockerimage", "name": "img", "uri": uri} for uri in ("a", "b")]
    assert refused(job(prerequisites=twice)) == ["prerequisites[1].name"]


def test_bounds_of_ours_name_the_field_of_the_original() -> None:
    small = role(resourcePerInstance={"cpu": 1, "memoryMB": 1, "gpu": 0})
    made = read(job(taskRoles={"train": small}))
    with pytest.raises(InvalidInput) as refusal, made.naming_its_fields():
        read_job(made.document)
    assert [one.path for one in refusal.value.problems] == ["taskRoles.train.resourcePerInstance.memoryMB"]


def test_commands_are_those_of_plugins_deployment_and_role_in_their_order() -> None:
    plugin = {"plugin": "cmd", "parameters": {"preCommands": ["echo 0"], "postCommands": ["echo 6"]}}
    other = {"plugin": "cmd", "parameters": {"preCommands": ["echo no"]}, "taskRoles": ["other"]}
    git = {"plugin": "git", "parameters": {"repo_uri": "https://x/y.git", "options": ["--depth=1"]}}
    spec = spec_of(
        job(
            taskRoles={"train": role(commands=[" echo 2 ", "echo 3\necho 4"])},
            deployments=[
                {"name": "d", "taskRoles": {"train": {"preCommands": ["echo 1"], "postCommands": ["echo 5"]}}}
            ],
            defaults={"deployment": "d", "virtualCluster": "vision"},
            extras={"com.microsoft.pai.runtimeplugin": [plugin, other, git]},
        )
    )
    first, cloned, *rest = spec.roles[0].command.splitlines()[1:]
    assert (first, cloned) == ("echo 0", "git clone --depth=1 https://x/y.git /usr/local/pai/code")
    assert rest == [f"echo {n}" for n in range(1, 7)]
    assert spec.roles[0].command.startswith("set -o nounset\n")
    assert spec.queue == "vision"


def test_templates_become_references_and_what_stands_for_nothing_stays() -> None:
    data = {"type": "data", "name": "d", "uri": ["hdfs://a", "hdfs://b"]}
    command = (
        "x <% $parameters.lr %> <%$parameters.deep.er%> <% $parameters.list[1] %> <% $data.uri[1] %> "
        "<% $parameters.none %> <% $script.uri %> $$lr$$ $$ ${{ y }} <% $secrets.pw %>"
    )
    made = read(
        job(
            prerequisites=[*job()["prerequisites"], data],
            parameters={"lr": 1.0, "deep": {"er": True}, "list": [1, 2]},
            secrets={"pw": "hunter2", "unused": "x"},
            taskRoles={"train": role(commands=[command], data="d")},
        )
    )
    document = made.document
    assert document["parameters"] == {"lr": 1, "opening_braces": "${{", "pw_secret": "hunter2"}
    assert document["roles"][0]["command"].splitlines()[1] == (
        "x ${{ parameters.lr }} true 2 hdfs://b <% $parameters.none %> <% $script.uri %> "
        "${{ parameters.lr }} $$ ${{ parameters.opening_braces }} y }} ${{ parameters.pw_secret }}"
    )
    read_job(document)


def test_secrets_are_masked_in_the_kept_text_and_the_rest_stays_as_written() -> None:
    text = (
        "protocolVersion: 2\nname: demo  # mine\ntype: job\nsecrets:\n  pw: hunter2\n  other: hunter3\n"
        "parameters: {wandb_api_key: hunter4, lr: 1}\nprerequisites:\n"
        "  - {type: dockerimage, name: img, uri: x, auth: {username: u, password: hunter5}}\n"
        "taskRoles:\n  train:\n    dockerImage: img\n"
        "    resourcePerInstance: {cpu: 1, memoryMB: 99, gpu: 0}\n    commands: [a, b]\n"
    )
    kept = v2.translate(text).text
    assert "hunter" not in kept
    assert "name: demo  # mine\n" in kept
    assert "commands: [a, b]\n" in kept
    assert yaml.safe_load(kept)["secrets"] == "******"
    assert yaml.safe_load(kept)["parameters"] == {"wandb_api_key": "******", "lr": 1}


def test_a_text_without_secrets_is_kept_byte_for_byte() -> None:
    text = "# mine\n" + yaml.safe_dump(job())
    assert v2.translate(text).text == text


def test_an_alias_into_the_secrets_does_not_break_the_kept_text() -> None:
    text = yaml.safe_dump(job()) + "secrets: {pw: &pw hunter2}\nparameters: {copy: *pw}\n"
    kept = yaml.safe_load(v2.translate(text).text)
    assert kept["secrets"] == "******"


def test_storages_are_mounted_where_the_original_mounts_them() -> None:
    legacy = {"plugin": "teamwise_storage", "parameters": {"storageConfigNames": ["old"]}}
    spec = spec_of(
        job(
            extras={
                "storages": [{"name": "team"}, {"name": "more", "mountPath": "/more"}],
                "com.microsoft.pai.runtimeplugin": [legacy],
            }
        )
    )
    assert [(one.storage, one.path, one.read_only) for one in spec.data] == [
        ("team", "/mnt/team", False),
        ("more", "/more", False),
        ("old", "/mnt/old", False),
    ]


def test_retries_of_tasks_count_only_without_gangs_as_there() -> None:
    retried = {"train": role(taskRetryCount=3)}
    assert spec_of(job(taskRoles=retried)).roles[0].task_retry == 0
    assert [one.code for one in read(job(taskRoles=retried)).lost] == ["task_retries_lost"]
    assert spec_of(job(taskRoles=retried, extras={"gangAllocation": False})).roles[0].task_retry == 3


@pytest.mark.parametrize(("given", "meant"), [("prod", 100), ("test", 0), ("oppo", -100)])
def test_a_priority_class_becomes_a_priority(given: str, meant: int) -> None:
    assert spec_of(job(extras={"hivedScheduler": {"jobPriorityClass": given}})).priority == meant


def test_roles_with_images_of_their_own_keep_them() -> None:
    images = [{"type": "dockerimage", "name": name, "uri": f"{name}:1"} for name in ("a", "b")]
    roles = {"x": role(dockerImage="a"), "y": role(dockerImage="b")}
    spec = spec_of(job(prerequisites=images, taskRoles=roles))
    assert (spec.image, [one.image for one in spec.roles]) == ("", ["a:1", "b:1"])


def test_what_has_no_counterpart_is_told() -> None:
    made = read(
        job(
            extras={
                "com.microsoft.pai.runtimeplugin": [{"plugin": "ssh"}, {"plugin": "odd"}],
                "storages": [],
            },
            taskRoles={"train": role(extraContainerOptions={"infiniband": True})},
        )
    )
    assert {one.code for one in made.lost} == {
        "ssh_plugin_lost",
        "plugin_lost",
        "default_storages_lost",
        "field_lost",
    }


@pytest.mark.parametrize(
    ("failure", "retries", "account"),
    [
        (Failure(WHY, 1), True, "retry"),
        (Failure(WHY, 137), True, "rule-2"),
        (Failure(WHY, 136), False, ""),
        (Failure(WHY, 137, "oom"), False, ""),
        (Failure(WHY, None, "lost"), True, "transient"),
    ],
)
def test_the_class_of_a_failure_decides_as_there(failure: Failure, retries: bool, account: str) -> None:
    verdict = judge(spec_of(job(jobRetryCount=1)), failure, {})
    assert (verdict.retries, verdict.account) == (retries, account)


def test_changes_of_state_are_told_as_alerts() -> None:
    wanted = {"running": True, "succeeded": False, "failed": True, "retried": True}
    spec = spec_of(job(extras={"jobStatusChangeNotification": wanted}))
    assert [one.on for one in spec.alerts] == ["started", "failed", "retried"]


@pytest.mark.parametrize(
    ("plugin", "roles", "keys"),
    [
        ({"plugin": "ssh", "parameters": {"jobssh": True}}, ["a", "b"], []),
        ({"plugin": "ssh", "parameters": {"jobssh": True}, "taskRoles": ["b"]}, ["b"], []),
        ({"plugin": "ssh", "parameters": {"userssh": {"type": "custom", "value": "k"}}}, ["a", "b"], ["k"]),
        ({"plugin": "ssh", "parameters": {"jobssh": False}}, [], []),
        ({"plugin": "ssh", "parameters": {"userssh": {"value": 5}, "jobssh": "x"}}, ["a", "b"], []),
        ({"plugin": "ssh", "parameters": []}, [], []),
        ({"plugin": "cmd", "parameters": {"jobssh": True}}, [], []),
        ("ssh", [], []),
    ],
)
def test_the_plug_in_of_ssh_says_into_which_tasks_and_with_which_keys(
    plugin: Any, roles: list[str], keys: list[str]
) -> None:
    extras = {plugins.KEY: [plugin]}
    assert [one for one in ("a", "b") if plugins.wants_ssh(extras, one)] == roles
    assert list(plugins.user_keys(extras)) == keys


def test_the_plug_in_of_tensorboard_is_a_service() -> None:
    plugin = {"plugin": "tensorboard", "parameters": {"port": 6006, "logdir": {"all": "/mnt/tb"}}}
    odd = {"plugin": "tensorboard", "taskRoles": ["train", "none"]}
    made = read(job(extras={"com.microsoft.pai.runtimeplugin": [plugin, odd]}))
    first, second = read_job(made.document).services
    assert (first.kind, first.path, first.role) == ("tensorboard", "/mnt/tb", "")
    assert (second.path, second.role) == ("", "train")
    assert made.lost == ()


def test_the_registry_knows_it() -> None:
    assert translate(yaml.safe_dump(job())).dialect == "pai_v2"
