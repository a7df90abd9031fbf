"""Notebooks: jobs with JupyterLab, and samples to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.messages import Message, say
from footplate.domain.notebook import notebook_job
from footplate.domain.results import DEFAULT_STORAGE
from footplate.services import jobs
from footplate.services.access import Caller
from footplate.services.jobs import Submission
from footplate.services.platform import Platform

FOLDER = Path(__file__).resolve().parent / "samples"
# In the order in which somebody new reads them.
SAMPLES: Mapping[str, Message] = {
    "first-steps.ipynb": say("sample_first_steps"),
    "distributed-training.ipynb": say("sample_distributed"),
    "compare-settings.ipynb": say("sample_compare"),
}


async def start(
    platform: Platform, caller: Caller, wish: Mapping[str, Any], samples: Sequence[str], key: str = ""
) -> Submission:
    """Submit a notebook: it waits in its queue like any job, and is stopped when nobody uses it."""
    for index, name in enumerate(samples):
        if name not in SAMPLES:
            raise InvalidInput("sample_unknown", f"samples[{index}]", sample=name[:64], known=list(SAMPLES))
    kept_on = DEFAULT_STORAGE if _keeps_files(platform) else ""
    document = notebook_job(wish, samples, platform.clock.now(), kept_on)
    return await jobs.submit(platform, caller, document, key)


def _keeps_files(platform: Platform) -> bool:
    """Whether a notebook in an image can write to its owner's home, also where the image is mapped."""
    home = platform.storages.get(DEFAULT_STORAGE)
    can_mount = all(engine.capabilities.no_mounts is None for _, engine in platform.engines)
    return can_mount and home is not None and home.per_user and home.is_own and not home.read_only


def read_sample(name: str) -> bytes:
    if name not in SAMPLES:
        raise NotFound("sample_unknown", sample=name[:64], known=list(SAMPLES))
    return (FOLDER / name).read_bytes()
