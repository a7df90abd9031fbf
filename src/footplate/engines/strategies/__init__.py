"""Ways to start a distributed training, each a small plug-in; `prepare` is what engines call."""

from footplate.engines.strategies.prepare import Prepared, prepare
from footplate.engines.strategies.registry import broken, known, problems, unknown

__all__ = ["Prepared", "broken", "known", "prepare", "problems", "unknown"]
