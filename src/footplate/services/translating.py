"""Jobs that arrive in the words of another system: translated, checked, and queued as any other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from footplate.dialects.pai import v1
from footplate.dialects.translation import MANIFEST_FOLDERS, Translation
from footplate.domain.errors import Conflict
from footplate.domain.jobfile import read_job
from footplate.domain.messages import Message, say
from footplate.domain.override import override
from footplate.domain.storage import Access, StorageKind
from footplate.services import jobs
from footplate.services.access import Caller
from footplate.services.jobs import DryRun, Submission
from footplate.services.platform import Platform
from footplate.store.original_queries import Original

Document = dict[str, Any]
NAME_TRIES = 5
HDFS = "hdfs"
_HDFS = re.compile(r"(?:hdfs://[^/]*|\$PAI_DEFAULT_FS_URI)(/.*)?")


async def submit(
    platform: Platform,
    caller: Caller,
    translation: Translation,
    overrides: Mapping[str, Any],
    key: str = "",
) -> Submission:
    """Queue the job of a foreign text, with some fields replaced; the text, where there is one, is kept.

    Where names repeat in the other system, the next free one is taken for a name that is in use here.
    """
    named = dict(overrides)
    for _ in range(NAME_TRIES if translation.names_repeat and "name" not in overrides else 0):
        try:
            return await _submit(platform, caller, translation, named, key)
        except Conflict as error:
            if error.said.code != "job_name_taken":
                raise
            name = str(named.get("name") or translation.document["name"])
            named["name"] = await platform.store.read(partial(jobs.free_name, owner=caller.name, name=name))
    return await _submit(platform, caller, translation, named, key)


async def _submit(
    platform: Platform, caller: Caller, translation: Translation, overrides: Mapping[str, Any], key: str
) -> Submission:
    with translation.naming_its_fields():
        spec = read_job(document_of(platform, caller, translation, overrides))
        original = Original(translation.dialect, translation.text) if translation.text else None
        return await jobs.submit_spec(platform, caller, spec, key, original)


async def dry_run(
    platform: Platform,
    caller: Caller,
    translation: Translation,
    overrides: Mapping[str, Any],
    code_follows: bool = False,
) -> DryRun:
    """Say what a submit of a foreign text would do."""
    with translation.naming_its_fields():
        document = document_of(platform, caller, translation, overrides)
        return await jobs.dry_run(platform, caller, document, code_follows)


def document_of(
    platform: Platform, caller: Caller, translation: Translation, overrides: Mapping[str, Any]
) -> Document:
    """The document of a foreign text as it can be submitted here."""
    document = _with_folders(platform, caller, override(translation.document, overrides))
    if _names_a_folder(document.get("code")):
        # It lies on the machine of whoever wrote the text.
        del document["code"]
    if isinstance(document.get("data"), list):
        document["data"] = [_as_allowed(platform, caller, document, one) for one in document["data"]]
    return document


def _with_folders(platform: Platform, caller: Caller, document: Document) -> Document:
    """Mount the folders that a foreign file names, where a storage has them."""
    folders = _folders_in(document)
    if not folders:
        return document
    kept = {name: value for name, value in document["extras"].items() if name != MANIFEST_FOLDERS}
    made = {**document, "extras": kept}
    for target, folder in folders.items():
        place = _place_of(platform, _substituted(str(folder), caller, document))
        if place is None:
            continue
        if not target.startswith("/"):
            made.setdefault(target, {"storage": place[0], "path": place[1]})
        else:
            entry = {"path": target, "storage": place[0], "source": place[1]}
            made["data"] = [*made.get("data", []), entry]
        if target == v1.CODE_PATH and (line := v1.linked(str(folder))):
            made["roles"] = [{**role, "command": f"{line}\n{role['command']}"} for role in made["roles"]]
    return made


def _substituted(folder: str, caller: Caller, document: Mapping[str, Any]) -> str:
    """Put in what OpenPAI puts into the names of folders at submit."""
    names = {"PAI_JOB_NAME": f"{caller.name}~{document.get('name', '')}"}
    names |= dict.fromkeys(("PAI_USER_NAME", "PAI_USERNAME"), caller.name)
    return re.sub(r"\$(PAI_JOB_NAME|PAI_USER_NAME|PAI_USERNAME)\b", lambda one: names[one[1]], folder)


def _folders_in(document: Mapping[str, Any]) -> Mapping[str, Any]:
    extras = document.get("extras")
    folders = extras.get(MANIFEST_FOLDERS) if isinstance(extras, Mapping) else None
    return folders if isinstance(folders, Mapping) else {}


def _place_of(platform: Platform, folder: str) -> tuple[str, str] | None:
    """The storage that has a folder of the machine, and where on it; the nearest of several.

    What is no path is the name of a bucket, and of the storage that stands for it. The storage `hdfs` stands
    for OpenPAI's default file system.
    """
    folder = folder.removeprefix("file://")
    if default := _HDFS.fullmatch(folder):
        return (HDFS, (default[1] or "").strip("/")) if HDFS in platform.storages else None
    if not folder.startswith("/"):
        return (folder, "") if folder in platform.storages else None
    found = []
    for storage in platform.storages.values():
        root = storage.path.rstrip("/")
        is_folder = storage.kind is StorageKind.FOLDER and not storage.per_user and bool(root)
        if is_folder and f"{folder}/".startswith(f"{root}/"):
            found.append((len(root), storage.name, folder[len(root) :].strip("/")))
    return max(found)[1:] if found else None


def warnings_of(platform: Platform, translation: Translation, overrides: Mapping[str, Any]) -> list[Message]:
    """Say what of a foreign text will have no effect."""
    is_lost = _names_a_folder(translation.document.get("code")) and "code" not in overrides
    return [*lost_of(platform, translation), *([say("code_not_sent")] if is_lost else [])]


def lost_of(platform: Platform, translation: Translation) -> list[Message]:
    """Say what of a foreign text could not be converted, also what another server might have had."""
    if translation.dialect == v1.NAME:
        return _lost_of_v1(platform, translation)
    missing = (
        say("ffdl_folder_lost", folder=folder)
        if str(folder).startswith("/")
        else say("ffdl_bucket_lost", bucket=folder)
        for folder in _folders_in(translation.document).values()
        if _place_of(platform, str(folder)) is None
    )
    return [*translation.lost, *missing]


def _lost_of_v1(platform: Platform, translation: Translation) -> list[Message]:
    folders = _folders_in(translation.document).items()
    there = {v1.FOLDERS[target][1] for target, folder in folders if _place_of(platform, str(folder))}
    return [one for one in translation.lost if one.code not in there]


def _names_a_folder(code: Any) -> bool:
    return isinstance(code, str)


def _as_allowed(platform: Platform, caller: Caller, document: Document, data: Any) -> Any:
    """Mount a storage to be written to only where the job may; other systems do not say which they mean."""
    storage = platform.storages.get(data.get("storage", "")) if isinstance(data, Mapping) else None
    if storage is None:
        return data
    access = storage.access_of_job(caller.name, str(document.get("queue", "default")))
    return {**data, "read_only": True} if access is Access.READ else data
