"""TI-ONE's models, and the images that they are served in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from footplate.dialects.fields import Reader
from footplate.dialects.tione import catalogue, models, tasks
from footplate.dialects.tione.models import ModelWish, Whence
from footplate.dialects.tione.views import kept
from footplate.domain.errors import Conflict
from footplate.domain.model import About, Model, Version
from footplate.domain.results import place_of
from footplate.server.parts import Parts
from footplate.server.routes.compat.tionetasks import offer_of
from footplate.services import cloudtasks, registering
from footplate.services import models as model_service
from footplate.services.access import Caller
from footplate.services.buckets import locate, named
from footplate.services.modelaccess import find_version
from footplate.services.modelintake import FromJob, FromStorage
from footplate.services.models import Listed
from footplate.services.registering import Registration
from footplate.store import model_queries
from footplate.store.model_queries import ModelFilter

Answer = dict[str, Any]
MOST_LISTED = 10_000
PAGE = 500


async def _images(parts: Parts) -> list[catalogue.Image]:
    """The images of the platform's own catalogue for inference, and the examples."""
    known = await parts.platform.store.read(model_queries.environments)
    own = [catalogue.Image(one.name, one.image, one.framework, one.version) for one in known]
    names = {one.name for one in own}
    return [*own, *(one for one in offer_of(parts).images if one.name not in names)]


async def images(parts: Parts, _caller: Caller, asked: Reader) -> Answer:
    offset, limit = asked.whole("Offset", 0), asked.whole("Limit", 200, 0)
    found = await _images(parts)
    shown = [catalogue.image_view(one) for one in found[offset : offset + limit]]
    return {"TotalCount": len(found), "PlatformImageInfos": shown}


async def templates(parts: Parts, _caller: Caller, _asked: Reader) -> Answer:
    return {"FrameworkTemplates": catalogue.infer_templates(await _images(parts))}


async def create(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    wish = models.read_model(asked)
    if wish.is_new:
        await _require_free(parts, caller, wish.model)
    registered = await registering.register(parts.platform, caller, await _registration(parts, caller, wish))
    assert registered is not None, "nothing but a guard keeps a version from being registered"
    model, version = registered
    if wish.tags and wish.is_new:
        await model_service.edit(parts.platform, caller, model.id, {"tags": wish.tags})
    return {"Id": model.id, "TrainingModelVersionId": models.version_id(model, version.number)}


async def _require_free(parts: Parts, caller: Caller, name: str) -> None:
    taken = await parts.platform.store.read(
        lambda connection: model_queries.named(connection, name, caller.name)
    )
    if taken:
        raise Conflict("model_name_taken", model=name)


async def _registration(parts: Parts, caller: Caller, wish: ModelWish) -> Registration:
    known = {one.name for one in await parts.platform.store.read(model_queries.environments)}
    about = About(
        framework=wish.framework,
        format=wish.format,
        environment=wish.environment if wish.environment in known else "",
        image=wish.image,
        metrics=wish.metrics,
        tags=wish.tags,
    )
    if wish.cos is None:
        job = await cloudtasks.find(parts.platform, caller, wish.job)
        return Registration(wish.model, FromJob(job.id), about)
    bucket = locate(parts.platform, caller, wish.cos.bucket)
    return Registration(wish.model, FromStorage(bucket.storage, bucket.path(wish.cos.path)), about)


async def listed(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    filters = {one.text("Name"): one.texts("Values") for one in asked.each("Filters", 20)}
    word = next(iter(filters.get("keyword") or filters.get("TrainingModelName") or []), "")
    wanted = ModelFilter(caller.name, search=word[:128], owner=caller.name)
    found: list[Listed] = []
    after = None
    while len(found) < MOST_LISTED:
        page = await model_service.page(parts.platform, caller, wanted, after, PAGE)
        found += page
        if len(page) < PAGE:
            break
        after = (page[-1].model.updated_at, page[-1].model.id)
    offset, limit = asked.whole("Offset", 0), asked.whole("Limit", 20, 0)
    shown = [
        models.model_view(one.model, await _views(parts, caller, one.model, filter(None, [one.latest])))
        for one in found[offset : offset + limit]
    ]
    return {"TotalCount": len(found), "TrainingModels": shown}


async def _views(parts: Parts, caller: Caller, model: Model, versions: Iterable[Version]) -> list[Answer]:
    region, offered = parts.settings.clouds.region, {one.url: one.id for one in await _images(parts)}
    return [
        models.version_view(model, one, region, await _whence(parts, caller, one), offered)
        for one in versions
    ]


async def _whence(parts: Parts, caller: Caller, one: Version) -> Whence:
    """Where a version comes from: of one's own task as one knows it, also when it was started again."""
    origin = one.origin
    if not origin.job_id:
        return Whence("", origin.job_name, *named(origin.place, origin.path))
    job = await parts.platform.store.job(origin.job_id)
    if job is None or job.owner != caller.name:
        return Whence(tasks.task_id(origin.job_id), origin.job_name)
    place = named(*place_of(job)) if job.spec.results else ("", "")
    name = kept(job).get("name") or origin.job_name
    return Whence(tasks.task_id(tasks.first_of(job.id, job.spec.tags)), name, *place)


async def versions(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    found, every = await model_service.show(parts.platform, caller, asked.text("TrainingModelId", None, 128))
    return {"TrainingModelVersions": await _views(parts, caller, found.model, every)}


async def version(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    model_id, number = models.read_version_id(asked.text("TrainingModelVersionId", None, 128))
    model, one = await find_version(parts.platform, caller, model_id, number)
    [shown] = await _views(parts, caller, model, [one])
    return {"TrainingModelVersion": shown}


async def delete(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    await model_service.delete(parts.platform, caller, asked.text("TrainingModelId", None, 128))
    return {}


async def delete_version(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    model_id, number = models.read_version_id(asked.text("TrainingModelVersionId", None, 128))
    await model_service.delete_version(parts.platform, caller, model_id, number)
    return {}


ACTIONS = {
    "DescribePlatformImages": images,
    "DescribeInferTemplates": templates,
    "CreateTrainingModel": create,
    "DescribeTrainingModels": listed,
    "DescribeTrainingModelVersions": versions,
    "DescribeTrainingModelVersion": version,
    "DeleteTrainingModel": delete,
    "DeleteTrainingModelVersion": delete_version,
}
