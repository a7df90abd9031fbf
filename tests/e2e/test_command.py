"""The real command against a real server: what a user types in the first hour, and what they see."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from footplate.testing.process import FOOTPLATE, ServerProcess, await_that, processes_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def shown(server: ServerProcess, job: str) -> dict[str, object]:
    result = server.command("show", job, "--json")
    assert result.returncode == 0, result.stderr
    view: dict[str, object] = json.loads(result.stdout)
    return view


def test_hello_world_is_followed_to_its_end(server: ServerProcess) -> None:
    result = server.command("submit", "--name", "hello", "--follow", "--", "echo", "hello world")
    assert result.returncode == 0, result.stderr
    assert "hello world" in result.stdout
    assert "SUCCEEDED" in result.stdout + result.stderr


def test_after_submit_the_next_commands_are_printed(server: ServerProcess) -> None:
    result = server.command("submit", "--name", "next", "--", "true")
    for verb in ("footplate logs -f", "footplate show", "footplate stop"):
        assert verb in result.stdout + result.stderr


def test_following_a_job_that_fails_exits_with_its_code(server: ServerProcess) -> None:
    result = server.command("submit", "--name", "exit-7", "--follow", "--", "exit 7")
    assert result.returncode == 7
    view = shown(server, "exit-7")
    assert view["state"] == "FAILED"
    assert "exited with code 7" in str(view["reason"])


def test_several_lines_stop_at_the_first_that_fails(server: ServerProcess) -> None:
    result = server.command("submit", "--name", "lines", "--follow", "--", "echo one\nfalse\necho two")
    assert result.returncode == 1
    log = server.command("logs", "lines")
    assert log.stdout == "one\n"


@pytest.mark.parametrize(
    ("example", "says"), [("hello", ""), ("digits", "test accuracy"), ("parameter-server", "")]
)
def test_the_examples_run_to_success(server: ServerProcess, example: str, says: str) -> None:
    result = server.command("submit", str(EXAMPLES / example / "job.yaml"), "--again", "--follow", timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr
    assert says in result.stdout


def test_digits_reaches_a_good_accuracy(server: ServerProcess) -> None:
    result = server.command(
        "submit", str(EXAMPLES / "digits" / "job.yaml"), "-n", "accurate", "-f", timeout=60
    )
    line = next(line for line in result.stdout.splitlines() if "test accuracy" in line)
    assert float(line.rpartition(" ")[2]) > 0.94


def test_an_interrupt_of_a_follow_leaves_the_job_running(server: ServerProcess) -> None:
    words = [FOOTPLATE, "submit", "--name", "goes-on", "--follow", "--", "echo started; sleep 60"]
    follow = subprocess.Popen(
        words, env=server.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert follow.stdout is not None
    printed = ""
    while "started\n" not in printed:
        printed += follow.stdout.readline()
    follow.send_signal(signal.SIGINT)
    rest = follow.communicate(timeout=10)[0]
    assert follow.returncode == 130
    assert "goes on" in rest
    assert shown(server, "goes-on")["state"] == "RUNNING"
    assert server.command("stop", "goes-on").returncode == 0
    await_that(lambda: shown(server, "goes-on")["state"] == "STOPPED", 15)


def test_a_stopped_job_leaves_no_process_not_even_a_daemon(server: ServerProcess) -> None:
    command = "(setsid sleep 300 &) ; setsid -f sleep 300; trap '' TERM; echo up; while :; do sleep 1; done"
    server.command("submit", "--name", "stubborn", "--", command)
    job_id = str(shown(server, "stubborn")["id"])
    await_that(lambda: server.command("logs", "stubborn").stdout == "up\n", 15)
    view = json.loads(server.command("show", "stubborn", "--json").stdout)
    assert view["state"] == "RUNNING"
    server.command("delete", "stubborn", "--yes", "--for-good")
    await_that(lambda: "no job" in server.command("show", job_id).stderr, 30)
    await_that(lambda: not _of_job(server, job_id), 5, "nothing of the job is left")
    assert not list(server.home.glob(f"jobs/*/{job_id}"))


def _of_job(server: ServerProcess, job_id: str) -> list[int]:
    found = []
    for pid in processes_of(server.home):
        try:
            if job_id.encode() in Path(f"/proc/{pid}/environ").read_bytes():
                found.append(pid)
        except OSError:
            continue
    return found


def test_the_time_limit_stops_a_job_with_that_reason(server: ServerProcess, tmp_path: Path) -> None:
    job = tmp_path / "limit.yaml"
    job.write_text("name: limited\ncommand: sleep 60\ntime_limit: 1s\ngrace: 1s\n")
    result = server.command("submit", str(job), "--follow", timeout=30)
    assert result.returncode != 0
    view = shown(server, "limited")
    assert (view["state"], view["reason"]["code"]) == ("STOPPED", "time_limit")  # type: ignore[index]


def test_jobs_wait_for_cards_say_why_and_start_when_they_are_free(
    server: ServerProcess, tmp_path: Path
) -> None:
    big = tmp_path / "big.yaml"
    big.write_text("name: holds-three\ncommand: sleep 60\ngpus: 3\ngrace: 0s\n")
    assert server.command("submit", str(big)).returncode == 0
    await_that(lambda: shown(server, "holds-three")["state"] == "RUNNING", 10)
    small = tmp_path / "small.yaml"
    small.write_text("name: needs-two\ncommand: echo cards $CUDA_VISIBLE_DEVICES\ngpus: 2\n")
    server.command("submit", str(small))

    def looked_at() -> dict[str, object] | None:
        found = shown(server, "needs-two")
        return None if found["reason"]["code"] == "submitted" else found  # type: ignore[index]

    view = await_that(looked_at, what="the scheduler has looked at it")
    assert view["state"] == "QUEUED"
    reason = view["reason"]
    assert reason["code"] == "insufficient_resources"  # type: ignore[index]
    assert "2 GPUs" in reason["message"]  # type: ignore[index]
    assert "1" in reason["message"]  # type: ignore[index]
    server.command("stop", "holds-three")
    await_that(lambda: shown(server, "needs-two")["state"] == "SUCCEEDED", 15)
    cards = server.command("logs", "needs-two").stdout.split()[1].split(",")
    assert len(set(cards)) == 2


def test_what_can_never_fit_is_refused_with_the_numbers(server: ServerProcess) -> None:
    result = server.command("submit", "--name", "huge", "--gpus", "5", "--", "true")
    assert result.returncode == 1
    assert "5 GPUs" in result.stderr
    assert "4" in result.stderr
    assert "no job" in server.command("show", "huge").stderr


def test_an_image_is_refused_at_submit_as_long_as_there_is_no_container_engine(server: ServerProcess) -> None:
    result = server.command("submit", "--name", "boxed", "--image", "python:3.12", "--", "true")
    assert result.returncode == 1
    assert "cannot run images" in result.stderr
    assert "no job" in server.command("show", "boxed").stderr


def test_the_folders_for_checkpoints_and_output_are_there(server: ServerProcess) -> None:
    command = 'touch "$FOOTPLATE_CHECKPOINT_DIR/a" "$FOOTPLATE_OUTPUT_DIR/b"'
    assert server.command("submit", "--name", "folders", "--follow", "--", command).returncode == 0


def test_the_sdk_finds_its_settings_inside_a_job(server: ServerProcess) -> None:
    script = "import footplate; me = footplate.Client().whoami(); print(me['name'], me['job_id'])"
    result = server.command("submit", "--name", "inside", "--follow", "--", f'python -c "{script}"')
    assert result.returncode == 0, result.stdout
    assert f"admin {shown(server, 'inside')['id']}" in result.stdout


def test_a_retry_is_listed_as_three_attempts(server: ServerProcess, tmp_path: Path) -> None:
    job = tmp_path / "retry.yaml"
    job.write_text("name: thrice\ncommand: echo try $FOOTPLATE_ATTEMPT; exit 1\nretry: 2\n")
    assert server.command("submit", str(job), "--follow", timeout=30).returncode == 1
    with server.client() as client:
        attempts = client.get("/jobs/thrice/attempts").json()["items"]
    assert [attempt["number"] for attempt in attempts] == [0, 1, 2]
    assert attempts[0]["tasks"][0]["exit_code"] == 1
    assert server.command("logs", "thrice", "--attempt", "1").stdout == "try 1\n"


def test_code_is_sent_along_without_what_is_ignored(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import pathlib; print(sorted(p.name for p in pathlib.Path('.').iterdir()))"
    )
    (tmp_path / "secret.env").write_text("x")
    (tmp_path / ".footplateignore").write_text("*.env\n")
    (tmp_path / "job.yaml").write_text("name: sent\ncode: .\ncommand: python train.py\n")
    result = server.command("submit", str(tmp_path / "job.yaml"), "--follow")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "'train.py'" in result.stdout
    assert "secret.env" not in result.stdout


@pytest.mark.parametrize(
    "mischief", ["mkdir ../exit", "echo nonsense > ../exit; chmod 0 ../exit", "rm -rf ../*; sleep 0.3"]
)
def test_a_task_that_would_spoil_its_records_harms_only_itself(server: ServerProcess, mischief: str) -> None:
    name = "spoiler-" + "".join(letter for letter in mischief if letter.isalpha())
    server.command("submit", "--name", name, "--", mischief)
    assert server.command("submit", "--name", f"beside-{name}", "--follow", "--", "true").returncode == 0
    await_that(lambda: shown(server, name)["state"] in ("FAILED", "SUCCEEDED"), 15, f"{name} ends")
    assert server.command("delete", name, "--yes").returncode == 0


def test_a_job_whose_records_are_spoilt_does_not_keep_a_server_from_starting(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home", "retry_pause = 0\n") as server:
        command = "[ $FOOTPLATE_ATTEMPT != 0 ] || until [ -e go ]; do sleep 0.02; done"
        server.command("submit", "--name", "spoilt", "--", command)
        await_that(lambda: shown(server, "spoilt")["state"] == "RUNNING", 10)
        server.kill()
        (record,) = server.home.glob("jobs/*/*/attempt-0/main-0/exit")
        record.unlink()
        record.mkdir()
        (record.parent / "work/go").touch()
        await_that(lambda: not processes_of(server.home), 10)
        server.start()
        await_that(lambda: shown(server, "spoilt")["state"] == "SUCCEEDED", 20)
        assert shown(server, "spoilt")["attempt"] == 1


def test_more_ports_than_there_are_are_refused(server: ServerProcess, tmp_path: Path) -> None:
    job = tmp_path / "ports.yaml"
    job.write_text("name: ports\ncommand: true\ncount: 2\nports: [{label: x, begin_at: 65500, count: 30}]\n")
    result = server.command("submit", str(job))
    assert result.returncode == 1
    assert "leaves room for 1 block of 30 ports" in result.stderr


def test_a_second_server_on_the_same_home_is_refused(server: ServerProcess) -> None:
    result = server.command("up", "--home", str(server.home), "--port", "0")
    assert result.returncode == 1
    assert f"pid {server.pid}" in result.stderr


def test_a_wrong_password_is_refused_clearly(server: ServerProcess) -> None:
    environment = {
        **server.environment,
        "FOOTPLATE_USER": "admin",
        "FOOTPLATE_PASSWORD": "wrong",
        "FOOTPLATE_URL": server.url,
    }
    result = subprocess.run([FOOTPLATE, "list"], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "wrong name or password" in result.stderr


def test_a_running_job_is_adopted_by_a_restarted_server(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home") as server:
        server.command("submit", "--name", "survivor", "--", "echo before; sleep 3; echo after; exit 5")
        await_that(lambda: server.command("logs", "survivor").stdout == "before\n", 60)
        server.kill()
        server.start()
        await_that(lambda: shown(server, "survivor")["state"] == "FAILED", 60)
        view = shown(server, "survivor")
        assert view["tasks"][0]["exit_code"] == 5  # type: ignore[index]
        assert view["attempt"] == 0
        assert server.command("logs", "survivor").stdout == "before\nafter\n"


def test_an_exit_while_the_server_was_away_is_learned_from_the_next_start(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home") as server:
        server.command("submit", "--name", "away", "--", "sleep 5; exit 9")
        await_that(lambda: shown(server, "away")["state"] == "RUNNING", 60)
        server.kill()
        await_that(lambda: not processes_of(server.home), 60)
        server.start()
        await_that(lambda: shown(server, "away")["state"] == "FAILED", 60)
        assert shown(server, "away")["tasks"][0]["exit_code"] == 9  # type: ignore[index]


def test_a_server_that_was_replaced_stops_and_changes_nothing(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home") as server, server.client() as client:
        with closing(sqlite3.connect(server.home / "footplate.db")) as database, database:
            database.execute("UPDATE leases SET epoch = epoch + 1")
        answer = client.post("/jobs", json={"name": "late", "command": "true"})
        assert (answer.status_code, answer.json()["code"]) == (409, "stale_lease")
        await_that(lambda: server.has_ended, 15, "the server stops by itself")
        assert "another server has taken over" in server.log


def test_a_log_beyond_its_cap_keeps_its_beginning_and_end(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home", 'log_cap = "1MB"\n') as server, server.client() as client:
        middle = "head -c 8000000 /dev/zero | tr '\\0' 'x' | fold -w 100"
        command = f"echo first; {middle}; echo; echo last; sleep 60"
        server.command("submit", "--name", "loud", "--", command)
        (log,) = await_that(lambda: list(server.home.glob("jobs/*/*/attempt-0/main-0/log")), 10)

        # The keeper may look several times while the task still prints.
        def has_ended() -> bool:
            return client.get("/jobs/loud/logs", params={"tail": 1}).text == "last\n"

        await_that(has_ended, 30, "all is printed")
        await_that(lambda: log.stat().st_blocks * 512 < 3_000_000, 10, "the space is given back")
        assert (log.parent / "log.holes").exists()
        size = log.stat().st_size
        assert size > 8_000_000, "offsets stay what they were"
        assert client.get("/jobs/loud/logs", params={"limit": 6}).text == "first\n"
        assert client.get("/jobs/loud/logs", params={"tail": 1}).text == "last\n"
        assert "were dropped here" in client.get("/jobs/loud/logs", params={"offset": size // 2}).text
        client.post("/jobs/loud/stop")


def test_the_server_listens_on_loopback_only_unless_asked(server: ServerProcess) -> None:
    listening = (
        Path(f"/proc/{server.pid}/net/tcp").read_text() + Path(f"/proc/{server.pid}/net/tcp6").read_text()
    )
    port = f":{server.port:04X}"
    addresses = [
        line.split()[1]
        for line in listening.splitlines()
        if line.split()[3] == "0A" and port in line.split()[1]
    ]
    assert addresses == [f"0100007F{port}"]


def test_nothing_of_the_servers_own_environment_reaches_a_task(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home", SECRET_OF_THE_SERVER="x") as server:
        result = server.command("submit", "--name", "env", "--follow", "--", "env")
        assert "FOOTPLATE_JOB_NAME=env" in result.stdout
        assert "SECRET_OF_THE_SERVER" not in result.stdout
        assert "ADMIN_PASSWORD" not in result.stdout


def test_python_of_the_platform_is_first_on_the_path_of_tasks(server: ServerProcess) -> None:
    environment = {**server.environment, "PATH": os.defpath}
    words = [
        FOOTPLATE,
        "submit",
        "--name",
        "which",
        "--follow",
        "--",
        "python -c 'import click; print(click)'",
    ]
    result = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert sys.prefix in result.stdout
