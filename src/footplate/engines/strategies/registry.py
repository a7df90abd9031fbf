"""Finding strategies: entry points of the group `footplate.strategies`, ours and other people's."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from footplate.domain.errors import Problem, problem
from footplate.domain.messages import Message, say
from footplate.domain.spec import JobSpec
from footplate.engines.strategies.base import Strategy
from footplate.engines.strategies.builtin import Everything

GROUP = "footplate.strategies"
FIELD = "strategy"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Registry:
    """What is installed: usable strategies, and those whose plug-in fails to load."""

    usable: Mapping[str, Strategy]
    broken: Mapping[str, str]

    def find(self, name: str) -> Strategy | None:
        return self.usable.get(name)

    def refusal(self, name: str) -> Message | None:
        """Say why a job cannot use a strategy; None when it can."""
        if not name or name in self.usable:
            return None
        if name in self.broken:
            return say("strategy_broken", strategy=name, error=self.broken[name])
        return say("strategy_unknown", strategy=name, known=sorted(self.usable))


def load(points: Iterable[EntryPoint]) -> Registry:
    """Load every plug-in; one that fails is reported by name and does not affect the others."""
    usable: dict[str, Strategy] = {}
    broken: dict[str, str] = {}
    for point in points:
        owner = point.dist.name if point.dist else "unknown"
        if point.name in usable:
            log.warning("strategy %s of %s is ignored: the name is taken", point.name, owner)
            continue
        try:
            usable[point.name] = _made(point)
        except Exception as error:  # noqa: BLE001  # other people's code may fail in any way
            broken[point.name] = f"{type(error).__name__}: {error} (from {owner})"
            log.warning("strategy %s cannot be used: %s", point.name, broken[point.name])
    return Registry(usable, {name: why for name, why in broken.items() if name not in usable})


def _made(point: EntryPoint) -> Strategy:
    kind = point.load()
    if not (isinstance(kind, type) and issubclass(kind, Strategy)):
        raise TypeError(f"{point.value} is no class derived from footplate.engines.strategies.base.Strategy")
    return kind()


@cache
def installed() -> Registry:
    """Look once at what is installed; what is added later counts after a restart."""
    points = entry_points(group=GROUP)
    # Nobody replaces a strategy that jobs already rely on.
    return load(sorted(points, key=lambda point: not point.value.startswith("footplate.engines.")))


def find(name: str) -> Strategy | None:
    return installed().find(name) if name else Everything()


def known() -> dict[str, str]:
    """List the strategies that a job may name, with a line about each."""
    return {name: strategy.description for name, strategy in sorted(installed().usable.items())}


def broken() -> dict[str, str]:
    """List the plug-ins that do not load, with the fault of each."""
    return dict(installed().broken)


def unknown(name: str) -> Message | None:
    """Say why a job cannot use a strategy of that name; None when it can."""
    return installed().refusal(name) if name else None


def problems(spec: JobSpec) -> Sequence[Problem]:
    """Check a job against the strategy that it names."""
    if not spec.strategy:
        return ()
    refusal = unknown(spec.strategy)
    if refusal is not None:
        return (Problem(FIELD, refusal),)
    try:
        # Plug-ins write sentences of their own.
        found = installed().usable[spec.strategy].problems(spec)
        return tuple(problem(one.path, one.said) for one in found)
    except Exception as error:  # other people's code may fail in any way
        log.warning("strategy %s failed to check a job", spec.strategy, exc_info=True)
        fault = f"{type(error).__name__}: {error}"
        return (problem(FIELD, "strategy_failed_to_check", strategy=spec.strategy, error=fault),)
