"""The machines and queues as they are now, in memory, beside what admins have stored about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa

from footplate.domain.cluster import Node, Queue
from footplate.store import queue_queries


class Cluster:
    """Filled at start; the engine's view of nodes and the admins' changes are put in as they come."""

    def __init__(self) -> None:
        # By engine, in the order in which they were first heard: that of the default comes first.
        self._found: dict[str, tuple[Node, ...]] = {}
        # Who drained them, by name.
        self._closed: dict[str, str] = {}
        self.nodes: tuple[Node, ...] = ()
        self._engines: dict[str, str] = {}
        self.queues: dict[str, Queue] = {}

    def load(self, connection: sa.Connection) -> None:
        """Read queues and drained nodes."""
        self.queues = {queue.name: queue for queue in queue_queries.all_queues(connection)}
        self._closed = queue_queries.closed_nodes(connection)
        self._merge()

    def take_nodes(self, found: Sequence[Node], engine: str = "") -> bool:
        """Take over what an engine found, in place of what it found before; True when something changed."""
        before = self.nodes
        self._found[engine] = tuple(replace(node, engine=engine) for node in found)
        self._merge()
        return self.nodes != before

    def _merge(self) -> None:
        found = [node for nodes in self._found.values() for node in nodes]
        self._engines = {node.name: node.engine for node in found}
        self.nodes = tuple(
            replace(node, is_schedulable=False, drained_by=self._closed[node.name])
            if node.name in self._closed
            else node
            for node in found
        )

    def engine_of(self, node: str) -> str:
        """Name the engine of a node; empty for a node that is gone."""
        return self._engines.get(node, "")

    def node(self, name: str) -> Node | None:
        return next((node for node in self.nodes if node.name == name), None)
