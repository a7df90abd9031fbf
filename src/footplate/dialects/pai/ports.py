"""The two ports that every task of OpenPAI has, whether its job file asks for them or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from footplate.domain.spec import PortRange

USUAL = ("http", "ssh")
# As many as a role may have.
MOST_PORTS = 32


def with_usual(asked: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The ports of a role with those that need no asking, as long as there is room for them."""
    labels = {one["label"] for one in asked}
    return [*asked, *({"label": label} for label in USUAL if label not in labels)][:MOST_PORTS]


def without_usual(ports: Sequence[PortRange]) -> list[PortRange]:
    """The ports that a job file has to ask for."""
    return [one for one in ports if one not in {PortRange(label) for label in USUAL}]
