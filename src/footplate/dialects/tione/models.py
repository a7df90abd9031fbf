"""Models as TI-ONE's clients register and read them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from footplate.dialects.fields import Reader
from footplate.dialects.tione.tasks import CosPath, cos_path, job_of
from footplate.dialects.tione.views import moment
from footplate.domain.errors import InvalidInput
from footplate.domain.model import MODEL_NAME, Model, Version

# A new model, a new version, more files for a version; the last one does not exist here.
NEW, VERSION, EXISTING = "MODEL", "VERSION", "EXIST"
_VERSION_ID = re.compile(r"mv-v(?P<number>[0-9]{1,9})-(?P<model>m-[0-9a-z]{1,64})")
_INDEX = re.compile(r"\s*([^=,]{1,250}?)\s*=\s*([^,]{1,64})\s*")


@dataclass(frozen=True, slots=True)
class ModelWish:
    """A version to be: `model` is a name for a new model, else an id; files come from a job or a bucket."""

    model: str
    is_new: bool
    job: str
    cos: CosPath | None
    framework: str
    format: str
    environment: str
    image: str
    metrics: Mapping[str, float]
    tags: tuple[str, ...]


def read_model(asked: Reader) -> ModelWish:
    """Read the request CreateTrainingModel."""
    method = asked.text("ImportMethod") or NEW
    if method == EXISTING:
        raise InvalidInput("version_fixed", "ImportMethod")
    if method not in (NEW, VERSION):
        raise InvalidInput("not_a_choice", "ImportMethod", options=[NEW, VERSION], given=method[:64])
    source = asked.text("TrainingModelSource") or ("JOB" if asked.text("TrainingJobId") else "COS")
    if source not in ("JOB", "COS"):
        raise InvalidInput("not_a_choice", "TrainingModelSource", options=["JOB", "COS"], given=source[:64])
    cos = cos_path(asked.one("TrainingModelCosPath"))
    if source == "COS" and cos is None:
        raise InvalidInput("required", "TrainingModelCosPath")
    return ModelWish(
        model=_name(asked) if method == NEW else asked.text("TrainingModelId", None, 128),
        is_new=method == NEW,
        job=job_of(asked.text("TrainingJobId", None, 64)) if source == "JOB" else "",
        cos=cos if source == "COS" else None,
        framework=asked.text("AlgorithmFramework", most=128),
        format=asked.text("ModelFormat", most=64),
        environment=asked.text("ReasoningEnvironmentId", most=128).removeprefix("img-"),
        image=_image(asked),
        metrics=_metrics(asked.text("TrainingModelIndex")),
        tags=tuple(f"{one.text('TagKey')}:{one.text('TagValue')}"[:63] for one in asked.each("Tags", 50)),
    )


def _name(asked: Reader) -> str:
    name = asked.text("TrainingModelName", None, 128)
    if not re.fullmatch(MODEL_NAME, name):
        raise InvalidInput("not_model_name", "Name", given=name)
    return name


def _image(asked: Reader) -> str:
    own = asked.one("ReasoningImageInfo")
    return asked.text("ReasoningEnvironment", most=512) or (
        "" if own is None else own.text("ImageUrl", most=512)
    )


def _metrics(text: str) -> dict[str, float]:
    """Read `acc1=71.234,acc5=90.5`; what is no number is left out, since people may write anything there."""
    found = {}
    for part in text.split(","):
        matched = _INDEX.fullmatch(part)
        if matched is None:
            continue
        try:
            value = float(matched[2])
        except ValueError:
            continue
        if math.isfinite(value):
            found[matched[1]] = value
    return found


def version_id(model: Model, number: int) -> str:
    return f"mv-v{number}-{model.id}"


def read_version_id(text: str) -> tuple[str, str]:
    """The id of the model, and the number of the version."""
    found = _VERSION_ID.fullmatch(text)
    if found is None:
        raise InvalidInput("not_version_id", "TrainingModelVersionId")
    return found["model"], found["number"]


@dataclass(frozen=True, slots=True)
class Whence:
    """Where a version comes from, as a client knows it: a task, and a place in a bucket."""

    task: str = ""
    name: str = ""
    bucket: str = ""
    path: str = ""


def model_view(model: Model, versions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "TrainingModelId": model.id,
        "TrainingModelName": model.name,
        "Tags": [_tag(one) for one in model.tags],
        "CreateTime": moment(model.created_at),
        "TrainingModelVersions": list(versions),
    }


def _tag(text: str) -> dict[str, str]:
    key, _, value = text.partition(":")
    return {"TagKey": key, "TagValue": value}


def version_view(
    model: Model, one: Version, region: str, whence: Whence, images: Mapping[str, str]
) -> dict[str, Any]:
    """A version; `images` has the ids of the images that the platform itself offers, by their addresses."""
    index = ",".join(f"{name}={value:g}" for name, value in sorted(one.about.metrics.items()))
    own = one.about.environment
    environment = f"img-{own}" if own else images.get(one.about.image, "")
    return {
        "TrainingModelId": model.id,
        "TrainingModelName": model.name,
        "TrainingModelVersionId": version_id(model, one.number),
        "TrainingModelVersion": f"v{one.number}",
        "TrainingModelSource": "JOB" if one.origin.job_id else "COS",
        "TrainingJobId": whence.task,
        "TrainingJobName": whence.name,
        "TrainingJobVersion": "",
        "AlgorithmFramework": one.about.framework,
        "ModelFormat": one.about.format,
        "ReasoningEnvironment": one.about.image,
        "ReasoningEnvironmentSource": "SYSTEM" if environment else "CUSTOM",
        "ReasoningEnvironmentId": environment,
        "ReasoningImageInfo": {"ImageType": "CCR", "ImageUrl": one.about.image},
        "TrainingModelIndex": index,
        "TrainingModelCosPath": {
            "Bucket": whence.bucket,
            "Region": region,
            # Folders, which end in a slash there.
            "Paths": [f"{whence.path.rstrip('/')}/" if whence.path else ""],
        },
        "TrainingModelCreateTime": moment(one.created_at),
        "TrainingModelCreator": one.created_by,
        "TrainingModelStatus": "STATUS_SUCCESS",
        "TrainingModelProgress": 100,
        "TrainingModelErrorMsg": "",
        "ModelVersionType": "NORMAL",
        "ModelOutputPath": None,
    }
