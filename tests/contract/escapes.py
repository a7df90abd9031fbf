"""What a task tries in order to get out: each is a shell command that must fail.

The first group was seen to work once; the others follow what is known of escapes from containers, such as
CVE-2019-5736 (the runtime's program through /proc/self/exe), CVE-2022-0492 (release_agent through a user
namespace), CVE-2024-21626 (a descriptor of the host's files left open), CVE-2017-5226 (typing into the
terminal of whoever started it), and opening files by their all_launched.
"""

from __future__ import annotations

CALL = """python3 - <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
machine = os.uname().machine
def call(x86, arm, *arguments):
    return libc.syscall(x86 if machine == "x86_64" else arm, *arguments)
{}
END"""


def call(line: str) -> str:
    """Write a system call as a command that succeeds when the call does."""
    return CALL.format(f"sys.exit({line} < 0)")


SEEN_ONCE = {
    "core pattern": "echo '|/bin/true' >/proc/sys/kernel/core_pattern",
    "limits by a namespace of its own": "unshare -UrmC true",
    "a mount namespace of its own": "unshare -m true",
    "a user namespace of its own": "unshare -U true",
    "memory limit, groups v1": "echo -1 >/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "memory limit, groups v2": "echo max >/sys/fs/cgroup/memory.max",
    "leave the groups": (
        "for one in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do "
        "echo 0 >$one && exit 0; done; exit 1"
    ),
    "make a group": "mkdir /sys/fs/cgroup/x || mkdir /sys/fs/cgroup/memory/x",
}
KERNEL = {
    "sysctl": "echo 1 >/proc/sys/vm/overcommit_memory",
    "sysrq": "echo h >/proc/sysrq-trigger",
    "interrupts": "cat /proc/irq/default_smp_affinity >/proc/irq/default_smp_affinity",
    "uevent helper": "echo /bin/true >/sys/kernel/uevent_helper",
    "huge pages": "echo never >/sys/kernel/mm/transparent_hugepage/enabled",
    "release agent": "echo /bin/true >/sys/fs/cgroup/memory/release_agent",
    "all devices": "echo a >/sys/fs/cgroup/devices/devices.allow",
    "kernel memory": "head -c 1 /proc/kcore | grep -q .",
    "kernel keys": "grep -q . /proc/keys",
    "kernel log": "head -c 1 /dev/kmsg || head -c 1 /proc/kmsg | grep -q .",
    "memory of the machine": "head -c 1 /dev/mem",
    "a disk": "ls /dev/[svx]d[a-z] /dev/nvme* 2>/dev/null | grep -q .",
    "a device file of a disk": "mknod disk b 254 0 && head -c 1 disk",
    "a device file of memory": "mknod mem c 1 1 && head -c 1 mem",
    "the host's /dev": (
        "ls /dev | grep -qv -E "
        "'^(fd|full|infiniband|null|ptmx|pts|random|shm|stderr|stdin|stdout|tty|urandom|zero)$'"
    ),
}
MOUNTS = {
    "mount": "mount -t tmpfs none /mnt",
    "mount proc": "mkdir p && mount -t proc proc p",
    "mount groups": "mkdir g && (mount -t cgroup -o memory none g || mount -t cgroup2 none g)",
    "remount": "mount -o remount,rw /sys",
    "uncover": "umount /proc || umount /run || umount /dev || umount /tmp",
    "new mount calls": call("call(430, 430, b'tmpfs', 0)"),
    "copy of a mount": call("call(428, 428, -100, b'/', 1)"),
    "pivot": call("call(155, 41, b'/', b'/tmp')"),
}
CALLS = {
    "unshare": call("libc.unshare(0x10000000)"),
    "clone into a user namespace": call("call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)"),
    "clone3": call("call(435, 435, 0, 0)"),
    "setns": call("libc.setns(os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)"),
    "file by launched": call("call(304, 265, -100, ctypes.create_string_buffer(136), 0)"),
    "keyring": call("call(250, 219, 0, -3, 1)"),
    "bpf": call("call(321, 280, 0, 0, 0)"),
    "io_uring": call("call(425, 425, 1, ctypes.create_string_buffer(120))"),
    "userfaultfd": call("call(323, 282, 1)"),
    "kernel module": call("call(313, 273, 0, b'', 0)"),
    "swap": call("call(168, 225, b'/nowhere')"),
    "clock": "date -s 2000-01-01",
    "host name": "hostname other",
    "reboot": call("call(169, 142, 0, 0, 0, 0)"),
    "typing into a terminal": call(
        "libc.ioctl(__import__('pty').openpty()[1], 0x5412, ctypes.byref(ctypes.c_char(b'x')))"
    ),
    "processor priority": "nice -n -5 true && [ $(nice -n -5 nice) -lt 0 ]",
    "real-time scheduling": "chrt -f 50 true",
}
PROCESSES = {
    "processes of others": "[ $(ls /proc | grep -c '^[0-9]') -gt 12 ]",
    "kill the server": "kill -0 {server}",
    "kill what starts tasks": "kill -0 {spawner}",
    "kill another task": "kill -0 {other}",
    "priority of the server": "renice -n 19 -p {server}",
    "memory score of the server": "echo 1000 >/proc/{server}/oom_score_adj",
    "processors of the server": "taskset -p 1 {server}",
    "environment of another task": "cat /proc/{other}/environ",
    "its own first process ends": "kill -9 1; sleep 0.2; [ ! -d /proc/1 ]",
    "host's files through its first process": "ls /proc/1/root{home}/secret",
    "program of its first process": "cat /bin/true >/proc/1/exe",
    "open descriptors": (
        "ls -l /proc/1/fd /proc/self/fd | grep -o ' -> /.*' | "
        "grep -v -E ' (/dev/null|/proc/|.*/(log|exit|init.sh)$)'"
    ),
    "a root above the root": "mkdir -p r && chroot r true; chroot . ls ../../../../../../..{home}/secret",
}
SOCKETS = {
    "the machine around a virtual one": call("__import__('socket').socket(40, 1).fileno()"),
    "cryptography of the kernel (CVE-2026-31431)": call("__import__('socket').socket(38, 5).fileno()"),
    "packets of everybody": call("__import__('socket').socket(17, 3).fileno()"),
}
FILES = {
    "home of the platform": "cat {home}/secret",
    "key of an account": "cat {account}/.config/footplate/client.toml",
    "start files of an account": "echo >>{account}/.bashrc",
    "sockets of services": "ls /run | grep -v -E '^(systemd|nscd|nvidia-persistenced)$' | grep -q .",
    "passwords of the machine": "cat /etc/shadow",
    "scheduled commands": "echo >/var/spool/cron/x || echo >/etc/cron.d/x",
    "programs of the machine": "echo >/usr/local/bin/x",
    "the root folder": "echo >/x",
    "a library of the platform": "echo >>{package}/__init__.py",
}
ALL = {**SEEN_ONCE, **KERNEL, **MOUNTS, **CALLS, **PROCESSES, **SOCKETS, **FILES}
