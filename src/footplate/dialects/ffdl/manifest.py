"""Reads a manifest into a job document of ours; keys that it does not know are passed over, as there."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from footplate.dialects.ffdl.alerts import take_alerts
from footplate.dialects.ffdl.amounts import (
    ffdl_memory,
    number,
    prophecis_memory,
    server_memory,
    text,
)
from footplate.dialects.ffdl.metrics import take_metrics
from footplate.dialects.mask import Path, mask_text
from footplate.dialects.pai.render import cover_braces
from footplate.dialects.translation import DATA_PATH, MANIFEST_FOLDERS, Notes, Translation
from footplate.domain.errors import InvalidInput
from footplate.domain.messages import say
from footplate.domain.problems import Problems
from footplate.wire.documents import load_plain

FFDL = "ffdl"
PROPHECIS = "prophecis"
CPUS_BY_DEFAULT = 5
MOST_LEARNERS = 10_000
LEARNER, WORKER, SERVER = "learner", "worker", "ps"
_NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9._~-]+")
_SECRETS = frozenset({"password", "user_name", "apikey", "secret_access_key", "access_key_id"})
# What links a job to experiments and uploads of Prophecis: nothing here knows those.
_LOST = (
    "storage",
    "proxy_user",
    "data_set",
    "algorithm",
    "fit_params",
    "API_type",
    "exp_run_id",
    "dss_task_id",
)

Document = dict[str, Any]


def translate_ffdl(given: str) -> Translation:
    """Read a manifest of FfDL; raise `InvalidInput` with every field that FfDL would refuse."""
    return _translate(given, FFDL)


def translate_prophecis(given: str) -> Translation:
    """Read a manifest of Prophecis; raise `InvalidInput` with every field that Prophecis would refuse."""
    return _translate(given, PROPHECIS)


def _translate(given: str, dialect: str) -> Translation:
    manifest = load_plain(given, "manifest")
    if not isinstance(manifest, Mapping):
        raise InvalidInput("ffdl_no_mapping", "")
    problems, notes = Problems(), Notes()
    ours: Document = {}
    _take_basics(manifest, ours, notes, problems, dialect)
    _take_image(manifest, ours, notes, problems)
    command = _command(manifest, problems)
    if dialect == FFDL:
        _take_learners(manifest, ours, notes, problems, command)
    else:
        _check_code(manifest, problems)
        _take_prophecis(manifest, ours, notes, problems, command)
    _take_data(manifest, ours, notes, problems, dialect)
    take_alerts(manifest.get("job_alert"), ours, notes, problems)
    take_metrics(manifest.get("evaluation_metrics"), ours, notes)
    for field in _LOST:
        if manifest.get(field):
            notes.lose(say("field_lost", field=field))
    problems.raise_if_any()
    told = notes.told(dialect, ours, mask_text(given, manifest, _is_secret))
    return replace(told, names_repeat=True)


def _is_secret(path: Path) -> bool:
    return len(path) == 4 and path[0] == "data_stores" and path[2] == "connection" and path[3] in _SECRETS


def _take_basics(
    manifest: Mapping[str, Any], ours: Document, notes: Notes, problems: Problems, dialect: str
) -> None:
    name = text(manifest.get("name"))
    allowed = _NOT_OF_NAMES.sub("-", name)[:200].strip("-.") or ""
    if not name:
        problems.add("name", "ffdl_name_missing")
    elif not allowed:
        problems.add("name", "not_of_form", given=name[:64], form="job_name")
    elif allowed != name:
        notes.lose(say("renamed", given=name[:64], name=allowed))
    ours["name"] = allowed or "manifest"
    notes.places["name"] = "name"
    if text(manifest.get("description")):
        ours["description"] = text(manifest["description"])[:4096]
    if dialect == PROPHECIS:
        queue = text(manifest.get("namespace"))
        if not queue:
            problems.add("namespace", "ffdl_namespace_missing")
        ours["queue"] = queue
        notes.became("namespace", "queue")
    model = manifest.get("mf_model")
    if isinstance(model, Mapping) and text(model.get("model_name")):
        ours["model"] = {"name": text(model["model_name"])[:128]}
        notes.became("mf_model.model_name", "model.name")


def _take_image(manifest: Mapping[str, Any], ours: Document, notes: Notes, problems: Problems) -> None:
    framework = manifest.get("framework")
    if not isinstance(framework, Mapping):
        problems.add("framework", "ffdl_framework_missing")
        return
    name, version = text(framework.get("name")), text(framework.get("version"))
    if not name:
        problems.add("framework.name", "ffdl_framework_name_missing")
    if not version:
        problems.add("framework.version", "ffdl_framework_version_missing")
    ours["image"] = version if name == "custom" else f"{name}:{version}"
    notes.became("framework", "image")
    if framework.get("image_tag"):
        notes.lose(say("field_lost", field="framework.image_tag"))


def _command(manifest: Mapping[str, Any], problems: Problems) -> str:
    framework = manifest.get("framework")
    given = text(framework.get("command")) if isinstance(framework, Mapping) else ""
    if isinstance(framework, Mapping) and not given:
        problems.add("framework.command", "ffdl_command_missing")
    # As there, where newlines become blanks.
    return " ".join(given.split("\n"))


def _role(
    manifest: Mapping[str, Any], name: str, command: str, count: int, ours: Document, notes: Notes
) -> Document:
    parameters: dict[str, Any] = ours.get("parameters", {})
    made = {"name": name, "count": count, "command": cover_braces(command, parameters)}
    if parameters:
        ours["parameters"] = parameters
    place = f"roles[{len(ours.get('roles', []))}]"
    for theirs, mine in (("framework.command", "command"), ("learners", "count")):
        notes.became(theirs, f"{place}.{mine}")
    for field in ("cpus", "memory", "gpus"):
        notes.places[f"{place}.{field}"] = field
    gpus = number(manifest.get("gpus")) or 0.0
    if gpus > 0:
        made["gpus"] = math.ceil(gpus)
        if gpus != made["gpus"]:
            notes.lose(say("ffdl_gpus_rounded", gpus=made["gpus"]))
        if text(manifest.get("gpu_type")):
            made["gpu_type"] = text(manifest["gpu_type"])
            notes.places[f"{place}.gpu_type"] = "gpu_type"
    return made


def _take_learners(
    manifest: Mapping[str, Any], ours: Document, notes: Notes, problems: Problems, command: str
) -> None:
    """The learners of FfDL: one role of equal tasks; what is absent has FfDL's own defaults."""
    count = _count(manifest, "learners", problems)
    cpus = _amount(manifest, "cpus", problems)
    _amount(manifest, "gpus", problems)
    role = _role(manifest, LEARNER, command, count or 1, ours, notes)
    role["cpus"] = cpus or CPUS_BY_DEFAULT
    role["memory"] = ffdl_memory(manifest.get("memory"))
    ours["roles"] = [role]


def _take_prophecis(
    manifest: Mapping[str, Any], ours: Document, notes: Notes, problems: Problems, command: str
) -> None:
    kind = text(manifest.get("job_type"))
    if kind == "tfos" or manifest.get("tfos_request"):
        problems.add("job_type", "ffdl_no_spark")
        return
    count = _count(manifest, "learners", problems)
    cpus = _amount(manifest, "cpus", problems)
    _amount(manifest, "gpus", problems)
    if cpus == 0 or manifest.get("cpus") in (None, ""):
        problems.add("cpus", "ffdl_amounts_positive")
    memory = prophecis_memory(manifest.get("memory"), "memory", problems)
    is_distributed = kind == "dist-tf"
    if is_distributed and count < 1:
        problems.add("learners", "ffdl_learners_positive")
    if not is_distributed and count > 1:
        problems.add("learners", "ffdl_learners_alone")
    role = _role(manifest, WORKER if is_distributed else LEARNER, command, max(count, 1), ours, notes)
    role |= {"cpus": cpus or 0, "memory": memory}
    ours["roles"] = [role]
    if is_distributed:
        ours["strategy"] = "tensorflow"
        notes.became("job_type", "strategy")
        _take_servers(manifest, ours, notes, problems)


def _take_servers(manifest: Mapping[str, Any], ours: Document, notes: Notes, problems: Problems) -> None:
    """Parameter servers: a role of their own, which ends with the workers."""
    count = _count(manifest, "pss", problems)
    if count < 1:
        return
    workers: Document = ours["roles"][0]
    # Servers run until nobody needs them: the workers decide.
    workers["completion"] = {"min_succeeded": workers["count"]}
    server: Document = {"name": SERVER, "count": count, "command": workers["command"]}
    server["cpus"] = _amount(manifest, "ps_cpu", problems) or 1
    server["memory"] = server_memory(manifest.get("ps_memory") or "1Gi", "ps_memory", problems)
    if text(manifest.get("ps_image")):
        server["image"] = text(manifest["ps_image"])
    ours["roles"].append(server)
    for theirs, mine in (
        ("pss", "count"),
        ("ps_cpu", "cpus"),
        ("ps_memory", "memory"),
        ("ps_image", "image"),
    ):
        notes.became(theirs, f"roles[1].{mine}")


def _count(manifest: Mapping[str, Any], field: str, problems: Problems) -> int:
    given = manifest.get(field)
    if given in (None, ""):
        return 0
    found = number(given)
    if found is None or found != int(found) or not 0 <= found <= MOST_LEARNERS:
        problems.add(field, "ffdl_learners_positive")
        return 0
    return int(found)


def _amount(manifest: Mapping[str, Any], field: str, problems: Problems) -> float | None:
    given = manifest.get(field)
    if given in (None, ""):
        return None
    found = number(given)
    if found is None or found < 0:
        problems.add(field, "ffdl_amounts_positive")
        return None
    return int(found) if found == int(found) else found


def _check_code(manifest: Mapping[str, Any], problems: Problems) -> None:
    chosen = text(manifest.get("code_selector"))
    if not chosen:
        if text(manifest.get("job_type")) != "tfos":
            problems.add("code_selector", "ffdl_code_selector_missing")
    elif chosen not in ("codeFile", "storagePath"):
        problems.add("code_selector", "ffdl_code_selector_unknown")


def _container(store: Mapping[str, Any], field: str) -> str:
    given = store.get(field)
    return text(given.get("container")).strip("/") if isinstance(given, Mapping) else ""


def _take_data(
    manifest: Mapping[str, Any], ours: Document, notes: Notes, problems: Problems, dialect: str
) -> None:
    stores = manifest.get("data_stores")
    if not isinstance(stores, list) or not stores or not isinstance(stores[0], Mapping):
        problems.add("data_stores", "ffdl_data_stores_missing")
        return
    if len(stores) > 1:
        problems.add("data_stores", "ffdl_one_data_store")
    store = stores[0]
    selector = text(manifest.get("code_selector"))
    work = _container(store, "training_workspace")
    if dialect == PROPHECIS and selector == "storagePath" and not work:
        problems.add("data_stores[0].training_workspace", "ffdl_workspace_missing")
    if dialect == PROPHECIS and selector == "codeFile" and work:
        problems.add("data_stores[0].training_workspace", "ffdl_workspace_beside_code")
    data = _container(store, "training_data")
    if not data:
        problems.add("data_stores[0].training_data", "ffdl_training_data_missing")
    if dialect == PROPHECIS and not _container(store, "training_results"):
        problems.add("data_stores[0].training_results", "ffdl_training_results_missing")
    connection = store.get("connection")
    root = text(connection.get("path")) if isinstance(connection, Mapping) else ""
    if text(store.get("type")) == "mount_volume" and root.startswith("/"):
        _take_folders(root, data, work if selector == "storagePath" else "", ours, notes)
    elif data:
        ours["extras"] = {**ours.get("extras", {}), MANIFEST_FOLDERS: {f"{DATA_PATH}/{data}": data}}
        notes.became("data_stores[0].training_data.container", "data")
    if _container(store, "training_results"):
        notes.converted.append(say("ffdl_results"))


def _take_folders(root: str, data: str, work: str, ours: Document, notes: Notes) -> None:
    """Say which folders of a machine the job wants to see; whether a storage has them, the server knows."""
    folders: dict[str, str] = {f"{DATA_PATH}/{data}": f"{root.rstrip('/')}/{data}"} if data else {}
    if work:
        folders["code"] = f"{root.rstrip('/')}/{work}"
    ours["extras"] = {**ours.get("extras", {}), MANIFEST_FOLDERS: folders}
    notes.became("data_stores[0].connection.path", "data")
