"""Jobs as UAI-Train's tools describe them, written as jobs of ours, and our jobs as the tools read them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from footplate.dialects.tione.catalogue import fitted
from footplate.dialects.uai import catalogue
from footplate.domain.choices import InstanceType
from footplate.domain.errors import InvalidInput
from footplate.domain.job import Job
from footplate.domain.resources import GIB, Resources
from footplate.domain.results import MANIFEST
from footplate.domain.spec import Completion, DataMount, JobSpec, Results, RoleSpec
from footplate.domain.states import JobState
from footplate.domain.storage import OWN

ID_PREFIX = "uaitrain-"
EXTRA = "uai"
HOUR_S = 3600
DATA_FOLDER, OUTPUT_FOLDER, WORK_FOLDER = "/data/data", "/data/output", "/data"
# What a parameter server takes beside the nodes.
SERVER = Resources(500, GIB)
EARLIER_FOLDER = "/data/earlier"
# The first task that comes here fills the folder that all share; a later attempt finds it filled.
FILL = f"""\
( flock 9 2> /dev/null || true
  if [ ! -e "$FOOTPLATE_CHECKPOINT_DIR/filled" ]; then
    cp -R {EARLIER_FOLDER}/. {OUTPUT_FOLDER}/
    rm -f {OUTPUT_FOLDER}/{MANIFEST}
    touch "$FOOTPLATE_CHECKPOINT_DIR/filled"
  fi
) 9> "$FOOTPLATE_CHECKPOINT_DIR/filling"
"""
STATUS = {
    JobState.QUEUED: "Waiting",
    JobState.STARTING: "Starting",
    # The word without which the tools do not ask for TensorBoard.
    JobState.RUNNING: "Doing",
    JobState.STOPPING: "Stopping",
    JobState.STOPPED: "Stopped",
    JobState.FAILED: "Error",
    JobState.SUCCEEDED: "Done",
}
_UFILE = re.compile(
    r"https?://(?P<bucket>[A-Za-z0-9][A-Za-z0-9-]*)\."
    r"(?:[A-Za-z0-9.-]*\.)?(?:ufileos\.com|ufile\.ucloud\.(?:com\.)?cn)/(?P<path>[^?#]*)"
)
_UFS = re.compile(r"[0-9.]+:/(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{0,62})/?(?P<path>.*)")
_WHOLE = re.compile(r"[0-9]{1,12}")

Parameters = Mapping[str, str]
# Says where a path of a bucket is: the storage, and the path there.
Place = Callable[[str, str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many nodes a distributed job may have, and how long a job may take."""

    nodes_least: int = 2
    nodes_most: int = 4
    hours_most: int = 720


@dataclass(frozen=True, slots=True)
class Offer:
    """The nodes by their numbers, and which of them are examples to be cut to what there is."""

    types: Mapping[int, InstanceType]
    examples: frozenset[str]
    room: Resources | None


@dataclass(frozen=True, slots=True)
class Wish:
    name: str
    node: int
    image: str
    data: str
    output: str
    command: str
    hours: int
    count: int
    mode: int
    framework: int
    memo: str
    group: str


def whole(parameters: Parameters, name: str, default: int | None = None) -> int:
    text = parameters.get(name, "")
    if not text and default is not None:
        return default
    if not text:
        raise InvalidInput("required", name)
    if not _WHOLE.fullmatch(text):
        raise InvalidInput("not_whole_number", name, given="text")
    return int(text)


def required(parameters: Parameters, name: str) -> str:
    if not parameters.get(name, "").strip():
        raise InvalidInput("required", name)
    return parameters[name]


def read(parameters: Parameters, bounds: Bounds) -> Wish:
    """Read the request CreateUAITrainJob; the keys that it has for the data are left where they are."""
    wish = Wish(
        name=required(parameters, "TrainJobName"),
        node=whole(parameters, "TrainWorkId"),
        image=required(parameters, "CodeUhubPath"),
        data=required(parameters, "DataUfilePath"),
        output=required(parameters, "OutputUfilePath"),
        command=required(parameters, "DockerCmd"),
        hours=whole(parameters, "MaxExecuteTime"),
        count=whole(parameters, "TrainWorkAmount", 1),
        mode=whole(parameters, "TrainModeId", catalogue.ALONE),
        framework=whole(parameters, "DistAIFrame", 0),
        memo=parameters.get("TrainJobMemo", ""),
        group=parameters.get("BusinessGroup", ""),
    )
    _check(wish, bounds)
    return wish


def _check(wish: Wish, bounds: Bounds) -> None:
    if wish.mode not in catalogue.MODES:
        raise InvalidInput(
            "not_a_choice", "TrainModeId", options=list(map(str, catalogue.MODES)), given=str(wish.mode)
        )
    low, high = (1, 1) if wish.mode == catalogue.ALONE else (bounds.nodes_least, bounds.nodes_most)
    # Never cut to the bound: whoever asks for more nodes is to know that there are fewer.
    if not low <= wish.count <= high:
        raise InvalidInput("out_of_range", "TrainWorkAmount", low=low, high=high, given=wish.count)
    if not 1 <= wish.hours <= bounds.hours_most:
        raise InvalidInput("out_of_range", "MaxExecuteTime", low=1, high=bounds.hours_most, given=wish.hours)
    if wish.framework and wish.framework not in catalogue.FRAMEWORKS:
        known = list(map(str, catalogue.FRAMEWORKS))
        raise InvalidInput("not_a_choice", "DistAIFrame", options=known, given=str(wish.framework))


def located(text: str, field: str, place: Place) -> tuple[str, str]:
    """Say where a path of UFile or UFS is: the storage, and the path there."""
    if found := _UFILE.fullmatch(text):
        return place(found["bucket"], found["path"])
    if found := _UFS.fullmatch(text):
        return found["name"], found["path"].strip("/")
    raise InvalidInput("not_ufile_path", field)


def bucket_of(text: str) -> tuple[str, str] | None:
    """The bucket and the path of an address of UFile; None for one of UFS."""
    found = _UFILE.fullmatch(text)
    return None if found is None else (found["bucket"], found["path"])


def describe(wish: Wish, offer: Offer, place: Place, earlier: tuple[str, str] | None = None) -> JobSpec:
    """Write a request as a job; `earlier` is what its output folder is to begin with."""
    known = offer.types.get(wish.node)
    if known is None:
        raise InvalidInput(
            "not_a_choice", "TrainWorkId", options=list(map(str, offer.types)), given=str(wish.node)
        )
    has_servers = wish.mode == catalogue.DISTRIBUTED and wish.framework in catalogue.WITH_SERVERS
    role = _node(wish, known, offer, has_servers, earlier is not None)
    roles = _with_servers(role, wish.count) if has_servers else (role,)
    data, inner = located(wish.data, "DataUfilePath", place)
    results, folder = located(wish.output, "OutputUfilePath", place)
    begin = () if earlier is None else (DataMount(EARLIER_FOLDER, *earlier),)
    return JobSpec(
        name=job_name(wish.name),
        roles=roles,
        description=wish.memo,
        image=wish.image,
        data=(
            DataMount(DATA_FOLDER, data, inner.strip("/")),
            DataMount(OUTPUT_FOLDER, OWN, "output", read_only=False),
            *begin,
        ),
        results=Results(results, folder.strip("/")),
        time_limit_s=wish.hours * HOUR_S,
        tags=(f"group:{wish.group}"[:63],) if wish.group else (),
        extras={EXTRA: _kept(wish, known)},
    )


def _node(wish: Wish, known: InstanceType, offer: Offer, has_servers: bool, has_earlier: bool) -> RoleSpec:
    """The nodes of a job as one role, each of the size that was asked for."""
    is_example = known.name in offer.examples
    room = offer.room - SERVER if offer.room and has_servers else offer.room
    size = fitted(known, room, wish.count) if is_example else known
    role = RoleSpec(command(wish.command, size.gpus, has_earlier), "worker", wish.count)
    if not is_example:
        return replace(role, instance_type=known.name)
    return replace(role, milli_cpus=size.milli_cpus, memory_bytes=size.memory_bytes, gpus=size.gpus)


def _with_servers(node: RoleSpec, n_nodes: int) -> tuple[RoleSpec, ...]:
    """The nodes as TensorFlow's programs of UAI-Train know them: a master, workers, and a parameter server.

    The job ends with its master; the server runs for as long as anybody needs it.
    """
    server = replace(
        node,
        name="ps",
        count=1,
        instance_type="",
        milli_cpus=SERVER.milli_cpus,
        memory_bytes=SERVER.memory_bytes,
        gpus=0,
    )
    return (
        replace(node, name="master", count=1, completion=Completion(1, 1)),
        replace(node, count=n_nodes - 1),
        server,
    )


def command(given: str, n_gpus: int, has_earlier: bool = False) -> str:
    """A command of UAI-Train: a program without the word Python, to which the platform adds its folders."""
    options = {
        "work_dir": WORK_FOLDER,
        "data_dir": DATA_FOLDER,
        "output_dir": OUTPUT_FOLDER,
        "log_dir": OUTPUT_FOLDER,
        "num_gpus": n_gpus,
    }
    added = " ".join(f"--{name}={value}" for name, value in options.items())
    begun = f"cd {shlex.quote(WORK_FOLDER)} && exec python {given.strip()} {added}"
    return f"{FILL}{begun}" if has_earlier else begun


def job_name(name: str) -> str:
    made = re.sub(r"[^A-Za-z0-9._~-]+", "-", name).strip("-")
    return made if made.strip(".") else f"job-{name.encode('utf-8', 'replace').hex()[:24]}"


def _kept(wish: Wish, node: InstanceType) -> dict[str, Any]:
    return {
        "name": wish.name,
        "data": wish.data,
        "output": wish.output,
        "command": wish.command,
        "hours": wish.hours,
        "mode": wish.mode,
        "count": wish.count,
        "framework": wish.framework,
        "group": wish.group,
        "node": node.name,
    }


def job_id(given: str) -> str:
    return given.removeprefix(ID_PREFIX)


def train_id(job: Job) -> str:
    return f"{ID_PREFIX}{job.id}"


def view(job: Job, price_per_hour: int, total_price: int) -> dict[str, Any]:
    """A job as the tools list it; instants are whole numbers, 0 for one that has not come."""
    found = job.spec.extras.get(EXTRA)
    kept: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    return {
        "TrainJobId": train_id(job),
        "TrainJobName": job.spec.name,
        "TrainJobMemo": job.spec.description,
        "BusinessGroup": kept.get("group") or "default",
        "Status": "Deleted" if job.deleted_at is not None else STATUS[job.state],
        "CreateTime": int(job.submitted_at),
        "StartTime": int(job.started_at or 0),
        "EndTime": int(job.finished_at or 0),
        "CodeUhubPath": job.spec.image,
        "DataUfilePath": kept.get("data", ""),
        "OutputUfilePath": kept.get("output", ""),
        "DockerCmd": kept.get("command") or job.spec.roles[0].command,
        "MaxExecuteTime": kept.get("hours", 0),
        "TrainWorkAmount": kept.get("count") or job.spec.n_tasks,
        "ResourceId": job.id,
        "TrainWorkSrv": [],
        "TrainPSSrv": [],
        "BillType": "hour",
        "BillUnit": "hour",
        "BillUnitPrice": price_per_hour,
        "BillTotalPrice": total_price,
        "LogTensorboardURL": "",
        "LogFileURL": "",
        "LogFileBucket": "",
        "DataType": "UFile",
        "OutputType": "UFile",
        "DistAIFrameItem": {
            "DistAIFrameId": kept.get("framework", 0),
            "DistAIFrameName": catalogue.FRAMEWORKS.get(kept.get("framework", 0), ""),
        },
    }


def exec_time_s(job: Job, now: float) -> int:
    if job.started_at is None:
        return 0
    return max(0, int((job.finished_at or now) - job.started_at))
