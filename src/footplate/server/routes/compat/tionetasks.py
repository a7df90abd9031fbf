"""TI-ONE's training tasks: made, found, stopped, started again, deleted."""

from __future__ import annotations

from typing import Any

from footplate.dialects.fields import Reader
from footplate.dialects.tione import catalogue, tasks, views
from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.domain.resources import NOTHING
from footplate.domain.states import JobState
from footplate.server.parts import Parts
from footplate.services import choices, cloudtasks, endings, jobs, queues, registrylogins
from footplate.services.access import Caller
from footplate.services.buckets import locate
from footplate.services.cloudtasks import Wished

Answer = dict[str, Any]
MOST_ON_A_PAGE = 1000


def offer_of(parts: Parts) -> catalogue.Offer:
    known, clouds = parts.platform.choices, parts.settings.clouds
    return catalogue.offer(known.types, known.frameworks, (), clouds.prices, clouds.examples)


async def create(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    platform, wish = parts.platform, tasks.read_task(asked.value)

    def place(bucket: str, path: str) -> tuple[str, str]:
        found = locate(platform, caller, bucket)
        return found.storage, found.path(path)

    for one in wish.inputs:
        if one.cos is not None:
            await cloudtasks.require_there(platform, caller, one.cos.bucket, one.cos.path)
    code = ""
    if wish.code is not None:
        code = await cloudtasks.take_code(platform, caller, wish.code.bucket, wish.code.path)
    new_id = jobs.fresh_id(platform)
    room = cloudtasks.room_of(platform, wish.queue)
    spec = tasks.describe(wish, offer_of(parts), room, place, code, new_id)
    spec = await registrylogins.with_login(platform, caller, spec, asked, parts.image_keys)
    job = await cloudtasks.submit(platform, caller, spec, new_id)
    return {"Id": tasks.task_id(job.id)}


async def _find(parts: Parts, caller: Caller, given: str) -> Job:
    """The job that stands for a task; one in the trash is gone, as there."""
    job = await cloudtasks.find(parts.platform, caller, given)
    if job.deleted_at is not None:
        raise NotFound("job_not_visible", job=job.id)
    return job


async def describe(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    given = tasks.job_of(asked.text("Id", None))
    job = await _find(parts, caller, given)
    region = parts.settings.clouds.region
    shown = views.detail(job, parts.platform.clock.now(), region, given)
    return {"TrainingTaskDetail": {**shown, "Id": tasks.task_id(given)}}


_FILTERS = ("Name", "Id", "Status", "ResourceGroupId", "Creator", "ChargeType", "CHARGE_STATUS")


async def describe_all(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    filters = {one.text("Name"): one.texts("Values") for one in asked.each("Filters", 20)}
    for name in filters:
        if name not in _FILTERS:
            raise InvalidInput("not_a_choice", "Filters.Name", options=list(_FILTERS), given=name[:64])
    offset, limit = asked.whole("Offset", 0), asked.whole("Limit", 50, 0, MOST_ON_A_PAGE)
    wished = _wished(filters, asked.text("Order") == "ASC", caller.name)
    tags = {one.text("TagKey"): one.texts("TagValues") for one in asked.each("TagFilters", 20)}
    charges = filters.get("ChargeType", [])
    if wished is None:
        found, total = [], 0
    elif tags or charges:
        # No column has these: all are read, and what is asked for is taken from them.
        every, _ = await cloudtasks.own(parts.platform, caller, wished, 0, cloudtasks.MOST_LISTED)
        kept = [job for job in every if views.is_charged(job, charges) and views.is_tagged(job, tags)]
        found, total = kept[offset : offset + limit], len(kept)
    else:
        found, total = await cloudtasks.own(parts.platform, caller, wished, offset, limit)
    now, region = parts.platform.clock.now(), parts.settings.clouds.region
    return {"TotalCount": total, "TrainingTaskSet": [views.item(job, now, region) for job in found]}


def _wished(filters: dict[str, list[str]], oldest_first: bool, caller: str) -> Wished | None:
    """What is to be listed; None where that is nothing."""
    states = set(JobState)
    if given := filters.get("Status"):
        states &= {views.STATES[one] for one in given if one in views.STATES}
    if given := filters.get("CHARGE_STATUS"):
        states &= {state for state in JobState if views.charge_status(state) in given}
    if not states or (filters.get("Creator") and caller not in filters["Creator"]):
        return None
    return Wished(
        states=sorted(states) if len(states) < len(JobState) else (),
        name=(filters.get("Name") or [""])[0][:255],
        ids=[tasks.job_of(one) for one in filters.get("Id", [])],
        queues=filters.get("ResourceGroupId", []),
        oldest_first=oldest_first,
    )


async def stop(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    job = await _find(parts, caller, tasks.job_of(asked.text("Id", None)))
    await endings.stop(parts.platform, caller, job.id)
    return {}


async def start(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    job = await _find(parts, caller, tasks.job_of(asked.text("Id", None)))
    await cloudtasks.start_again(parts.platform, caller, job.id)
    return {}


async def delete(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    for job in await cloudtasks.all_of(parts.platform, caller, tasks.job_of(asked.text("Id", None))):
        await endings.delete(parts.platform, caller, job.id)
    return {}


async def pods(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    job = await _find(parts, caller, tasks.job_of(asked.text("Id", None)))
    return views.pods(job)


async def frameworks(parts: Parts, _caller: Caller, _asked: Reader) -> Answer:
    return {"FrameworkInfos": catalogue.framework_infos(offer_of(parts).frameworks)}


async def specs(parts: Parts, caller: Caller, _asked: Reader) -> Answer:
    offered, room = offer_of(parts), choices.offer(parts.platform, caller)
    fits = {one.type.name: bool(one.fit_now) for one in room.types}
    shown = [
        catalogue.spec_view(one, fits.get(name, name in offered.examples))
        for name, one in offered.types.items()
    ]
    return {"Specs": shown}


async def prices(parts: Parts, _caller: Caller, asked: Reader) -> Answer:
    offered, found = offer_of(parts), []
    for one in asked.each("SpecsParam"):
        name, count = one.text("SpecName", None, 128), one.whole("SpecCount", 1, 1, 10_000)
        if name not in offered.types:
            place = f"{one.path}.SpecName"
            raise InvalidInput("not_a_choice", place, options=list(offered.types), given=name)
        found.append(catalogue.price_view(offered.types[name], count, offered.prices))
    return {"SpecsPrice": found}


async def groups(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    """Queues, as the groups of resources that they are there."""
    word, offset, limit = asked.text("SearchWord"), asked.whole("Offset", 0), asked.whole("Limit", 20, 0)
    found = [use for use in queues.all_visible(parts.platform, caller) if word in use.queue.name]
    shown = []
    for use in found[offset : offset + limit]:
        room = cloudtasks.room_of(parts.platform, use.queue.name) or NOTHING
        n_nodes = len(queues.nodes_of(parts.platform, use.queue))
        shown.append(
            {
                "ResourceGroupId": use.queue.name,
                "ResourceGroupName": use.queue.name,
                "TotalInstance": n_nodes,
                "FreeInstance": 0 if use.n_running else n_nodes,
                "UsedResource": catalogue.amounts(use.used, ""),
                "TotalResource": catalogue.amounts(room, ""),
                "InstanceSet": [],
                "TagSet": [],
            }
        )
    return {"TotalCount": len(found), "ResourceGroupSet": shown}


async def public_key(parts: Parts, _caller: Caller, asked: Reader) -> Answer:
    algorithm = asked.text("EncryptAlgorithm") or "RSA_2048"
    if algorithm != "RSA_2048":
        raise InvalidInput("not_a_choice", "EncryptAlgorithm", options=["RSA_2048"], given=algorithm[:64])
    return {"KeyId": parts.image_keys.key_id, "PublicKeyPem": parts.image_keys.public_pem}


ACTIONS = {
    "CreateTrainingTask": create,
    "DescribeTrainingTask": describe,
    "DescribeTrainingTasks": describe_all,
    "StopTrainingTask": stop,
    "StartTrainingTask": start,
    "DeleteTrainingTask": delete,
    "DescribeTrainingTaskPods": pods,
    "DescribeTrainingFrameworks": frameworks,
    "DescribeBillingSpecs": specs,
    "DescribeBillingSpecsPrice": prices,
    "DescribeBillingResourceGroups": groups,
    "DescribePublicKey": public_key,
}
