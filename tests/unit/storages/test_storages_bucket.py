"""Buckets as others fill them: folders that are objects, keys that are no paths, very large objects."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.storage import Storage, StorageKind
from footplate.storages import bucketnames, s3
from footplate.storages.base import EntryKind, Files
from footplate.storages.parts import fresh_id
from footplate.storages.s3 import open_bucket
from footplate.testing.bucket import KEY, BucketServer

# As clouds' own pages make folders; as programs join names; and in an order that is not that of the names.
MARKS = ("made/", "made/inner/", "empty/")
ODD = ("odd//x", "odd/../up", "odd/./here")
ORDERED = ("p/a", "p/b-x", "p/b/1", "p/b/2", "p/b0", "p/c")


class Bucket:
    """A bucket, as the storage sees it and as its server does."""

    def __init__(self, url: str, name: str, spool: Path) -> None:
        import boto3

        storage = Storage("b", kind=StorageKind.S3, endpoint=url, bucket=name, prefix="team", read_only=False)
        self.files: Files = open_bucket(storage, KEY, spool)
        self._name = name
        self._client: Any = boto3.client(
            "s3",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id=KEY["access_key_id"],
            aws_secret_access_key=KEY["secret_access_key"],
        )

    def put(self, *keys: str, content: bytes = b"") -> None:
        for key in keys:
            self._client.put_object(Bucket=self._name, Key=f"team/{key}", Body=content)

    def keys(self) -> list[str]:
        found = self._client.list_objects_v2(Bucket=self._name).get("Contents", [])
        return [one["Key"].removeprefix("team/") for one in found]

    def begin(self, key: str) -> None:
        self._client.create_multipart_upload(Bucket=self._name, Key=f"team/{key}")

    def begun(self) -> list[str]:
        found = self._client.list_multipart_uploads(Bucket=self._name).get("Uploads", [])
        return sorted(one["Key"].removeprefix("team/") for one in found)

    def names(self, path: str = "", limit: int = 1000) -> list[str]:
        """All names of a folder, page by page."""
        names, after = list[str](), ""
        while True:
            page = self.files.page(path, after, limit)
            assert len(page.entries) <= limit
            names += [one.name + "/" * one.is_folder for one in page.entries]
            if not page.after:
                return names
            after = page.after


@pytest.fixture
def bucket(buckets: BucketServer, tmp_path: Path) -> Bucket:
    return Bucket(buckets.url, buckets.new_bucket(), tmp_path / "spool")


def test_folders_that_a_cloud_has_made_are_folders(bucket: Bucket) -> None:
    bucket.put(*MARKS)
    bucket.put("made/x", content=b"x")
    assert bucket.names() == ["empty/", "made/"]
    assert bucket.names("made") == ["inner/", "x"]
    assert bucket.names("empty") == []
    assert bucket.files.stat("empty").is_folder
    walked = {one.path: one.kind for one in bucket.files.walk("made")}
    assert walked == {"made/inner": EntryKind.FOLDER, "made/x": EntryKind.FILE}
    bucket.files.remove("empty", recursive=False)
    bucket.files.move("made", "moved", replaces=False)
    assert bucket.names() == ["moved/"]
    assert bucket.names("moved") == ["inner/", "x"]
    bucket.files.remove("moved", recursive=True)
    assert bucket.keys() == []


def test_keys_that_are_no_paths_are_counted_and_hide_nothing_else(bucket: Bucket) -> None:
    bucket.put(*ODD, "odd/x", "whole/y")
    page = bucket.files.page("odd", "", 1000)
    assert ([one.name for one in page.entries], page.n_unnamed) == (["x"], len(ODD))
    files = [one.path for one in bucket.files.walk("") if one.kind is EntryKind.FILE]
    assert files == ["odd/x", "whole/y"]
    bucket.files.remove("odd/x", recursive=False)
    # It looks empty, and is not.
    with pytest.raises(OSError, match="not empty"):
        bucket.files.remove("odd", recursive=False)
    bucket.files.move("odd", "other", replaces=False)
    assert {"other//x", "other/../up", "other/./here"} <= set(bucket.keys())
    bucket.files.remove("other", recursive=True)
    assert bucket.keys() == ["whole/y"]


@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
def test_pages_have_every_name_once_whatever_stands_beside_a_folder(bucket: Bucket, limit: int) -> None:
    bucket.put(*ORDERED)
    assert bucket.names("p", limit) == ["a", "b-x", "b/", "b0", "c"]


def test_an_object_too_large_to_be_copied_at_once_is_copied_in_parts(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "MOST_COPIED_BYTES", 1000)
    # No server takes smaller ones, but for the last.
    monkeypatch.setattr(bucketnames, "COPIED_AT_ONCE_BYTES", 5 * 1024**2)
    content = bytes(range(256)) * (24 * 1024)
    bucket.put("large", "d/large", content=content)
    bucket.files.copy("large", "copy", replaces=False)
    bucket.files.move("d", "e", replaces=False)
    for path in ("large", "copy", "e/large"):
        source = bucket.files.open(path)
        assert source.read(0, len(content) + 1) == content
    assert bucket.begun() == []


def test_parts_of_what_was_cut_are_removed_and_no_others(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "SENT_WHOLE_BYTES", 1000)

    def cut(*_words: object, **_rest: object) -> None:
        bucket.begin("cut/large")
        raise s3.exceptions.GenericError("the connection broke")

    def send() -> None:
        part = bucket.files.part(part_id := fresh_id(), is_new=True)
        part.append(b"x" * 2000)
        part.close()
        bucket.files.place(part_id, "cut/large", replaces=True)

    bucket.begin("cut/large-too")
    with monkeypatch.context() as patch:
        patch.setattr(s3.obstore, "put", cut)
        with pytest.raises(OSError, match="broke"):
            send()
    assert bucket.begun() == ["cut/large", "cut/large-too"]
    bucket.files.sweep(before=0)
    assert bucket.begun() == ["cut/large-too"]
    send()
    # What has come leaves no note.
    assert [path.name for path in (tmp_path / "spool").iterdir() if path.name.endswith(s3.NOTE)] == []


def test_many_small_objects_go_at_once_and_a_fault_is_told(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, together = s3.obstore.put, threading.Barrier(4, timeout=30)

    def meet(store: Any, path: str, data: bytes) -> object:
        if path.startswith("d/"):
            together.wait()
        if path == "bad":
            raise s3.exceptions.GenericError("the bucket is full")
        return put(store, path, data)

    monkeypatch.setattr(s3.obstore, "put", meet)
    with bucket.files.batch() as batch:
        for number in range(8):
            batch.write(f"d/{number}", b"x", is_executable=False)
        for text in (b"first", b"second", b"last"):
            batch.write("again", text, is_executable=False)
    assert bucket.names("d") == [str(number) for number in range(8)]
    assert bucket.files.open("again").read(0, 10) == b"last"
    with pytest.raises(OSError, match="full"), bucket.files.batch() as batch:
        batch.write("bad", b"x", is_executable=False)


def test_a_bucket_without_keys_is_asked_as_by_anybody(
    bucket: Bucket, buckets: BucketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of whoever the server runs as is used, nor missed."""
    monkeypatch.setenv("AWS_PROFILE", "none-such")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of somebody else")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of somebody else")
    name = buckets.new_bucket()
    storage = Storage("public", kind=StorageKind.S3, endpoint=buckets.url, bucket=name)
    assert open_bucket(storage, {}, tmp_path / "spool").page("", "", 10).entries == []
