"""What control and services share is one value, all of which both reach by name."""

from __future__ import annotations

from dataclasses import fields

from footplate.control.context import Context
from footplate.services.platform import Platform
from footplate.store.shared import HoldsShared, Shared

PARTS = {one.name for one in fields(Shared)}


def test_every_part_is_reached_by_its_name() -> None:
    assert {name for name, one in vars(HoldsShared).items() if isinstance(one, property)} == PARTS


def test_no_part_has_another_place() -> None:
    for holder in (Context, Platform):
        assert not {one.name for one in fields(holder)} & PARTS
