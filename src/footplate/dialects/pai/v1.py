"""Job files of OpenPAI v1 (and of SCM, which has the same): JSON with `jobName` and `taskRoles`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from footplate.dialects.mask import Path, mask_text
from footplate.dialects.pai import exits, plugins
from footplate.dialects.pai.kinds import text_of
from footplate.dialects.pai.plugins import KEY
from footplate.dialects.pai.ports import with_usual
from footplate.dialects.pai.render import cover_braces
from footplate.dialects.pai.v1fields import JOB
from footplate.dialects.translation import DATA_PATH, MANIFEST_FOLDERS, Notes, Translation
from footplate.domain.hidden import is_secret_name
from footplate.domain.messages import say
from footplate.domain.names import ENV_NAME, RESERVED_ENV, RESERVED_ENV_NAMES
from footplate.domain.problems import Problems
from footplate.wire.documents import load_plain

NAME = "pai_v1"
MOST_RETRIES = 1000
KEPT_FOR = "1d"
_DEBUG = "isDebug"
# Which folders a file names: what each is here, and what is said where no storage has it.
CODE_PATH = "/mnt/code"
FOLDERS = {
    DATA_PATH: ("dataDir", "data_folder_lost"),
    CODE_PATH: ("codeDir", "code_folder_lost"),
    "results": ("outputDir", "output_folder_lost"),
}
_PLAIN_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}"
# What stays a variable for the shell, as the original substitutes it.
_IN_FOLDERS = re.compile(r"\$(PAI_DEFAULT_FS_URI|PAI_JOB_NAME|PAI_USER_NAME|PAI_USERNAME)\b")


def translate(text: str) -> Translation:
    """Read the text of a job file; raise `InvalidInput` with every field that the original would refuse."""
    return translate_document(read(text), text)


def read(text: str) -> Any:
    """Read a text as the document that it is."""
    return load_plain(text, "job file")


def translate_document(document: Any, text: str = "") -> Translation:
    """Translate what was read from a file, or came as a form."""
    problems, notes = Problems(), Notes()
    job = JOB.read(document, "", problems)
    problems.raise_if_any()
    ours: dict[str, Any] = {"name": job["jobName"], "image": job["image"]}
    notes.became("jobName", "name")
    notes.became("image", "image")
    if job["virtualCluster"]:
        ours["queue"] = job["virtualCluster"]
        notes.became("virtualCluster", "queue")
    _take_environment(job, ours, notes)
    _take_retries(job, ours, notes)
    first = _take_folders(job, notes)
    notes.places["roles"] = "taskRoles"
    parameters: dict[str, Any] = {}
    ours["roles"] = [_role(job, i, role, first, notes) for i, role in enumerate(job["taskRoles"])]
    for made in ours["roles"]:
        made["command"] = cover_braces(made["command"], parameters)
    if parameters:
        ours["parameters"] = parameters
    if job["retryCount"] >= 0:
        # A negative count means every failure.
        ours["on_failure"] = list(exits.RULES)
    ours["extras"] = {**job["extras"], KEY: [*plugins.listed(job["extras"]), plugins.SSH]}
    if folders := _folders(job):
        ours["extras"][MANIFEST_FOLDERS] = folders
    if job["extras"]:
        notes.became("extras", "extras")
    return notes.told(NAME, ours, mask_text(text, document, _is_secret) if text else "")


def _is_secret(path: Path) -> bool:
    return len(path) == 2 and path[0] == "jobEnvs" and is_secret_name(str(path[1]))


def _take_environment(job: Mapping[str, Any], ours: dict[str, Any], notes: Notes) -> None:
    variables = {}
    for name, value in job["jobEnvs"].items():
        is_ours = name in RESERVED_ENV_NAMES or name.startswith(RESERVED_ENV)
        if name == _DEBUG and text_of(value) == "true":
            ours["keep_on_failure"] = KEPT_FOR
            notes.became("jobEnvs.isDebug", "keep_on_failure")
        if is_ours or not re.fullmatch(ENV_NAME.pattern, str(name)):
            notes.lose(say("variable_lost", variable=f"jobEnvs.{name}"))
        else:
            variables[name] = text_of(value)
    if variables:
        ours["env"] = variables
        notes.became("jobEnvs", "env")


def _take_retries(job: Mapping[str, Any], ours: dict[str, Any], notes: Notes) -> None:
    count = job["retryCount"]
    if count:
        ours["retry"] = MOST_RETRIES if count < 0 else min(count, MOST_RETRIES)
        notes.became("retryCount", "retry")
    if count < 0 or count > MOST_RETRIES:
        notes.lose(say("retries_bounded", field="retryCount", most=MOST_RETRIES))
    if job["killAllOnCompletedTaskNumber"] is not None:
        notes.lose(say("field_lost", field="killAllOnCompletedTaskNumber"))


def _take_folders(job: Mapping[str, Any], notes: Notes) -> list[str]:
    """Pass on where data and code are, as the original does; whether a storage has them, the server knows."""
    if job["authFile"]:
        notes.lose(say("registry_login_lost", field="authFile"))
    for target, (field, lost) in FOLDERS.items():
        if job[field]:
            notes.lose(say(lost, field=field))
            notes.places.setdefault("results" if target == "results" else "data", field)
    first = []
    if job["dataDir"]:
        # Where it is mounted, the platform says so.
        first.append(f'[ -n "${{PAI_DATA_DIR:-}}" ] || export PAI_DATA_DIR={_quoted(job["dataDir"])}')
    return first


def linked(folder: str) -> str:
    """The line by which commands find code below the working folder, as there; nothing for an odd name."""
    name = folder.rstrip("/").rpartition("/")[2]
    is_plain = re.fullmatch(_PLAIN_NAME, name)
    return f"[ -e {name} ] || ln -s {CODE_PATH} {name} 2> /dev/null || true" if is_plain else ""


def _folders(job: Mapping[str, Any]) -> dict[str, str]:
    return {target: job[field] for target, (field, _) in FOLDERS.items() if job[field]}


def _quoted(text: str) -> str:
    """Quote a text for the shell but for the variables that are substituted in it."""
    pieces, at = [], 0
    for found in _IN_FOLDERS.finditer(text):
        pieces += [_shell(text[at : found.start()]), f'"{found[0]}"']
        at = found.end()
    return "".join((*pieces, _shell(text[at:])))


def _shell(text: str) -> str:
    return shlex.quote(text) if text else ""


def _role(
    job: Mapping[str, Any], number: int, role: Mapping[str, Any], first: list[str], notes: Notes
) -> dict[str, Any]:
    theirs, ours = f"taskRoles[{number}]", f"roles[{number}]"
    made: dict[str, Any] = {"name": role["name"], "command": "\n".join([*first, role["command"]])}
    amounts = {
        "taskNumber": ("count", role["taskNumber"]),
        "cpuNumber": ("cpus", role["cpuNumber"]),
        "memoryMB": ("memory", f"{role['memoryMB']}MB"),
        "shmMB": ("shm", f"{role['shmMB']}MB"),
        "gpuNumber": ("gpus", role["gpuNumber"]),
    }
    for field in ("name", "command"):
        notes.became(f"{theirs}.{field}", f"{ours}.{field}")
    for field, (name, value) in amounts.items():
        made[name] = value
        notes.became(f"{theirs}.{field}", f"{ours}.{name}")
    if job["gpuType"] and role["gpuNumber"]:
        made["gpu_type"] = job["gpuType"]
        notes.became("gpuType", f"{ours}.gpu_type")
    made["ports"] = with_usual([_port(one) for one in role["portList"]])
    if role["portList"]:
        notes.became(f"{theirs}.portList", f"{ours}.ports")
    made["completion"] = {
        "min_failed": role["minFailedTaskCount"],
        "min_succeeded": role["minSucceededTaskCount"],
    }
    notes.became(f"{theirs}.minFailedTaskCount", f"{ours}.completion.min_failed")
    notes.became(f"{theirs}.minSucceededTaskCount", f"{ours}.completion.min_succeeded")
    return made


def _port(port: Mapping[str, Any]) -> dict[str, Any]:
    return {"label": port["label"], "begin_at": port["beginAt"], "count": port["portNumber"]}
