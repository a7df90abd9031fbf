"""The SSH gateway with the stock OpenSSH client: shells, commands, files, ports, and who is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.testing.process import FOOTPLATE, PASSWORD, ServerProcess, await_that, free_port

DEADLINE_S = 60.0
needs_clients = pytest.mark.skipif(
    not (shutil.which("ssh") and shutil.which("rsync")),
    reason="needs the clients: apt install openssh-client rsync",
)
pytestmark = needs_clients
PAGE = "python3 -m http.server --bind 127.0.0.1 {port} --directory ."


class Laptop:
    """Somebody with a key of their own, and the stock client."""

    def __init__(self, folder: Path, server: ServerProcess, port: int, user: str) -> None:
        self.folder = folder
        self._server = server
        self.port = port
        folder.mkdir()
        self.key = folder / "id_ed25519"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key], check=True)
        self.user = user

    @property
    def options(self) -> list[str]:
        hosts = self.folder / "hosts"
        return [
            "-oStrictHostKeyChecking=accept-new",
            f"-oUserKnownHostsFile={hosts}",
            "-oIdentitiesOnly=yes",
            "-oBatchMode=yes",
            f"-i{self.key}",
        ]

    def run(self, program: str, *words: str, **more: object) -> subprocess.CompletedProcess[str]:
        flag = "-P" if program in ("scp", "sftp") else "-p"
        command = [program, *self.options, flag, str(self.port), *words]
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            command, text=True, capture_output=True, check=False, timeout=DEADLINE_S, **more
        )


@pytest.fixture(scope="module")
def gate() -> int:
    return free_port()


@pytest.fixture(scope="module")
def inner() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, gate: int) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("ssh") / "home"
    with ServerProcess(home, f"ssh_port = {gate}\n[node]\ncpus = 4\nmemory = '16GB'\n") as running:
        yield running


@pytest.fixture(scope="module")
def job(server: ServerProcess, inner: int) -> Iterator[str]:
    """A job that serves a page at a port of its own."""
    with server.client() as client:
        made = client.post(
            "/jobs",
            json={
                "name": "entered",
                "command": f"echo hello >page; {PAGE.format(port=inner)}",
                "env": {"COLOUR": "green"},
            },
        ).json()
        await_that(lambda: client.get(f"/jobs/{made['id']}").json()["state"] == "RUNNING", DEADLINE_S)
        yield str(made["id"])
        client.post(f"/jobs/{made['id']}/stop")


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory, server: ServerProcess, gate: int) -> Laptop:
    one = Laptop(tmp_path_factory.mktemp("ada") / "ssh", server, gate, "admin")
    added = server.command("ssh-keys", "add", str(one.key.with_suffix(".pub")))
    assert added.returncode == 0, added.stderr
    return one


def test_a_command_has_the_tasks_variables_its_exit_code_and_errors_apart(laptop: Laptop, job: str) -> None:
    ran = laptop.run("ssh", f"{job}.main-0@127.0.0.1", "echo $COLOUR; echo wrong >&2; exit 3")
    assert (ran.stdout, ran.returncode) == ("green\n", 3), ran.stderr
    assert ran.stderr.endswith("wrong\n")


def test_a_job_is_found_by_its_name_too(laptop: Laptop, job: str) -> None:
    assert laptop.run("ssh", "entered@127.0.0.1", "pwd").stdout.strip().endswith("work")


def test_a_shell_has_a_terminal(laptop: Laptop, job: str) -> None:
    typed = "test -t 0 && echo a ter''minal; echo $TERM; exit 4\n"
    ran = laptop.run("ssh", "-tt", f"{job}.main-0@127.0.0.1", input=typed)
    assert "a terminal" in ran.stdout
    assert "xterm-256color" in ran.stdout
    assert ran.returncode == 4, ran.stderr


def test_files_come_and_go_by_scp(laptop: Laptop, job: str, tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    sent.write_bytes(os.urandom(3_000_000))
    target = f"{job}.main-0@127.0.0.1"
    there = laptop.run("scp", str(sent), f"{target}:there")
    assert there.returncode == 0, there.stderr
    back = laptop.run("scp", f"{target}:there", str(tmp_path / "back"))
    assert back.returncode == 0, back.stderr
    assert (tmp_path / "back").read_bytes() == sent.read_bytes()


def test_sftp_lists_and_changes_files(laptop: Laptop, job: str, tmp_path: Path) -> None:
    (tmp_path / "local").write_text("by sftp")
    batch = tmp_path / "batch"
    batch.write_text(
        f"mkdir folder\ncd folder\nput {tmp_path / 'local'} a\nrename a b\nchmod 600 b\nsymlink b c\n"
        f"ls -l\nget b {tmp_path / 'got'}\nrm b\n"
    )
    ran = laptop.run("sftp", "-b", str(batch), f"{job}.main-0@127.0.0.1")
    assert ran.returncode == 0, ran.stderr
    assert "-rw-------" in ran.stdout
    assert (tmp_path / "got").read_text() == "by sftp"


def test_rsync_brings_a_folder(laptop: Laptop, job: str, gate: int, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    for n in range(20):
        (source / "deep" / f"file-{n}").write_text(f"content {n}")
    shell = " ".join(["ssh", *laptop.options, "-p", str(gate)])
    words = ["rsync", "-a", "-e", shell, f"{source}/", f"{job}.main-0@127.0.0.1:synced/"]
    ran = subprocess.run(words, text=True, capture_output=True, check=False, timeout=DEADLINE_S)
    assert ran.returncode == 0, ran.stderr
    there = laptop.run("ssh", f"{job}.main-0@127.0.0.1", "cd synced/deep; cat file-7; echo; ls | wc -l")
    assert there.stdout.split() == ["content", "7", "20"]


def test_a_port_of_the_task_is_forwarded_and_no_other_host(laptop: Laptop, job: str, inner: int) -> None:
    local, other = free_port(), free_port()
    target = f"{job}.main-0@127.0.0.1"
    command = ["ssh", *laptop.options, "-p", str(laptop.port), "-N"]
    forwards = ["-L", f"{local}:localhost:{inner}", "-L", f"{other}:192.0.2.1:80"]
    with subprocess.Popen([*command, *forwards, target], stderr=subprocess.PIPE) as tunnel:
        try:
            curl = ["curl", "-s", "-m", "5", f"http://127.0.0.1:{local}/page"]
            page = await_that(
                lambda: subprocess.run(curl, capture_output=True, text=True, check=False).stdout, DEADLINE_S
            )
            assert page == "hello\n"
            refused = subprocess.run(
                ["curl", "-s", "-m", "5", f"http://127.0.0.1:{other}/"], capture_output=True, check=False
            )
            assert refused.returncode != 0
        finally:
            tunnel.kill()


def test_a_key_for_the_job_is_handed_out_and_the_command_uses_it(
    server: ServerProcess, job: str, tmp_path: Path
) -> None:
    environment = {**server.environment, "XDG_CACHE_HOME": str(tmp_path)}
    ran = subprocess.run(
        [FOOTPLATE, "ssh", job, "--", "echo by the command"],
        env=environment,
        text=True,
        capture_output=True,
        check=False,
        timeout=DEADLINE_S,
        stdin=subprocess.DEVNULL,
    )
    assert ran.stdout == "by the command\n", ran.stderr
    # Of the whole job, and of a task that is named.
    for host, words in {"entered": (), "entered.main-0": ("--task", "main/0")}.items():
        asked = [FOOTPLATE, "ssh-config", job, *words]
        stanza = subprocess.run(asked, env=environment, text=True, capture_output=True, check=False)
        with (tmp_path / "config").open("a") as config:
            config.write(stanza.stdout)
        by_name = subprocess.run(
            ["ssh", "-F", tmp_path / "config", host, "echo by the stanza"],
            text=True, capture_output=True, check=False, timeout=DEADLINE_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert by_name.stdout == "by the stanza\n", by_name.stderr


def test_somebody_else_is_refused_told_why_and_noted(
    server: ServerProcess, job: str, gate: int, tmp_path: Path
) -> None:
    with server.client() as client:
        client.post("/users", json={"name": "bob", "password": PASSWORD, "queues": {"default": "member"}})
    bob = Laptop(tmp_path / "bob", server, gate, "bob")
    with server.client("bob") as client:
        added = client.post("/me/ssh-keys", json={"public_key": bob.key.with_suffix(".pub").read_text()})
        assert added.status_code == 201, added.text
    ran = bob.run("ssh", f"{job}.main-0@127.0.0.1", "echo in")
    assert (ran.stdout, ran.returncode) == ("", 255)
    assert "footplate:" in ran.stderr
    with server.client() as client:
        noted = client.get("/audit", params={"subject": job, "actor": "bob"}).json()["items"]
    assert [(one["action"], one["detail"]["way"]) for one in noted] == [("job.entry_refused", "ssh")]


def test_an_unknown_key_and_a_removed_one_open_nothing_and_keep_nothing_open(
    server: ServerProcess, job: str, gate: int, tmp_path: Path
) -> None:
    stranger = Laptop(tmp_path / "stranger", server, gate, "nobody")
    assert "Permission denied" in stranger.run("ssh", f"{job}.main-0@127.0.0.1", "true").stderr
    added = server.command("ssh-keys", "add", str(stranger.key.with_suffix(".pub")), "--json")
    assert stranger.run("ssh", f"{job}.main-0@127.0.0.1", "true").returncode == 0
    key_id = added.stdout.partition('"id": "')[2][:12]
    words = ["ssh", *stranger.options, "-p", str(gate), f"{job}.main-0@127.0.0.1", "echo in; sleep 300"]
    with subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as inside:
        assert inside.stdout is not None
        assert inside.stdout.readline() == "in\n"
        assert server.command("ssh-keys", "delete", key_id).returncode == 0
        # Whoever is in is put out, and told why.
        _, said = inside.communicate(timeout=DEADLINE_S)
        assert (inside.returncode, "footplate:" in said) == (255, True), said
    assert stranger.run("ssh", f"{job}.main-0@127.0.0.1", "true").returncode == 255


def test_the_key_of_the_server_is_kept_and_closed_to_others(server: ServerProcess) -> None:
    file = server.home / "ssh_host_key"
    assert file.stat().st_mode & 0o777 == 0o600
