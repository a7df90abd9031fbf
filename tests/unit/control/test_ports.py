"""Ports of the machine: what a pass hands out is tried, and what strangers use is replaced and remembered."""

from __future__ import annotations

from footplate.control.ports import MOST_PROBES, Ports
from footplate.domain.cluster import GIVEN_PORTS, Placement
from footplate.domain.spec import JobSpec
from footplate.scheduler.ports import PortLedger, PortRoom, port_needs
from footplate.testing.builders import placement, spec

FIRST = GIVEN_PORTS[0]


def planned(asked: JobSpec) -> Placement:
    placed = PortLedger(PortRoom(), ()).give(port_needs(asked), placement(asked))
    assert placed is not None
    return placed


def confirmed(ports: Ports, asked: JobSpec, *others: Placement) -> list[tuple[int, ...]] | None:
    placed = ports.confirm(port_needs(asked), planned(asked), others)
    return placed and [numbers for task in placed.tasks for _, numbers in task.ports]


def test_ports_that_nobody_uses_stay_as_planned() -> None:
    asked = spec(ports=[{"label": "web", "begin_at": 6006}])
    assert confirmed(Ports(lambda _node, _: True), asked) == [(FIRST,), (6006,)]


def test_a_port_that_a_stranger_uses_is_replaced_beside_those_of_others() -> None:
    asked = spec(ports=[{"label": "web", "begin_at": 6006}])
    beside = planned(spec(ports=[{"label": "web", "begin_at": 6007}]))
    ports = Ports(lambda _node, port: port != 6006)
    found = confirmed(ports, asked, beside)
    assert found is not None
    assert found[1] == (6008,)
    assert ports.room().busy == {placement(asked).tasks[0].node: frozenset({6006})}


def test_a_port_that_is_free_again_is_forgotten() -> None:
    busy = {6006}
    ports = Ports(lambda _node, port: port not in busy)
    assert confirmed(ports, spec(ports=[{"label": "web", "begin_at": 6006}]))
    busy.clear()
    assert ports.room().busy == {}


def test_the_search_ends_when_nothing_is_free() -> None:
    probed: list[int] = []
    assert confirmed(Ports(lambda _node, port: bool(probed.append(port))), spec()) is None
    assert len(probed) == MOST_PROBES
