"""What a secret may hold."""

from __future__ import annotations

import pytest

from footplate.domain.errors import InvalidInput
from footplate.domain.secret import MOST_BYTES, RegistryLogin, check_login, check_value


@pytest.mark.parametrize("value", ["x", "two\nlines\n", "密码", "\t\x1b[0m", "x" * MOST_BYTES])
def test_any_text_can_be_a_value(value: str) -> None:
    check_value(value)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "empty"),
        ("a\0b", "zero byte"),
        ("\ud800", "Unicode"),
        ("x" * (MOST_BYTES + 1), "at most 64KB"),
        ("密" * (MOST_BYTES // 2), "at most 64KB"),
    ],
)
def test_what_no_variable_can_hold_is_refused_without_being_repeated(value: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refusal:
        check_value(value)
    assert refusal.value.problems[0].path == "value"
    assert len(refusal.value.message) < 200


@pytest.mark.parametrize(
    "server", ["docker.io", "registry.example.com:5000", "10.0.0.1:443", "localhost", "a-b.c"]
)
def test_a_registry_is_a_host_with_or_without_a_port(server: str) -> None:
    check_login(RegistryLogin(server, "ada", "pa ss:word"))


@pytest.mark.parametrize(
    "server",
    ["", "https://docker.io", "docker.io/team", "host:0", "host:70000", "host:", "-host", "a b", "ho\nst"],
)
def test_what_is_no_host_is_refused(server: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        check_login(RegistryLogin(server, "ada", "password"))
    assert [problem.path for problem in refusal.value.problems] == ["server"]


def test_everything_wrong_with_a_login_is_said_at_once() -> None:
    with pytest.raises(InvalidInput) as refusal:
        check_login(RegistryLogin("a b", "ada:b", "one\ntwo"))
    assert [problem.path for problem in refusal.value.problems] == ["server", "username", "password"]


def test_a_login_does_not_print_its_password() -> None:
    assert "hunter22" not in repr(RegistryLogin("docker.io", "ada", "hunter22"))
