"""No task of a process job gets out of where it is, neither under a root server nor under another account."""

from __future__ import annotations

import asyncio
import ctypes
import os
import pwd
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from escapes import ALL, SEEN_ONCE
from localbench import BY_SHELL, WithEngine, groups, is_running, shim_of

import footplate
from footplate.domain.resources import MIB, Resources
from footplate.engines.local.confine.accounts import FIRST_ID, N_IDS, Accounts
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.process.processes import descendants
from footplate.testing.engine_bench import Bench, local_settings, on_loop, volume

ORDINARY = 65534
PTRACE_ATTACH = """
import ctypes, os, signal, sys
child = os.fork()
if child == 0:
    signal.pause()
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, child, 0, 0) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
os.waitpid(child, 0)
print("attached", flush=True)
os.kill(child, signal.SIGKILL)
"""
USE_UP_WATCHES = """
import ctypes, signal
libc = ctypes.CDLL(None)
while libc.inotify_init() >= 0:
    pass
print("used up", flush=True)
signal.pause()
"""


def needs_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only a root server gives people accounts of their own")


class TestEscapes(WithEngine):
    @on_loop
    async def test_nothing_that_a_task_tries_gets_it_out(self, bench: Bench) -> None:
        for limit in ("files", "isolation"):
            self.needs(bench, limit)
        (bench.folder / "secret").write_text("hush")
        account = Path(os.environ["HOME"])
        other = await bench.launch("echo ready; sleep 600", attempt=0, owner="bob", owner_number=2)
        await bench.until_logged(other, b"ready")
        facts = {
            "server": os.getpid(),
            "spawner": bench.engine._processes._spawner.pid,  # type: ignore[attr-defined]
            "other": shim_of(bench, other),
            "home": bench.folder,
            "account": account,
            "package": Path(footplate.__file__).parent,
        }
        lines = []
        for name, command in ALL.items():
            text = command
            for fact, value in facts.items():
                text = text.replace(f"{{{fact}}}", str(value))
            told = shlex.quote(f"got out: {name}")
            lines.append(f"timeout 10 bash -c {shlex.quote(text)} >/dev/null 2>&1 && echo {told}")
        launched = await bench.launch("\n".join([*lines, "echo tried; true"]), attempt=1, owner_number=1)
        await bench.until_over(launched)
        assert bench.log(launched).decode().splitlines() == ["tried"]
        assert is_running(shim_of(bench, other))
        assert len(ALL) > len(SEEN_ONCE)

    @on_loop
    async def test_all_of_a_task_is_in_its_groups(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        self.needs(bench, "isolation")
        launched = await bench.launch("setsid sleep 600 & echo ready; sleep 600")
        await bench.until_logged(launched, b"ready")
        shim, (name,) = shim_of(bench, launched), groups(bench)
        for pid in (shim, *descendants(shim)):
            assert name in Path(f"/proc/{pid}/cgroup").read_text()

    @on_loop
    async def test_a_signal_to_everybody_reaches_only_the_task_itself(self, bench: Bench) -> None:
        self.needs(bench, "isolation")
        other = await bench.launch("echo ready; sleep 600", attempt=0)
        await bench.until_logged(other, b"ready")
        launched = await bench.launch("pkill -9 sleep; kill -9 -1; exit 3", attempt=1)
        await bench.until_over(launched)
        assert is_running(shim_of(bench, other))
        assert bench.log(other) == b"ready\n"

    @on_loop
    async def test_a_debugger_of_ones_own_processes_works(self, bench: Bench) -> None:
        launched = await bench.launch(f"python3 -c {shlex.quote(PTRACE_ATTACH)}")
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched) == b"attached\n"

    @on_loop
    async def test_a_task_is_at_home_in_a_folder_of_its_own(self, bench: Bench) -> None:
        self.needs(bench, "files")
        mine = bench.folder / "people" / "ann-1"
        launched = await bench.launch("echo kept >~/note; echo $HOME $USER; ls -A ~", owner_number=1)
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched).decode().split() == [str(mine), "ann", "note"]
        again = await bench.launch("cat ~/note", owner_number=1, attempt=1)
        assert await bench.exit_code(again) == 0
        assert bench.log(again) == b"kept\n"

    @on_loop
    async def test_a_task_that_has_all_its_memory_taken_by_one_process_still_ends(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        launched = await bench.launch(
            "python3 -c 'x = bytearray(10**9)'; echo went on", resources=Resources(1000, 64 * MIB)
        )
        (one,) = await bench.until_over(launched)
        assert one.cause == "oom"


def needs_mapped_owners(folder: Path) -> None:
    """Skip where the file system, or the kernel, cannot show a folder with other owners than on disk."""
    asked = f"from footplate.engines.local.confine.probe import try_mapping; try_mapping({str(folder)!r})"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    if ran.returncode:
        pytest.skip(f"owners of files cannot be mapped in {folder}: {ran.stderr.strip().splitlines()[-1]}")


class TestAccounts(WithEngine):
    """Only a root server can give people accounts of their own."""

    @on_loop
    async def test_each_persons_tasks_are_accounts_that_nobody_else_has(self, bench: Bench) -> None:
        needs_root()
        self.needs(bench, "accounts")
        owners = []
        for number in (1, 2):
            command = "touch mine; setpriv --reuid 33 touch /tmp/of-33 || true"
            launched = await bench.launch(command, attempt=number, owner_number=number)
            assert await bench.exit_code(launched) == 0, bench.log(launched)
            work = bench.task(launched) / "work"
            owners.append((work / "mine").stat().st_uid)
            inner = bench.task(launched) / "tmp" / "of-33"
            assert not inner.exists() or inner.stat().st_uid == owners[-1] + 33
        assert owners == [FIRST_ID + N_IDS, FIRST_ID + 2 * N_IDS]

    @on_loop
    async def test_what_a_person_uses_up_of_the_kernels_is_there_for_root_and_others(
        self, bench: Bench
    ) -> None:
        needs_root()
        self.needs(bench, "accounts")
        command = f"python3 -c {shlex.quote(USE_UP_WATCHES)}"
        launched = await bench.launch(command, owner="ann", owner_number=1)
        await bench.until_logged(launched, b"used up")
        watches = ctypes.CDLL(None, use_errno=True).inotify_init()
        assert watches >= 0, os.strerror(ctypes.get_errno())
        os.close(watches)
        other = await bench.launch(command, attempt=1, owner="bob", owner_number=2)
        await bench.until_logged(other, b"used up")

    @on_loop
    async def test_a_service_that_asks_who_calls_sees_no_account_of_the_machine(self, bench: Bench) -> None:
        """Such as a database that lets in the account `postgres`."""
        needs_root()
        self.needs(bench, "accounts")
        folder = Path(tempfile.mkdtemp(dir="/srv"))
        folder.chmod(0o755)
        try:
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(folder / "service"))
                (folder / "service").chmod(0o777)
                listener.listen()
                listener.settimeout(20)
                uid = next((one.pw_uid for one in pwd.getpwall() if one.pw_name == "postgres"), 33)
                program = (
                    f"import os, socket; os.setuid({uid}); "
                    f"socket.socket(socket.AF_UNIX).connect('{folder}/service')"
                )
                launched = await bench.launch(f'python3 -c "{program}"', owner_number=1)
                peer, _ = await asyncio.to_thread(listener.accept)
                with peer:
                    raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
                assert struct.unpack("3i", raw)[1] == FIRST_ID + N_IDS + uid
                await bench.until_over(launched)
        finally:
            shutil.rmtree(folder)

    @on_loop
    async def test_a_program_with_roots_bit_is_not_roots(self, bench: Bench) -> None:
        needs_root()
        self.needs(bench, "accounts")
        launched = await bench.launch("cp /bin/sh mine; chmod 4755 mine", owner_number=1)
        await bench.until_over(launched)
        made = bench.task(launched) / "work/mine"
        assert made.stat().st_uid == FIRST_ID + N_IDS

    @on_loop
    async def test_what_a_storage_lets_tasks_read_they_can_read_whoever_owns_it(self, bench: Bench) -> None:
        needs_root()
        self.needs(bench, "accounts")
        needs_mapped_owners(bench.folder)
        data = bench.folder / "data"
        data.mkdir(mode=0o700)
        (data / "x").write_text("input\n")
        (data / "x").chmod(0o600)
        launched = await bench.launch("cat /fp-data/x", volumes=(volume(data, "/fp-data"),))
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched) == b"input\n"

    @on_loop
    async def test_what_tasks_write_to_a_storage_belongs_to_the_owner_of_its_folder(
        self, bench: Bench
    ) -> None:
        needs_root()
        self.needs(bench, "accounts")
        results = bench.folder / "results"
        results.mkdir(mode=0o755)
        needs_mapped_owners(bench.folder)
        os.chown(results, 4321, 4321)
        mount = volume(results, "/fp-results", read_only=False)
        launched = await bench.launch("echo out >/fp-results/y; chmod 4755 /fp-results/y", volumes=(mount,))
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert (results / "y").stat().st_uid == 4321

    @on_loop
    async def test_a_storage_of_roots_that_tasks_should_write_to_says_what_to_do(self, bench: Bench) -> None:
        needs_root()
        self.needs(bench, "accounts")
        results = bench.folder / "results"
        results.mkdir(mode=0o755)
        mount = volume(results, "/fp-results", read_only=False)
        with pytest.raises(Exception, match=r"belongs to root and is not writable .*chmod 1777"):
            await bench.launch("true", volumes=(mount,))

    @on_loop
    async def test_a_person_may_have_an_account_of_the_machine(self, bench: Bench) -> None:
        needs_root()
        self.needs(bench, "accounts")
        name = next((one.pw_name for one in pwd.getpwall() if 1000 <= one.pw_uid < ORDINARY), None)
        if name is None:
            pytest.skip("this machine has no account of a person")
        await bench.engine.close()
        settings = local_settings(bench.folder, accounts=Accounts(of_the_site={"ann": name}))
        bench.engine = LocalEngine(settings)
        launched = await bench.launch("touch mine; id -un; grep CapEff /proc/self/status")
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched).decode().split() == [name, "CapEff:", "0" * 16]
        assert (bench.task(launched) / "work/mine").stat().st_uid == pwd.getpwnam(name).pw_uid

    @on_loop
    async def test_nobody_is_mapped_to_an_account_of_the_system(self, bench: Bench) -> None:
        needs_root()
        self.needs(bench, "accounts")
        await bench.engine.close()
        settings = local_settings(bench.folder, accounts=Accounts(of_the_site={"ann": "daemon"}))
        bench.engine = LocalEngine(settings)
        with pytest.raises(Exception, match="no task may run as a system account"):
            await bench.launch("true")

    @on_loop
    async def test_an_interpreter_that_only_root_can_reach_serves_all_tasks(self, bench: Bench) -> None:
        """Such as one in /root, which is closed to others."""
        self.needs(bench, "files")
        launched = await bench.launch("python -c 'import sys, click; print(sys.base_prefix, click.__file__)'")
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched).decode().startswith(f"{sys.base_prefix} {sys.prefix}/")


class TestEscapesByShell(TestEscapes):
    """Where there is no `footplate-init`."""

    settings = BY_SHELL


class TestAccountsByShell(TestAccounts):
    settings = BY_SHELL


@pytest.fixture
def account() -> Iterator[Path]:
    """A folder of an ordinary account, with what lies there."""
    folder = Path(tempfile.mkdtemp(dir="/srv"))
    (folder / ".config/footplate").mkdir(parents=True)
    (folder / ".config/footplate/client.toml").write_text("token = 'hush'")
    (folder / ".bashrc").touch()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, ORDINARY, ORDINARY)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests have run as an ordinary account")
def test_escapes_fail_for_a_server_of_an_ordinary_account_too(account: Path) -> None:
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    here = Path(__file__).parents[2]
    environment = {
        "HOME": str(account),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(here / "src"), *libraries]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = ["setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", "env", "-i"]
    words += [f"{name}={value}" for name, value in environment.items()]
    python = next((one for one in (sys.executable, "/usr/bin/python3") if _serves(words, one)), None)
    if python is None:
        pytest.skip("no Python that an ordinary account can run has what the tests need")
    kept = Path(__file__).with_name("test_local_kept.py")
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, ORDINARY, ORDINARY)
        options = ["-q", "--noconftest", "-p", "no:cacheprovider", f"--basetemp={folder}/base"]
        ran = subprocess.run(
            [*words, python, "-m", "pytest", *options, __file__, str(kept), "-k", "TestEscapes or TestKept"],
            capture_output=True,
            text=True,
            check=False,
            cwd=here,
        )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    assert " passed" in ran.stdout


def _serves(words: list[str], python: str) -> bool:
    asked = [*words, python, "-c", "import pytest, psutil, footplate.engines.local.engine"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0
