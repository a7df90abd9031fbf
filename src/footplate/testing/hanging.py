"""A real file system that hangs when a test says so, as a network file system does whose server is away."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from footplate.testing.process import await_that

PROGRAM = "fuse-overlayfs"
DEVICE = "/dev/fuse"


class HangingFolder:
    """A folder whose file system is served by a process, which can be stopped and continued."""

    def __init__(self, path: Path, content: Path, connections: Path) -> None:
        self.path = path
        self.content = content
        self._connections = connections
        self._daemon: subprocess.Popen[bytes]
        self._n_asked: Path

    def mount(self) -> None:
        # Nothing is answered from the kernel's memory.
        options = f"lowerdir={self.content},timeout=0"
        command = [PROGRAM, "-f", "-o", options, str(self.path)]
        daemon = self._daemon = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        await_that(lambda: daemon.poll() is not None or self.path.is_mount(), what=f"{PROGRAM} mounts")
        assert daemon.poll() is None, f"{PROGRAM} ended with {daemon.returncode}"
        self._n_asked = self._connections / str(os.minor(self.path.stat().st_dev)) / "waiting"

    def hang(self) -> None:
        """Leave every call into the folder unanswered from now on.

        Whoever made a call that the process has begun to answer could not even be killed.
        """
        await_that(self._stop_between_answers, what=f"{PROGRAM} is asked nothing for a moment")

    def _stop_between_answers(self) -> bool:
        self._daemon.send_signal(signal.SIGSTOP)
        # Only then is it certain that it answers no more.
        os.waitid(os.P_PID, self._daemon.pid, os.WSTOPPED | os.WNOWAIT)
        if self.n_waiting() == 0:
            return True
        self._daemon.send_signal(signal.SIGCONT)
        return False

    def answer(self) -> None:
        """Answer all that has been asked meanwhile."""
        self._daemon.send_signal(signal.SIGCONT)

    def die(self) -> None:
        """Answer everything with an error from now on."""
        self._daemon.kill()
        self._daemon.wait()

    def unmount(self) -> None:
        """Take it away, hanging or not; whoever waits for it gets an error."""
        subprocess.run(["umount", "--lazy", self.path], check=False, capture_output=True)
        self.die()

    def n_waiting(self) -> int:
        """Count the calls into this folder that wait for an answer, as the kernel counts them."""
        return int(self._n_asked.read_text())


def why_none() -> str | None:
    """Say why this machine can have no file system that hangs; None when it can."""
    if os.geteuid() != 0:
        return "only root can mount a file system that hangs"
    if shutil.which(PROGRAM) is None:
        return f"{PROGRAM} is not installed"
    return None if Path(DEVICE).exists() else f"this machine has no {DEVICE}"


@contextmanager
def hanging_folder(around: Path) -> Iterator[HangingFolder]:
    """Mount a folder that answers until it is told to hang; `content` is what is in it."""
    content, path, connections = around / "content", around / "hanging", around / "connections"
    for place in (content, path, connections):
        place.mkdir(parents=True)
    subprocess.run(["mount", "-t", "fusectl", "fusectl", connections], check=True)
    folder = HangingFolder(path, content, connections)
    try:
        folder.mount()
        yield folder
    finally:
        folder.unmount()
        subprocess.run(["umount", connections], check=True)
