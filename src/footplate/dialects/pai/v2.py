"""Job files of OpenPAI v2: YAML with `protocolVersion: 2`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footplate.dialects.mask import Path, mask_text
from footplate.dialects.pai import exits, plugins
from footplate.dialects.pai.ports import with_usual
from footplate.dialects.pai.render import Templates
from footplate.dialects.pai.v2fields import JOB, references
from footplate.dialects.translation import Notes, Translation
from footplate.domain.errors import InvalidInput, problem
from footplate.domain.hidden import is_secret_name
from footplate.domain.messages import say
from footplate.domain.problems import Problems
from footplate.wire.documents import load_plain

NAME = "pai_v2"
MOST_RETRIES = 1000
DEFAULT_SHM_MB = 512
LEAST_CPUS = 0.01
PRIORITIES = {"prod": 100, "test": 0, "oppo": -100}
# As the original runs commands; the shell of every job stops at the first that fails.
STRICT = "set -o nounset"
_ALERTS = {
    "running": "started",
    "succeeded": "succeeded",
    "stopped": "stopped",
    "failed": "failed",
    "retried": "retried",
}


def translate(text: str) -> Translation:
    """Read the text of a job file; raise `InvalidInput` with every field that the original would refuse."""
    document = load_plain(text, "job file")
    problems, notes = Problems(), Notes()
    job = JOB.read(document, "", problems)
    problems.raise_if_any()
    problems += references(job)
    problems.raise_if_any()
    ours: dict[str, Any] = {"name": job["name"]}
    notes.became("name", "name")
    _take_words(job, ours, notes)
    _take_extras(job, ours, notes)
    templates = Templates(job["parameters"], job["secrets"])
    notes.places["roles"] = "taskRoles"
    ours["roles"] = [_role(job, name, i, templates, notes) for i, name in enumerate(job["taskRoles"])]
    if templates.parameters:
        ours["parameters"] = templates.parameters
        notes.became("parameters", "parameters")
    if job["secrets"]:
        notes.became("secrets", "parameters")
    _take_images(job, ours, notes)
    ours["on_failure"] = list(exits.RULES)
    return notes.told(NAME, ours, mask_text(text, document, _is_secret))


def _is_secret(path: Path) -> bool:
    match path:
        case ("secrets",):
            return True
        case ("prerequisites", int(), "auth", "password"):
            return True
        case ("parameters", str(name)):
            return is_secret_name(name)
    return False


def _take_words(job: Mapping[str, Any], ours: dict[str, Any], notes: Notes) -> None:
    if job["description"]:
        ours["description"] = job["description"]
        notes.became("description", "description")
    queue = job["defaults"]["virtualCluster"]
    if queue:
        ours["queue"] = queue
        notes.became("defaults.virtualCluster", "queue")
    retries = job["jobRetryCount"]
    if retries:
        ours["retry"] = min(retries, MOST_RETRIES)
        notes.became("jobRetryCount", "retry")
    if retries > MOST_RETRIES:
        notes.lose(say("retries_bounded", field="jobRetryCount", most=MOST_RETRIES))


def _take_extras(job: Mapping[str, Any], ours: dict[str, Any], notes: Notes) -> None:
    extras = job["extras"]
    if extras:
        ours["extras"] = extras
        notes.became("extras", "extras")
    data = [{"storage": name, "path": path, "read_only": False} for _, name, path in plugins.storages(job)]
    for i, (field, _, _) in enumerate(plugins.storages(job)):
        notes.became(field, f"data[{i}]")
    if data:
        ours["data"] = data
    elif extras.get("storages") == []:
        notes.lose(say("default_storages_lost"))
    for i, (field, service) in enumerate(plugins.services(job)):
        ours.setdefault("services", []).append(service)
        notes.became(field, f"services[{i}]")
    _take_priority(extras.get("hivedScheduler"), ours, notes)
    wanted = extras.get("jobStatusChangeNotification")
    if isinstance(wanted, Mapping):
        alerts = [{"on": ours_} for theirs, ours_ in _ALERTS.items() if wanted.get(theirs) is True]
        if alerts:
            ours["alerts"] = alerts
            notes.became("extras.jobStatusChangeNotification", "alerts")


def _take_priority(hived: Any, ours: dict[str, Any], notes: Notes) -> None:
    if not isinstance(hived, Mapping):
        return
    given = hived.get("jobPriorityClass")
    if given is not None and given not in PRIORITIES:
        where, options = "extras.hivedScheduler.jobPriorityClass", list(PRIORITIES)
        raise InvalidInput([problem(where, "not_a_choice", options=options, given=repr(given)[:40])])
    if given is not None:
        ours["priority"] = PRIORITIES[given]
        notes.became("extras.hivedScheduler.jobPriorityClass", "priority")
    if isinstance(hived.get("taskRoles"), Mapping):
        notes.lose(say("sku_lost"))


def _role(
    job: Mapping[str, Any], name: str, number: int, templates: Templates, notes: Notes
) -> dict[str, Any]:
    body = job["taskRoles"][name]
    theirs, ours = f"taskRoles.{name}", f"roles[{number}]"
    made = {
        "name": name,
        "command": _command(job, name, templates, notes),
        "count": body["instances"],
        **_amounts(body),
        "completion": _completion(body),
    }
    for field, our in (
        ("commands", "command"),
        ("instances", "count"),
        ("resourcePerInstance.cpu", "cpus"),
        ("resourcePerInstance.memoryMB", "memory"),
        ("resourcePerInstance.gpu", "gpus"),
        ("extraContainerOptions.shmMB", "shm"),
        ("completion", "completion"),
    ):
        notes.became(f"{theirs}.{field}", f"{ours}.{our}")
    notes.places[ours] = theirs
    ports = body["resourcePerInstance"]["ports"]
    made["ports"] = with_usual([{"label": label, "count": count} for label, count in (ports or {}).items()])
    if ports:
        notes.became(f"{theirs}.resourcePerInstance.ports", f"{ours}.ports")
    _take_task_retries(job, theirs, body["taskRetryCount"], made, notes)
    if body["extraContainerOptions"].get("infiniband"):
        notes.lose(say("field_lost", field="extraContainerOptions.infiniband"))
    return made


def _amounts(body: Mapping[str, Any]) -> dict[str, Any]:
    resources, shm = body["resourcePerInstance"], body["extraContainerOptions"].get("shmMB")
    memory = resources["memoryMB"]
    # More shared memory than memory is let pass there, and means no more than the memory.
    shm = min(DEFAULT_SHM_MB if shm in (None, 0) else shm, memory)
    made = {"cpus": resources["cpu"] or LEAST_CPUS, "memory": f"{memory}MB", "gpus": resources["gpu"]}
    return {**made, "shm": f"{shm}MB"} if shm else made


def _completion(body: Mapping[str, Any]) -> dict[str, Any]:
    """Read the policy: nothing and 0 mean the default, a negative count or one above all never decides."""
    given = body["completion"] or {}
    failed = given.get("minFailedInstances") or 1
    succeeded = given.get("minSucceededInstances") or body["instances"]

    def decides(count: int) -> int | None:
        return count if 1 <= count <= body["instances"] else None

    return {"min_failed": decides(failed), "min_succeeded": decides(succeeded)}


def _take_task_retries(
    job: Mapping[str, Any], theirs: str, count: int, made: dict[str, Any], notes: Notes
) -> None:
    if count <= 0:
        return
    if job["extras"].get("gangAllocation") is False:
        made["task_retry"] = min(count, MOST_RETRIES)
        notes.became(f"{theirs}.taskRetryCount", "roles[].task_retry")
    else:
        notes.lose(say("task_retries_lost"))


def _command(job: Mapping[str, Any], role: str, templates: Templates, notes: Notes) -> str:
    body = job["taskRoles"][role]
    around = plugins.around(job, role, notes)
    chosen = job["defaults"]["deployment"]
    deployment = next((one for one in job["deployments"] if one["name"] == chosen), None)
    deployed = {} if deployment is None else deployment["taskRoles"].get(role, {})
    lines = [
        *around.before,
        *deployed.get("preCommands", ()),
        *body["commands"],
        *deployed.get("postCommands", ()),
        *around.behind,
    ]
    own = {
        kind: one
        for kind in ("script", "output", "data")
        for one in job["prerequisites"]
        if (one["type"], one["name"]) == (kind, body[kind])
    }
    rendered = [templates.render(line.strip(), own) for line in lines]
    return "\n".join([STRICT, *rendered])


def _take_images(job: Mapping[str, Any], ours: dict[str, Any], notes: Notes) -> None:
    """Name the image of each role, or of the job where all have the same."""
    images = {one["name"]: one for one in job["prerequisites"] if one["type"] == "dockerimage"}
    used = [images[body["dockerImage"]] for body in job["taskRoles"].values()]
    places = {one["name"]: i for i, one in enumerate(job["prerequisites"]) if one["type"] == "dockerimage"}
    same = len({one["uri"] for one in used}) == 1
    for i, (role, image) in enumerate(zip(ours["roles"], used, strict=True)):
        (ours if same else role)["image"] = image["uri"]
        place = f"prerequisites[{places[image['name']]}].uri"
        notes.became(place, "image" if same else f"roles[{i}].image")
        if image["auth"]:
            notes.lose(say("registry_login_lost", field="prerequisites[].auth"))
    for one in job["prerequisites"]:
        if one["type"] in ("data", "script") and one.get("uri") and not one.get("plugin"):
            notes.lose(say("prerequisite_not_fetched", name=one["name"], kind=one["type"]))
