"""Errors of the loops themselves: each is logged, and the loss of the lease stops the server."""

from __future__ import annotations

import logging
from collections.abc import Callable

from footplate.domain.errors import StaleLease, StoreUnavailable

log = logging.getLogger(__name__)

Report = Callable[[str, BaseException], None]


def reporter(on_fatal: Callable[[BaseException], None]) -> Report:
    """Make the function to which loops and work report what failed, and why."""

    def report(what: str, error: BaseException) -> None:
        if isinstance(error, StoreUnavailable):
            # It says why by itself, and every loop meets it again and again.
            log.warning("%s failed: %s", what, error)
        else:
            log.error("%s failed", what, exc_info=error)
        if isinstance(error, StaleLease):
            on_fatal(error)

    return report
