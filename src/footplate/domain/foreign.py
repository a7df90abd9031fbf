"""Tells the job files of other systems by their fields, so that nobody is told of misspelt ones."""

from __future__ import annotations

import re
from collections.abc import Mapping

from footplate.domain.problems import Json

_OF_PROPHECIS = frozenset(
    {"namespace", "code_selector", "job_type", "job_alert", "pss", "exp_run_id", "tfos_request", "mf_model"}
)
_BATCH = re.compile(r"^#SBATCH\s", re.MULTILINE)


def format_of(document: Json) -> str | None:
    """Name the format of a job file that is not ours, as `words` has it; None for one that may be ours."""
    if not isinstance(document, Mapping):
        return None
    # Roles by name are those of the later versions, also where the number is forgotten.
    is_later = "jobName" not in document and isinstance(document.get("taskRoles"), Mapping)
    if "protocolVersion" in document or is_later:
        return "pai_v2"
    if "jobName" in document or "taskRoles" in document:
        return "pai_v1"
    if {"apiVersion", "kind"} <= document.keys():
        return "kubernetes"
    # `framework` alone may be the name of one; manifests of FfDL describe it.
    is_described = isinstance(document.get("framework"), Mapping)
    if "data_stores" in document or (is_described and "learners" in document):
        return "prophecis" if document.keys() & _OF_PROPHECIS else "ffdl"
    return None


def is_batch_script(text: str) -> bool:
    """Tell a script for `sbatch`, which is no document at all."""
    return text.startswith("#!") and _BATCH.search(text) is not None
