"""Opens storages that lie elsewhere; what speaks to them is loaded when the first is opened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from footplate.domain.storage import Storage, StorageKind
from footplate.storages.base import Files


def open_remote(storage: Storage, credentials: Mapping[str, str], spool: Path) -> Files:
    """Open a bucket or a web server; `spool` keeps what is being uploaded until it is whole."""
    if storage.kind is StorageKind.S3:
        from footplate.storages.s3 import open_bucket

        return open_bucket(storage, credentials, spool)
    from footplate.storages.web import WebFiles

    return WebFiles(storage.endpoint, credentials)
