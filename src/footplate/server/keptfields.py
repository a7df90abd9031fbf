"""The settings of how long what jobs leave is kept."""

from __future__ import annotations

from footplate.domain.fields import Field, Nullable, Record
from footplate.domain.kinds import Duration
from footplate.domain.retention import Retention

_KEPT = Nullable(Duration(0, 3650 * 86400))

RETENTION = Record(
    Retention,
    (
        Field(
            "logs",
            _KEPT,
            "How long logs are kept after a job (default: for ever).",
            None,
            "logs_s",
        ),
        Field(
            "outputs",
            _KEPT,
            "How long results are kept (default: for ever).",
            None,
            "outputs_s",
        ),
        Field("work", _KEPT, "How long working folders are kept (default: for ever).", None, "work_s"),
        Field("code", _KEPT, "How long the code of jobs is kept (default: for ever).", None, "code_s"),
        Field(
            "uploads",
            Duration(0, 3650 * 86400),
            "How long code and model files are kept that no job and no model uses (default: 30 days).",
            Retention().uploads_s,
            "uploads_s",
        ),
    ),
)
