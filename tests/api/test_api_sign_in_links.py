"""Links that sign a browser in: good once, for a while, and as long as the login that made them."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from apiclient import Api, Hire, check_refusal

from footplate.server.app import API
from footplate.server.sessions import KEY_HEADER
from footplate.services.access import Caller
from footplate.services.audit import page
from footplate.services.signinlinks import MOST_OF_ONE_PERSON
from footplate.store.audit_queries import AuditFilter
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served
from footplate.wire.accounts import NewSession, SignInLink

FOLLOW = "/session/links/follow"


@pytest.fixture
def browser(server: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}{API}") as http:
        yield http


def made(by: Api, **fields: object) -> str:
    return str(by.ok("POST", "/session/links", SignInLink, 201, json=fields)["link"])


def code_of(link: str) -> str:
    return link.partition("#")[2]


def follow(browser: httpx.Client, link: str) -> httpx.Response:
    return browser.post(FOLLOW, json={"code": code_of(link)})


def is_worthless(browser: httpx.Client, link: str) -> bool:
    answer = follow(browser, link)
    return answer.status_code == 404 and "was used, has expired" in check_refusal(answer)["message"]


def test_whoever_follows_a_link_is_signed_in_as_its_maker(browser: httpx.Client, hire: Hire) -> None:
    ada = hire(default="member")
    answer = follow(browser, made(ada))
    assert answer.status_code == 200
    session = NewSession.model_validate(answer.json())
    assert session.user.name == ada.name
    assert browser.get("/me", headers={KEY_HEADER: session.key}).json()["name"] == ada.name
    assert browser.get("/me").status_code == 401


def test_a_link_is_good_once(browser: httpx.Client, hire: Hire) -> None:
    link = made(hire())
    assert follow(browser, link).status_code == 200
    assert is_worthless(browser, link)


def test_a_link_ends_with_its_time(browser: httpx.Client, hire: Hire, clock: FakeClock) -> None:
    link, later = (made(hire(), expires_in_s=60) for _ in range(2))
    clock.advance(59)
    assert follow(browser, link).status_code == 200
    clock.advance(2)
    assert is_worthless(browser, later)


@pytest.mark.parametrize("code", ["x", "fpl_", "fpl_" + "A" * 43])
def test_a_code_that_nobody_made_opens_nothing(browser: httpx.Client, code: str) -> None:
    assert is_worthless(browser, f"#{code}")


def test_a_link_ends_with_the_token_that_made_it(browser: httpx.Client, hire: Hire) -> None:
    ada = hire()
    link = made(ada)
    for token in ada.ok("GET", "/tokens")["items"]:
        ada.ok("DELETE", f"/tokens/{token['id']}", status=204)
    assert is_worthless(browser, link)


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_link_of_somebody_who_may_not_sign_in_any_more_is_worth_nothing(
    admin: Api, browser: httpx.Client, hire: Hire, is_gone: bool
) -> None:
    ada = hire()
    link = made(ada)
    if is_gone:
        admin.ok("DELETE", f"/users/{ada.name}", status=204)
    else:
        admin.ok("PATCH", f"/users/{ada.name}", json={"is_enabled": False})
    assert is_worthless(browser, link)


def test_only_the_newest_links_of_a_person_are_kept(browser: httpx.Client, hire: Hire) -> None:
    ada, wei = hire(), hire()
    of_wei, first = made(wei), made(ada)
    second, *_ = [made(ada) for _ in range(MOST_OF_ONE_PERSON)]
    assert is_worthless(browser, first)
    assert follow(browser, second).status_code == 200
    assert follow(browser, of_wei).status_code == 200


def test_a_link_takes_the_place_of_the_session_that_the_browser_had(
    browser: httpx.Client, hire: Hire
) -> None:
    ada, wei = hire(), hire()
    follow(browser, made(ada))
    follow(browser, made(wei))
    assert [token["name"] for token in ada.ok("GET", "/tokens")["items"]].count("console") == 0


def test_a_link_leads_to_a_page_of_the_console_and_nowhere_else(server: Served, hire: Hire) -> None:
    ada = hire()
    assert made(ada).startswith(f"{server.parts.settings.url}/enter#fpl_")
    assert "/enter?next=%2Fjobs%2F1#fpl_" in made(ada, path="/jobs/1")
    for path in ("//example.org", "https://example.org", "/\\example.org", ""):
        ada.refused("POST", "/session/links", 422, "path", json={"path": path})


def test_links_are_for_people_who_are_known(nobody: Api) -> None:
    nobody.refused("POST", "/session/links", 401, json={})


def test_a_job_makes_no_links(server: Served, hire: Hire) -> None:
    job = hire(default="member").running()
    with Api(server, server.parts.tokens.issue(job["id"], 0)) as task:
        task.refused("POST", "/session/links", 403, says="sign browsers in", json={})


@pytest.mark.parametrize("expires_in_s", [0, 9, 86401])
def test_a_link_is_for_a_short_while(admin: Api, expires_in_s: int) -> None:
    admin.refused("POST", "/session/links", 422, "expires_in_s", json={"expires_in_s": expires_in_s})


def test_making_and_following_is_in_the_audit_trail_without_the_code(
    server: Served, browser: httpx.Client, hire: Hire
) -> None:
    ada = hire()
    link = made(ada)
    follow(browser, link)
    records = server.run(
        page(server.parts.platform, Caller("admin", True), AuditFilter(actor=ada.name), None, 10)
    )
    assert [record.action for record in records] == ["link.followed", "link.made"]
    assert code_of(link) not in str(records)
