"""Sessions of browsers: what the cookie, the key and a ticket allow, each by itself and together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from apiclient import PASSWORD, Api, Hire, check_refusal
from fastapi.responses import Response

from footplate.server.app import API
from footplate.server.sessions import KEY_HEADER, SESSION_S, TICKET_S, Sessions
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served


@dataclass
class Browser:
    """A browser with its cookies, and the key that its page keeps."""

    http: httpx.Client
    key: str = ""

    def sign_in(self, user: str, password: str = PASSWORD) -> httpx.Response:
        answer = self.http.post("/session", json={"user": user, "password": password})
        if answer.is_success:
            self.key = answer.json()["key"]
        return answer

    def call(self, method: str, path: str, **request: object) -> httpx.Response:
        return self.http.request(method, path, headers={KEY_HEADER: self.key}, **request)  # type: ignore[arg-type]

    @property
    def user(self) -> str | None:
        user = self.call("GET", "/session").json()["user"]
        return None if user is None else str(user["name"])


@pytest.fixture
def browser(server: Served) -> Iterator[Browser]:
    with httpx.Client(base_url=f"{server.url}{API}") as http:
        yield Browser(http)


@pytest.fixture
def person(browser: Browser, hire: Hire) -> str:
    name = hire(default="member").name
    assert browser.sign_in(name).status_code == 200
    return name


def test_nobody_is_signed_in_at_first(browser: Browser) -> None:
    assert browser.user is None


def test_a_browser_is_signed_in_and_out(browser: Browser, person: str) -> None:
    assert browser.user == person
    assert browser.call("GET", "/me").json()["name"] == person
    assert browser.call("DELETE", "/session").status_code == 204
    assert browser.user is None


def test_a_browser_that_signs_in_again_leaves_no_token_behind(browser: Browser, person: str) -> None:
    for _ in range(3):
        assert browser.sign_in(person).status_code == 200
    tokens = browser.call("GET", "/tokens").json()["items"]
    assert [token["name"] for token in tokens if token["name"] == "console"] == ["console"]
    assert browser.user == person


def test_the_cookie_is_kept_from_pages_and_from_other_sites(browser: Browser, hire: Hire) -> None:
    cookie = browser.sign_in(hire().name).headers["set-cookie"]
    for word in ("HttpOnly", "SameSite=strict", "Path=/api/", f"Max-Age={SESSION_S}"):
        assert word in cookie
    # Without TLS in front a secure cookie would never come back.
    assert "Secure" not in cookie


def test_behind_tls_the_cookie_is_secure() -> None:
    answer = Response()
    Sessions(b"secret", "footplate_1", is_secure=True).keep(answer, "token")
    assert "Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_cookie_alone_opens_nothing(browser: Browser, person: str, method: str) -> None:
    answer = browser.http.request(method, "/tokens", json={"name": "stolen"} if method == "POST" else None)
    assert answer.status_code == 401
    assert check_refusal(answer)["code"] == "unauthenticated"


def test_the_key_alone_opens_nothing(server: Served, browser: Browser, person: str) -> None:
    with server.client() as other:
        assert other.get("/me", headers={KEY_HEADER: browser.key}).status_code == 401


def test_the_key_of_another_session_does_not_fit(browser: Browser, person: str, hire: Hire) -> None:
    first = browser.key
    browser.sign_in(hire().name)
    assert browser.http.get("/me", headers={KEY_HEADER: first}).status_code == 401


def test_signing_out_revokes_the_token_itself(server: Served, browser: Browser, person: str) -> None:
    token = next(iter(browser.http.cookies.jar)).value or ""
    with server.client(token) as thief:
        assert thief.get("/me").status_code == 200
        browser.call("DELETE", "/session")
        assert thief.get("/me").status_code == 401


def test_signing_out_twice_is_fine(browser: Browser, person: str) -> None:
    assert [browser.call("DELETE", "/session").status_code for _ in range(2)] == [204, 204]


def test_a_foreign_page_cannot_sign_somebody_out(browser: Browser, person: str) -> None:
    kept = dict(browser.http.cookies)
    browser.http.delete("/session")
    browser.http.cookies.update(kept)
    assert browser.user == person


def test_a_new_password_ends_the_session(browser: Browser, person: str) -> None:
    change = {"old_password": PASSWORD, "new_password": "another long password"}
    assert browser.call("POST", "/me/password", json=change).status_code == 204
    assert browser.user is None


def test_a_session_ends_by_itself(browser: Browser, person: str, clock: FakeClock) -> None:
    clock.advance(SESSION_S + 1)
    assert browser.user is None


def test_a_wrong_password_leaves_no_cookie(browser: Browser, hire: Hire) -> None:
    answer = browser.sign_in(hire().name, "wrong")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_a_token_in_the_header_wins_over_the_session(browser: Browser, person: str, admin: Api) -> None:
    headers = {"Authorization": f"Bearer {admin.token}", KEY_HEADER: browser.key}
    assert browser.http.get("/me", headers=headers).json()["name"] == "admin"
    headers["Authorization"] = "Bearer nonsense"
    assert browser.http.get("/me", headers=headers).status_code == 401


class TestTickets:
    """What lets a browser download by itself."""

    PATH = f"{API}/me"

    @pytest.fixture
    def ticket(self, browser: Browser, person: str) -> str:
        answer = browser.call("POST", "/session/tickets", json={"path": self.PATH})
        assert answer.status_code == 201
        return str(answer.json()["ticket"])

    def test_a_ticket_opens_its_path(self, browser: Browser, person: str, ticket: str) -> None:
        assert browser.http.get("/me", params={"ticket": ticket}).json()["name"] == person

    def test_it_opens_no_other_path(self, browser: Browser, ticket: str) -> None:
        assert browser.http.get("/tokens", params={"ticket": ticket}).status_code == 401

    def test_it_lasts_for_a_minute(self, browser: Browser, ticket: str, clock: FakeClock) -> None:
        clock.advance(TICKET_S + 1)
        assert browser.http.get("/me", params={"ticket": ticket}).status_code == 401

    def test_it_is_worth_nothing_without_the_cookie(self, server: Served, ticket: str) -> None:
        with server.client() as other:
            assert other.get("/me", params={"ticket": ticket}).status_code == 401

    def test_it_changes_nothing(self, browser: Browser, person: str) -> None:
        path = f"{API}/tokens"
        ticket = browser.call("POST", "/session/tickets", json={"path": path}).json()["ticket"]
        answer = browser.http.post("/tokens", params={"ticket": ticket}, json={"name": "x"})
        assert answer.status_code == 401

    @pytest.mark.parametrize("forged", ["", "1", ".", "9999999999.", "9999999999.0", "²³.x", "x.y"])
    def test_a_forged_one_is_refused(self, browser: Browser, person: str, forged: str) -> None:
        assert browser.http.get("/me", params={"ticket": forged}).status_code == 401

    def test_a_caller_with_a_token_needs_none(self, admin: Api) -> None:
        admin.refused("POST", "/session/tickets", 409, says="header", json={"path": self.PATH})
