"""A small SFTP server (version 3) for tasks whose image has none, on standard input and output.

It is handed to the task's own Python as text, so that it needs nothing but the standard library.
"""

# As the protocol speaks of paths: bytes.
# ruff: noqa: PTH101, PTH102, PTH104, PTH105, PTH106, PTH108, PTH115, PTH116, PTH118, PTH208, PTH211

from __future__ import annotations

import errno
import os
import stat
import struct
import sys
import time
from typing import Any, BinaryIO

VERSION = 3
OK, END, NO_FILE, DENIED, FAILURE, BAD, UNSUPPORTED = 0, 1, 2, 3, 4, 5, 8
STATUS, HANDLE, DATA, NAME, ATTRS = 101, 102, 103, 104, 105
HAS_SIZE, HAS_OWNER, HAS_MODE, HAS_TIMES = 1, 2, 4, 8
MOST_READ = 256 * 1024
NAMES_AT_ONCE = 100

Answer = tuple[int, bytes]


class Reader:
    """Takes a message apart."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> int:
        values = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return int(values[0])

    def text(self) -> bytes:
        size = self.take("I")
        self.at += size
        return self.data[self.at - size : self.at]

    def attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        flags = self.take("I")
        if flags & HAS_SIZE:
            found["size"] = self.take("Q")
        if flags & HAS_OWNER:
            found["owner"] = self.take("I"), self.take("I")
        if flags & HAS_MODE:
            found["mode"] = self.take("I")
        if flags & HAS_TIMES:
            found["times"] = self.take("I"), self.take("I")
        return found


def packed(text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text


def attributes_of(status: os.stat_result) -> bytes:
    head = struct.pack(">IQ", HAS_SIZE | HAS_OWNER | HAS_MODE | HAS_TIMES, status.st_size)
    times = int(status.st_atime) & 0xFFFFFFFF, int(status.st_mtime) & 0xFFFFFFFF
    return head + struct.pack(">IIIII", status.st_uid, status.st_gid, status.st_mode, *times)


def long_name(name: bytes, status: os.stat_result) -> bytes:
    day = time.strftime("%b %d %H:%M", time.localtime(status.st_mtime))
    words = (
        stat.filemode(status.st_mode),
        status.st_nlink,
        status.st_uid,
        status.st_gid,
        status.st_size,
        day,
    )
    return " ".join(map(str, words)).encode() + b" " + name


def change(path_or_fd: Any, wanted: dict[str, Any]) -> None:
    if "size" in wanted:
        os.truncate(path_or_fd, wanted["size"])
    if "mode" in wanted:
        os.chmod(path_or_fd, stat.S_IMODE(wanted["mode"]))
    if "times" in wanted:
        os.utime(path_or_fd, wanted["times"])
    if "owner" in wanted:
        os.chown(path_or_fd, *wanted["owner"])


class Server:
    """Answers one message after the other."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self.source, self.sink = source, sink
        self.handles: dict[bytes, Any] = {}
        self.n_made = 0
        self.calls = {
            3: self.open, 4: self.close, 5: self.read, 6: self.write, 7: self.lstat, 8: self.fstat,
            9: self.setstat, 10: self.fsetstat, 11: self.opendir, 12: self.readdir, 13: self.remove,
            14: self.mkdir, 15: self.rmdir, 16: self.realpath, 17: self.stat, 18: self.rename,
            19: self.readlink, 20: self.symlink, 200: self.extended,
        }  # fmt: skip

    def receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.source.read(size - len(data))
            if not piece:
                sys.exit(0)
            data += piece
        return data

    def send(self, kind: int, body: bytes) -> None:
        self.sink.write(struct.pack(">IB", len(body) + 1, kind) + body)
        self.sink.flush()

    def serve(self) -> None:
        while True:
            (size,) = struct.unpack(">I", self.receive(4))
            data = self.receive(size)
            if data[0] == 1:
                more = b"".join(map(packed, (b"posix-rename@openssh.com", b"1", b"fsync@openssh.com", b"1")))
                self.send(2, struct.pack(">I", VERSION) + more)
                continue
            message = Reader(data[1:])
            number = message.take("I")
            call = self.calls.get(data[0])
            try:
                kind, body = call(message) if call else self.status(UNSUPPORTED)
            except OSError as error:
                codes = {errno.ENOENT: NO_FILE, errno.EACCES: DENIED, errno.EPERM: DENIED}
                kind, body = self.status(codes.get(error.errno or 0, FAILURE), os.strerror(error.errno or 0))
            except (KeyError, struct.error, ValueError):
                kind, body = self.status(BAD)
            self.send(kind, struct.pack(">I", number) + body)

    def status(self, code: int = OK, text: str = "") -> Answer:
        return STATUS, struct.pack(">I", code) + packed(text.encode()) + packed(b"en")

    def keep(self, thing: Any) -> Answer:
        self.n_made += 1
        name = b"%d" % self.n_made
        self.handles[name] = thing
        return HANDLE, packed(name)

    def open(self, message: Reader) -> Answer:
        path, flags, wanted = message.text(), message.take("I"), message.attributes()
        how = {1: os.O_RDONLY, 2: os.O_WRONLY, 3: os.O_RDWR}.get(flags & 3, os.O_RDONLY)
        # Appending is left to the offsets that the client names.
        for bit, flag in ((8, os.O_CREAT), (16, os.O_TRUNC), (32, os.O_EXCL)):
            how |= flag if flags & bit else 0
        return self.keep(os.open(path, how | os.O_CLOEXEC, stat.S_IMODE(wanted.get("mode", 0o666))))

    def close(self, message: Reader) -> Answer:
        thing = self.handles.pop(message.text())
        if isinstance(thing, int):
            os.close(thing)
        return self.status()

    def read(self, message: Reader) -> Answer:
        fd, offset, size = self.handles[message.text()], message.take("Q"), message.take("I")
        data = os.pread(fd, min(size, MOST_READ), offset)
        return (DATA, packed(data)) if data else self.status(END)

    def write(self, message: Reader) -> Answer:
        fd, offset, data = self.handles[message.text()], message.take("Q"), message.text()
        while data:
            written = os.pwrite(fd, data, offset)
            data, offset = data[written:], offset + written
        return self.status()

    def lstat(self, message: Reader) -> Answer:
        return ATTRS, attributes_of(os.lstat(message.text()))

    def stat(self, message: Reader) -> Answer:
        return ATTRS, attributes_of(os.stat(message.text()))

    def fstat(self, message: Reader) -> Answer:
        return ATTRS, attributes_of(os.fstat(self.handles[message.text()]))

    def setstat(self, message: Reader) -> Answer:
        change(message.text(), message.attributes())
        return self.status()

    def fsetstat(self, message: Reader) -> Answer:
        change(self.handles[message.text()], message.attributes())
        return self.status()

    def opendir(self, message: Reader) -> Answer:
        path = message.text()
        return self.keep([path, [b".", b"..", *os.listdir(path)]])

    def readdir(self, message: Reader) -> Answer:
        folder, names = self.handles[message.text()]
        if not names:
            return self.status(END)
        now, names[:] = names[:NAMES_AT_ONCE], names[NAMES_AT_ONCE:]
        rows = []
        for name in now:
            try:
                status = os.lstat(os.path.join(folder, name))
            except OSError:
                continue
            rows.append(packed(name) + packed(long_name(name, status)) + attributes_of(status))
        return NAME, struct.pack(">I", len(rows)) + b"".join(rows)

    def remove(self, message: Reader) -> Answer:
        os.unlink(message.text())
        return self.status()

    def mkdir(self, message: Reader) -> Answer:
        path, wanted = message.text(), message.attributes()
        os.mkdir(path, stat.S_IMODE(wanted.get("mode", 0o777)))
        return self.status()

    def rmdir(self, message: Reader) -> Answer:
        os.rmdir(message.text())
        return self.status()

    def named(self, path: bytes) -> Answer:
        return NAME, struct.pack(">I", 1) + packed(path) + packed(path) + struct.pack(">I", 0)

    def realpath(self, message: Reader) -> Answer:
        return self.named(os.path.realpath(message.text() or b"."))

    def readlink(self, message: Reader) -> Answer:
        return self.named(os.readlink(message.text()))

    def rename(self, message: Reader) -> Answer:
        old, new = message.text(), message.text()
        if os.path.lexists(new):
            return self.status(FAILURE, "it exists")
        os.rename(old, new)
        return self.status()

    def symlink(self, message: Reader) -> Answer:
        # In the order of OpenSSH, which is not that of the protocol.
        target, link = message.text(), message.text()
        os.symlink(target, link)
        return self.status()

    def extended(self, message: Reader) -> Answer:
        name = message.text()
        if name == b"posix-rename@openssh.com":
            os.replace(message.text(), message.text())
        elif name == b"fsync@openssh.com":
            os.fsync(self.handles[message.text()])
        else:
            return self.status(UNSUPPORTED)
        return self.status()


if __name__ == "__main__":
    Server(sys.stdin.buffer, sys.stdout.buffer).serve()
