"""What the server does from time to time beside its calls and the lives of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from footplate.control.loops import Loop
from footplate.control.quota import LOOK_EVERY_S, QuotaKeeper
from footplate.services import openings, retention, shells, uploadsweep
from footplate.services.duemodels import DueModels
from footplate.services.openings import Openings
from footplate.services.platform import Platform
from footplate.services.shells import Shells
from footplate.store import disk


def housekeeping(
    platform: Platform, quota: QuotaKeeper, due: DueModels, shells_: Shells, openings_: Openings
) -> Sequence[Loop]:
    """Every loop, with its period where it has no cue of its own."""
    return (
        Loop("disk", platform.disk.watch, disk.SAMPLE_EVERY_S),
        Loop("quota", quota.watch, LOOK_EVERY_S, first_after_s=0.0),
        Loop("models", due.watch),
        Loop("sizes", partial(retention.measure_some, platform), retention.MEASURE_EVERY_S),
        Loop("retention", partial(retention.sweep_all, platform), retention.SWEEP_EVERY_S),
        Loop(
            "uploads",
            partial(uploadsweep.sweep, platform),
            uploadsweep.SWEEP_EVERY_S,
            first_after_s=uploadsweep.SOON_S,
        ),
        Loop("shells", shells_.tidy, shells.TIDY_EVERY_S),
        Loop("services", openings_.tidy, openings.TIDY_EVERY_S),
    )
