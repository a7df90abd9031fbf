"""Host names of services: one for each where there is a place for it, and nobody else's page asks there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from footplate.server.proxy.origins import (
    address_of,
    browser_address_of,
    is_asked_by_itself,
    is_at_home,
    label_of,
)
from footplate.server.settings import Settings

PREFIX = "/s/2mjvmkz028ne/main-0/jupyter/"
OTHER = "/s/2mjvmkz028ne/main-0/7860/"
HERE = Settings(Path("/nowhere"), port=8750, services_port=8751)
WILD = replace(HERE, services_url="https://*.services.example.org")
PLAIN = replace(HERE, services_url="https://services.example.org:8443")


def asked(**headers: str) -> dict[str, object]:
    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "GET", "headers": given}


def test_each_service_has_a_name_of_its_own_where_there_is_a_place_for_it() -> None:
    label = label_of(PREFIX)
    assert label != label_of(OTHER)
    assert address_of(HERE, PREFIX) == "http://127.0.0.1:8751"
    assert browser_address_of(HERE, PREFIX) == f"http://{label}.localhost:8751"
    assert (
        address_of(WILD, PREFIX)
        == browser_address_of(WILD, PREFIX)
        == f"https://{label}.services.example.org"
    )
    assert (
        address_of(PLAIN, PREFIX) == browser_address_of(PLAIN, PREFIX) == "https://services.example.org:8443"
    )


@pytest.mark.parametrize(
    ("settings", "host", "is_home"),
    [
        (HERE, "127.0.0.1:8751", True),
        (HERE, f"{label_of(PREFIX)}.localhost:8751", True),
        (HERE, f"{label_of(OTHER)}.localhost:8751", False),
        (WILD, f"{label_of(PREFIX)}.services.example.org", True),
        (WILD, f"{label_of(OTHER)}.services.example.org", False),
        # Where each can have a name, none is served without.
        (WILD, "services.example.org", False),
        (PLAIN, "services.example.org:8443", True),
    ],
)
def test_a_service_is_served_at_its_own_name_only(settings: Settings, host: str, is_home: bool) -> None:
    assert is_at_home(asked(host=host), settings, PREFIX) is is_home


@pytest.mark.parametrize(
    ("headers", "may"),
    [
        ({}, True),
        ({"sec_fetch_site": "none", "sec_fetch_mode": "navigate"}, True),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, True),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, False),
        ({"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"}, False),
        ({"sec_fetch_site": "same-origin", "referer": f"http://h{PREFIX}lab"}, True),
        ({"sec_fetch_site": "same-origin", "referer": f"http://h{OTHER}"}, False),
        ({"referer": "http://console.example.org/jobs"}, True),
    ],
)
def test_pages_of_elsewhere_may_only_lead_here(headers: dict[str, str], may: bool) -> None:
    assert is_asked_by_itself(asked(host="h", **headers), PREFIX) is may
