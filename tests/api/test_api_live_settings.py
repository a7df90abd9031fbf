"""Settings that admins change while the server runs: which, who, when they act, and what is told of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from apiclient import NODE, Api, Data

from footplate.domain.pauses import Pauses
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served


@pytest.fixture(autouse=True)
def _as_it_was(admin: Api) -> Iterator[None]:
    yield
    for name in ("trash_kept", "idle_limit", "retry_pause", "job_quota", "person_quota"):
        assert admin.call("DELETE", f"/settings/{name}").status_code == 204


def of(admin: Api, name: str) -> Data:
    return next(one for one in admin.ok("GET", "/settings")["items"] if one["name"] == name)


def put(api: Api, name: str, value: Any) -> int:
    return api.call("PUT", f"/settings/{name}", json={"value": value}).status_code


def test_a_setting_is_changed_at_once_told_where_it_comes_from_and_given_back(admin: Api, ann: Api) -> None:
    assert of(admin, "trash_kept") | {"help": ""} == {
        "name": "trash_kept",
        "value": "1d",
        "is_default": True,
        "source": "default",
        "is_live": True,
        "help": "",
    }
    assert put(admin, "trash_kept", "2h") == 204
    changed = of(admin, "trash_kept")
    assert (changed["value"], changed["is_default"], changed["source"]) == ("2h", False, "console")
    assert ann.ok("GET", "/summary")["trash_kept_s"] == 7200
    assert admin.call("DELETE", "/settings/trash_kept").status_code == 204
    assert of(admin, "trash_kept")["source"] == "default"
    assert ann.ok("GET", "/summary")["trash_kept_s"] == 86400


def test_what_acts_on_settings_gets_them_at_once(admin: Api, server: Served) -> None:
    live = server.parts.live
    for name, value in (
        ("idle_limit", "10m"),
        ("retry_pause", "7s"),
        ("job_quota", "2GB"),
        ("person_quota", "3GB"),
    ):
        assert put(admin, name, value) == 204
    assert live.shared.tuned.idle_limit_s == 600
    assert live.shared.tuned.pauses == Pauses(7, 300)
    assert (live.quota.quotas.job_bytes, live.shared.disk.person_quota_bytes) == (2 * 1024**3, 3 * 1024**3)
    assert put(admin, "job_quota", None) == 204
    assert live.quota.quotas.job_bytes is None


def test_a_sweep_keeps_the_trash_as_long_as_admins_say_now(admin: Api, clock: FakeClock) -> None:
    job = admin.finished()
    admin.ok("DELETE", f"/jobs/{job['id']}", status=204)
    clock.advance(600)
    assert due_in_trash(admin) == 0
    assert put(admin, "trash_kept", "5m") == 204
    assert due_in_trash(admin) == 1


def due_in_trash(admin: Api) -> int:
    items = admin.ok("POST", "/sweep", params={"dry_run": "true"})["items"]
    return next(one["n"] for one in items if one["kind"] == "trash")


def test_the_trail_says_who_changed_what_to_what(admin: Api) -> None:
    assert put(admin, "trash_kept", "3h") == 204
    [entry] = admin.ok("GET", "/audit", params={"action": "setting.changed", "limit": 1})["items"]
    assert entry["subject"] == "trash_kept"
    assert entry["detail"] == {"changes": {"trash_kept": ["1d", "3h"]}}


@pytest.mark.parametrize("value", ["soon", -1, "1000d", [], {"s": 1}, True])
def test_what_is_no_value_of_a_setting_is_refused(admin: Api, value: Any) -> None:
    admin.refused("PUT", "/settings/trash_kept", 422, "value", json={"value": value})
    assert of(admin, "trash_kept")["source"] == "default"


@pytest.mark.parametrize(
    "name", ["host", "tls_key", "trusted_proxies", "storage_roots", "host_accounts", "limits"]
)
def test_what_opens_the_machine_is_changed_in_its_own_file_only(admin: Api, name: str) -> None:
    assert not of(admin, name)["is_live"]
    admin.refused("PUT", f"/settings/{name}", 409, says="settings.toml", json={"value": "x"})


def test_only_platform_admins_change_settings(ann: Api) -> None:
    ann.refused("PUT", "/settings/trash_kept", 403, json={"value": "2h"})
    ann.refused("DELETE", "/settings/trash_kept", 403)


def test_what_was_changed_holds_after_a_restart_until_the_file_says_otherwise(tmp_path: Path) -> None:
    clock, home = FakeClock(), tmp_path / "home"
    with served(home, FakeEngine(clock, [NODE]), clock) as server, Api(server, server.sign_in()) as admin:
        assert put(admin, "trash_kept", "2h") == 204
        assert put(admin, "job_quota", "1GB") == 204
    with served(home, FakeEngine(clock, [NODE]), clock) as server, Api(server, server.sign_in()) as admin:
        assert (of(admin, "trash_kept")["value"], of(admin, "job_quota")["value"]) == ("2h", "1GB")
        assert server.parts.live.shared.tuned.trash_kept_s == 7200


def test_what_the_file_says_wins_and_is_changed_there(tmp_path: Path) -> None:
    clock, home = FakeClock(), tmp_path / "home"
    home.mkdir()
    with served(home, FakeEngine(clock, [NODE]), clock) as server, Api(server, server.sign_in()) as admin:
        assert put(admin, "trash_kept", "2h") == 204
    said = {"trash_kept_s": 60.0, "sources": {"trash_kept_s": "file"}}
    with (
        served(home, FakeEngine(clock, [NODE]), clock, **said) as server,
        Api(server, server.sign_in()) as admin,
    ):
        found = of(admin, "trash_kept")
        assert (found["value"], found["source"], found["is_live"]) == ("1m", "file", False)
        admin.refused("PUT", "/settings/trash_kept", 409, says="settings.toml", json={"value": "2h"})
