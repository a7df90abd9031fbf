"""Settings as admins read them."""

from __future__ import annotations

from pathlib import Path

from footplate.server.settings import FILE, Settings, load
from footplate.server.shownsettings import shown


def test_all_settings_are_shown_but_those_with_passwords() -> None:
    names = {one["name"] for one in shown(Settings(Path("/home")))}
    assert names == {field.name for field in FILE.fields} - {"database_url"}


def test_a_value_is_as_the_file_has_it_and_marked_where_it_differs() -> None:
    found = {one["name"]: one for one in shown(Settings(Path("/home"), trash_kept_s=7200.0))}
    assert (found["trash_kept"]["value"], found["trash_kept"]["is_default"]) == ("2h", False)
    assert (found["log_cap"]["value"], found["log_cap"]["is_default"]) == ("4GB", True)


def test_credentials_in_addresses_are_left_out() -> None:
    settings = Settings(Path("/home"), public_url="https://ann:hush@example.com/x")
    found = {one["name"]: one["value"] for one in shown(settings)}
    assert found["public_url"] == "https://example.com/x"


def test_each_setting_says_where_it_comes_from(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('host = "0.0.0.0"\nport = 1\ntrash_kept = "2h"\n')
    environment = {"FOOTPLATE_HOST": "127.0.0.2", "FOOTPLATE_PORT": "2"}
    settings = load(tmp_path, environment, port=3, public_url=None)
    found = {one["name"]: (one["value"], one["source"]) for one in shown(settings)}
    assert found["trash_kept"] == ("2h", "file")
    assert found["host"] == ("127.0.0.2", "FOOTPLATE_HOST")
    assert found["port"] == (3, "command_line")
    assert found["public_url"] == ("", "default")
