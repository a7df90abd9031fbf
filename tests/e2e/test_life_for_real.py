"""The life of jobs with a real server, real processes and the real command."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.testing.process import ServerProcess, await_that


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("life")) as running:
        yield running


def submit(server: ServerProcess, **document: Any) -> str:
    with server.client() as client:
        asked = {"cpus": 0.2, "memory": "128MB", "grace": "10s", **document}
        answer = client.post("/jobs", json=asked)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])


def job(server: ServerProcess, job_id: str) -> dict[str, Any]:
    with server.client() as client:
        found: dict[str, Any] = client.get(f"/jobs/{job_id}").json()
        return found


def until(server: ServerProcess, job_id: str, state: str, attempt: int = 0) -> dict[str, Any]:
    def there() -> dict[str, Any] | None:
        now = job(server, job_id)
        return now if now["state"] == state and now["attempt"] == attempt else None

    found: dict[str, Any] = await_that(there, 30, f"{job_id} is {state} in attempt {attempt}")
    return found


def log_has(server: ServerProcess, name: str, text: str, *options: str) -> None:
    await_that(lambda: text in server.command("logs", name, *options).stdout, 20, f"{name} prints {text}")


def test_a_failed_environment_is_entered_with_its_files_variables_and_limits(server: ServerProcess) -> None:
    job_id = submit(
        server, name="keep", command="echo hello > note; exit 3", keep_on_failure="10m", env={"COLOUR": "red"}
    )
    until(server, job_id, "STOPPING")
    inside = server.command("exec", "keep", "--", "sh", "-c", "cat note; echo $COLOUR; df /dev/shm | tail -1")
    assert inside.returncode == 0, inside.stderr
    assert inside.stdout.startswith("hello\nred\n")
    assert server.command("exec", "keep", "--", "sh", "-c", "exit 9").returncode == 9
    assert server.command("release", "keep").returncode == 0
    until(server, job_id, "FAILED")


def test_a_preempted_job_gets_notice_saves_and_resumes(server: ServerProcess) -> None:
    command = """
step=$(cat $FOOTPLATE_CHECKPOINT_DIR/step 2>/dev/null || echo 0)
echo "from step $step"
trap 'cat $FOOTPLATE_NOTICE_FILE; echo 7 > $FOOTPLATE_CHECKPOINT_DIR/step; exit 0' TERM
echo ready
while true; do sleep 0.05; done
"""
    job_id = submit(server, name="saver", command=command)
    log_has(server, "saver", "ready")
    assert server.command("preempt", "saver").returncode == 0
    until(server, job_id, "RUNNING", attempt=1)
    log_has(server, "saver", "from step 7")
    first = server.command("logs", "saver", "--attempt", "0").stdout
    notice = json.loads(next(line for line in first.splitlines() if line.startswith("{")))
    assert (notice["reason"], notice["will_run_again"]) == ("preempted", True)
    server.command("stop", "saver", "--wait")


def test_a_hung_job_shows_the_stacks_of_its_ranks(server: ServerProcess) -> None:
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if os.geteuid() != 0 and scope.exists() and scope.read_text().strip() != "0":
        pytest.skip("only root may look into processes here (kernel.yama.ptrace_scope)")
    command = 'python3 -c "\nimport time\ndef wait_for_peer():\n    time.sleep(600)\nwait_for_peer()"'
    job_id = submit(server, name="hung", command=command, count=2, hang="5s")

    def hang() -> dict[str, Any] | None:
        with server.client() as client:
            events = client.get(f"/jobs/{job_id}/events").json()["items"]
        return next((event for event in events if event["kind"] == "hang"), None)

    event = await_that(hang, 40, "the hang is told")
    stacks = event["data"]["stacks"]
    assert set(stacks) == {"main-0", "main-1"}
    server.command("stop", "hung")
    for text in stacks.values():
        assert "wait_for_peer" in text


def test_what_a_task_uses_can_be_charted(server: ServerProcess) -> None:
    job_id = submit(server, name="busy", command="while true; do :; done", cpus=0.5)

    def points() -> list[dict[str, Any]]:
        with server.client() as client:
            found: list[dict[str, Any]] = client.get(f"/jobs/{job_id}/usage").json()["points"]
            return found

    seen = await_that(points, 40, "two samples were taken")
    assert 0.1 < seen[0]["cpus"] < 1.2
    assert seen[0]["memory_bytes"] > 0
    server.command("stop", "busy")


def test_a_halted_job_is_downloaded_trashed_and_restored(server: ServerProcess, tmp_path: Path) -> None:
    command = "echo weights > $FOOTPLATE_OUTPUT_DIR/model; echo ready; sleep 600"
    job_id = submit(server, name="halted", command=command)
    log_has(server, "halted", "ready")
    assert server.command("halt", "halted", "--wait").returncode == 0
    archive = tmp_path / "model.tar.gz"
    assert server.command("download", "halted", "-o", str(archive)).returncode == 0
    with tarfile.open(archive) as packed:
        member = packed.extractfile("halted-output/model")
        assert member is not None
        assert member.read() == b"weights\n"
    assert server.command("delete", "halted", "-y").returncode == 0
    assert job_id in server.command("list", "--trash").stdout
    assert server.command("restore", job_id).returncode == 0
    assert server.command("delete", "halted", "-y", "--for-good").returncode == 0
    assert not list(server.home.glob(f"jobs/*/{job_id}"))


def test_a_task_that_dies_is_started_again_and_only_that_one(server: ServerProcess) -> None:
    command = "echo rank $RANK run $FOOTPLATE_TASK_RUN; [ $RANK = 0 ] || [ $FOOTPLATE_TASK_RUN = 1 ]"
    job_id = submit(server, name="again", command=command, count=2, task_retry=1)
    over = until(server, job_id, "SUCCEEDED")
    assert [task["run"] for task in over["tasks"]] == [0, 1]
    assert server.command("logs", "again", "--task", "main-1").stdout == "rank 1 run 0\nrank 1 run 1\n"


def test_a_secret_reaches_the_task_and_nothing_else(server: ServerProcess) -> None:
    value = "tr0ub4dor&3-secret"
    with server.client() as client:
        assert client.put("/secrets/wandb", json={"value": value}).is_success
    command = '[ "$WANDB_API_KEY" = "$EXPECTED" ] && echo same'
    job_id = submit(
        server,
        name="secretive",
        command=command.replace('"$EXPECTED"', f'"{value[:3]}${{REST}}"'),
        secrets={"WANDB_API_KEY": "wandb"},
        env={"REST": value[3:]},
    )
    until(server, job_id, "SUCCEEDED")
    with server.client() as client:
        for path in (f"/jobs/{job_id}", f"/jobs/{job_id}/events", "/secrets", f"/jobs/{job_id}/config"):
            assert value not in client.get(path).text
    assert value not in server.log


def test_a_waiting_job_starts_elsewhere_only_when_there_is_an_elsewhere(server: ServerProcess) -> None:
    rules = [{"action": "retry_elsewhere", "exit_codes": [5], "times": 1}]
    job_id = submit(
        server, name="elsewhere", command="[ $FOOTPLATE_ATTEMPT = 1 ] || exit 5", on_failure=rules
    )
    over = until(server, job_id, "SUCCEEDED", attempt=1)
    assert over["retries_used"] == 0


@pytest.mark.parametrize("code", [130, 131, 137, 143])
def test_without_retries_a_command_that_ends_as_by_a_signal_runs_once(
    server: ServerProcess, code: int
) -> None:
    name = f"once-{code}"
    job_id = submit(server, name=name, command=f"echo a run; exit {code}", retry=0)
    ended = until(server, job_id, "FAILED")
    assert ended["reason"]["details"]["exit_code"] == code
    assert server.command("logs", name).stdout.count("a run") == 1


def test_a_job_that_leaves_thousands_of_nested_locked_folders_is_fetched_and_deleted(
    server: ServerProcess,
) -> None:
    script = (
        "import os; os.chdir(os.environ['FOOTPLATE_OUTPUT_DIR']); open('result', 'w').write('done')\n"
        "for n in range(3000): os.mkdir('d'); os.chdir('d')\n"
        "os.mkdir('locked'); os.chmod('locked', 0); os.chmod('.', 0o500)"
    )
    job_id = submit(server, name="digger", command=f'python3 -c "{script}"')
    until(server, job_id, "SUCCEEDED")
    with server.client() as client:
        fetched = client.get(f"/jobs/{job_id}/download", params={"what": "output"})
        assert fetched.status_code == 200, fetched.text
        with tarfile.open(fileobj=io.BytesIO(fetched.content)) as archive:
            assert any(name.endswith("/result") for name in archive.getnames())
        assert client.delete(f"/jobs/{job_id}", params={"for_good": True}).status_code in (200, 202, 204)
        await_that(lambda: client.get(f"/jobs/{job_id}").status_code == 404, 30, "the job is gone")
    assert not (server.home / "jobs" / job_id).exists()
