"""The registry of MLflow's clients: its models and versions are ours, by their names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from fastapi import APIRouter

from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.model import MODEL_NAME, About, Model, Version, read_reference
from footplate.server.parts import Parts
from footplate.server.routes.mlflowcalls import Calls, Data
from footplate.services import (
    modelaccess,
    modeldownloads,
    models,
    registering,
    trackedartifacts,
    trackedmodels,
    tracking,
)
from footplate.services.access import Caller
from footplate.services.modelintake import FromJob
from footplate.services.registering import Registration
from footplate.store.model_queries import ModelFilter

router = APIRouter(include_in_schema=False)
_route = Calls(router)
MOST_LISTED, MOST_TAG = 1000, 63
_FILTER = re.compile(r"\s*(?P<key>name|run_id)\s*(?P<sign>=|I?LIKE)\s*'(?P<value>[^']*)'\s*", re.IGNORECASE)
# What the client adds by itself: nothing here is a prompt.
_NO_PROMPTS = re.compile(r"(\s*AND\s+)?tags?\.`mlflow\.prompt\.is_prompt`\s*!=\s*'true'", re.IGNORECASE)


# How ours look there


def _at(seconds: float) -> int:
    return round(seconds * 1000)


def _tags(tags: tuple[str, ...]) -> list[Data]:
    """A tag of theirs has a value, which stands behind `=` in ours."""
    pairs = [tag.partition("=") for tag in tags]
    return [{"key": key, "value": value} for key, _, value in pairs]


def _version(model: Model, version: Version) -> Data:
    origin = version.origin
    names = origin.path.split("/")
    is_run = origin.place == "output" and names[0] == trackedartifacts.FOLDER and len(names) > 1
    return {
        "name": model.name,
        "version": str(version.number),
        "creation_timestamp": _at(version.created_at),
        "last_updated_timestamp": _at(version.created_at),
        "user_id": version.created_by,
        "current_stage": "None",
        "description": version.about.description,
        "source": _source(version),
        "run_id": names[1] if is_run else "",
        "status": "READY",
        "tags": _tags(version.about.tags),
        "aliases": model.aliases_of(version.number),
    }


def _source(version: Version) -> str:
    return f"mlflow-artifacts:/{FOLDER}/{version.model_id}/{version.number}"


def _model(model: Model, latest: Version | None) -> Data:
    return {
        "name": model.name,
        "creation_timestamp": _at(model.created_at),
        "last_updated_timestamp": _at(model.updated_at),
        "user_id": model.owner,
        "description": model.description,
        "latest_versions": [] if latest is None else [_version(model, latest)],
        "tags": _tags(model.tags),
        "aliases": [{"alias": name, "version": str(number)} for name, number in model.aliases.items()],
    }


async def _show(parts: Parts, caller: Caller, name: str) -> Data:
    listed, _ = await models.show(parts.platform, caller, name)
    return {"registered_model": _model(listed.model, listed.latest)}


# What they ask


def _name(asked: Data) -> str:
    name = str(asked.get("name", ""))
    if not re.fullmatch(MODEL_NAME, name):
        raise InvalidInput("not_model_reference", "name", given=name[:200])
    return name


def _alias(asked: Data) -> str:
    return read_reference(f"{_name(asked)}@{asked.get('alias', '')}").alias


def _number(asked: Data) -> str:
    return str(asked.get("version", ""))[:64]


def _tag(key: Any, value: Any) -> str:
    tag = f"{key}={value}" if value not in (None, "") else str(key)
    if not 0 < len(tag) <= MOST_TAG or not tag.isprintable():
        raise InvalidInput("bad_tag", "tags", given=tag[:80], most=MOST_TAG)
    return tag


def _given_tags(asked: Data) -> tuple[str, ...]:
    return tuple(_tag(one["key"], one.get("value")) for one in asked.get("tags") or ())


def _with_tag(tags: tuple[str, ...], asked: Data, is_set: bool) -> tuple[str, ...]:
    key = str(asked.get("key", ""))
    others = tuple(tag for tag in tags if tag.partition("=")[0] != key)
    return (*others, _tag(key, asked.get("value"))) if is_set else others


def _wanted(asked: Data) -> tuple[str, str, bool]:
    """Read a filter: by which field, which text, and whether it is a part of it only."""
    text = _NO_PROMPTS.sub("", str(asked.get("filter") or ""))
    if not text.strip():
        return "", "", False
    read = _FILTER.fullmatch(text)
    if read is None:
        raise InvalidInput("not_model_filter", "filter", given=text[:80])
    return read["key"].lower(), read["value"].strip("%"), read["sign"] != "="


# Models


@_route("registered-models/create")
async def create_model(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    name, tags = _name(asked), _given_tags(asked)
    description = str(asked.get("description") or "")[:4096]
    made = await models.create(parts.platform, caller, name, description, tags)
    return {"registered_model": _model(made, None)}


@_route("registered-models/get", "GET")
async def get_model(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return await _show(parts, caller, _name(asked))


@_route("registered-models/search", "GET", "POST")
async def search_models(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    key, wanted, is_part = _wanted(asked)
    if key == "run_id":
        raise InvalidInput("not_model_filter", "filter", given=str(asked["filter"])[:80])
    found = await models.page(
        parts.platform, caller, ModelFilter(caller.name, search=wanted), None, MOST_LISTED
    )
    named = [
        one for one in found if wanted in one.model.name and (is_part or not key or one.model.name == wanted)
    ]
    return {"registered_models": [_model(one.model, one.latest) for one in named]}


@_route("registered-models/update", "PATCH")
async def describe_model(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    changes = {"description": str(asked.get("description") or "")[:4096]}
    await models.edit(parts.platform, caller, _name(asked), changes)
    return await _show(parts, caller, _name(asked))


@_route("registered-models/rename")
async def rename_model(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    new = _name({"name": asked.get("new_name", "")})
    await models.edit(parts.platform, caller, _name(asked), {"name": new})
    return await _show(parts, caller, new)


@_route("registered-models/delete", "DELETE")
async def delete_model(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await models.delete(parts.platform, caller, _name(asked))
    return {}


async def _retag(parts: Parts, caller: Caller, asked: Data, is_set: bool) -> Data:
    listed, _ = await models.show(parts.platform, caller, _name(asked))
    tags = _with_tag(listed.model.tags, asked, is_set)
    await models.edit(parts.platform, caller, listed.model.id, {"tags": tags})
    return {}


@_route("registered-models/set-tag")
async def tag_model(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return await _retag(parts, caller, asked, is_set=True)


@_route("registered-models/delete-tag", "DELETE")
async def untag_model(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return await _retag(parts, caller, asked, is_set=False)


@_route("registered-models/get-latest-versions", "GET", "POST")
async def latest_versions(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    listed, _ = await models.show(parts.platform, caller, _name(asked))
    return {"model_versions": _model(listed.model, listed.latest)["latest_versions"]}


@_route("registered-models/alias", "POST")
async def set_alias(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await models.set_alias(parts.platform, caller, _name(asked), _alias(asked), _number(asked))
    return {}


@_route("registered-models/alias", "DELETE")
async def remove_alias(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await models.remove_alias(parts.platform, caller, _name(asked), _alias(asked))
    return {}


@_route("registered-models/alias", "GET")
async def by_alias(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return await _find(parts, caller, _name(asked), _alias(asked))


# Versions


async def _find(parts: Parts, caller: Caller, name: str, which: str) -> Data:
    return {"model_version": _version(*await modelaccess.find_version(parts.platform, caller, name, which))}


@_route("model-versions/create")
async def create_version(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    """Register the artifacts of a run, which are files of its job."""
    run_id, inner = await _place_of_source(parts, caller, asked)
    job, _ = await tracking.job_of_run(parts.platform, caller, run_id, writes=False)
    source = FromJob(job.id, "output", "/".join(filter(None, (trackedartifacts.FOLDER, run_id, inner))))
    about = About(description=str(asked.get("description") or "")[:4096], tags=_given_tags(asked))
    made = await registering.register(parts.platform, caller, Registration(_name(asked), source, about))
    assert made is not None
    return {"model_version": _version(*made)}


async def _place_of_source(parts: Parts, caller: Caller, asked: Data) -> tuple[str, str]:
    source = str(asked.get("source", ""))
    logged = str(asked.get("model_id") or source.removeprefix("models:/").strip("/"))
    if logged.startswith("m-"):
        run, model = await trackedmodels.find(parts.platform, caller, logged)
        return run.id, model.folder
    return _artifacts(source)


def _artifacts(source: str) -> tuple[str, str]:
    """Read where artifacts of a run lie: `mlflow-artifacts:/RUN/artifacts/PATH`, or `runs:/RUN/PATH`."""
    read = urlsplit(source)
    run_id, _, rest = unquote(read.path).strip("/").partition("/")
    if read.scheme == "runs":
        return run_id, rest
    folder, _, inner = rest.partition("/")
    if read.scheme != "mlflow-artifacts" or folder != "artifacts":
        raise InvalidInput("not_model_source", "source", given=source[:200])
    return run_id, inner


@_route("model-versions/get", "GET")
async def get_version(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return await _find(parts, caller, _name(asked), _number(asked))


@_route("model-versions/get-download-uri", "GET")
async def download_address(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    _, version = await modelaccess.find_version(parts.platform, caller, _name(asked), _number(asked))
    return {"artifact_uri": _source(version)}


@_route("model-versions/search", "GET", "POST")
async def search_versions(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    key, wanted, is_part = _wanted(asked)
    search = wanted if key == "name" else ""
    found = await models.page(
        parts.platform, caller, ModelFilter(caller.name, search=search), None, MOST_LISTED
    )
    shown = []
    for one in found:
        if key != "name" or one.model.name == wanted or (is_part and wanted in one.model.name):
            _, versions = await models.show(parts.platform, caller, one.model.id)
            shown += [_version(one.model, version) for version in versions]
    return {"model_versions": [one for one in shown if key != "run_id" or one["run_id"] == wanted]}


@_route("model-versions/update", "PATCH")
async def describe_version(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    said = {"description": str(asked.get("description") or "")[:4096]}
    changed = await models.edit_version(parts.platform, caller, _name(asked), _number(asked), said)
    return {"model_version": _version(*changed)}


@_route("model-versions/delete", "DELETE")
async def delete_version(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await models.delete_version(parts.platform, caller, _name(asked), _number(asked))
    return {}


async def _retag_version(parts: Parts, caller: Caller, asked: Data, is_set: bool) -> Data:
    model, version = await modelaccess.find_version(parts.platform, caller, _name(asked), _number(asked))
    tags = _with_tag(version.about.tags, asked, is_set)
    await models.edit_version(parts.platform, caller, model.id, str(version.number), {"tags": tags})
    return {}


@_route("model-versions/set-tag")
async def tag_version(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return await _retag_version(parts, caller, asked, is_set=True)


@_route("model-versions/delete-tag", "DELETE")
async def untag_version(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return await _retag_version(parts, caller, asked, is_set=False)


# Files of versions, at paths beside those of runs

FOLDER = "models"


def is_model(path: str) -> bool:
    return path.strip("/").startswith(f"{FOLDER}/")


def _place(path: str) -> tuple[str, str, str]:
    names = path.strip("/").split("/")
    if len(names) < 3:
        raise NotFound("model_unknown", model=path[:128])
    return names[1], names[2], "/".join(names[3:])


async def entries(parts: Parts, caller: Caller, path: str) -> list[Data]:
    """List a folder of a version; a file, or what is not there, has nothing in it."""
    model_id, number, folder = _place(path)
    _, version = await modelaccess.find_version(parts.platform, caller, model_id, number)
    before = f"{folder}/" if folder else ""
    found: dict[str, Data] = {}
    for file in version.files:
        if file.path.startswith(before):
            name, slash, _ = file.path.removeprefix(before).partition("/")
            size = {} if slash else {"file_size": file.size_bytes}
            found[name] = {"path": name, "is_dir": bool(slash), **size}
    return list(found.values())


async def locate_file(parts: Parts, caller: Caller, path: str) -> Path:
    model_id, number, inner = _place(path)
    _, place = await modeldownloads.locate(parts.platform, caller, model_id, number, inner)
    return place
