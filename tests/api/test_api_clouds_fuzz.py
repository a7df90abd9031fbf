"""Whatever clients of other clouds send, signed: an answer in their shape, and never an internal error."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from apiclient import Api, fresh
from cloudclients import Cos, Key, Tione, Uai, Ufile, key_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate.server.routes.compat.tione import ACTIONS
from footplate.server.routes.compat.uai import ACTIONS as UAI_ACTIONS

FEW = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NAMES = st.sampled_from(
    [
        "Id",
        "TaskId",
        "Name",
        "Data",
        "Points",
        "Value",
        "Timestamp",
        "Filters",
        "TagFilters",
        "TagKey",
        "Values",
        "Offset",
        "Limit",
        "Order",
        "PodName",
        "Context",
        "StartTime",
        "SpecsParam",
        "SpecName",
        "TrainingModelId",
        "TrainingModelVersionId",
        "TrainingModelName",
        "TrainingJobId",
        "TrainingModelCosPath",
        "Bucket",
        "Paths",
        "ResourceConfigInfos",
        "InstanceNum",
        "StartCmdInfo",
        "ImageInfo",
        "ImageSecret",
        "Username",
        "Password",
    ]
)
UAI_NAMES = [
    "TrainJobId",
    "Offset",
    "Limit",
    "BeginTime",
    "EndTime",
    "LogTopicId",
    "PkgType",
    "OSVersion",
    "TrainJobName",
    "TrainWorkId",
    "TrainModeId",
    "TrainWorkAmount",
    "DataUfilePath",
    "OutputUfilePath",
    "DistAIFrame",
    "DockerCmd",
]
COS_NAMES = [
    "prefix",
    "marker",
    "delimiter",
    "max-keys",
    "uploads",
    "uploadId",
    "partNumber",
    "part-number-marker",
    "max-parts",
    "versioning",
    "delete",
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(["train-000000000000*", "train-", "m-x", "mv-v1-m-x", "2026-11-17", "ASC", "home", "."])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)
TEXTS = (
    st.text(max_size=30)
    | st.integers().map(str)
    | st.sampled_from(["uaitrain-000000000000", "OS", "\0", "é"])
)


@pytest.fixture(scope="module")
def key(ann: Api) -> Key:
    return key_of(ann)


@pytest.mark.parametrize("action", sorted(ACTIONS))
@FEW
@given(body=st.dictionaries(NAMES, JSON, max_size=5))
def test_any_body_is_answered_or_refused_by_ti_one(
    action: str, body: dict[str, Any], ann: Api, key: Key
) -> None:
    answer = Tione(ann, key).send(action, body)
    assert answer.status_code == 200
    response = answer.json()["Response"]
    assert response.get("Error", {}).get("Code") != "InternalError", response
    assert response["RequestId"]


@pytest.mark.parametrize("action", sorted(UAI_ACTIONS))
@FEW
@given(
    asked=st.dictionaries(
        st.sampled_from(UAI_NAMES),
        TEXTS,
    )
)
def test_any_parameters_are_answered_or_refused_by_uai(
    action: str, asked: dict[str, str], ann: Api, key: Key
) -> None:
    body = Uai(ann, key).call(action, **asked)
    assert body["RetCode"] != 130, body


@FEW
@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE"]),
    name=st.text(alphabet="ab/.é %+", max_size=12).map(lambda text: text.strip("/. ")),
    query=st.dictionaries(
        st.sampled_from(COS_NAMES),
        st.text(max_size=8) | st.integers().map(str),
        max_size=4,
    ),
    source=st.just("") | st.text(alphabet="ab/.%?E9C3", max_size=20).map("b-1.cos.x.myqcloud.com/{}".format),
    body=st.binary(max_size=64),
)
def test_any_request_is_answered_or_refused_by_cos(
    method: str, name: str, query: dict[str, str], source: str, body: bytes, ann: Api, key: Key
) -> None:
    headers = {"x-cos-copy-source": source} if source else {}
    answer = Cos(ann, key, "fuzzed").call(method, name, query, headers, content=body)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert Xml.fromstring(answer.content).tag == "Error"


@FEW
@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE"]),
    name=st.text(alphabet="ab/.é ", max_size=12).map(lambda text: text.strip("/. ")),
    query=st.sampled_from(
        ["", "?list", "?uploads", "?uploadId=x", "?uploadId=x&partNumber=y", "?list&limit=-1"]
    ),
    body=st.binary(max_size=64),
)
def test_any_request_is_answered_or_refused_by_ufile(
    method: str, name: str, query: str, body: bytes, ann: Api, key: Key
) -> None:
    answer = Ufile(ann, key, fresh("fuzzed")).call(method, name, query, body)
    assert answer.status_code < 500, answer.text
