"""TI-ONE's requests as values: what is read, what becomes a job, and that nothing breaks the reader."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.dialects.fields import Reader
from footplate.dialects.prices import Prices
from footplate.dialects.tione import catalogue, metrics, models, tasks, views
from footplate.domain.accounting import Used
from footplate.domain.choices import Framework, InstanceType
from footplate.domain.errors import InvalidInput
from footplate.domain.job import submit
from footplate.domain.jobfile import read_job, write_job
from footplate.domain.resources import GIB, Resources
from footplate.domain.states import JobState

ROOM = Resources(4000, 16 * GIB, 0)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
NAMES = (
    "Name",
    "TrainingMode",
    "ResourceConfigInfos",
    "StartCmdInfo",
    "EncodedStartCmdInfo",
    "Output",
    "CodePackagePath",
    "DataConfigs",
    "TuningParameters",
    "SchedulePolicy",
    "Tags",
    "ImageInfo",
)


def wish(**changed: Any) -> dict[str, Any]:
    return {
        "Name": "xxx5",
        "ResourceConfigInfos": [
            {"Role": "WORKER", "InstanceType": "TI.GN10.2XLARGE40.POST", "InstanceNum": 2}
        ],
        "FrameworkName": "PYTORCH",
        "FrameworkEnvironment": "torch1.9-py3.8-cuda11.1-gpu",
        "TrainingMode": "DDP",
        "StartCmdInfo": {"WorkerStartCmd": "sh start_cloud.sh"},
        "Output": {"Bucket": "demo", "Region": "r", "Paths": ["output/"]},
        **changed,
    }


def place(bucket: str, path: str) -> tuple[str, str]:
    return "home", f"buckets/{bucket}/{path}"


def offer(
    types: dict[str, InstanceType] | None = None, frameworks: tuple[Framework, ...] = ()
) -> catalogue.Offer:
    return catalogue.offer(types or {}, frameworks, (), Prices(), has_examples=True)


def spec_of(document: dict[str, Any], given: catalogue.Offer | None = None) -> Any:
    return tasks.describe(tasks.read_task(document), given or offer(), ROOM, place, "", "2mjgxktj6dh6")


def test_an_example_is_cut_to_what_all_tasks_find_at_once() -> None:
    [role] = spec_of(wish()).roles
    assert (role.milli_cpus, role.memory_bytes, role.gpus) == (2000, 6 * GIB, 0)


def test_a_type_of_the_catalogue_takes_the_place_of_an_example() -> None:
    known = InstanceType("TI.GN10.2XLARGE40.POST", 8000, 40 * GIB, 1)
    [role] = spec_of(wish(), offer({known.name: known})).roles
    assert role.instance_type == known.name


def test_a_framework_of_the_catalogue_takes_the_place_of_an_example() -> None:
    own = Framework("pytorch", "torch1.9-py3.8-cuda11.1-gpu", image="torch:1.9")
    assert spec_of(wish(), offer(frameworks=(own,))).framework == own.label
    assert spec_of(wish()).framework == ""


def test_examples_can_be_turned_off() -> None:
    nothing = catalogue.offer({}, (), (), Prices(), has_examples=False)
    with pytest.raises(InvalidInput, match="InstanceType"):
        spec_of(wish(), nothing)
    own = InstanceType("TI.GN10.2XLARGE40.POST", 1000, GIB)
    with pytest.raises(InvalidInput, match="FrameworkEnvironment"):
        spec_of(wish(), catalogue.offer({own.name: own}, (), (), Prices(), has_examples=False))


def test_results_go_to_the_output_path_with_the_id_of_the_task() -> None:
    spec = spec_of(wish())
    assert (spec.results.storage, spec.results.path) == ("home", "buckets/demo/output/train-2mjgxktj6dh6")
    assert {one.path: one.source for one in spec.data} == {
        "/opt/ml/output": "output",
        "/opt/ml/model": "output",
    }


@pytest.mark.parametrize(("mode", "strategy"), [("DDP", ""), ("MPI", "mpi"), ("HOROVOD", "mpi"), ("RAY", "")])
def test_a_mode_may_need_a_strategy(mode: str, strategy: str) -> None:
    assert spec_of(wish(TrainingMode=mode)).strategy == strategy


def test_what_is_described_is_a_job() -> None:
    spec = spec_of(wish(TuningParameters='{"lr": 0.1, "bad name": 1, "nested": {}}', Name="图像 分类"))
    assert read_job(write_job(spec)).parameters == {"lr": 0.1}


@given(st.dictionaries(st.sampled_from(NAMES), JSON))
def test_any_wish_is_read_or_refused(changed: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidInput):
        write_job(spec_of(wish(**changed)))


@given(JSON)
def test_any_body_is_read_or_refused(body: Any) -> None:
    for read in (lambda one: tasks.read_task(one.value), metrics.pushed, models.read_model):
        with contextlib.suppress(InvalidInput):
            read(Reader(body))


def test_every_state_has_a_word() -> None:
    assert set(views.STATUS) == set(JobState)


def test_a_job_of_our_own_is_told_as_a_task_too() -> None:
    job = submit("2mjgxktj6dh6", "ann", read_job({"name": "own", "command": "true"}), 0.0)
    told = views.detail(job, 10.0, "r", job.id)
    assert (told["Name"], told["Status"], told["Id"]) == ("own", "PENDING", "train-2mjgxktj6dh6")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("acc1=71.234,acc5=90.5", {"acc1": 71.234, "acc5": 90.5}),
        ("", {}),
        ("good model", {}),
        ("a=1, b = 2 ,c=x,d=nan", {"a": 1.0, "b": 2.0}),
    ],
)
def test_metrics_of_a_model_are_read_from_their_text(text: str, found: dict[str, float]) -> None:
    body = {"TrainingModelName": "m", "TrainingJobId": "train-x", "TrainingModelIndex": text}
    assert models.read_model(Reader(body)).metrics == found


def test_prices_are_sums_of_what_was_used() -> None:
    prices = Prices(cpu=100, memory=10, gpu=1000)
    assert prices.per_hour(Resources(2000, 4 * GIB, 1)) == 1240
    assert prices.of(Used(7200.0, 4.0 * GIB * 3600, (("V100", 3600.0),))) == 1240


def test_an_example_is_as_large_as_it_says_where_nobody_knows_the_machines() -> None:
    example = InstanceType("example", 40_000, 320 * GIB, 2, "V100")
    whole = catalogue.fitted(example, None, 2)
    assert (whole.milli_cpus, whole.memory_bytes, whole.gpus) == (40_000, 320 * GIB, 2)
    cut = catalogue.fitted(example, ROOM, 2)
    assert (cut.milli_cpus, cut.gpus) == (2000, 0)
