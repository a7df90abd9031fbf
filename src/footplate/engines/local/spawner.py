"""The process that starts tasks: small, single-threaded, standard library only.

It reads requests from its standard input, a stream socket, one JSON object a line:
`{"id": 1, "env": {...}, "tasks": [{"folder", "folders", "work_folder", "log", "runner", "argv", "env",
"groups", "joins", "counters", "data_bytes", "view", "owner"}, ...]}`,
and answers `{"id": 1, "tasks": [{"pid", "start_ticks", "at"} | {"exists": true} | {"error": "..."}, ...]}`
as soon as every task has become its program. When the server goes away it leaves; the tasks go on.
The second argument says how tasks are confined, as JSON: `{"places": [...], "view": "root" | "user" | null,
"sealed": [...], "apart": true, "mounted_within_s": 30}`: the folders in which control groups are made, how a
view of its own is got, what can only be read there, whether the tasks of different people are kept apart, and
how long the file systems of a job's mounts may take to answer.

Such a file system may hang for ever. Whatever touches it is therefore done in the children, which end when
their time is up; those that are slow keep nobody else's tasks from being started.
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH101, PTH103, PTH108, PTH110, PTH123, PTH208
from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import json
import os
import resource
import select
import signal
import sys
import time
from typing import Any, NoReturn

from footplate import taskfiles
from footplate.engines.local import apart, mounting

PR_SET_CHILD_SUBREAPER = 36
EXIT_CANNOT_EXECUTE = 126
CHUNK_BYTES = 1 << 20
# Each child on its way needs a descriptor here.
MAX_STARTING = 64
SLOW_S = 1.0
# The shim has 3 for itself, and shells know numbers of one digit only.
FIRST_GROUP_FD, LAST_SHELL_FD = 4, 9
LATE = "FOOTPLATE_LATE"
# When the whole machine is out of memory, the kernel takes tasks before the server and what watches over it.
OOM_SCORE_ABOVE_OURS, HIGHEST_OOM_SCORE = 500, 1000

prctl = ctypes.CDLL(None).prctl


class Ground:
    """What all tasks of this spawner stand on: this boot, where their groups are, how their views begin."""

    def __init__(self, confined: dict[str, Any]) -> None:
        with open("/proc/sys/kernel/random/boot_id") as file:
            self.boot_id = file.read().strip()
        with open("/proc/self/oom_score_adj") as file:
            self.oom_score = min(int(file.read()) + OOM_SCORE_ABOVE_OURS, HIGHEST_OOM_SCORE)
        self.how_to_view = confined["view"]
        self.sealed = confined["sealed"]
        self.mounted_within_s = confined["mounted_within_s"]
        self.apart = apart.Apart() if confined["apart"] else None
        # Opened before they are sealed: through these, and only these, groups can still be made.
        self.places = {place: os.open(place, os.O_RDONLY | os.O_DIRECTORY) for place in confined["places"]}
        if self.how_to_view == "root":
            mounting.prepare(self.sealed)

    def make_groups(self, task: dict[str, Any], name: str) -> list[int]:
        """Make the task's groups, unless it joins others; open the files through which they are entered."""
        name = task["joins"] or name
        task["counters"] = [counter.format(name) for counter in task["counters"]]
        entries = []
        for place, settings in task["groups"]:
            folder_fd = self.places[place]
            if not task["joins"]:
                os.mkdir(name, dir_fd=folder_fd)
            for file, text in settings:
                write_to(folder_fd, f"{name}/{file}", text)
            entries.append(os.open(f"{name}/cgroup.procs", os.O_WRONLY, dir_fd=folder_fd))
        return entries

    def remove_groups(self, task: dict[str, Any], name: str) -> None:
        """Take back the groups of a task that this process did not become."""
        if not task["joins"]:
            for place, _ in task["groups"]:
                with contextlib.suppress(OSError):
                    os.rmdir(name, dir_fd=self.places[place])

    def remove_groups_of(self, task: dict[str, Any], pid: int) -> None:
        """Take back the groups of a child that was killed on its way."""
        for place, _ in task["groups"]:
            for name in os.listdir(self.places[place]):
                if name.startswith(f"{pid}-"):
                    self.remove_groups(task, name)

    def enter_view(self, task: dict[str, Any]) -> None:
        if task["view"] is None:
            return
        if "of" in task["view"]:
            mounting.join_view(task["view"]["of"], self.how_to_view == "user")
            return
        if self.how_to_view == "user":
            mounting.leave_user_namespace(self.sealed)
        else:
            mounting.leave_mount_namespace()
        if task["view"]["mounts"]:
            # The kernel ends this process even while it waits for a file system.
            signal.setitimer(signal.ITIMER_REAL, self.mounted_within_s)
        mounting.enter_view(task["view"])
        signal.setitimer(signal.ITIMER_REAL, 0)


def write_to(folder_fd: int, path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY, dir_fd=folder_fd)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        raise OSError(error.errno, f"{path} cannot be set to {text}: {error.strerror}") from None
    finally:
        os.close(fd)


class Batch:
    """One request whose tasks are being started."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.number = request["id"]
        self.env = request["env"]
        self.tasks = request["tasks"]
        self.n_forked = 0
        self.answers: list[dict[str, Any]] = [{} for _ in self.tasks]
        self.n_waiting = len(self.tasks)

    @property
    def has_more(self) -> bool:
        return self.n_forked < len(self.tasks)

    def give_up(self, error: dict[str, Any]) -> None:
        """Answer for the tasks that have not been tried yet, which would fare no better."""
        for position in range(self.n_forked, len(self.tasks)):
            self.answers[position] = error
        self.n_waiting -= len(self.tasks) - self.n_forked
        self.n_forked = len(self.tasks)


class Child:
    """One task on its way, and what it has told so far."""

    def __init__(self, batch: Batch, position: int, pid: int) -> None:
        self.batch = batch
        self.position = position
        self.pid = pid
        self.began_at = time.monotonic()
        self.news = b""

    @property
    def task(self) -> dict[str, Any]:
        task: dict[str, Any] = self.batch.tasks[self.position]
        return task

    @property
    def is_slow(self) -> bool:
        return time.monotonic() - self.began_at > SLOW_S

    def answer(self, mounted_within_s: float) -> dict[str, Any]:
        if self.news:
            told: dict[str, Any] = json.loads(self.news)
            return told
        # Killed on its way; once published, the task has begun and ended like any other.
        if os.path.exists(self.task["folder"] + "/pid"):
            return {"exists": True}
        mounts = (self.task["view"] or {}).get("mounts")
        if not mounts or time.monotonic() - self.began_at < mounted_within_s:
            return {"error": "the new process was killed"}
        what = ", ".join(f"{source} at {target}" for source, _, target, _ in mounts)
        why = "a file system on the way does not answer"
        return {
            "error": f"{what} could not be mounted within {mounted_within_s:g} s: {why}",
            "is_stuck": True,
        }


class Spawner:
    """Reads requests, forks, and answers when the children have become their tasks."""

    def __init__(self, requests_fd: int, ground: Ground) -> None:
        self.requests_fd = requests_fd
        self.ground = ground
        self.unread = b""
        self.unfinished: list[Batch] = []
        self.starting: dict[int, Child] = {}
        self.poll = select.poll()
        self.poll.register(requests_fd, select.POLLIN)

    def serve(self) -> None:
        while True:
            # Children become slow without a word.
            ready = [fd for fd, _ in self.poll.poll(SLOW_S * 1000 if self.unfinished else None)]
            self.collect_from(ready)
            if self.requests_fd in ready and not self.receive():
                return
            self.start_more()

    def receive(self) -> bool:
        """Read what has come; False when the server has gone."""
        data = os.read(self.requests_fd, CHUNK_BYTES)
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.unfinished.append(Batch(json.loads(line)))
        return bool(data)

    def start_more(self) -> None:
        for batch in self.unfinished:
            while batch.has_more and self.has_room_for(batch):
                self.start(batch, batch.n_forked)
        self.unfinished = [batch for batch in self.unfinished if batch.has_more]

    def has_room_for(self, batch: Batch) -> bool:
        """Tell whether a task may be started; one that is slow keeps its own batch waiting, and no other."""
        if len(self.starting) < MAX_STARTING:
            return True
        slow = [child for child in self.starting.values() if child.is_slow]
        n_quick = len(self.starting) - len(slow)
        return n_quick < MAX_STARTING and all(child.batch is not batch for child in slow)

    def start(self, batch: Batch, position: int) -> None:
        batch.n_forked += 1
        pid, news_fd = self.fork(batch.tasks[position], batch.env)
        self.starting[news_fd] = Child(batch, position, pid)
        self.poll.register(news_fd, select.POLLIN)

    def fork(self, task: dict[str, Any], env: dict[str, str]) -> tuple[int, int]:
        """Start a child that becomes the task; its news come through a pipe that closes on exec."""
        pid = 0
        news_fd, child_fd = os.pipe()
        try:
            for folder in task["folders"]:
                os.makedirs(folder, exist_ok=True)
            if task["view"] is not None and "tmp" in task["view"]:
                open_to_all(task["view"]["tmp"])
            people_fd = self.ground.apart.namespace_of(task["owner"]) if self.ground.apart else None
            pid = os.fork()
            if pid == 0:
                become(task, env, self.ground, people_fd, child_fd)
        except OSError as error:
            tell(child_fd, {"error": str(error)})
        os.close(child_fd)
        return pid, news_fd

    def collect_from(self, ready: list[int]) -> None:
        for fd in ready:
            if fd in self.starting:
                self.collect(fd)

    def collect(self, news_fd: int) -> None:
        child = self.starting[news_fd]
        data = os.read(news_fd, CHUNK_BYTES)
        if data:
            child.news += data
            return
        self.poll.unregister(news_fd)
        os.close(news_fd)
        del self.starting[news_fd]
        self.settle(child)

    def settle(self, child: Child) -> None:
        """Note what became of a child, and answer when it was the last of its batch."""
        batch = child.batch
        answer = batch.answers[child.position] = child.answer(self.ground.mounted_within_s)
        batch.n_waiting -= 1
        if not child.news:
            self.ground.remove_groups_of(child.task, child.pid)
        if "is_stuck" in answer:
            batch.give_up(answer)
        if not batch.n_waiting:
            tell(self.requests_fd, {"id": batch.number, "tasks": batch.answers})


def open_to_all(tmp: str) -> None:
    """Give a folder the rights that every /tmp has; an earlier run may have put something else there."""
    fd = taskfiles.open_folder(tmp)
    try:
        os.chmod(f"/proc/self/fd/{fd}", 0o1777)  # noqa: S103
    finally:
        os.close(fd)


def tell(fd: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(fd, data) :]


def become(
    task: dict[str, Any], env: dict[str, str], ground: Ground, people_fd: int | None, news_fd: int
) -> NoReturn:
    """Turn this child into the task's shim; never return, whatever happens."""
    is_ours, name, entries = False, "", []
    news: dict[str, Any]
    try:
        os.setsid()
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write(str(ground.oom_score))
        pid, ticks = os.getpid(), start_ticks()
        name = f"{pid}-{ticks}"
        entries = ground.make_groups(task, name)
        ground.enter_view(task)
        enter(task)
        if task["data_bytes"] is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (task["data_bytes"], task["data_bytes"]))
        if people_fd is not None:
            apart.join(people_fd)
        at = publish(task["folder"], pid, f"{pid} {ticks} {ground.boot_id}\n")
        is_ours = at is not None
        news = {"pid": pid, "start_ticks": ticks, "at": at} if is_ours else {"exists": True}
    except BaseException as error:  # noqa: BLE001  # a forked child must never return to the loop
        news = {"error": str(error), "is_final": isinstance(error, mounting.Unmountable)}
    if not is_ours:
        ground.remove_groups(task, name)
    # A spawner that has died meanwhile must not keep a published task from running.
    with contextlib.suppress(OSError):
        tell(news_fd, news)
    if is_ours:
        execute(task, env, entries)
    os._exit(0)


def execute(task: dict[str, Any], env: dict[str, str], entries: list[int]) -> None:
    argv = task["argv"]
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        runner = [*task["runner"], hand_over(entries), " ".join(task["counters"])]
        os.execve(runner[0], [*runner, *argv], set_aside({**env, **task["env"]}))  # noqa: S606
    except BaseException as error:  # noqa: BLE001
        # The task is published and must end like any other: with a log and an exit code.
        os.write(2, f"footplate: cannot execute {argv[0]}: {error}\n".encode())
        with open(task["folder"] + "/exit", "w") as file:
            file.write(f"{EXIT_CANNOT_EXECUTE}\n")


def set_aside(variables: dict[str, str]) -> dict[str, str]:
    """Rename what the loader obeys: it is for the command, within its limits, not for the shim without any.

    The shim gives the names back. Its words could not carry them: everybody can read those.
    """
    late = [name for name in variables if name.startswith("LD_")]
    renamed = {f"{LATE}_{name}" if name in late else name: value for name, value in variables.items()}
    return {**renamed, LATE: " ".join(late)}


def hand_over(entries: list[int]) -> str:
    """Give the entries to the groups the small numbers that a shell can write to; say which."""
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, LAST_SHELL_FD + 1) for fd in entries]
    numbers = range(FIRST_GROUP_FD, FIRST_GROUP_FD + len(high))
    for fd, number in zip(high, numbers, strict=True):
        os.dup2(fd, number)
    return " ".join(map(str, numbers))


def enter(task: dict[str, Any]) -> None:
    os.chdir(task["work_folder"])
    # An earlier run may have put a pipe there, at which this process would wait for ever.
    log_fd = taskfiles.unfollowed(task["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.set_blocking(log_fd, True)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log_fd, 1)
    os.dup2(log_fd, 2)


def start_ticks() -> int:
    fd = os.open("/proc/self/stat", os.O_RDONLY)
    stat = os.read(fd, 4096)
    os.close(fd)
    return int(stat.rpartition(b")")[2].split()[19])


def publish(folder: str, pid: int, identity: str) -> float | None:
    """Claim the task for this process and say when; None when it was started or stopped before."""
    draft = f"{folder}/pid.{pid}"
    fd = taskfiles.unfollowed(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(fd, identity.encode())
    at = os.fstat(fd).st_mtime
    os.close(fd)
    try:
        os.link(draft, folder + "/pid")
    except FileExistsError:
        return None
    finally:
        os.unlink(draft)
    return at


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
    ground = Ground(json.loads(sys.argv[1]))
    # The collector would write to pages that children share.
    gc.disable()
    gc.freeze()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        Spawner(0, ground).serve()
