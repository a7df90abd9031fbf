"""The service that the command installs: what it would do, what systemd says of it, and what it refuses."""

from __future__ import annotations

import grp
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from commandline import Command

from footplate.cli.main import run
from footplate.cli.serviceplan import Plan, Wish, install, settings_text, uninstall, unit_text
from footplate.engines.local.confine.delegation import OWN_GROUP
from footplate.server.settings import load
from footplate.testing.process import FOOTPLATE


def wish(**changes: object) -> Wish:
    values = {
        "name": "footplate",
        "user": "footplate",
        "home": Path("/var/lib/footplate"),
        "program": FOOTPLATE,
    }
    return Wish(**{**values, **changes})  # type: ignore[arg-type]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


def test_a_stop_of_the_service_leaves_tasks_alone_and_it_may_make_control_groups() -> None:
    lines = unit_text(wish()).splitlines()
    assert "KillMode=process" in lines
    assert "Delegate=yes" in lines
    assert "OOMPolicy=continue" in lines
    assert f"DelegateSubgroup={OWN_GROUP}" in lines
    assert "User=footplate" in lines


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"groups": ("root", "nogroup")},
        {"home": Path("/srv/with space/100%")},
        {"user": "root", "name": "train"},
    ],
)
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path, changes: dict[str, object]) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed: the package is called `systemd`")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    version = int(said.split()[1])
    # An account that is on every machine stands for ours.
    asked = wish(**{"user": "daemon", "systemd_version": version, **changes})
    unit = tmp_path / asked.unit.name
    unit.write_text(unit_text(asked))
    done = subprocess.run([program, "verify", unit], capture_output=True, text=True, check=False)
    about_it = [line for line in done.stderr.splitlines() if asked.unit.name in line]
    assert (done.returncode, about_it) == (0, []), done.stderr


def test_with_an_older_systemd_the_server_takes_a_group_of_its_own_and_then_the_account() -> None:
    old = unit_text(wish(systemd_version=252))
    assert "DelegateSubgroup" not in old
    assert "User=" not in old
    assert "up --home /var/lib/footplate --account footplate\n" in old
    assert "Delegate=yes" in old
    assert "--account" not in unit_text(wish())


def test_further_groups_are_given_to_the_account() -> None:
    commands = install(wish(groups=("video", "ssl-cert")), has_account=True).before
    assert commands[0] == ["usermod", "--append", "--groups", "video,ssl-cert", "footplate"]


def test_an_account_that_is_there_is_not_made_again() -> None:
    made = [command[0] for command in install(wish(), has_account=False).before]
    assert made == ["useradd", "install"]
    assert [command[0] for command in install(wish(), has_account=True).before] == ["install"]
    assert [command[0] for command in install(wish(user="root"), has_account=False).before] == ["install"]


def test_the_settings_say_what_was_asked_and_a_server_reads_them(tmp_path: Path) -> None:
    asked = wish(
        host="0.0.0.0",
        port=443,
        public_url="https://train.example.org",
        tls_cert="/etc/footplate/cert.pem",
        tls_key="/etc/footplate/key.pem",
    )
    (tmp_path / "settings.toml").write_text(settings_text(asked))
    read = load(tmp_path, {})
    assert (read.host, read.port, read.url) == ("0.0.0.0", 443, "https://train.example.org")
    assert read.tls_files == (Path("/etc/footplate/cert.pem"), Path("/etc/footplate/key.pem"))
    (tmp_path / "settings.toml").write_text(settings_text(wish()))
    assert load(tmp_path, {}).url == "http://127.0.0.1:8750"


def test_a_dry_run_prints_every_step_and_does_none(command: Command, tmp_path: Path) -> None:
    result = command("install-service", "--dry-run", "--user", "trainer", "--home", str(tmp_path / "home"))
    assert result.exit_code == 0
    for words in ("$ useradd --system", "KillMode=process", "$ systemctl enable --now footplate.service"):
        assert words in result.out
    assert list(tmp_path.iterdir()) == []
    plan = json.loads(command("install-service", "--dry-run", "--json").out)
    assert plan["files"][1]["path"] == "/etc/systemd/system/footplate.service"


def test_a_package_gets_the_files_below_a_folder_of_its_own(command: Command, tmp_path: Path) -> None:
    words = ("install-service", "--destdir", str(tmp_path), "--user", "root", "--home", "/srv/footplate")
    result = command(*words)
    assert result.exit_code == 0, result.err
    unit = tmp_path / "etc/systemd/system/footplate.service"
    settings = tmp_path / "srv/footplate/settings.toml"
    assert "--home /srv/footplate" in unit.read_text()
    assert unit.stat().st_mode & 0o777 == 0o644
    assert settings.stat().st_mode & 0o777 == 0o600
    assert "still to do: systemctl daemon-reload" in result.out
    settings.write_text("port = 9000\n")
    assert "exists and was left unchanged" in command(*words).out
    assert settings.read_text() == "port = 9000\n"


def test_taking_away_what_is_half_gone_goes_on(tmp_path: Path) -> None:
    from footplate.cli import service

    unit = tmp_path / "footplate.service"
    unit.touch()
    is_tolerant = uninstall(wish(), has_account=True).is_tolerant
    plan = Plan(before=(["false"], ["rm", "-f", str(unit)]), is_tolerant=is_tolerant)
    service._carry_out(plan, None, service.Say(False))
    assert not unit.exists()
    with pytest.raises(service.click.ClickException, match="`false` failed with exit code 1"):
        service._carry_out(Plan(before=(["false"],)), None, service.Say(False))


def test_taking_the_service_away_leaves_data_and_says_how_to_remove_it(command: Command) -> None:
    plan = uninstall(wish(), has_account=True)
    assert plan.before[0] == ["systemctl", "disable", "--now", "footplate.service"]
    assert not any("/var/lib/footplate" in word for one in (*plan.before, *plan.after) for word in one)
    assert plan.notes[0].endswith("rm -rf /var/lib/footplate; userdel footplate")
    result = command("install-service", "--uninstall", "--dry-run")
    assert "rm -rf /var/lib/footplate" in result.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--tls-cert", "/c.pem"), "a certificate needs its key"),
        (("--tls-cert", "c.pem", "--tls-key", "/k.pem"), "give an absolute path"),
        (("--user", "a b"), "cannot be a name"),
        (("--name", "x\nExecStart=/bin/sh"), "cannot be a name"),
        (("--group", "docker,root"), "cannot be a name"),
    ],
)
def test_odd_wishes_are_refused(command: Command, words: tuple[str, ...], says: str) -> None:
    result = command("install-service", "--dry-run", *words)
    assert result.exit_code == 2
    assert says in result.err


def test_a_program_that_the_account_cannot_reach_is_refused_with_what_to_do(tmp_path: Path) -> None:
    from footplate.cli import service

    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "footplate"
    program.touch()
    with pytest.raises(service.click.ClickException, match=f"cannot enter {closed}.*/opt/footplate"):
        service._refuse_unreachable(wish(program=program))
    service._refuse_unreachable(wish(program=program, user="root"))


def test_without_systemd_or_root_nothing_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    if Path("/run/systemd/system").is_dir() and os.geteuid() == 0:
        pytest.skip("this machine runs systemd, and we are root: it would be installed")
    assert run(["install-service"]) == 1
    said = capsys.readouterr().err
    assert "does not run systemd" in said or "only root can do that: sudo" in said


def test_a_key_that_the_account_cannot_read_is_refused_with_what_to_do(tmp_path: Path) -> None:
    from footplate.cli import service

    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid():
            folder.chmod(folder.stat().st_mode | 0o011)
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.touch(0o644)
    key.touch(0o640)
    pair = {"tls_cert": str(cert), "tls_key": str(key)}
    with pytest.raises(service.click.ClickException, match=f"cannot read {key}: it has no access to {key}"):
        service._refuse_unreadable(wish(user="nobody-there", **pair))
    group = grp.getgrgid(key.stat().st_gid).gr_name
    service._refuse_unreadable(wish(user="nobody-there", groups=(group,), **pair))
    service._refuse_unreadable(wish(user="root", **pair))
    with pytest.raises(service.click.ClickException, match="No such file"):
        service._refuse_unreadable(wish(**{**pair, "tls_key": "/nowhere/key.pem"}))


def test_only_an_account_that_is_there_and_not_roots_is_named_for_removal() -> None:
    assert "userdel footplate" in uninstall(wish(), has_account=True).notes[0]
    assert "userdel" not in uninstall(wish(), has_account=False).notes[0]
    assert "userdel" not in uninstall(wish(user="root"), has_account=True).notes[0]


def test_an_account_for_all_tasks_is_told_with_the_way_to_accounts_for_each_person() -> None:
    assert any("--user root" in note for note in install(wish(), has_account=True, is_started=True).notes)
    as_root = install(wish(user="root"), has_account=True, is_started=True)
    assert not any("--user root" in note for note in as_root.notes)
