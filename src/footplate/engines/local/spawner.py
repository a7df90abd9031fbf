"""The process that starts tasks: small, single-threaded, standard library only, run by path.

It reads requests from its standard input, a stream socket, one JSON object a line:
`{"id": 1, "env": {...}, "tasks": [{"folder", "work_folder", "log", "argv", "env"}, ...]}`, and answers
`{"id": 1, "tasks": [{"pid", "start_ticks"} | {"exists": true} | {"error": "..."}, ...]}` as soon as
every task has become its program. When the server goes away it leaves; the tasks go on.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import signal
from typing import Any, NoReturn

PR_SET_CHILD_SUBREAPER = 36
EXIT_CANNOT_EXECUTE = 126
CHUNK_BYTES = 1 << 20

prctl = ctypes.CDLL(None, use_errno=True).prctl


class Batch:
    """One request whose tasks are being started."""

    def __init__(self, number: int, n_tasks: int) -> None:
        self.number = number
        self.answers: list[dict[str, Any]] = [{} for _ in range(n_tasks)]
        self.n_waiting = n_tasks


class Spawner:
    def __init__(self, requests_fd: int, boot_id: str) -> None:
        self.requests_fd = requests_fd
        self.boot_id = boot_id
        self.unread = b""
        self.poll = select.poll()
        self.poll.register(requests_fd, select.POLLIN)
        self.starting: dict[int, tuple[Batch, int, bytes]] = {}

    def serve(self) -> None:
        while True:
            for fd, _ in self.poll.poll():
                if fd != self.requests_fd:
                    self.collect(fd)
                elif not self.receive():
                    return

    def receive(self) -> bool:
        """Read what has come and start it; False when the server has gone."""
        data = os.read(self.requests_fd, CHUNK_BYTES)
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.start(json.loads(line))
        return bool(data)

    def start(self, request: dict[str, Any]) -> None:
        batch = Batch(request["id"], len(request["tasks"]))
        for position, task in enumerate(request["tasks"]):
            news_fd = self.fork(task, request["env"])
            self.starting[news_fd] = (batch, position, b"")
            self.poll.register(news_fd, select.POLLIN)

    def fork(self, task: dict[str, Any], env: dict[str, str]) -> int:
        """Start a child that becomes the task; its news come through the pipe, which closes on exec."""
        news_fd, child_fd = os.pipe()
        try:
            pid = os.fork()
        except OSError as error:
            tell(child_fd, {"error": f"cannot start a process: {error.strerror}"})
        else:
            if pid == 0:
                become(task, env, self.boot_id, child_fd)
        os.close(child_fd)
        return news_fd

    def collect(self, news_fd: int) -> None:
        batch, position, news = self.starting[news_fd]
        data = os.read(news_fd, CHUNK_BYTES)
        if data:
            self.starting[news_fd] = (batch, position, news + data)
            return
        self.poll.unregister(news_fd)
        os.close(news_fd)
        del self.starting[news_fd]
        batch.answers[position] = json.loads(news) if news else {"error": "the new process was killed"}
        batch.n_waiting -= 1
        if not batch.n_waiting:
            tell(self.requests_fd, {"id": batch.number, "tasks": batch.answers})


def tell(fd: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(fd, data) :]


def become(task: dict[str, Any], env: dict[str, str], boot_id: str, news_fd: int) -> NoReturn:
    """Turn this child into the task's shim; never return."""
    try:
        os.setsid()
        if prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "cannot become a subreaper")
        enter(task)
        start_ticks = start_ticks_of_this_process()
        if not publish(task["folder"], f"{os.getpid()} {start_ticks} {boot_id}\n"):
            tell(news_fd, {"exists": True})
            os._exit(0)
    except BaseException as error:
        tell(news_fd, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    tell(news_fd, {"pid": os.getpid(), "start_ticks": start_ticks})
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execve(task["argv"][0], task["argv"], {**env, **task["env"]})
    except BaseException as error:
        os.write(2, f"footplate: cannot execute {task['argv'][0]}: {error}\n".encode())
        with open(task["folder"] + "/exit", "w") as file:
            file.write(f"{EXIT_CANNOT_EXECUTE}\n")
        os._exit(EXIT_CANNOT_EXECUTE)


def enter(task: dict[str, Any]) -> None:
    os.makedirs(task["work_folder"], exist_ok=True)
    os.chdir(task["work_folder"])
    log_fd = os.open(task["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log_fd, 1)
    os.dup2(log_fd, 2)


def start_ticks_of_this_process() -> int:
    with open("/proc/self/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[19])


def publish(folder: str, identity: str) -> bool:
    """Claim the task for this process; False when it was started or stopped before."""
    draft = f"{folder}/pid.{os.getpid()}"
    with open(draft, "w") as file:
        file.write(identity)
    try:
        os.link(draft, folder + "/pid")
    except FileExistsError:
        return False
    finally:
        os.unlink(draft)
    return True


def reset_signals() -> None:
    """Forget what the server ignores or blocks, so that tasks begin with the defaults."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # Children are reaped by the kernel; a server that went away is seen as an end of input.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def main() -> None:
    reset_signals()
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot_id = file.read().strip()
    # The collector would write to pages that children share.
    gc.disable()
    gc.freeze()
    Spawner(0, boot_id).serve()


if __name__ == "__main__":
    main()
