"""Footplate: a platform for training jobs; this module is the public Python API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footplate.domain.errors import Conflict as Conflict
    from footplate.domain.errors import Denied as Denied
    from footplate.domain.errors import EngineError as EngineError
    from footplate.domain.errors import FootplateError as FootplateError
    from footplate.domain.errors import InvalidInput as InvalidInput
    from footplate.domain.errors import NotFound as NotFound
    from footplate.domain.errors import Throttled as Throttled
    from footplate.domain.errors import TooLarge as TooLarge
    from footplate.domain.errors import Unauthenticated as Unauthenticated
    from footplate.domain.states import JobState as JobState
    from footplate.sdk.client import Client as Client
    from footplate.sdk.errors import NotConfigured as NotConfigured
    from footplate.sdk.errors import TimedOut as TimedOut
    from footplate.sdk.errors import Unreachable as Unreachable
    from footplate.sdk.errors import Untrusted as Untrusted
    from footplate.sdk.job import Job as Job
    from footplate.sdk.reporting import flush as flush
    from footplate.sdk.reporting import log as log

__version__ = "0.1.0"

# Loaded on first use, so that `import footplate` and the command's start cost nothing.
_HOMES = {
    "Client": "footplate.sdk.client",
    "Job": "footplate.sdk.job",
    "JobState": "footplate.domain.states",
    "log": "footplate.sdk.reporting",
    "flush": "footplate.sdk.reporting",
    **dict.fromkeys(("NotConfigured", "TimedOut", "Unreachable", "Untrusted"), "footplate.sdk.errors"),
    **dict.fromkeys(
        (
            "Conflict",
            "Denied",
            "EngineError",
            "FootplateError",
            "InvalidInput",
            "NotFound",
            "Throttled",
            "TooLarge",
            "Unauthenticated",
        ),
        "footplate.domain.errors",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'footplate' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
