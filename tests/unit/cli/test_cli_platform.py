from __future__ import annotations

import dataclasses
import io
import json
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from commandline import Command

from footplate import __version__
from footplate.cli.topics import TOPICS
from footplate.cli.verbs import BY_NAME, MEANT, VERBS
from footplate.domain.messages import say
from footplate.sdk import settings
from footplate.server.settings import Settings
from footplate.testing.fake_server import FakeServer, Reply, error, job
from footplate.wire.told import told

NOTHING = {"cpus": 0, "memory_bytes": 0, "gpus": 0}
QUEUE: dict[str, Any] = {
    "name": "default",
    "description": "for all",
    "share": NOTHING,
    "maximum": None,
    "nodes": [],
    "is_open": True,
    "engine": "",
    "engine_problem": None,
    "is_shared": False,
    "warnings": [],
    "used": {"cpus": 1.5, "memory_bytes": 1024**3, "gpus": 2},
    "n_running": 1,
    "n_waiting": 2,
    "my_role": "member",
}
ME = {"name": "ada", "is_admin": True, "queues": [{"name": "default", "role": "member"}]}


def test_help_lists_every_verb_with_an_example(footplate: Command) -> None:
    out = footplate("help").out
    for verb in VERBS:
        assert verb.summary in out
        assert verb.example in out


def test_every_verb_is_listed_under_one_topic() -> None:
    listed = [name for topic in TOPICS for name in topic.verbs]
    assert sorted(listed) == sorted(verb.name for verb in VERBS)


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_verb_explains_itself_and_offers_json(footplate: Command, verb: str) -> None:
    result = footplate("help", verb)
    assert result.exit_code == 0
    assert f"Usage: footplate {verb}" in result.out
    # What these print is somebody else's, or for a terminal.
    plain = ("up", "completion", "cat", "shell", "redirect", "run-local", "ssh", "ssh-config")
    assert ("--json" in result.out) is (verb not in plain)


def test_help_reaches_verbs_below_verbs(footplate: Command) -> None:
    assert "Usage: footplate queues create" in footplate("help", "queues", "create").out
    assert footplate("help", "queues", "mend").exit_code == 2
    assert footplate("help", "show", "more").exit_code == 2
    assert [one["verb"] for one in json.loads(footplate("help", "train", "--json").out)] == ["submit"]


def test_examples_name_the_port_that_is_the_default(footplate: Command) -> None:
    (port,) = (field.default for field in dataclasses.fields(Settings) if field.name == "port")
    assert f"footplate login http://host:{port}" in footplate("help").out


def test_a_misspelt_verb_is_a_usage_error_with_a_guess(footplate: Command) -> None:
    result = footplate("sumbit")
    assert result.exit_code == 2
    assert "did you mean `footplate submit`?" in result.err


def test_a_word_of_another_system_leads_to_the_verb(footplate: Command) -> None:
    assert "did you mean `footplate list`?" in footplate("squeue").err
    assert set(MEANT.values()) <= set(BY_NAME)
    assert not set(MEANT) & set(BY_NAME)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("queues", "add"), "create"),
        (("users", "rm"), "delete"),
        (("secrets", "create"), "set"),
        (("tokens", "delete"), "revoke"),
        (("models", "environments", "remove"), "delete"),
    ],
)
def test_other_words_below_a_verb_mean_the_same(
    footplate: Command, typed: tuple[str, ...], meant: str
) -> None:
    shown = footplate(*typed, "--help").out.partition("\n\n")[2]
    assert shown == footplate(*typed[:-1], meant, "--help").out.partition("\n\n")[2]


def test_what_is_known_to_no_verb_below_is_refused(footplate: Command) -> None:
    result = footplate("queues", "frobnicate")
    assert (result.exit_code, "frobnicate" in result.err) == (2, True)


@pytest.mark.alone
def test_version_is_quick_and_loads_neither_network_nor_tables() -> None:
    program = (
        "import sys; from footplate.cli.main import run; code = run(['version']);"
        "heavy = {'httpx', 'yaml', 'rich', 'fastapi', 'sqlalchemy'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    fastest = bare = 1e9
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", ""], check=True)
        bare = min(bare, time.perf_counter() - began)
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        fastest = min(fastest, time.perf_counter() - began)
        assert done.stdout == f"footplate {__version__}\n"
    # Beyond what an interpreter takes on this machine, as busy as it is.
    assert fastest - bare < 0.12


def test_a_list_loads_only_what_a_list_needs(server: FakeServer) -> None:
    server.on("GET /jobs", {"items": [job()], "next_page_token": None})
    program = (
        "import sys; from footplate.cli.main import run; code = run(['list']);"
        "heavy = {'yaml', 'pydantic', 'fastapi', 'sqlalchemy', 'tarfile'};"
        "heavy |= {'footplate.wire.documents', 'footplate.domain.specfields', 'footplate.cli.follow'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules); sys.exit(code)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_version_can_ask_the_server(server: FakeServer, footplate: Command) -> None:
    server.on("GET /version", {"version": "9.9", "api": "v1"})
    assert "server    9.9 (API v1)" in footplate("version", "--server").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(footplate: Command, shell: str) -> None:
    assert "_FOOTPLATE_COMPLETE" in footplate("completion", shell).out


def test_job_names_complete(server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    server.on("GET /jobs", {"items": [job(), job(name="other")], "next_page_token": None})
    monkeypatch.setenv("COMP_WORDS", "footplate show di")
    monkeypatch.setenv("COMP_CWORD", "2")
    monkeypatch.setenv("_FOOTPLATE_COMPLETE", "bash_complete")
    with pytest.raises(SystemExit):
        footplate("show")
    assert footplate._capture.readouterr().out == "plain,digits\n"


def test_no_server_is_one_line_with_what_to_do(footplate: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTPLATE_URL", "http://127.0.0.1:1")
    result = footplate("list")
    assert result.exit_code == 1
    assert result.err.startswith(
        "error: cannot reach the Footplate server at http://127.0.0.1:1; is it running?"
    )
    assert result.err.endswith("Start it with `footplate up`\n")


def test_login_remembers_server_and_token_and_logout_revokes_it(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOOTPLATE_TOKEN")
    monkeypatch.delenv("FOOTPLATE_URL")
    monkeypatch.setenv("FOOTPLATE_PASSWORD", "pw")
    server.on("GET /version", {"version": "1", "api": "v1"})
    server.on("POST /login", {"token": "tok", "id": "7", "user": "ada", "expires_at": None})
    assert f"Logged in at {server.url} as ada" in footplate("login", server.url, "-u", "ada").out
    assert server.requests("POST /login")[0].json["password"] == "pw"
    path = settings.config_file()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.delenv("FOOTPLATE_PASSWORD")
    server.on("GET /me", ME)
    assert "ada (admin)" in footplate("whoami").out
    assert server.requests("GET /me")[0].headers["authorization"] == "Bearer tok"
    server.on("DELETE /tokens/7", Reply(204))
    assert footplate("logout").exit_code == 0
    assert not path.exists()
    assert len(server.requests("DELETE /tokens/7")) == 1


def test_a_wrong_password_stores_nothing(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTPLATE_PASSWORD", "wrong")
    monkeypatch.delenv("FOOTPLATE_TOKEN")
    server.on("GET /version", {"version": "1", "api": "v1"})
    server.on("POST /login", error("unauthenticated", "user or password is wrong", 401))
    result = footplate("login", "-u", "ada")
    assert (result.exit_code, result.out) == (1, "")
    assert "user or password is wrong" in result.err
    assert not settings.config_file().exists()


def test_queues_and_nodes_are_readable(server: FakeServer, footplate: Command) -> None:
    gpu = {"index": 0, "type": "H100", "memory_bytes": 1, "job_id": None, "in_use_by_others": False}
    node = {
        "name": "here",
        "address": "127.0.0.1",
        "engine": "local",
        "cpus": 8,
        "memory_bytes": 1024**3,
        "gpus": [gpu, {**gpu, "index": 1}],
        "is_schedulable": True,
        "free": {"cpus": 2.5, "memory_bytes": 0, "gpus": 1},
    }
    server.on("GET /queues", {"items": [QUEUE]})
    server.on("GET /nodes", {"items": [node]})
    assert "1.5 CPU, 1GB, 2 GPU" in footplate("queues").out
    assert "2 x H100" in footplate("nodes").out
    assert "ENGINE" not in footplate("nodes").out
    server.on("GET /nodes", {"items": [node, {**node, "name": "there", "engine": "far"}]})
    assert [line.split()[:2] for line in footplate("nodes").out.splitlines()] == [
        ["ENGINE", "NAME"],
        ["local", "here"],
        ["far", "there"],
    ]
    assert json.loads(footplate("queues", "--json").out) == {"items": [QUEUE]}
    assert json.loads(footplate("queues", "list", "--json").out) == {"items": [QUEUE]}


def test_one_node_is_shown_with_its_use_cards_and_tasks(server: FakeServer, footplate: Command) -> None:
    gpu = {"index": 0, "type": "H100", "memory_bytes": 2**30, "in_use_by_others": False}
    node = {
        "name": "here",
        "address": "127.0.0.1",
        "cpus": 8,
        "memory_bytes": 2**30,
        "gpus": [{**gpu, "job_id": "2me2et0rs812"}, {**gpu, "index": 1, "job_id": None}],
        "cards": [{"index": 0, "utilisation": 0.5, "memory_bytes": 2**20, "power_w": 310.4}],
        "is_schedulable": False,
        "drained_by": "ada",
        "free": {"cpus": 2.5, "memory_bytes": 0, "gpus": 1},
        "n_hidden_tasks": 2,
        "tasks": [
            {
                "job_id": "2me2et0rs812",
                "job_name": "digits",
                "owner": "ada",
                "queue": "default",
                "state": "RUNNING",
                "task": "worker-0",
                "resources": {"cpus": 2, "memory_bytes": 2**20, "gpus": 1},
                "gpus": [0],
            }
        ],
    }
    names = ("gpu_utilisation", "power_w", "read_bytes_s", "written_bytes_s", "sent_bytes_s")
    point = {**dict.fromkeys(names), "cpus": 1.5, "memory_bytes": 2**29, "received_bytes_s": 2048.0}
    server.on("GET /nodes/here", node)
    server.on("GET /nodes/here/usage", {"node": "here", "card": None, "points": [point]})
    for words in (("nodes", "here"), ("nodes", "show", "here")):
        out = footplate(*words).out
        assert "no, drained by ada" in out
        assert "1.5, peak 1.5 of 8" in out
        assert "0 H100, 50%, 1MB, 310W, 2me2et0rs812" in out
        assert "1 H100, free" in out
        assert "digits (2me2et0rs812)" in out
        assert "2KB/s" in out
        assert "2 more tasks" in out
        assert "Power" not in out
    told = json.loads(footplate("nodes", "here", "--json").out)
    assert told == {**node, "usage": [point]}


def test_a_queue_is_made_with_its_share(server: FakeServer, footplate: Command) -> None:
    server.on("POST /queues", Reply(201, QUEUE))
    arguments = ("--share", "cpus=8,memory=32GB,gpus=1", "--maximum", "none", "--node", "a", "--closed")
    assert footplate("queues", "create", "vision", *arguments).exit_code == 0
    assert server.asked[0].json == {
        "name": "vision",
        "share": {"cpus": 8.0, "memory_bytes": 32 * 1024**3, "gpus": 1},
        "maximum": None,
        "nodes": ["a"],
        "is_open": False,
    }
    assert footplate("queues", "create", "x", "--share", "cpus=many").exit_code == 2
    assert footplate("queues", "create", "x", "--share", "memory=much").exit_code == 2


def test_a_queue_that_cannot_mean_what_it_says_is_warned_of(server: FakeServer, footplate: Command) -> None:
    unknown = told(say("queue_nodes_unknown", nodes=["b"], known=["a"]))
    server.on("POST /queues", Reply(201, {**QUEUE, "warnings": [unknown]}))
    made = footplate("queues", "create", "vision", "--node", "b")
    assert made.exit_code == 0
    assert "Created queue vision." in made.out
    assert "warning: no such node now: b; known: a" in made.err


def test_a_queue_is_bound_to_an_engine_and_says_so(server: FakeServer, footplate: Command) -> None:
    server.on("POST /queues", Reply(201, QUEUE))
    server.on("PATCH /queues/vision", QUEUE)
    footplate("queues", "create", "vision", "--engine", "slurm")
    footplate("queues", "edit", "vision", "--engine", "none")
    assert [one.json["engine"] for one in server.asked] == ["slurm", ""]
    server.on("GET /queues", {"items": [QUEUE]})
    assert "ENGINE" not in footplate("queues").out
    away = {"message": "engine slurm is gone", "message_code": "", "params": {}}
    server.on("GET /queues", {"items": [{**QUEUE, "engine": "slurm", "engine_problem": away}]})
    header, line = footplate("queues").out.splitlines()
    assert header.endswith("ENGINE")
    assert line.endswith("slurm (engine slurm is gone)")


def test_a_queue_limits_only_what_its_maximum_names(server: FakeServer, footplate: Command) -> None:
    server.on("POST /queues", Reply(201, QUEUE))
    footplate("queues", "create", "vision", "--maximum", "gpus=1")
    assert server.asked[0].json == {"name": "vision", "maximum": {"gpus": 1}}


@pytest.mark.parametrize(
    ("maximum", "shown"),
    [
        (None, "unlimited"),
        ({"cpus": None, "memory_bytes": None, "gpus": None}, "unlimited"),
        ({"cpus": None, "memory_bytes": None, "gpus": 0}, "0 GPU"),
        ({"cpus": 8, "memory_bytes": 1024**3, "gpus": None}, "8 CPU, 1GB"),
    ],
)
def test_a_maximum_is_shown_as_far_as_there_is_one(
    server: FakeServer, footplate: Command, maximum: dict[str, Any] | None, shown: str
) -> None:
    server.on("GET /queues", {"items": [{**QUEUE, "maximum": maximum}]})
    assert f"none   {shown} " in footplate("queues").out


def test_json_may_be_asked_for_before_the_verb_below(server: FakeServer, footplate: Command) -> None:
    server.on("GET /queues/vision/members", {"items": []})
    assert json.loads(footplate("queues", "--json", "members", "vision").out) == {"items": []}


def test_members_are_let_in_and_out(server: FakeServer, footplate: Command) -> None:
    server.on("PUT /queues/vision/members/eve", Reply(204))
    server.on("DELETE /queues/vision/members/eve", Reply(204))
    assert (
        "eve now has the role viewer in queue vision"
        in footplate("queues", "grant", "vision", "eve", "viewer").out
    )
    assert "no longer" in footplate("queues", "revoke", "vision", "eve").out


def test_summary_counts(server: FakeServer, footplate: Command) -> None:
    server.on(
        "GET /summary",
        {
            "jobs": {"QUEUED": 2, "RUNNING": 1, "STOPPING": 0},
            "finished_today": {"SUCCEEDED": 5, "FAILED": 0, "STOPPED": 0},
            "resources": {"total": {"cpus": 8, "memory_bytes": 1024**3, "gpus": 0}, "used": NOTHING},
            "queues": [],
        },
    )
    out = footplate("summary").out
    assert "2 QUEUED, 1 RUNNING" in out
    assert "5 SUCCEEDED" in out
    assert "0 of 8 in use" in out


def test_tokens_and_users_are_managed(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("POST /tokens", Reply(201, {"id": "1", "name": "ci", "token": "once"}))
    assert footplate("tokens", "create", "ci", "--expires", "30d").out == "once\n"
    assert server.asked[-1].json == {"name": "ci", "expires_in_s": 30 * 86400}
    server.on("DELETE /tokens/1", Reply(204))
    assert footplate("tokens", "revoke", "1").exit_code == 0
    server.on("POST /users", Reply(201, {"name": "eve"}))
    monkeypatch.setattr("sys.stdin", io.StringIO("pw\n"))
    assert footplate("users", "add", "eve", "--password-stdin", "--admin").exit_code == 0
    assert server.asked[-1].json == {"name": "eve", "password": "pw", "is_admin": True}
    server.on("GET /users", error("denied", "only an admin may list users", 403))
    assert footplate("users").err == "error: only an admin may list users\n"


def test_users_are_listed_with_their_queues_and_who_is_locked_out(
    server: FakeServer, footplate: Command
) -> None:
    queues = [{"name": "default", "role": "member"}, {"name": "vision", "role": "viewer"}]
    eve = {
        "name": "eve",
        "is_admin": False,
        "is_enabled": False,
        "created_at": "2026-11-15T08:00:00Z",
        "full_name": "Eve",
        "email": "eve@example.org",
        "last_seen_at": None,
        "queues": queues,
    }
    server.on("GET /users", {"items": [eve]})
    header, line = footplate("users").out.splitlines()
    assert header.split("  ")[0] == "NAME"
    assert line.split()[:5] == ["eve", "Eve", "eve@example.org", "no", "never"]
    assert line.endswith("default (member), vision (viewer)")


def test_a_user_is_locked_out_and_let_in_again(server: FakeServer, footplate: Command) -> None:
    server.on("PATCH /users/eve", {"name": "eve"})
    assert footplate("users", "edit", "eve").exit_code == 2
    for option, is_enabled in (("--disable", False), ("--enable", True)):
        assert footplate("users", "edit", "eve", option).exit_code == 0
        assert server.asked[-1].json == {"is_enabled": is_enabled}


def test_a_user_gets_a_full_name_and_an_address(server: FakeServer, footplate: Command) -> None:
    server.on("PATCH /users/eve", {"name": "eve"})
    assert footplate("users", "edit", "eve", "--full-name", "Eve", "--email", "e@x.org").exit_code == 0
    assert server.asked[-1].json == {"full_name": "Eve", "email": "e@x.org"}


def test_a_new_password_renews_the_login_whose_token_it_revokes(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOOTPLATE_TOKEN")
    settings.write(settings.config_file(), settings.Settings(server.url, "old", "ada", token_id="1"))
    server.on("GET /me", ME)
    server.on("POST /me/password", Reply(204))
    server.on("POST /login", {"token": "new", "id": "2", "user": "ada", "expires_at": None})
    monkeypatch.setenv("FOOTPLATE_NEW_PASSWORD", "battery staple")
    monkeypatch.setenv("FOOTPLATE_PASSWORD", "correct horse")
    result = footplate("password")
    assert "This login was renewed" in result.out
    body = {"old_password": "correct horse", "new_password": "battery staple"}
    assert server.requests("POST /me/password")[0].json == body
    assert server.requests("POST /login")[0].json["password"] == "battery staple"
    assert settings.read(settings.config_file()) == settings.Settings(server.url, "new", "ada", token_id="2")


def test_a_new_password_for_a_token_from_the_environment_asks_for_a_login(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("GET /me", ME)
    server.on("POST /me/password", Reply(204))
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\nbattery staple\n"))
    result = footplate("password", "--password-stdin")
    body = {"old_password": "correct horse", "new_password": "battery staple"}
    assert server.requests("POST /me/password")[0].json == body
    assert "Log in again with `footplate login`" in result.out
    assert not server.requests("POST /login")


def test_output_that_nobody_reads_any_more_ends_quietly(server: FakeServer, tmp_path: Path) -> None:
    server.on("GET /jobs", {"items": [job(name=f"j{i}") for i in range(2000)], "next_page_token": None})
    line = f"{sys.executable} -c 'from footplate.cli.main import main; main()' list --all | head -1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_storages_are_listed_with_what_tasks_may_do(server: FakeServer, footplate: Command) -> None:
    sets = {"name": "sets", "kind": "folder", "description": "Digits", "read_only": True, "queues": []}
    sets |= {"per_user": False, "origin": "settings"}
    scratch = {**sets, "name": "scratch", "read_only": False, "queues": ["vision", "speech"]}
    server.on("GET /storages", {"items": [sets, scratch]})
    lines = footplate("storages").out.splitlines()
    assert lines[1].split() == ["sets", "folder", "read-only", "all", "settings", "Digits"]
    assert "read-write" in lines[2]
    assert "vision, speech" in lines[2]
