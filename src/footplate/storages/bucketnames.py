"""What objects of a bucket are called: asked for by botocore, which takes keys as they are.

The library that moves contents knows paths only. But clouds make a folder as an empty object whose key ends
in a slash, and programs write keys such as `a//b`, which are no paths: the first are folders here, and the
others are counted and left out.
"""

from __future__ import annotations

import errno
import io
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from footplate.domain.storage import Storage
from footplate.storages.base import Entry, EntryKind, Page
from footplate.storages.paths import is_hidden, join

try:
    import botocore.session
    from botocore import UNSIGNED
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError as error:  # pragma: no cover  # the tests have it
    raise io.UnsupportedOperation(
        "this server was installed without S3: pip install 'footplate[s3]'"
    ) from error

CONNECT_S, ANSWER_S, MOST_TRIES = 5, 60, 3
MOST_AT_ONCE = 1000
# There may be ten thousand parts of an object, which may have five terabytes.
COPIED_AT_ONCE_BYTES = 1024**3
MOST_TOLD = 200
# Behind all that a folder can hold.
LAST = "\U0010ffff"
# Nothing of the files and the profile of whoever the server runs as: by setting, from where it is taken.
ALONE = {
    "profile": (None, None, None, None),
    "config_file": (None, None, "/dev/null", None),
    "credentials_file": (None, None, "/dev/null", None),
}
MISSING = ("404", "NoSuchKey", "NoSuchBucket", "NotFound")
REFUSED = (401, 403)


def open_names(storage: Storage, credentials: Mapping[str, str]) -> BucketNames:
    """Know the names in the bucket of a storage; nothing is asked yet."""
    config = Config(
        signature_version=None if credentials else UNSIGNED,
        connect_timeout=CONNECT_S,
        read_timeout=ANSWER_S,
        retries={"total_max_attempts": MOST_TRIES, "mode": "standard"},
        s3={"addressing_style": "virtual" if storage.virtual_style else "path"},
        # Nothing that the server's own surroundings say about other buckets.
        ignore_configured_endpoint_urls=True,
        # Servers other than Amazon's know no digests but the oldest.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    asked = {
        "region_name": storage.region or "us-east-1",
        "endpoint_url": storage.endpoint or None,
        # Unused where nothing is signed: without any, those of the server's surroundings are looked for.
        "aws_access_key_id": credentials.get("access_key_id") or "-",
        "aws_secret_access_key": credentials.get("secret_access_key") or "-",
        "aws_session_token": credentials.get("session_token") or None,
        "config": config,
    }
    return BucketNames(asked, storage.bucket, storage.prefix.strip("/"))


@contextmanager
def _as_files_say(path: str) -> Iterator[None]:
    """Tell in the words of files what the bucket's server has refused."""
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if code in MISSING:
            raise FileNotFoundError(errno.ENOENT, "the bucket has no such object", path) from None
        if status in REFUSED:
            raise PermissionError(
                errno.EACCES, "the server of the bucket refuses the credentials", path
            ) from None
        raise OSError(errno.EIO, _first_line(error), path) from None
    except BotoCoreError as error:
        raise OSError(errno.EIO, _first_line(error), path) from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:MOST_TOLD] or type(error).__name__


@cache
def _session() -> tuple[Any, threading.Lock]:
    """What knows how S3 is spoken, read once: each of its clients would take 12 MB otherwise."""
    return botocore.session.Session(ALONE), threading.Lock()


def _new_client(asked: Mapping[str, Any]) -> Any:
    session, one_at_a_time = _session()
    with one_at_a_time:
        return session.create_client("s3", **asked)


class BucketNames:
    """The keys of a bucket below a prefix."""

    def __init__(self, asked: Mapping[str, Any], bucket: str, prefix: str) -> None:
        self._asked = asked
        self._bucket = bucket
        self._root = f"{prefix}/" if prefix else ""
        self._lock = threading.Lock()
        self._made: Any = None

    @property
    def _client(self) -> Any:
        with self._lock:
            if self._made is None:
                self._made = _new_client(self._asked)
            return self._made

    def _base(self, folder: str) -> str:
        return f"{self._root}{folder}/" if folder else self._root

    def _ask(self, path: str, **asked: Any) -> dict[str, Any]:
        with _as_files_say(path):
            answer: dict[str, Any] = self._client.list_objects_v2(Bucket=self._bucket, **asked)
        return answer

    # Reading

    def has_below(self, path: str) -> bool:
        """Tell whether a path is a folder: something lies in it, or somebody has made it."""
        return bool(self._ask(path, Prefix=self._base(path), MaxKeys=1).get("KeyCount"))

    def page(self, folder: str, after: str, limit: int) -> Page:
        """List a folder in the order of its keys, from the first behind `after`."""
        base, found, n_unnamed = self._base(folder), list[Entry](), 0
        start, is_cut = base + after if after else "", True
        while is_cut and len(found) < limit:
            answer = self._ask(
                folder,
                Prefix=base,
                Delimiter="/",
                # What lies in a folder that was told of is behind its name.
                StartAfter=start + LAST if start.endswith("/") else start,
                MaxKeys=min(limit - len(found), MOST_AT_ONCE),
            )
            for key, item in _listed(answer):
                start, name = key, key[len(base) :]
                if not _is_told(name):
                    n_unnamed += bool(name) and not is_hidden(name)
                else:
                    found.append(_entry(join(folder, name.removesuffix("/")), item))
            is_cut = bool(answer.get("IsTruncated"))
        return Page(found, start[len(base) :] if is_cut else "", n_unnamed)

    def walk(self, folder: str) -> Iterator[Entry]:
        """Yield all that is below a folder, each folder before what is in it."""
        base, told = self._base(folder), set[str]()
        for item in self._all(base, folder):
            inner = item["Key"][len(base) :]
            names = inner.split("/")
            if not all(map(_is_told, (name for name in names[:-1]))):
                continue
            for depth in range(1, len(names)):
                place = "/".join(names[:depth])
                if place not in told:
                    told.add(place)
                    yield Entry(join(folder, place), EntryKind.FOLDER)
            if _is_told(names[-1]):
                yield _entry(join(folder, inner), item)

    def keys(self, folder: str) -> Iterator[tuple[str, int]]:
        """Yield the whole keys of all that is below a folder and what marks it as one, with sizes."""
        for item in self._all(self._base(folder), folder):
            yield str(item["Key"]), int(item["Size"])

    def _all(self, base: str, path: str) -> Iterator[dict[str, Any]]:
        following: dict[str, str] = {}
        while True:
            answer = self._ask(path, Prefix=base, **following)
            yield from answer.get("Contents", ())
            if not answer.get("IsTruncated"):
                return
            following = {"ContinuationToken": answer["NextContinuationToken"]}

    def path_of(self, key: str) -> str | None:
        """The path of a whole key, by which contents are asked for; None for one that is no path."""
        path = key[len(self._root) :]
        return path if all(name not in ("", ".", "..") for name in path.split("/")) else None

    # Changing, of what has no path

    def remove(self, key: str) -> None:
        with _as_files_say(key):
            self._client.delete_object(Bucket=self._bucket, Key=key)

    def copy(self, key: str, source: str, target: str) -> None:
        """Copy what is below one folder to below another, by its whole key."""
        new = self._base(target) + key[len(self._base(source)) :]
        with _as_files_say(key):
            self._client.copy_object(
                Bucket=self._bucket, Key=new, CopySource={"Bucket": self._bucket, "Key": key}
            )

    def copy_in_parts(self, source: str, target: str, size_bytes: int) -> None:
        """Copy an object part by part, without its bytes passing through here."""
        to = {"Bucket": self._bucket, "Key": f"{self._root}{target}"}
        origin = {"Bucket": self._bucket, "Key": f"{self._root}{source}"}
        with _as_files_say(source):
            to["UploadId"] = self._client.create_multipart_upload(**to)["UploadId"]
            done = []
            for number, begin in enumerate(range(0, size_bytes, COPIED_AT_ONCE_BYTES), 1):
                end = min(begin + COPIED_AT_ONCE_BYTES, size_bytes) - 1
                part = self._client.upload_part_copy(
                    **to, PartNumber=number, CopySource=origin, CopySourceRange=f"bytes={begin}-{end}"
                )
                done.append({"PartNumber": number, "ETag": part["CopyPartResult"]["ETag"]})
            self._client.complete_multipart_upload(**to, MultipartUpload={"Parts": done})

    def give_up_parts(self, path: str) -> None:
        """Remove the parts that were sent of an object which never became whole."""
        key = f"{self._root}{path}"
        with _as_files_say(path):
            answer = self._client.list_multipart_uploads(Bucket=self._bucket, Prefix=key)
            for one in answer.get("Uploads", ()):
                if one["Key"] == key:
                    self._client.abort_multipart_upload(
                        Bucket=self._bucket, Key=key, UploadId=one["UploadId"]
                    )


def _listed(answer: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """What an answer names, folders with a slash at their end, in the order of the keys."""
    objects = [(str(item["Key"]), item) for item in answer.get("Contents", ())]
    folders = [(str(item["Prefix"]), item) for item in answer.get("CommonPrefixes", ())]
    return sorted([*objects, *folders], key=lambda one: one[0].encode())


def _is_told(name: str) -> bool:
    """Tell whether a name in a folder, with a slash where it is one, can be the name of a file."""
    plain = name.removesuffix("/")
    return plain not in ("", ".", "..") and not is_hidden(plain)


def _entry(path: str, item: Mapping[str, Any]) -> Entry:
    if "Key" not in item:
        return Entry(path, EntryKind.FOLDER)
    tag = str(item.get("ETag", "")).strip('"')
    return Entry(path, EntryKind.FILE, int(item["Size"]), item["LastModified"].timestamp(), tag)
