"""Scheduling settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """`refuse_impossible` fails what no node could ever take, instead of waiting for nodes to come back."""

    refuse_impossible: bool = False
    n_nodes_explained: int = 20
