"""The forms that names, variables, paths and commands of a job file may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from footplate.domain.errors import InvalidInput
from footplate.domain.fields import MapOf
from footplate.domain.kinds import ScalarText, Text
from footplate.domain.problems import MISSING, Json, Problems

RESERVED_ENV = ("FOOTPLATE_", "PAI_")
RESERVED_ENV_NAMES = frozenset(
    {
        "ASCEND_RT_VISIBLE_DEVICES",
        "ASCEND_VISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "NVIDIA_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
    }
)
QUEUE_NAME = Text(63, 1, r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "name")
PARAMETER_NAME = Text(63, 1, r"[A-Za-z_][A-Za-z0-9_]{0,62}", "identifier")
SECRET_NAME = Text(63, 1, r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "name")
STRATEGY_NAME = Text(
    63,
    0,
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,62})?",
    "name",
)
# As wide as the names of other systems: TI.GN10.2XLARGE40.POST, 1-P40, torch1.9-py3.8-cuda11.1-gpu.
CHOICE = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}"
TYPE_NAME = Text(128, 0, rf"({CHOICE})?", "choice")
FRAMEWORK = Text(257, 0, rf"({CHOICE}(:{CHOICE})?)?", "framework")
SECRET_NAME_OR_NONE = Text(63, 0, rf"({SECRET_NAME.pattern})?", SECRET_NAME.form)


@dataclass(frozen=True)
class JobName(Text):
    """The name of a job; one that is a step in a path could not be asked for over HTTP."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        read = super().read(value, path, problems)
        if read in (".", ".."):
            return problems.add(path, "not_of_form", given=read, form=self.form)
        return read


# As wide as in OpenPAI, whose job files are to run unchanged.
JOB_NAME = JobName(255, 1, r"[A-Za-z0-9._~-]{1,255}", "job_name")
ROLE_NAME = Text(64, 1, r"[A-Za-z0-9._~]{1,64}", "role_name")
LABEL = Text(63, 1, r"[A-Za-z0-9._~-]{1,63}", "label")


@dataclass(frozen=True)
class EnvName(Text):
    """The name of an environment variable that a user may set."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        read = super().read(value, path, problems)
        if read is not MISSING and (read in RESERVED_ENV_NAMES or read.startswith(RESERVED_ENV)):
            return problems.add(path, "set_by_platform", variable=read)
        return read


@dataclass(frozen=True)
class FilePath(Text):
    """A path that stays below its root."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        read = super().read(value, path, problems)
        if read is not MISSING and ".." in read.split("/"):
            return problems.add(path, "parent_folder")
        return read


@dataclass(frozen=True)
class Command(Text):
    """Shell text; a job file that says `command: true` means the program, not the truth value."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        return super().read(str(value).lower() if isinstance(value, bool) else value, path, problems)


ENV_NAME = EnvName(255, 1, r"[A-Za-z_][A-Za-z0-9_]*", "identifier")
ENV = MapOf(ENV_NAME, ScalarText(32_768), 1000)
PATH = FilePath(1024)
COMMAND = Command(65_536, 1)
IMAGE = Text(512, 0, r"(\S{1,512})?", "image")


def require_text(kind: Text, value: Any, path: str) -> str:
    """Read one text on its own, such as the name of a queue."""
    problems = Problems()
    read = kind.read(value, path, problems)
    if problems:
        raise InvalidInput(problems)
    return str(read)
