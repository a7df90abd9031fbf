"""The system-call filter: refuses calls that reach beyond a task, as in an ordinary container.

The kernel itself refuses most of them to whoever has no power over the machine. The filter is for the day on
which one of them has a fault: what cannot be called cannot be exploited. Debuggers and profilers of one's
own processes (`ptrace`, `process_vm_readv`, `perf_event_open`) are left to the kernel's own rules.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterable, Mapping, Sequence

# By machine: the number by which the kernel names it to filters, and the numbers of its calls.
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Numbers of another calling convention of the same machine, with its own numbers for everything.
FIRST_X32 = 0x40000000

# What changes the machine, its clock, its kernel or its mounts, and what looks behind namespaces.
REFUSED: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "acct": 163,
        "add_key": 248,
        "bpf": 321,
        "clock_adjtime": 305,
        "clock_settime": 227,
        "create_module": 174,
        "delete_module": 176,
        "fanotify_init": 300,
        "finit_module": 313,
        "get_kernel_syms": 177,
        "init_module": 175,
        "ioperm": 173,
        "iopl": 172,
        "kexec_file_load": 320,
        "kexec_load": 246,
        "keyctl": 250,
        "lookup_dcookie": 212,
        "mount": 165,
        "nfsservctl": 180,
        "open_by_handle_at": 304,
        "pivot_root": 155,
        "query_module": 178,
        "quotactl": 179,
        "reboot": 169,
        "request_key": 249,
        "setns": 308,
        "settimeofday": 164,
        "swapoff": 168,
        "swapon": 167,
        "sysfs": 139,
        "syslog": 103,
        "umount2": 166,
        "uselib": 134,
        "userfaultfd": 323,
        "vhangup": 153,
    },
    "aarch64": {
        "acct": 89,
        "add_key": 217,
        "bpf": 280,
        "clock_adjtime": 266,
        "clock_settime": 112,
        "delete_module": 106,
        "fanotify_init": 262,
        "finit_module": 273,
        "init_module": 105,
        "kexec_file_load": 294,
        "kexec_load": 104,
        "keyctl": 219,
        "lookup_dcookie": 18,
        "mount": 40,
        "nfsservctl": 42,
        "open_by_handle_at": 265,
        "pivot_root": 41,
        "quotactl": 60,
        "reboot": 142,
        "request_key": 218,
        "setns": 268,
        "settimeofday": 170,
        "swapoff": 225,
        "swapon": 224,
        "syslog": 116,
        "umount2": 39,
        "userfaultfd": 282,
        "vhangup": 58,
    },
}
# New enough to have the same numbers everywhere: open_tree, move_mount, fsopen, fsconfig, fsmount, fspick,
# mount_setattr, quotactl_fd, open_tree_attr.
REFUSED_EVERYWHERE = (428, 429, 430, 431, 432, 433, 442, 443, 467)
# Programs take an older way when these are absent: io_uring (setup, enter, register), and clone3, whose flags
# no filter can read.
ABSENT = (425, 426, 427, 435)
CLONE = {"x86_64": 56, "aarch64": 220}
UNSHARE = {"x86_64": 272, "aarch64": 97}
IOCTL = {"x86_64": 16, "aarch64": 29}
SOCKET = {"x86_64": 41, "aarch64": 198}
# Local sockets, IP, netlink, and IP over RDMA (SMC). Others reach the machine that a virtual one runs on
# (vsock), or parts of the kernel that few use and that had faults (its cryptography, CVE-2026-31431).
FAMILIES = (1, 2, 10, 16, 43)
# Every kind of namespace but that of time, which clone takes for a signal's number.
NAMESPACES = 0x7E020000
NAMESPACE_OF_TIME = 0x80
# Typing into a terminal on behalf of whoever sits there.
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4


def is_known(machine: str = "") -> bool:
    """Tell whether there is a filter for this kind of machine."""
    return (machine or os.uname().machine) in ARCHITECTURES


def build(machine: str = "") -> bytes:
    """Write the filter as the kernel reads it: instructions of eight bytes."""
    machine = machine or os.uname().machine
    refused = [*REFUSED[machine].values(), *REFUSED_EVERYWHERE]
    lines = [
        _load(_ARCHITECTURE_AT),
        *_unless(_EQUAL, ARCHITECTURES[machine], errno.ENOSYS),
        _load(_NUMBER_AT),
    ]
    if machine == "x86_64":
        lines += _when(_AT_LEAST, FIRST_X32, errno.ENOSYS)
    for number in ABSENT:
        lines += _when(_EQUAL, number, errno.ENOSYS)
    for number in refused:
        lines += _when(_EQUAL, number, errno.EPERM)
    lines += _of_call(CLONE[machine], 0, _when(_ANY_BIT, NAMESPACES, errno.EPERM))
    lines += _of_call(UNSHARE[machine], 0, _when(_ANY_BIT, NAMESPACES | NAMESPACE_OF_TIME, errno.EPERM))
    typing = [*_when(_EQUAL, TIOCSTI, errno.EPERM), *_when(_EQUAL, TIOCLINUX, errno.EPERM)]
    lines += _of_call(IOCTL[machine], 1, typing)
    lines += _of_call(SOCKET[machine], 0, _when_none_of(FAMILIES, errno.EAFNOSUPPORT))
    lines.append(_return(_ALLOW))
    return b"".join(lines)


def _instruction(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, offset)


def _return(value: int) -> bytes:
    return _instruction(_RETURN, value)


def _when(test: int, value: int, error: int) -> list[bytes]:
    return [_instruction(test, value, 0, 1), _return(_ERRNO | error)]


def _when_none_of(values: Sequence[int], error: int) -> list[bytes]:
    """Refuse what equals none of these values; each that fits skips the rest and the refusal."""
    tests = [_instruction(_EQUAL, value, len(values) - n, 0) for n, value in enumerate(values)]
    return [*tests, _return(_ERRNO | error)]


def _unless(test: int, value: int, error: int) -> list[bytes]:
    return [_instruction(test, value, 1, 0), _return(_ERRNO | error)]


def _of_call(number: int, argument: int, tests: Iterable[bytes]) -> list[bytes]:
    """Look at the lower half of an argument of one call; then the number is loaded again for what follows."""
    inner = [_load(16 + 8 * argument), *tests, _load(_NUMBER_AT)]
    return [_instruction(_EQUAL, number, 0, len(inner)), *inner]
