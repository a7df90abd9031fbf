"""Models over REST."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from footplate.domain.model import ALIAS, MODEL_NAME, Comparison, InferenceEnvironment, Model, Version
from footplate.wire.body import Body, Text
from footplate.wire.convert import instant

ModelName = Annotated[Text, Field(min_length=1, max_length=128, pattern=f"^{MODEL_NAME}$")]
Alias = Annotated[Text, Field(min_length=1, max_length=63, pattern=f"^{ALIAS}$")]
Sha256 = Annotated[Text, Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the content.")]
Tag = Annotated[Text, Field(min_length=1, max_length=63)]
MetricName = Annotated[Text, Field(min_length=1, max_length=128)]


def _finite(value: float) -> float:
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("metric_not_finite")
    return value


Metrics = dict[MetricName, Annotated[float, AfterValidator(_finite)]]
Image = Annotated[Text, Field(max_length=512, pattern=r"^\S*$")]


class JobFiles(Body):
    """Files of a job, which may still run."""

    job: Text = Field(min_length=1, max_length=255, description="ID, or name of one of the caller's.")
    place: Literal["output", "checkpoints", "work", "code"] = "output"
    path: Text = Field("", max_length=1024, description="A file or folder; empty: all of it.")


class StoredFiles(Body):
    """Files of a storage."""

    storage: Text = Field(min_length=1, max_length=63)
    path: Text = Field("", max_length=1024)


class SentFile(Body):
    """A content that was sent before."""

    path: Text = Field(min_length=1, max_length=1024)
    sha256: Sha256


class AboutChange(Body):
    """What is said of a version; what is absent stays as it is."""

    description: Text | None = Field(None, max_length=4096)
    framework: Text | None = Field(None, max_length=257)
    format: Text | None = Field(None, max_length=64)
    environment: Text | None = Field(None, max_length=128, description="One of the catalogue; empty: none.")
    image: Image | None = Field(None, description="An image of one's own, where the catalogue has none.")
    metrics: Metrics | None = Field(None, max_length=1000)
    tags: list[Tag] | None = Field(None, max_length=50)


class NewVersion(AboutChange):
    """A version to register: just one of `job`, `storage` and `files` says where its files come from."""

    name: ModelName = Field(description="A model of the caller's, made when there is none; or an ID.")
    job: JobFiles | None = None
    storage: StoredFiles | None = None
    files: list[SentFile] | None = Field(None, min_length=1, max_length=10_000)
    aliases: list[Alias] = Field([], max_length=20)
    shared: bool | None = Field(None, description="Whether everybody may see the model.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(one is not None for one in (self.job, self.storage, self.files)) != 1:
            raise ValueError("one_model_source")
        return self


class ModelChange(Body):
    name: ModelName | None = None
    description: Text | None = Field(None, max_length=4096)
    tags: list[Tag] | None = Field(None, max_length=50)
    shared: bool | None = Field(None, description="Whether everybody may see it.")


class AliasChange(Body):
    version: Text = Field(min_length=1, max_length=63, description="A number, or another alias.")


class UploadedContent(Body):
    """An upload in pieces that is whole, but was not finished."""

    storage: str = Field(max_length=63)
    upload: Text = Field(max_length=64)


class ContentBody(Body):
    sha256: str
    size_bytes: int


class ModelFileBody(Body):
    path: str
    sha256: str
    size_bytes: int


class OriginBody(Body):
    kind: Literal["job", "storage", "upload"]
    job_id: str = Field(description="The job, which may be gone by now; empty: none.")
    job_name: str
    place: str = Field(description="Which of the job's folders, or which storage.")
    path: str
    code: str = Field(description="Digest of the code that the job ran.")
    data: list[dict[str, Any]] = Field(description="The data that the job saw, as its file says.")
    parameters: dict[str, Any]


class VersionSummary(Body):
    model_id: str
    number: int
    aliases: list[str]
    description: str
    framework: str
    format: str
    environment: str
    image: str
    metrics: dict[str, float]
    tags: list[str]
    origin: OriginBody
    n_files: int
    size_bytes: int
    created_by: str
    created_at: str
    deleted_at: str | None = Field(description="Since when it is in the trash.")


class VersionBody(VersionSummary):
    model: str
    files: list[ModelFileBody]


class ModelBody(Body):
    id: str
    name: str
    owner: str
    queue: str = Field(description="The queue whose admins may change it; empty: none.")
    is_shared: bool
    may_change: bool = Field(description="Whether the caller may change it.")
    description: str
    tags: list[str]
    aliases: dict[str, int]
    n_versions: int
    size_bytes: int
    latest: VersionSummary | None
    created_at: str
    updated_at: str
    deleted_at: str | None = Field(description="Since when it is in the trash.")


class ModelDetail(ModelBody):
    versions: list[VersionSummary]


class Models(Body):
    items: list[ModelBody]
    next_page_token: str | None


class DifferenceBody(Body):
    first: Any
    second: Any


class ComparisonBody(Body):
    """What two versions differ in; metrics are told whole."""

    first: VersionSummary
    second: VersionSummary
    fields: dict[str, DifferenceBody]
    metrics: dict[str, DifferenceBody]
    parameters: dict[str, DifferenceBody]
    files: dict[str, DifferenceBody] = Field(description="By path; null where a version lacks the file.")
    n_same_files: int


class InferenceChange(Body):
    """An inference environment; what is absent stays as it is."""

    image: Image | None = None
    framework: Text | None = Field(None, max_length=128)
    version: Text | None = Field(None, max_length=128)
    description: Text | None = Field(None, max_length=4096)
    position: int | None = Field(None, ge=-1000, le=1000, description="Those with a lower one come first.")


class InferenceBody(Body):
    name: str
    image: str
    framework: str
    version: str
    description: str
    position: int
    created_at: str
    updated_at: str


class InferenceEnvironments(Body):
    items: list[InferenceBody]


def said_of(body: AboutChange) -> dict[str, Any]:
    """What a body says of a version."""
    said = body.model_dump(include=set(AboutChange.model_fields), exclude_none=True)
    return {**said, "tags": tuple(said["tags"])} if "tags" in said else said


def changes_of(body: ModelChange) -> dict[str, Any]:
    said = body.model_dump(exclude_none=True)
    if "tags" in said:
        said["tags"] = tuple(said["tags"])
    if "shared" in said:
        said["is_shared"] = said.pop("shared")
    return said


def version_view(version: Version, model: Model) -> dict[str, Any]:
    about = asdict(version.about)
    return {
        "model_id": version.model_id,
        "number": version.number,
        "aliases": model.aliases_of(version.number),
        **about,
        "metrics": dict(about["metrics"]),
        "tags": list(about["tags"]),
        "origin": {**asdict(version.origin), "data": list(version.origin.data)},
        "n_files": version.n_files,
        "size_bytes": version.size_bytes,
        "created_by": version.created_by,
        "created_at": instant(version.created_at),
        "deleted_at": instant(version.deleted_at),
    }


def version_detail(version: Version, model: Model) -> dict[str, Any]:
    files = [asdict(one) for one in version.files]
    return {**version_view(version, model), "model": model.name, "files": files}


def model_view(
    model: Model, latest: Version | None, n_versions: int, size_bytes: int, may_change: bool
) -> dict[str, Any]:
    return {
        "id": model.id,
        "name": model.name,
        "owner": model.owner,
        "queue": model.queue,
        "is_shared": model.is_shared,
        "may_change": may_change,
        "description": model.description,
        "tags": list(model.tags),
        "aliases": dict(model.aliases),
        "n_versions": n_versions,
        "size_bytes": size_bytes,
        "latest": None if latest is None else version_view(latest, model),
        "created_at": instant(model.created_at),
        "updated_at": instant(model.updated_at),
        "deleted_at": instant(model.deleted_at),
    }


def comparison_view(first: Version, second: Version, model: Model, found: Comparison) -> dict[str, Any]:
    plain = asdict(found)
    return {**plain, "first": version_view(first, model), "second": version_view(second, model)}


def inference_view(one: InferenceEnvironment) -> dict[str, Any]:
    return {**asdict(one), "created_at": instant(one.created_at), "updated_at": instant(one.updated_at)}
