"""The fields of a job file of OpenPAI v1, with the bounds that its server enforces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footplate.dialects.pai.kinds import Free, Strict, Whole
from footplate.domain.fields import Field, ListOf, Nullable, Record
from footplate.domain.kinds import Text
from footplate.domain.problems import MISSING, Problems, join
from footplate.domain.resources import MIB
from footplate.domain.rolefields import MAX_TASKS

MOST = 2**31 - 1
_NAME = r"[A-Za-z0-9._~]{1,64}"
ANY_TEXT = Text(65_536)


def _record(*fields: Field, **more: Any) -> Record:
    return Record(dict, fields, **more)


def _check_role(role: Mapping[str, Any], path: str, problems: Problems) -> None:
    count = role["taskNumber"]
    for name in ("minFailedTaskCount", "minSucceededTaskCount"):
        wanted = role[name]
        # The default is no more than any count.
        if wanted not in (None, MISSING) and count is not MISSING and wanted > count:
            problems.add(join(path, name), "more_than_count", count=count, given=wanted)
    shm, memory = role["shmMB"], role["memoryMB"]
    if MISSING not in (shm, memory) and shm > memory:
        problems.add(join(path, "shmMB"), "more_than_memory", memory_bytes=memory * MIB)


PORT = _record(
    Field("label", Strict(64, 1, _NAME, "label"), ""),
    Field("beginAt", Whole(0, 65_535), "", 0),
    Field("portNumber", Whole(1, 100), "", 1),
)
ROLE = _record(
    Field("name", Strict(64, 1, _NAME, "role_name"), ""),
    Field("taskNumber", Whole(1, MAX_TASKS), "", 1),
    Field("cpuNumber", Whole(1, MOST), "", 1),
    Field("memoryMB", Whole(100, MOST), "", 100),
    Field("gpuNumber", Whole(0, MOST), "", 0),
    Field("shmMB", Whole(1, MOST), "", 64),
    Field("portList", ListOf(PORT, 32, unique="label"), "", ()),
    Field("command", Text(65_536, 1), ""),
    Field("minFailedTaskCount", Nullable(Whole(1, MAX_TASKS)), "", 1),
    Field("minSucceededTaskCount", Nullable(Whole(1, MAX_TASKS)), "", None),
    checks=(_check_role,),
)
JOB = _record(
    Field("jobName", Strict(255, 1, r"[A-Za-z0-9\-._~]{1,255}", "job_name"), ""),
    Field("image", Text(512, 1, r"\S{1,512}", "image"), ""),
    *(Field(name, ANY_TEXT, "", "") for name in ("authFile", "dataDir", "outputDir", "codeDir", "gpuType")),
    Field("virtualCluster", Text(63), "", ""),
    Field("retryCount", Whole(-2, MOST), "", 0),
    Field("killAllOnCompletedTaskNumber", Nullable(Whole(-MOST, MOST)), "", None),
    Field("jobEnvs", Free(), "", {}),
    Field("extras", Free(), "", {}),
    Field("taskRoles", ListOf(ROLE, 100, 1, unique="name"), ""),
)
