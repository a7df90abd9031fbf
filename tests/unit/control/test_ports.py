"""Ports: none twice, asked ones where they were asked, and an end to the search."""

from __future__ import annotations

from footplate.control.ports import MOST_PROBES, Ports
from footplate.domain.cluster import GIVEN_PORTS, Placement
from footplate.testing.builders import placement, spec


def numbers(placed: Placement | None) -> list[tuple[str, tuple[int, ...]]]:
    assert placed is not None
    return [pair for task in placed.tasks for pair in task.ports]


def test_every_task_gets_a_main_port_and_what_its_role_asks_for() -> None:
    asked = spec(count=2, ports=[{"label": "grpc", "count": 2}])
    given = numbers(Ports(lambda _: True).assign(asked, placement(asked), ()))
    assert [label for label, _ in given] == ["main", "grpc", "main", "grpc"]
    flat = [port for _, ports in given for port in ports]
    assert len(set(flat)) == 6
    assert all(port in GIVEN_PORTS for port in flat)


def test_a_server_that_begins_elsewhere_gives_out_other_ports_and_goes_round() -> None:
    asked = spec(count=2)
    given = numbers(Ports(lambda _: True, begin_at=GIVEN_PORTS[-1]).assign(asked, placement(asked), ()))
    assert given == [("main", (GIVEN_PORTS[-1],)), ("main", (GIVEN_PORTS[0],))]


def test_ports_of_running_jobs_on_the_same_node_are_not_given_again() -> None:
    ports, asked = Ports(lambda _: True), spec(ports=[{"label": "web", "begin_at": 6006}])
    first = ports.assign(asked, placement(asked), ())
    assert first is not None
    second = ports.assign(asked, placement(asked), [first])
    assert numbers(first)[1] == ("web", (6006,))
    assert numbers(second)[1] == ("web", (6007,))


def test_tasks_of_a_role_on_one_node_get_ports_one_after_the_other() -> None:
    asked = spec(count=3, ports=[{"label": "web", "begin_at": 6006, "count": 2}])
    given = numbers(Ports(lambda _: True).assign(asked, placement(asked), ()))
    assert [ports for label, ports in given if label == "web"] == [(6006, 6007), (6008, 6009), (6010, 6011)]


def test_a_main_port_that_the_user_asks_for_is_that_one() -> None:
    asked = spec(ports=[{"label": "main", "begin_at": 6006, "count": 3}])
    assert numbers(Ports(lambda _: True).assign(asked, placement(asked), ())) == [
        ("main", (6006, 6007, 6008))
    ]


def test_a_port_that_others_listen_on_is_passed_over() -> None:
    asked = spec(ports=[{"label": "web", "begin_at": 6006}])
    given = numbers(Ports(lambda port: port != 6006).assign(asked, placement(asked), ()))
    assert given[1] == ("web", (6007,))


def test_a_port_that_was_given_back_is_not_given_out_at_once() -> None:
    ports, asked = Ports(lambda _: True), spec()
    first = numbers(ports.assign(asked, placement(asked), ()))
    assert numbers(ports.assign(asked, placement(asked), ())) != first


def test_the_range_is_gone_round() -> None:
    ports, asked = Ports(lambda _: True), spec(ports=[{"label": "many", "count": 99}])
    for _ in range(150):
        assert ports.assign(asked, placement(asked), ()) is not None


def test_the_search_ends_when_nothing_is_free() -> None:
    probed: list[int] = []
    asked = spec()
    assert Ports(lambda port: bool(probed.append(port))).assign(asked, placement(asked), ()) is None
    assert len(probed) == MOST_PROBES
