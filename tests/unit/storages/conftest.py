"""Storages of every kind that can be written to, empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.domain.storage import Storage, StorageKind
from footplate.storages.base import Files
from footplate.storages.folder import FolderFiles
from footplate.testing.bucket import KEY, BucketServer, running_bucket_server


@pytest.fixture(scope="session")
def buckets() -> Iterator[BucketServer]:
    with running_bucket_server() as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param == "folder":
        root = tmp_path / "root"
        root.mkdir()
        return FolderFiles(root)
    from footplate.storages.s3 import open_bucket

    server: BucketServer = request.getfixturevalue("buckets")
    storage = Storage(
        "bucket",
        kind=StorageKind.S3,
        endpoint=server.url,
        bucket=server.new_bucket(),
        prefix="team/data",
        read_only=False,
    )
    return open_bucket(storage, KEY, tmp_path / "spool")
