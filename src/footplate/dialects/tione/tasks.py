"""Reads a training task as TI-ONE's clients describe it, and writes it as a job."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from footplate.dialects.fields import Reader
from footplate.dialects.tione.catalogue import BY_HOUR, MODES, Offer, fitted
from footplate.domain.choices import InstanceType
from footplate.domain.errors import InvalidInput
from footplate.domain.resources import Resources
from footplate.domain.spec import DEFAULT_QUEUE, CodeRef, DataMount, JobSpec, Results, RoleSpec
from footplate.domain.storage import OWN

ID_PREFIX = "train-"
MOST_NAME = 60
ROLES = ("WORKER", "PS", "DRIVER", "EXECUTOR", "HEAD")
MOST_RETRIES = 10
DATA_FOLDER = "/opt/ml/input/data"
# Where programs leave their results; both are the folder whose files go to the output path.
OUTPUT_FOLDERS = ("/opt/ml/output", "/opt/ml/model")
EXTRA = "tione"
# How jobs name the one that they were started again from.
AGAIN = "again:"
_ROOT = re.compile(r"/+$")

# Says where a path of a bucket is: the storage, and the path there.
Place = Callable[[str, str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class CosPath:
    bucket: str
    path: str
    region: str = ""

    def view(self) -> dict[str, Any]:
        return {"Bucket": self.bucket, "Region": self.region, "Paths": [self.path]}


@dataclass(frozen=True, slots=True)
class Input:
    """Data that a task sees at a path: of a bucket, or of a storage that is named itself."""

    target: str
    kind: str
    cos: CosPath | None = None
    storage: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class RoleWish:
    role: str
    count: int
    type_name: str = ""
    size: Resources = Resources()
    gpu_type: str = ""


@dataclass(frozen=True, slots=True)
class TaskWish:
    """A training task as it was asked for."""

    name: str
    mode: str
    roles: tuple[RoleWish, ...]
    commands: Mapping[str, str]
    framework: str = ""
    environment: str = ""
    image: str = ""
    queue: str = ""
    code: CosPath | None = None
    output: CosPath | None = None
    inputs: tuple[Input, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    retry: int = 0
    remark: str = ""
    tags: tuple[tuple[str, str], ...] = ()


def read_task(body: Any) -> TaskWish:
    """Read the request CreateTrainingTask; raise `InvalidInput` that names the field."""
    asked = Reader(body)
    image = asked.one("ImageInfo")
    policy = asked.one("SchedulePolicy")
    if asked.all("CodeRepos"):
        raise InvalidInput("not_offered", "CodeRepos")
    return TaskWish(
        name=asked.text("Name", None, MOST_NAME),
        mode=_mode(asked),
        roles=tuple(_roles(asked)),
        commands=_commands(asked),
        framework=asked.text("FrameworkName"),
        environment=asked.text("FrameworkEnvironment"),
        image="" if image is None else image.text("ImageUrl", None, 512),
        queue=asked.text("ResourceGroupId", most=63),
        code=cos_path(asked.one("CodePackagePath")),
        output=cos_path(asked.one("Output")),
        inputs=tuple(_inputs(asked)),
        parameters=_parameters(asked),
        retry=0 if policy is None else policy.whole("BackOffLimit", 0, 0, MOST_RETRIES),
        remark=asked.text("Remark", most=4096),
        tags=tuple((one.text("TagKey"), one.text("TagValue")) for one in asked.each("Tags", 50)),
    )


def _mode(asked: Reader) -> str:
    mode = asked.text("TrainingMode") or "DDP"
    if mode not in MODES:
        raise InvalidInput("not_a_choice", "TrainingMode", options=list(MODES), given=mode[:64])
    return mode


def _roles(asked: Reader) -> Iterator[RoleWish]:
    found = list(asked.each("ResourceConfigInfos", 100))
    if not found:
        raise InvalidInput("required", "ResourceConfigInfos")
    seen: set[str] = set()
    for number, one in enumerate(found):
        role = one.text("Role") or "WORKER"
        if role not in ROLES:
            place = f"ResourceConfigInfos[{number}].Role"
            raise InvalidInput("not_a_choice", place, options=list(ROLES), given=role[:64])
        name = role.lower() if role not in seen else f"{role.lower()}{number}"
        seen.add(role)
        yield _role(one, name)


def _role(one: Reader, name: str) -> RoleWish:
    count, type_name = one.whole("InstanceNum", 1, 1, 10_000), one.text("InstanceType", most=128)
    if type_name:
        return RoleWish(name, count, type_name)
    gpus = one.whole("Gpu", 0)
    if gpus % 100:
        raise InvalidInput("parts_of_cards", f"{one.path}.Gpu")
    size = Resources(one.whole("Cpu", None, 1), one.whole("Memory", None, 1) * 1024**2, gpus // 100)
    return RoleWish(name, count, "", size, one.text("GpuType", most=64))


def _commands(asked: Reader) -> dict[str, str]:
    """The commands by role: plainly, or encoded as newer clients send them."""
    found = asked.one("StartCmdInfo")
    encoded = asked.one("EncodedStartCmdInfo")
    if encoded is not None and encoded.text("StartCmdInfo"):
        found = Reader(_decoded(encoded.text("StartCmdInfo")), "EncodedStartCmdInfo.StartCmdInfo")
    if found is None:
        raise InvalidInput("required", "EncodedStartCmdInfo")
    return {name: found.text(name) for name in ("StartCmd", "PsStartCmd", "WorkerStartCmd")}


def _decoded(text: str) -> Any:
    try:
        return json.loads(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, RecursionError):
        raise InvalidInput("not_encoded_json", "EncodedStartCmdInfo.StartCmdInfo") from None


def cos_path(given: Reader | None) -> CosPath | None:
    """Read a path of a bucket, where there is one."""
    if given is None:
        return None
    paths = given.texts("Paths", 16)
    if len(paths) > 1:
        raise InvalidInput("one_path_only", f"{given.path}.Paths")
    return CosPath(given.text("Bucket", None, 63), paths[0] if paths else "", given.text("Region", most=64))


def _inputs(asked: Reader) -> Iterator[Input]:
    for number, one in enumerate(asked.each("DataConfigs", 60)):
        target = one.text("MappingPath", most=1024) or f"{DATA_FOLDER}/{number}"
        kind, cos = one.text("DataSourceType") or "COS", cos_path(one.one("COSSource"))
        if cos is not None:
            yield Input(target, kind, cos)
            continue
        named = next((found for name in _NAMED if (found := one.one(name)) is not None), None)
        if named is None:
            raise InvalidInput("required", f"{one.path}.COSSource")
        yield Input(target, kind, None, named.text("Id", None, 63), named.text("Path", most=1024))


# Sources that stand for a storage of their name.
_NAMED = ("DataSetSource", "CFSSource", "HDFSSource", "GooseFSSource")


def _parameters(asked: Reader) -> dict[str, Any]:
    text = asked.text("TuningParameters")
    if not text.strip():
        return {}
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("not_json", "TuningParameters") from None
    found = Reader(read, "TuningParameters").value
    named = {
        name: value for name, value in found.items() if re.fullmatch(r"[A-Za-z_]\w{0,62}", name, re.ASCII)
    }
    return {name: value for name, value in named.items() if isinstance(value, str | int | float)}


def job_name(name: str) -> str:
    """A name of ours for a name of theirs, which may have letters of any language."""
    made = re.sub(r"[^A-Za-z0-9._~-]+", "-", name).strip("-")
    return made if made.strip(".") else f"task-{name.encode().hex()[:24]}"


def task_id(job_id: str) -> str:
    return f"{ID_PREFIX}{job_id}"


def first_of(job_id: str, tags: Iterable[str]) -> str:
    """The job by whose id a client knows a task: the first of those that were started again."""
    return next((tag.removeprefix(AGAIN) for tag in tags if tag.startswith(AGAIN)), job_id)


def job_of(given: str) -> str:
    """The job that an id of a task means; what is already one of ours stays."""
    return given.removeprefix(ID_PREFIX)


def describe(
    wish: TaskWish, offer: Offer, room: Resources | None, place: Place, code: str, new_id: str
) -> JobSpec:
    """Write a task as a job; `code` is the digest of its code, `room` what the machines have, if known."""
    roles = tuple(_role_spec(wish, one, offer, room) for one in wish.roles)
    storage, path = ("", "") if wish.output is None else place(wish.output.bucket, wish.output.path)
    folder = "/".join(filter(None, (path.strip("/"), task_id(new_id))))
    return JobSpec(
        name=job_name(wish.name),
        roles=roles,
        description=wish.remark,
        queue=wish.queue or DEFAULT_QUEUE,
        image=wish.image,
        framework=_framework(wish, offer),
        strategy="mpi" if wish.mode in ("MPI", "HOROVOD") and sum(one.count for one in roles) > 1 else "",
        code=CodeRef(upload=code) if code else None,
        data=tuple(_mounts(wish, place)),
        results=Results(storage, folder) if storage else None,
        parameters=wish.parameters,
        retry=wish.retry,
        tags=tuple(dict.fromkeys(f"{key}:{value}"[:63] for key, value in wish.tags)),
        extras={EXTRA: _kept(wish, offer)},
    )


def _framework(wish: TaskWish, offer: Offer) -> str:
    """The framework of the catalogue; an example that is not in it runs in what the machine has."""
    if wish.image or not wish.environment:
        return ""
    names = (wish.framework.upper(), "")
    for one in offer.frameworks:
        if one.version == wish.environment and one.name.upper() in names:
            return one.label if one.image or one.environment or one.created_at else ""
    known = [one.version for one in offer.frameworks]
    if not known:
        raise InvalidInput("no_frameworks", "FrameworkEnvironment", given=wish.environment[:128])
    raise InvalidInput("not_a_choice", "FrameworkEnvironment", options=known, given=wish.environment[:128])


def _role_spec(wish: TaskWish, one: RoleWish, offer: Offer, room: Resources | None) -> RoleSpec:
    common = RoleSpec(_command(wish, one), one.role, one.count)
    if not one.type_name:
        return replace(
            common,
            milli_cpus=one.size.milli_cpus,
            memory_bytes=one.size.memory_bytes,
            gpus=one.size.gpus,
            gpu_type=one.gpu_type if one.size.gpus else "",
        )
    known = offer.types.get(one.type_name)
    if known is None:
        place = "ResourceConfigInfos.InstanceType"
        if not offer.types:
            raise InvalidInput("no_types", place, given=one.type_name)
        raise InvalidInput("not_a_choice", place, options=list(offer.types), given=one.type_name)
    if one.type_name not in offer.examples:
        return replace(common, instance_type=one.type_name)
    size: InstanceType = fitted(known, room, sum(role.count for role in wish.roles))
    return replace(common, milli_cpus=size.milli_cpus, memory_bytes=size.memory_bytes, gpus=size.gpus)


def _command(wish: TaskWish, one: RoleWish) -> str:
    own = "PsStartCmd" if one.role.startswith("ps") else "WorkerStartCmd"
    command = wish.commands[own] or wish.commands["StartCmd"]
    if not command.strip():
        raise InvalidInput("required", f"StartCmdInfo.{own}")
    return command


def _mounts(wish: TaskWish, place: Place) -> Iterator[DataMount]:
    for one in wish.inputs:
        storage, path = (one.storage, one.path) if one.cos is None else place(one.cos.bucket, one.cos.path)
        yield DataMount(_ROOT.sub("", one.target) or "/", storage, path.strip("/"))
    taken = {_ROOT.sub("", one.target) for one in wish.inputs}
    for target in OUTPUT_FOLDERS:
        if not any(one == target or one.startswith(f"{target}/") for one in taken):
            yield DataMount(target, OWN, "output", read_only=False)


def _kept(wish: TaskWish, offer: Offer) -> dict[str, Any]:
    """What a client is to be told of its task again that a job has no field for."""
    return {
        "name": wish.name,
        "mode": wish.mode,
        "framework": wish.framework,
        "environment": wish.environment,
        "charge": BY_HOUR if any(one.type_name for one in wish.roles) else "PREPAID",
        "types": {one.role: one.type_name for one in wish.roles if one.type_name},
        "stand_ins": sorted({one.type_name for one in wish.roles} & offer.examples),
        "commands": dict(wish.commands),
        "code": None if wish.code is None else wish.code.view(),
        "output": None if wish.output is None else wish.output.view(),
        "inputs": [
            {
                "MappingPath": one.target,
                "DataSourceType": one.kind,
                **({"COSSource": one.cos.view()} if one.cos else {"Id": one.storage, "Path": one.path}),
            }
            for one in wish.inputs
        ],
        "tags": [list(pair) for pair in wish.tags],
    }
