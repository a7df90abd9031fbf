"""Bodies of the REST API for notebooks."""

from __future__ import annotations

from pydantic import Field

from footplate.wire.body import Body, Text, Told


class NewNotebook(Body):
    """What a notebook runs in: fields of a job file, and samples to begin with."""

    name: Text = Field("", max_length=255, description="By the time when absent.")
    queue: Text = Field("", max_length=63)
    type: Text = Field("", max_length=63, description="An instance type, in place of CPUs, memory and GPUs.")
    cpus: float | None = None
    memory: Text | None = Field(None, max_length=32, description="Such as 4GB.")
    gpus: int | None = None
    gpu_type: Text = Field("", max_length=64)
    image: Text = Field("", max_length=512)
    packages: list[Text] = Field([], max_length=200, description="What pip installs, such as numpy==2.1.")
    data: list[Text] = Field([], max_length=64, description="Such as `shared:/datasets`.")
    idle_limit: Text = Field("", max_length=32, description="How long nobody may use it; 2h when absent.")
    time_limit: Text = Field("", max_length=32)
    samples: list[Text] = Field([], max_length=20, description="Samples to copy; see /notebooks/samples.")


class Sample(Body):
    file: str
    description: Told


class Samples(Body):
    items: list[Sample]
