"""Manifests of FfDL and Prophecis: what becomes of each field, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate.dialects import registry
from footplate.dialects.ffdl import translate_ffdl, translate_prophecis
from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import read_job
from footplate.domain.metriclines import points_of_match
from footplate.sdk.submission import Foreign, fill_placeholders

STORE = {
    "id": "hostmount",
    "type": "mount_volume",
    "training_data": {"container": "data"},
    "training_results": {"container": "result"},
    "connection": {"type": "host_mount", "name": "host-mount", "path": "/data/bdp/store/alice"},
}
FFDL: dict[str, Any] = {
    "name": "tf convolutional network",
    "description": "d",
    "cpus": 0.5,
    "memory": "1Gb",
    "learners": 2,
    "gpus": 0,
    "data_stores": [STORE],
    "framework": {"name": "tensorflow", "version": "1.5.0-py3", "command": "python3 a.py\n  --x 1"},
}
PROPHECIS: dict[str, Any] = {
    "name": "dist-demo",
    "version": "1.0",
    "cpus": 1,
    "gpus": 0,
    "memory": "2Gb",
    "learners": 2,
    "namespace": "ns-dept-test",
    "code_selector": "codeFile",
    "job_type": "dist-tf",
    "pss": "1",
    "ps_cpu": "1",
    "ps_memory": "1Gi",
    "ps_image": "wedatasphere/di:tf",
    "data_stores": [STORE],
    "framework": {"name": "wedatasphere/di", "version": "tf", "command": "python3 ${MODEL_DIR}/train.py"},
    "job_alert": {
        "event": [{"event_checker": "FAILED", "alert_level": "major", "receiver": "alice"}],
        "deadline": [
            {
                "deadline_checker": "2030-01-01 00:00:00",
                "interval": "10",
                "alert_level": "warning",
                "receiver": "alice,bob",
            }
        ],
        "overtime": [
            {"overtime_checker": "1.5", "interval": "30", "alert_level": "info", "receiver": "alice"}
        ],
    },
}


def test_a_manifest_of_ffdl_becomes_a_job_of_learners() -> None:
    translation = translate_ffdl(yaml.safe_dump(FFDL))
    spec = read_job(translation.document)
    assert spec.name == "tf-convolutional-network"
    assert spec.image == "tensorflow:1.5.0-py3"
    [role] = spec.roles
    assert (role.name, role.count, role.milli_cpus) == ("learner", 2, 500)
    assert role.memory_bytes == 1000**3
    assert role.command == "python3 a.py   --x 1"
    assert "renamed" in {one.code for one in translation.lost}


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [
        ("512MiB", 512 * 1024**2),
        ("2 GiB", 2 * 1024**3),
        ("1tb", 512 * 1000**2),
        (None, 512 * 1000**2),
        ("0Gb", 12 * 1024**3),
    ],
)
def test_memory_is_read_as_ffdl_does(given: Any, n_bytes: int) -> None:
    translation = translate_ffdl(yaml.safe_dump({**FFDL, "memory": given}))
    assert translation.document["roles"][0]["memory"] == n_bytes


def test_what_is_absent_has_the_defaults_of_ffdl() -> None:
    manifest = {name: value for name, value in FFDL.items() if name not in ("cpus", "learners")}
    [role] = translate_ffdl(yaml.safe_dump(manifest)).document["roles"]
    assert (role["cpus"], role["count"]) == (5, 1)


def test_a_custom_framework_names_its_whole_image() -> None:
    framework = {**FFDL["framework"], "name": "custom", "version": "registry.org/me/image:1"}
    assert translate_ffdl(yaml.safe_dump({**FFDL, "framework": framework})).document["image"] == (
        "registry.org/me/image:1"
    )


def test_distributed_tensorflow_has_workers_and_parameter_servers() -> None:
    translation = translate_prophecis(yaml.safe_dump(PROPHECIS))
    spec = read_job(translation.document)
    assert spec.queue == "ns-dept-test"
    assert spec.strategy == "tensorflow"
    worker, server = spec.roles
    assert (worker.name, worker.count, worker.completion.min_succeeded) == ("worker", 2, 2)
    assert (server.name, server.count, server.image, server.memory_bytes) == (
        "ps",
        1,
        "wedatasphere/di:tf",
        1024**3,
    )
    assert [(one.on, one.level, one.to, one.after_s, one.every_s) for one in spec.alerts] == [
        ("failed", "major", ("alice",), None, None),
        ("deadline", "warning", ("alice", "bob"), None, 600),
        ("overtime", "info", ("alice",), 5400, 1800),
    ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"framework": {"name": "x", "version": "1"}}, "framework.command"),
        ({"framework": {"command": "x"}}, "framework.version"),
        ({"data_stores": []}, "data_stores"),
        ({"data_stores": [STORE, STORE]}, "data_stores"),
        ({"learners": "many"}, "learners"),
    ],
)
def test_what_ffdl_refuses_is_refused_with_the_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        translate_ffdl(yaml.safe_dump({**FFDL, **changes}))
    assert field in [one.path for one in refusal.value.problems]


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"namespace": None}, "namespace", "namespace"),
        ({"cpus": 0}, "cpus", "greater than 0"),
        ({"cpus": None}, "cpus", "greater than 0"),
        (
            {"data_stores": [{**PROPHECIS["data_stores"][0], "training_results": {}}]},
            "data_stores[0].training_results",
            "training_results.container is not set",
        ),
        ({"memory": "2GiB"}, "memory", "now only support unit Mib, GB. current memory: 2GiB"),
        ({"job_type": "Local"}, "learners", "can't greater than 1"),
        ({"learners": 0}, "learners", "must be integer greater than 0"),
        ({"code_selector": None}, "code_selector", "codeSelector is request"),
        ({"code_selector": "ftp"}, "code_selector", "can only be codeFile or storagePath"),
        ({"code_selector": "storagePath"}, "data_stores[0].training_workspace", "can't be empty"),
        ({"job_type": "tfos"}, "job_type", "Spark"),
        (
            {"job_alert": {"event": [{"event_checker": "LATE"}]}},
            "job_alert.event[0].event_checker",
            "COMPLETED",
        ),
        (
            {"job_alert": {"deadline": [{"deadline_checker": "soon"}]}},
            "job_alert.deadline[0].deadline_checker",
            "soon",
        ),
        (
            {"job_alert": {"overtime": [{"overtime_checker": "-1"}]}},
            "job_alert.overtime[0].overtime_checker",
            "hours",
        ),
    ],
)
def test_what_prophecis_refuses_is_refused_with_the_field(
    changes: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        translate_prophecis(yaml.safe_dump({**PROPHECIS, **changes}))
    found = {one.path: str(one.said) for one in refusal.value.problems}
    assert says in found[field]


def test_both_are_recognised_and_translated_by_the_registry() -> None:
    assert registry.translate(yaml.safe_dump(FFDL)).dialect == "ffdl"
    assert registry.translate(yaml.safe_dump(PROPHECIS)).dialect == "prophecis"


def test_passwords_of_data_stores_are_masked_in_the_original() -> None:
    store = {**STORE, "type": "mount_cos", "connection": {"auth_url": "http://s3", "password": "geheimnis"}}
    translation = translate_ffdl(yaml.safe_dump({**FFDL, "data_stores": [store]}))
    assert "geheimnis" not in translation.text
    assert "http://s3" in translation.text


def test_placeholders_are_filled_before_a_manifest_is_sent() -> None:
    given = yaml.safe_dump({**FFDL, "cpus": "[#a]", "name": "[#b]"}).encode()
    filled = fill_placeholders(given, "a=2,b=x=y", "manifest")
    assert isinstance(filled, Foreign)
    assert "x=y" in filled.text
    assert "[#" not in filled.text
    with pytest.raises(ValueError, match="nonsense"):
        fill_placeholders(given, "nonsense", "manifest")


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
)
FIELDS = st.sampled_from(
    sorted({*FFDL, *PROPHECIS, "training_data", "connection", "tfos_request", "mf_model"})
)


def metrics(given: Any) -> Any:
    return translate_ffdl(yaml.safe_dump({**FFDL, "evaluation_metrics": given}))


def codes(notes: Any) -> set[str]:
    return {one.code for one in notes}


@pytest.mark.parametrize(
    ("given", "is_read"),
    [
        ({"type": "tensorboard", "in": "$JOB_STATE_DIR/logs/tb"}, True),
        ({"type": "simple_log_collector"}, True),
        ({"type": "emetrics_file", "in": "$JOB_STATE_DIR/logs/evaluation-metrics.txt"}, True),
        ({"type": "emetrics_file", "in": "$JOB_STATE_DIR/other.txt"}, False),
        ({"type": "regex_extractor"}, False),
        ({"type": "tarot"}, False),
        ("tensorboard", False),
    ],
)
def test_metrics_are_found_by_themselves_or_the_manifest_is_told(given: Any, is_read: bool) -> None:
    translation = metrics(given)
    assert ("ffdl_metrics_read" in codes(translation.converted)) is is_read
    assert bool(codes(translation.lost) & {"field_lost", "ffdl_metrics_file"}) is not is_read


def test_expressions_over_the_log_become_patterns_that_find_the_same_metrics() -> None:
    group = {
        "regex": r"Iteration %{INT:it}, loss = (?P<value>[0-9.]+) at %{DATA:when}$",
        "meta": {"time": "$when"},
        "scalars": {"loss": {"type": "FLOAT", "value": "$value"}},
        "etimes": {"iteration": {"type": "INT", "value": "${it}"}},
    }
    (pattern,) = metrics({"type": "regex_extractor", "groups": {"test": group}}).document["log_metrics"]
    found = re.search(pattern, "x Iteration 100, loss = 0.25 at noon")
    assert found is not None
    assert [(one.name, one.value, one.step) for one in points_of_match(found.groupdict(), 7.0)] == [
        ("test/loss", 0.25, 100)
    ]


@pytest.mark.parametrize(
    "regex", ["", "a (?P<value>", r"a\n(?P<value>\d+)", r"(?=a)(?P<value>\d+)", "no capture"]
)
def test_an_expression_that_cannot_be_used_is_told_and_refuses_nothing(regex: str) -> None:
    group = {"regex": regex.replace("\\n", "\n"), "scalars": {"loss": {"value": "$value"}}}
    translation = metrics({"type": "regex_extractor", "groups": {"test": group}})
    assert "ffdl_regex_lost" in codes(translation.lost)
    read_job(translation.document)


def test_a_bucket_becomes_the_data_of_a_storage_of_its_name() -> None:
    store = {**STORE, "type": "mount_cos", "connection": {"auth_url": "http://s3", "password": "test"}}
    translation = translate_ffdl(yaml.safe_dump({**FFDL, "data_stores": [store]}))
    assert translation.document["extras"] == {"manifest_folders": {"/mnt/data/data": "data"}}
    assert "test" not in translation.text


@settings(max_examples=300, deadline=2000, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(FIELDS, VALUES, max_size=6), st.sampled_from((FFDL, PROPHECIS)))
def test_no_manifest_breaks_the_reader(changes: dict[str, Any], whole: dict[str, Any]) -> None:
    text = yaml.safe_dump({**whole, **changes}, allow_unicode=True)
    for translate in (translate_ffdl, translate_prophecis):
        try:
            document = translate(text).document
            read_job(document)
        except InvalidInput as refusal:
            assert refusal.problems


@settings(max_examples=200, deadline=2000)
@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    for translate in (translate_ffdl, translate_prophecis):
        try:
            translate(text)
        except InvalidInput as refusal:
            assert refusal.problems
