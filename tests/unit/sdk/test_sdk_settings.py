from __future__ import annotations

import stat
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidInput
from footplate.sdk import settings
from footplate.sdk.errors import NotConfigured
from footplate.sdk.settings import Settings


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"FOOTPLATE_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config"), **more}


def test_arguments_win_over_the_environment(tmp_path: Path) -> None:
    env = environment(tmp_path, FOOTPLATE_URL="http://env:1", FOOTPLATE_TOKEN="e")
    assert settings.find("http://arg:1", "a", environment=env) == Settings("http://arg:1", "a")


def test_inside_a_job_the_environment_is_enough() -> None:
    env = {"FOOTPLATE_URL": "http://10.0.0.1:8080", "FOOTPLATE_TOKEN": "t", "FOOTPLATE_USER": "ada"}
    assert settings.find(environment=env) == Settings("http://10.0.0.1:8080", "t")


def test_user_and_password_come_from_the_environment(tmp_path: Path) -> None:
    env = environment(tmp_path, FOOTPLATE_URL="http://h:1", FOOTPLATE_USER="ada", FOOTPLATE_PASSWORD="pw")
    assert settings.find(environment=env) == Settings("http://h:1", user="ada", password="pw", is_kept=True)


def test_nothing_known_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="footplate up"):
        settings.find(environment=environment(tmp_path))


def test_a_login_is_found_again_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    env = environment(tmp_path)
    path = settings.config_file(env)
    stored = Settings("http://h:1", 'to"ken\\', "ada", token_id="7")
    settings.write(path, stored)
    assert settings.find(environment=env) == stored
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_password_is_never_stored(tmp_path: Path) -> None:
    settings.write(tmp_path / "f", Settings("http://h:1", "t", "ada", password="pw"))
    assert "pw" not in (tmp_path / "f").read_text()


def test_the_home_of_a_server_on_this_machine_is_found(tmp_path: Path) -> None:
    env = environment(tmp_path)
    settings.write(settings.home_file(None, env), Settings("http://127.0.0.1:9", "local"))
    assert settings.find(environment=env).token == "local"


def test_a_home_named_on_purpose_wins_over_a_login(tmp_path: Path) -> None:
    env = environment(tmp_path)
    settings.write(settings.config_file(env), Settings("http://far:1", "far"))
    settings.write(settings.home_file(None, env), Settings("http://127.0.0.1:9", "local"))
    assert settings.find(environment=env).token == "local"


def test_a_stored_token_is_not_sent_to_another_server(tmp_path: Path) -> None:
    env = environment(tmp_path)
    settings.write(settings.config_file(env), Settings("http://h:1", "secret"))
    assert settings.find("http://evil:1", environment=env).token == ""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("host:8080", "http://host:8080"),
        ("http://host:8080/", "http://host:8080"),
        ("https://host/footplate/api/v1/", "https://host/footplate"),
    ],
)
def test_addresses_are_brought_into_one_form(written: str, meant: str) -> None:
    assert settings.normalize(written) == meant


@pytest.mark.parametrize("written", ["ftp://host", "http://", "http://host:port", "http://host:99999"])
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(InvalidInput, match="http://host:port"):
        settings.normalize(written)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "client.toml").write_text("url = ")
    with pytest.raises(InvalidInput, match=r"client.toml cannot be read"):
        settings.read(tmp_path / "client.toml")
