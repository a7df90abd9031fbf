"""A folder of this machine as a storage, NFS included."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from footplate.domain.problems import is_writable
from footplate.machine.beneath import open_beneath, rename
from footplate.machine.foldertree import walk
from footplate.storages.base import CHUNK_BYTES, Batch, Entry, EntryKind, Page, Part, Source
from footplate.storages.listings import Listings
from footplate.storages.parts import FilePart, Parts, checked, fresh_id
from footplate.storages.paths import HIDDEN, folder_of, is_hidden, join

_PLACE = os.O_PATH | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# A pipe would wait for its other end.
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
FILE_MODE, PROGRAM_MODE, FOLDER_MODE = 0o644, 0o755, 0o755
# Another file system, or one without links; or a kernel that lets only owners link.
CANNOT_LINK = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOENT)
MOST_COPIED_AT_ONCE = 64 * CHUNK_BYTES


class FolderSource:
    """An open plain file."""

    def __init__(self, fd: int, entry: Entry) -> None:
        self._fd = fd
        self.entry = entry

    def read(self, offset: int, n_bytes: int) -> bytes:
        return os.pread(self._fd, n_bytes, offset)

    def fetch(self, offset: int, n_bytes: int) -> Iterator[bytes]:
        end = offset + n_bytes
        while piece := os.pread(self._fd, min(CHUNK_BYTES, end - offset), offset):
            offset += len(piece)
            yield piece

    def fileno(self) -> int | None:
        return self._fd

    def close(self) -> None:
        os.close(self._fd)


class FolderBatch:
    """Writes small files; the folder of the last one stays open, as the next is most often in it too."""

    def __init__(self, files: FolderFiles, parts_fd: int) -> None:
        self._files = files
        self._parts_fd = parts_fd
        self._folder: str | None = None
        self._fd = -1
        # Who made the halves; whose the files are to be, where that is somebody else.
        self._maker = _maker(parts_fd)
        self._owner: tuple[int, int] | None = None
        self._stem, self._n = fresh_id(), 0
        # Modes that files have from their beginning, as nothing here takes away from them.
        self._given_modes: set[int] = set()

    def write(self, path: str, data: bytes, is_executable: bool) -> None:
        folder, _, name = path.rpartition("/")
        if folder != self._folder:
            self._enter(folder)
        self._n += 1
        half = f"{self._stem}{self._n:08x}"
        self._write_half(half, data, PROGRAM_MODE if is_executable else FILE_MODE)
        try:
            os.rename(half, name, src_dir_fd=self._parts_fd, dst_dir_fd=self._fd)
        except OSError as error:
            if error.errno != errno.EXDEV:
                os.unlink(half, dir_fd=self._parts_fd)
                raise
            self._files.place(half, path, replaces=True, is_executable=is_executable)

    def _write_half(self, half: str, data: bytes, mode: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        fd = os.open(half, flags, mode, dir_fd=self._parts_fd)
        try:
            _write_all(fd, data)
            if self._owner is not None:
                os.fchown(fd, *self._owner)
            if mode not in self._given_modes:
                if stat.S_IMODE(os.fstat(fd).st_mode) == mode:
                    self._given_modes.add(mode)
                else:
                    os.fchmod(fd, mode)
        finally:
            os.close(fd)

    def _enter(self, folder: str) -> None:
        self.close()
        self._fd = self._files.open_folder(folder)
        self._folder, self._owner = folder, self._owner_within()

    def _owner_within(self) -> tuple[int, int] | None:
        around = os.fstat(self._fd)
        owner = around.st_uid, around.st_gid
        return owner if os.geteuid() == 0 and owner != self._maker else None

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._folder = -1, None


class FolderFiles:
    """The files below a folder; links are followed as long as they stay in it.

    `is_own` says that the folder is the server's to make, and only for the server and those it lets in.
    """

    def __init__(
        self,
        root: Path,
        *,
        is_writable: bool = True,
        is_own: bool = False,
        listings: Listings | None = None,
    ) -> None:
        self._root = root
        self._listings = listings or Listings()
        self.is_writable = is_writable
        self._is_own = is_own
        self._parts = Parts(self._parts_folder)

    # Finding

    @contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        root_fd = self._open_root()
        try:
            fd = open_beneath(root_fd, path, flags)
        finally:
            os.close(root_fd)
        try:
            yield fd
        finally:
            os.close(fd)

    def _open_root(self) -> int:
        if self._is_own:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(self._root, _PLACE | os.O_DIRECTORY)

    @contextmanager
    def _around(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder around a path, and say what the path is called there."""
        with self._opened(folder_of(path), _PLACE | os.O_DIRECTORY) as fd:
            yield fd, path.rpartition("/")[2]

    def _parts_folder(self) -> int:
        with self._opened("", _PLACE) as root_fd:
            with suppress(FileExistsError):
                os.mkdir(HIDDEN, 0o700, dir_fd=root_fd)
            return os.open(HIDDEN, _FOLDER | os.O_NOFOLLOW, dir_fd=root_fd)

    def device(self) -> int:
        with self._opened("", _PLACE) as fd:
            return os.fstat(fd).st_dev

    # Reading

    def stat(self, path: str) -> Entry:
        with self._opened(path, _PLACE) as fd:
            return _entry(path, os.fstat(fd))

    def page(self, path: str, after: str, limit: int) -> Page:
        with self._opened(path, _FOLDER) as fd:
            # Names only: a folder may have very many, and only those of this page are looked at.
            names = self._listings.first(fd, after, limit + 1)
            more, last = len(names) > limit, names[:limit][-1:]
            names = [name for name in names[:limit] if not is_hidden(name)]
            told = [name for name in names if is_writable(name)]
            entries = [entry for name in told if (entry := self._tell(fd, path, name)) is not None]
        return Page(entries, last[0] if more else "", len(names) - len(told))

    def _tell(self, folder_fd: int, folder: str, name: str) -> Entry | None:
        """Tell of one name in an open folder, or nothing when it has just gone."""
        path = join(folder, name)
        try:
            status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISLNK(status.st_mode):
            return _entry(path, status)
        try:
            with self._opened(path, _PLACE) as fd:
                return _entry(path, os.fstat(fd), is_link=True)
        except OSError:
            return Entry(path, EntryKind.OTHER, is_link=True)

    def walk(self, path: str) -> Iterator[Entry]:
        with self._opened(path, _FOLDER) as folder_fd:
            for place, folders, files, fd in walk(folder_fd):
                inner = join(path, place[2:]) if place != "." else path
                folders[:] = sorted(name for name in folders if not is_hidden(name) and is_writable(name))
                told = sorted(name for name in files if not is_hidden(name) and is_writable(name))
                for name in (*folders, *told):
                    with suppress(FileNotFoundError):
                        status = os.stat(name, dir_fd=fd, follow_symlinks=False)
                        yield _entry(join(inner, name), status, stat.S_ISLNK(status.st_mode))

    def open(self, path: str, entry: Entry | None = None) -> Source:
        was = entry
        with self._opened(path, _FILE) as fd:
            entry = _entry(path, os.fstat(fd))
            if entry.is_folder:
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            if entry.kind is not EntryKind.FILE:
                raise PermissionError(errno.EPERM, "it is neither a file nor a folder", path)
            if was is not None and was.tag != entry.tag:
                raise OSError(errno.EAGAIN, "it has changed while it was read", path)
            return FolderSource(os.dup(fd), entry)

    # Writing

    def part(self, part_id: str, is_new: bool) -> Part:
        return self._parts.open(part_id, is_new)

    def digest(self, part_id: str) -> str:
        return self._parts.digest(part_id)

    def discard(self, part_id: str) -> None:
        self._parts.discard(part_id)

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        with self._parts.folder() as parts_fd:
            batch = FolderBatch(self, parts_fd)
            try:
                yield batch
            finally:
                batch.close()

    def place(self, part_id: str, path: str, *, replaces: bool, is_executable: bool = False) -> Entry:
        self._ensure_folder(folder_of(path))
        with self._around(path) as (fd, name), self._parts.folder() as parts_fd:
            part = self._parts.open(part_id, is_new=False)
            try:
                _become_like(part.fileno(), fd, PROGRAM_MODE if is_executable else FILE_MODE)
                entry = _entry(path, os.fstat(part.fileno()))
                _require_no_folder(name, fd, path)
                try:
                    rename(checked(part_id), parts_fd, name, fd, replaces)
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    self._carry_over(part, fd, name, replaces)
                    self._parts.discard(part_id)
            finally:
                part.close()
        return entry

    def adopt(self, fd: int, path: str, is_executable: bool) -> bool:
        """Give an open file a second name here, as a hard link; False on another file system.

        A file that has more names than one may be somebody else's: it must not change its owner.
        """
        status = os.fstat(fd)
        if status.st_nlink != 1:
            return self._is_at(path, status)
        self._ensure_folder(folder_of(path))
        half = fresh_id()
        with self._around(path) as (folder_fd, name), self._parts.folder() as parts_fd:
            _require_no_folder(name, folder_fd, path)
            try:
                os.link(f"/proc/self/fd/{fd}", half, dst_dir_fd=parts_fd, follow_symlinks=True)
            except OSError as error:
                if error.errno in CANNOT_LINK:
                    return False
                raise
            try:
                _become_like(fd, folder_fd, PROGRAM_MODE if is_executable else FILE_MODE)
                os.rename(half, name, src_dir_fd=parts_fd, dst_dir_fd=folder_fd)
            except OSError as error:
                os.unlink(half, dir_fd=parts_fd)
                if error.errno == errno.EXDEV:
                    return False
                raise
        return True

    def _is_at(self, path: str, status: os.stat_result) -> bool:
        """Tell whether a file has its name already: an earlier try was cut after that."""
        try:
            with self._around(path) as (folder_fd, name):
                there = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) == (status.st_dev, status.st_ino)

    def _carry_over(self, part: FilePart, folder_fd: int, name: str, replaces: bool) -> None:
        """Copy a part to another file system that is mounted within the storage, then put it in place."""
        half = f"{HIDDEN}-{fresh_id()}"
        fd = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE, dir_fd=folder_fd)
        try:
            _copy_bytes(part.fileno(), fd)
            _become_like(fd, folder_fd, stat.S_IMODE(os.fstat(part.fileno()).st_mode))
            rename(half, folder_fd, name, folder_fd, replaces)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(half, dir_fd=folder_fd)
            raise
        finally:
            os.close(fd)

    def make_folder(self, path: str, *, is_new: bool = False) -> Entry:
        if not is_new:
            self._ensure_folder(path)
            return self.stat(path)
        self._ensure_folder(folder_of(path))
        with self._around(path) as (fd, name):
            _make_like(name, fd)
        return self.stat(path)

    def _ensure_folder(self, path: str) -> None:
        try:
            with self._opened(path, _PLACE | os.O_DIRECTORY):
                return
        except FileNotFoundError:
            if not path:
                raise
        self._ensure_folder(folder_of(path))
        with self._around(path) as (fd, name), suppress(FileExistsError):
            _make_like(name, fd)
        # What is there by now may be a file, or a link that leads nowhere.
        with self._opened(path, _PLACE | os.O_DIRECTORY):
            return

    def open_folder(self, path: str) -> int:
        """Open a folder as a place to write to, and make it where it is not there yet."""
        self._ensure_folder(path)
        with self._opened(path, _PLACE | os.O_DIRECTORY) as fd:
            return os.dup(fd)

    def move(self, source: str, target: str, *, replaces: bool) -> Entry:
        with self._around(source) as (source_fd, name):
            os.stat(name, dir_fd=source_fd, follow_symlinks=False)
            self._ensure_folder(folder_of(target))
            with self._around(target) as (target_fd, new_name):
                rename(name, source_fd, new_name, target_fd, replaces)
        return self.stat(target)

    def copy(self, source: str, target: str, *, replaces: bool) -> Entry:
        opened, part_id = self.open(source), fresh_id()
        try:
            fd = opened.fileno()
            assert fd is not None
            part = self._parts.open(part_id, is_new=True)
            try:
                _copy_bytes(fd, part.fileno())
            finally:
                part.close()
            return self.place(part_id, target, replaces=replaces, is_executable=opened.entry.is_executable)
        except BaseException:
            self._parts.discard(part_id)
            raise
        finally:
            opened.close()

    def remove(self, path: str, *, recursive: bool) -> None:
        with self._around(path) as (fd, name):
            if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=fd)
                return
            try:
                os.rmdir(name, dir_fd=fd)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not recursive:
                    raise
                self._parts.bury(name, fd)

    def sweep(self, before: float) -> int:
        try:
            with self._opened(HIDDEN, _PLACE | os.O_DIRECTORY):
                pass
        except OSError:
            return 0
        return self._parts.sweep(before)


def _entry(path: str, status: os.stat_result, is_link: bool = False) -> Entry:
    kind = EntryKind.OTHER
    if stat.S_ISDIR(status.st_mode):
        kind = EntryKind.FOLDER
    elif stat.S_ISREG(status.st_mode):
        kind = EntryKind.FILE
    is_file = kind is EntryKind.FILE
    return Entry(
        path,
        kind,
        status.st_size if is_file else 0,
        status.st_mtime,
        f"{status.st_mtime_ns:x}-{status.st_size:x}-{status.st_ino:x}" if is_file else "",
        is_link,
        is_file and bool(status.st_mode & 0o100),
    )


def _require_no_folder(name: str, folder_fd: int, path: str) -> None:
    """A file must not take the place of a folder, not even of an empty one."""
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)


def _maker(folder_fd: int) -> tuple[int, int]:
    """Whose a file is that the server makes in a folder."""
    around = os.fstat(folder_fd)
    return os.geteuid(), around.st_gid if around.st_mode & stat.S_ISGID else os.getegid()


def _become_like(fd: int, folder_fd: int, mode: int) -> None:
    """Give a new file to the owner of the folder around it, as tasks that write there do."""
    if os.geteuid() == 0:
        around = os.fstat(folder_fd)
        os.fchown(fd, around.st_uid, around.st_gid)
    os.fchmod(fd, mode)


def _make_like(name: str, folder_fd: int) -> None:
    os.mkdir(name, FOLDER_MODE, dir_fd=folder_fd)
    fd = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder_fd)
    try:
        _become_like(fd, folder_fd, FOLDER_MODE)
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    n_written = os.write(fd, data)
    while n_written < len(data):
        n_written += os.write(fd, data[n_written:])


def _copy_bytes(source_fd: int, target_fd: int) -> None:
    """Copy in the kernel where both file systems allow it, else in pieces."""
    offset = 0
    try:
        while n := os.copy_file_range(source_fd, target_fd, MOST_COPIED_AT_ONCE, offset, offset):
            offset += n
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
        while piece := os.pread(source_fd, CHUNK_BYTES, offset):
            offset += os.pwrite(target_fd, piece, offset)
