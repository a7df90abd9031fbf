"""UAI-Train's jobs: made, listed, stopped, renamed, and their logs, prices and bills."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from footplate.dialects.uai import jobs as dialect
from footplate.dialects.uai.jobs import whole
from footplate.domain.errors import FootplateError, InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.domain.names import JOB_NAME, require_text
from footplate.server.parts import Parts
from footplate.server.proxy.door import opened
from footplate.server.routes.compat.uaichoices import offer_of
from footplate.services import cloudbills, cloudtasks, endings, jobs
from footplate.services.access import Caller
from footplate.services.buckets import locate
from footplate.services.cloudtasks import Wished
from footplate.services.cloudtopics import MOST_BYTES
from footplate.services.logs import log_of
from footplate.store.logfiles import LogFile

Answer = dict[str, Any]
Parameters = Mapping[str, str]
MOST_LISTED = 10_000


async def create(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    platform, clouds = parts.platform, parts.settings.clouds
    bounds = dialect.Bounds(clouds.nodes_least, clouds.nodes_most, clouds.hours_most)
    wish = dialect.read(asked, bounds)

    def place(bucket: str, path: str) -> tuple[str, str]:
        found = locate(platform, caller, bucket)
        return found.storage, found.path(path)

    earlier = await cloudtasks.earlier_output(
        platform, caller, *dialect.located(wish.output, "OutputUfilePath", place)
    )
    spec = dialect.describe(wish, offer_of(parts), place, earlier)
    if bucket := dialect.bucket_of(wish.data):
        await cloudtasks.require_there(platform, caller, *bucket)
    job = await cloudtasks.submit_renamed(platform, caller, spec)
    return {"TrainJobId": dialect.train_id(job)}


async def _find(parts: Parts, caller: Caller, asked: Parameters) -> Job:
    return await cloudtasks.find(
        parts.platform, caller, dialect.job_id(dialect.required(asked, "TrainJobId"))
    )


async def stop(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    await endings.stop(parts.platform, caller, (await _find(parts, caller, asked)).id)
    return {}


async def remove(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    await endings.delete(parts.platform, caller, (await _find(parts, caller, asked)).id)
    return {}


async def listed(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    """All of one's jobs, or one; one that is not there is refused, since the tools take the first entry."""
    if asked.get("TrainJobId"):
        found, total = [await _find(parts, caller, asked)], 1
    else:
        offset, limit = whole(asked, "Offset", 0), whole(asked, "Limit", 0) or MOST_LISTED
        found, total = await cloudtasks.own(parts.platform, caller, Wished(), offset, limit)
    return {"TotalCount": total, "DataSet": [_view(parts, job) for job in found]}


def _view(parts: Parts, job: Job) -> Answer:
    prices, now = parts.settings.clouds.prices, parts.platform.clock.now()
    per_hour = prices.per_hour(job.spec.resources)
    return dialect.view(job, per_hour, _price(per_hour, dialect.exec_time_s(job, now)))


def _price(per_hour: int, seconds: int) -> int:
    return round(per_hour * seconds / dialect.HOUR_S)


async def running(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    job = await _find(parts, caller, asked)
    seconds = dialect.exec_time_s(job, parts.platform.clock.now())
    per_hour = parts.settings.clouds.prices.per_hour(job.spec.resources)
    return {"ExecTime": seconds, "TotalPrice": _price(per_hour, seconds)}


async def topics(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    job = await _find(parts, caller, asked)
    return {"DataSet": [{"TopicId": task.name, "TopicName": task.name} for task in job.tasks]}


async def log(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    """What a log has more since the same person last asked; who has stopped asking begins anew."""
    job, topic = await _find(parts, caller, asked), dialect.required(asked, "LogTopicId")
    if topic not in {task.name for task in job.tasks}:
        raise NotFound(
            "no_task_but", job=job.id, task=topic[:80], some=", ".join(t.name for t in job.tasks[:10])
        )
    mask = await parts.platform.mask_of(job)
    file = log_of(parts.platform, job, topic, None, mask)
    reader, now = (caller.name, job.attempt_id, topic), parts.platform.clock.now()
    lines = await asyncio.to_thread(
        parts.topics.read, reader, now, lambda offset: _read_on(file, offset, job.state.is_final)
    )
    return {"RunningLog": lines}


def _read_on(log: LogFile, offset: int, is_over: bool) -> tuple[list[str], int]:
    """Read whole lines; the last one without an end only when nothing follows."""
    size = log.size
    data, at = b"", offset
    while at < size and len(data) < MOST_BYTES:
        piece = log.read(at, min(MOST_BYTES, size - at), is_growing=not is_over)
        if not piece.data:
            break
        data, at = data + piece.data, piece.next_offset
    if not is_over and not data.endswith(b"\n"):
        cut = data.rfind(b"\n") + 1
        at -= len(data) - cut
        data = data[:cut]
    return data.decode("utf-8", "replace").splitlines(), max(at, offset)


async def rename(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    name = require_text(JOB_NAME, dialect.required(asked, "TrainJobName"), "TrainJobName")
    await jobs.edit(parts.platform, caller, (await _find(parts, caller, asked)).id, name, None, None)
    return {}


async def memo(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    text = asked.get("TrainJobMemo", "")[:4096]
    await jobs.edit(parts.platform, caller, (await _find(parts, caller, asked)).id, None, text, None)
    return {}


async def predict(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    job = await _find(parts, caller, asked)
    found = await parts.platform.scheduler.explain([job.id])
    return {"WaitJobCount": found[job.id][1] if job.id in found else 0}


async def tensorboard(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    """TensorBoard itself, where the task or the server has it; else the page of the job, with its curves."""
    job = await _find(parts, caller, asked)
    try:
        _, url = await opened(parts, caller, job.id, "tensorboard")
    except FootplateError:
        url = f"{parts.settings.url}/jobs/{job.id}"
    return {"TensorboardURL": url}


async def bill(parts: Parts, caller: Caller, asked: Parameters) -> Answer:
    since, until = whole(asked, "BeginTime"), whole(asked, "EndTime")
    if since >= until:
        raise InvalidInput("period_empty", "EndTime")
    found = await cloudbills.of(parts.platform, caller, since, until, parts.settings.clouds.prices)
    offset, limit = whole(asked, "Offset", 0), whole(asked, "Limit", 0) or MOST_LISTED
    lines = [
        {
            "TrainJobId": f"{dialect.ID_PREFIX}{one.job_id}",
            "TrainJobName": one.name,
            "ExecuteTime": one.seconds,
            "TotalPrice": one.price,
        }
        for one in found[offset : offset + limit]
    ]
    return {
        "TotalCount": len(found),
        "TotalExecuteTime": sum(one.seconds for one in found),
        "TotalPrice": sum(one.price for one in found),
        "DataSet": lines,
    }


ACTIONS = {
    "CreateUAITrainJob": create,
    "StopUAITrainJob": stop,
    "RemoveUAITrainJob": remove,
    "GetUAITrainJobList": listed,
    "GetUAITrainRunningInfo": running,
    "GetUAITrainTensorboardUrl": tensorboard,
    "GetUAITrainRunningLogTopicList": topics,
    "GetUAITrainRunningLog": log,
    "GetUAITrainBillInfo": bill,
    "GetUAITrainJobStartPredict": predict,
    "ModifyUAITrainJobName": rename,
    "ModifyUAITrainJobMemo": memo,
}
