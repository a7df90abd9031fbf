"""Turns a child of the spawner into a task: control groups, mounts, claim, account, then exec of the program.

Standard library only. The order matters: what needs the server's rights comes first, and each step gives some
of them up. When the program starts, nothing of the server's is left.
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH101, PTH102, PTH103, PTH118, PTH120
from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import resource
import signal
import stat
import termios
from typing import TYPE_CHECKING, NoReturn

from footplate.engines.local.confine import kernel, kernelfiles, mounting, ownership, user_namespaces
from footplate.engines.local.confine.refused import Refused, Unmountable
from footplate.engines.local.process import steps
from footplate.engines.local.process.ground import Ground
from footplate.machine import taskfiles

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import Answer, GoesOnAs, NotStarted, SpawnAnswer, TaskOrder, View


INIT = os.path.join(os.path.dirname(__file__), "init.sh")
EXIT_CANNOT_EXECUTE = 126
# Shells know numbers of one digit only: through this one a task's end is recorded.
EXIT_FD = 9
LATE = "FOOTPLATE_LATE"


def become(task: TaskOrder, env: dict[str, str], ground: Ground, news_fd: int) -> NoReturn:
    """Turn this child into the task; never return, whatever happens."""
    is_ours, name, entries = False, "", []
    news: Answer
    try:
        os.setsid()
        records_fd = enter_surroundings(task, ground, news_fd)
        pid, ticks = who_am_i()
        name = f"{pid}-{ticks}"
        entries = ground.make_groups(task, name)
        if ground.has_pids and not task["joins"]:
            ground.proc.make()
        at = claim(task, records_fd, f"{pid} {ticks} {ground.boot_id}\n")
        is_ours = at is not None
        news = {"exists": True} if at is None else {"pid": pid, "start_ticks": ticks, "at": at}
    except BaseException as error:  # noqa: BLE001  # a forked child must never return to the loop
        news = failure(error)
    if not is_ours and name:
        ground.remove_groups(task, name)
    # A spawner that has died meanwhile must not keep a published task from running.
    with contextlib.suppress(OSError):
        tell(news_fd, news)
    if is_ours:
        execute(task, env, entries, name, ground)
    os._exit(0)


def failure(error: BaseException) -> NotStarted:
    """Say why a task was not started, and whether that will be so the next time."""
    # With the file that it is about, which nothing else tells here.
    said = error.said if isinstance(error, Refused) else str(error)
    return {"error": said, "is_final": isinstance(error, Unmountable)}


def enter_surroundings(task: TaskOrder, ground: Ground, news_fd: int) -> int:
    """See files and processes as the task does; return where it is recorded, which it does not see."""
    with contextlib.suppress(OSError):
        write_file("/proc/self/oom_score_adj", ground.oom_score)
    make_folders(task)
    records_fd = os.open(task["folder"], os.O_PATH | os.O_DIRECTORY)
    if "streams" in task:
        use_streams(task)
    else:
        use_log(open_log(task))
    if not ground.has_pids or task["joins"]:
        # What the command leaves behind comes to whoever watches over it.
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    view = task["view"]
    if task["joins"]:
        join(task, ground, news_fd)
    elif view is not None and "of" not in view:
        enter_view(view, ground)
        if ground.has_pids and ground.view == "user":
            # Root is born into its own; others need the right to mount first.
            kernel.unshare(kernel.CLONE_NEWPID)
            go_on_as_child(news_fd)
    return records_fd


def join(task: TaskOrder, ground: Ground, news_fd: int) -> None:
    """See what a running task sees, and be one of its processes."""
    view = task["view"]
    if view is None or "of" not in view:
        return
    kinds = [
        *(["user"] if ground.view == "user" else []),
        *(["pid", "ipc"] if ground.has_pids else []),
    ]
    of = f"/proc/{view['of']}/ns"
    opened = {kind: os.open(f"{of}/{kind}", os.O_RDONLY) for kind in (*kinds, "cgroup", "mnt")}
    for kind in kinds:
        kernel.setns(opened[kind])
    if ground.has_pids:
        go_on_as_child(news_fd)
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    # Entered later: from there neither the host's /proc nor its groups can be seen.
    task["mounts_fd"], task["groups_fd"] = opened["mnt"], opened["cgroup"]


def go_on_as_child(news_fd: int) -> None:
    """Become a process of the PID namespace that was entered; this one says which, and ends."""
    if child := os.fork():
        tell(news_fd, {"child": child})
        os._exit(0)
    os.setsid()


def enter_view(view: View, ground: Ground) -> None:
    if ground.view == "user":
        mounting.leave_user_namespace(ground.sealed)
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
    if view["mounts"]:
        # A file system may hang for ever: without the spawner nobody would end this process.
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    mounting.enter_view(view, has_common=ground.view == "root")
    kernel.prctl(kernel.PR_SET_PDEATHSIG, 0)


def write_file(path: str, text: bytes) -> None:
    # Not by open(): what that touches first would be copied for every task.
    fd = os.open(path, os.O_WRONLY)
    os.write(fd, text)
    os.close(fd)


def who_am_i() -> tuple[int, int]:
    """Read the number and the start of this process, as those see them who started it."""
    fd = os.open("/proc/self/stat", os.O_RDONLY)
    line = os.read(fd, 4096)
    os.close(fd)
    return int(line.split(b" ", 1)[0]), int(line.rpartition(b")")[2].split()[19])


def claim(task: TaskOrder, records_fd: int, identity: str) -> float | None:
    """Take the task, and open what its end is written to; None when somebody was here before."""
    if "mounts_fd" in task:
        kernel.setns(task["mounts_fd"])
    os.chdir(task["work_folder"])
    at = publish(records_fd, identity)
    if at is not None:
        task["exit_fd"] = open_record(records_fd)
    return at


def make_folders(task: TaskOrder) -> None:
    """Make what is missing, and let the task's account through to what is its own."""
    # Whatever the server's own is: other accounts must get through what is made here.
    os.umask(0o022)
    account = task["account"]
    for folder in task["passages"]:
        if not is_made(folder) and account is not None:
            ownership.let_through(folder)
    new = [folder for folder in task["folders"] if is_made(folder)]
    if task["view"] is not None and "tmp" in task["view"]:
        open_to_all(task["view"]["tmp"])
    if account is not None:
        for folder in task["given"]:
            ownership.give(folder, account, is_new=folder in new)


def is_made(folder: str) -> bool:
    """Make a folder; False when it was there."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        return False
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)
    return True


def open_to_all(tmp: str) -> None:
    """Give a folder the rights that every /tmp has; an earlier run may have put something else there."""
    status = os.lstat(tmp)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, f"{tmp} is not the folder that it should be")
    if stat.S_IMODE(status.st_mode) != 0o1777:
        os.chmod(tmp, 0o1777)  # noqa: S103


def use_streams(task: TaskOrder) -> None:
    """Take what somebody at the other end reads and writes: a terminal, or a pipe for each direction."""
    streams = task["streams"]
    if terminal := streams["terminal"]:
        fds = [os.open(terminal, os.O_RDWR | os.O_NOCTTY)] * 3
    else:
        output_fd = taskfiles.open_pipe(streams["output"], os.O_WRONLY)
        errors = streams["errors"]
        fds = [
            taskfiles.open_pipe(streams["input"], os.O_RDONLY),
            output_fd,
            taskfiles.open_pipe(errors, os.O_WRONLY) if errors else output_fd,
        ]
    for fd in fds:
        os.set_blocking(fd, True)
        if account := task["account"]:
            # Scripts open /dev/stderr anew.
            os.fchown(fd, user_namespaces.id_outside(account), user_namespaces.group_outside(account))
    os.dup2(fds[0], 0)
    os.dup2(fds[1], 1)
    os.dup2(fds[2], 2)


def open_log(task: TaskOrder) -> int:
    # An earlier run may have put a pipe there, at which this process would wait for ever.
    log_fd = taskfiles.unfollowed(task["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.set_blocking(log_fd, True)
    if account := task["account"]:
        # Scripts open /dev/stderr anew.
        os.fchown(log_fd, user_namespaces.id_outside(account), user_namespaces.group_outside(account))
    return log_fd


def use_log(log_fd: int) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log_fd, 1)
    os.dup2(log_fd, 2)


def publish(records_fd: int, identity: str) -> float | None:
    """Claim the task for this process and say when; None when it was started or stopped before."""
    fd, draft = open_draft(records_fd, f"pid.{identity.partition(' ')[0]}")
    try:
        os.write(fd, identity.encode())
        at = os.fstat(fd).st_mtime
        unnamed = f"/proc/self/fd/{fd}"
        os.link(
            draft or unnamed, "pid", src_dir_fd=records_fd, dst_dir_fd=records_fd, follow_symlinks=not draft
        )
    except FileExistsError:
        return None
    finally:
        os.close(fd)
        if draft:
            os.unlink(draft, dir_fd=records_fd)
    return at


def open_draft(records_fd: int, name: str) -> tuple[int, str]:
    """Open a new file, and say how it is called where it has to have a name before it is whole.

    On ext4 every file that is removed slows the making of others for minutes.
    """
    try:
        return os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o644, dir_fd=records_fd), ""
    except OSError:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        return taskfiles.unfollowed_in(records_fd, name, flags), name


def open_record(records_fd: int) -> int:
    """Open the file that the end is written to, for whoever watches over the command."""
    fd = taskfiles.unfollowed_in(records_fd, "exit", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.set_blocking(fd, True)
    # A page that the task is the first to use would keep its memory group for as long as it is cached.
    with contextlib.suppress(OSError):
        os.write(fd, b"\n")
    return fd


def execute(task: TaskOrder, env: dict[str, str], entries: list[int], name: str, ground: Ground) -> None:
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        # As late as can be: what this process has used until now is not the task's.
        for entry in entries:
            os.write(entry, b"0")
        if "groups_fd" in task:
            kernel.setns(task["groups_fd"])
        elif task["view"] is not None:
            kernelfiles.show_own_groups(ground.own_groups(task, name))
        if "streams" in task and task["streams"]["terminal"]:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        give_up_rights(task)
        counters = ground.counters(task, name)
        if ground.native:
            be_program(ground.native, task, env, counters)
        else:
            be_shell(task, env, counters)
    except BaseException as error:  # noqa: BLE001
        # The task is published and must end like any other: with a log and an exit code.
        os.write(2, f"footplate: cannot execute {task['argv'][0]}: {error}\n".encode())
        os.write(task["exit_fd"], f"{EXIT_CANNOT_EXECUTE}\n".encode())


def be_program(program: str, task: TaskOrder, env: dict[str, str], counters: list[str]) -> None:
    """Become the program that watches over the command."""
    order = steps.watch(task, env, counters)
    os.dup2(order.write(), steps.ORDER_FD)
    for fd, number in order.lent():
        os.dup2(fd, number)
    os.execve(program, [steps.NAME], steps.environment(task, env))  # noqa: S606


def be_shell(task: TaskOrder, env: dict[str, str], counters: list[str]) -> None:
    """Become the shell that watches over the command, where there is no such program."""
    os.dup2(task["exit_fd"], EXIT_FD)
    words = ["/bin/sh", INIT, " ".join(counters), *task["argv"]]
    os.execve(words[0], words, set_aside({**env, **task["env"]}))  # noqa: S606


def give_up_rights(task: TaskOrder) -> None:
    if task["data_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (task["data_bytes"], task["data_bytes"]))
    if task["account"] is not None:
        user_namespaces.join(task["people_fd"], task["account"])
    elif os.geteuid() == 0:
        user_namespaces.drop_powers()
    if task["filter"]:
        kernel.set_filter(task["filter"])


def set_aside(variables: dict[str, str]) -> dict[str, str]:
    """Rename what the loader obeys: it is for the command, not for what watches over it.

    The watcher gives the names back. Its words could not carry them: everybody can read those.
    """
    late = [name for name in variables if name.startswith("LD_")]
    renamed = {f"{LATE}_{name}" if name in late else name: value for name, value in variables.items()}
    return {**renamed, LATE: " ".join(late)}


def tell(fd: int, message: Answer | GoesOnAs | SpawnAnswer) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(fd, data) :]
