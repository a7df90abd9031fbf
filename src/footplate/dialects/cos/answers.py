"""What COS answers, as XML without a namespace, and what clients send it as XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote
from xml.etree import ElementTree as Xml
from xml.sax.saxutils import escape

MOST_KEYS = 1000
MOST_PARTS = 10_000
# Neither entities nor a document type: nothing that a body of ours needs, and all that makes XML dangerous.
_DANGEROUS = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a listing; a folder that all objects of a prefix share has no size."""

    key: str
    size_bytes: int = 0
    tag: str = ""
    modified_at: float | None = None
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """Which objects a listing is to have."""

    prefix: str = ""
    delimiter: str = ""
    marker: str = ""
    most: int = MOST_KEYS
    is_encoded: bool = False


@dataclass(frozen=True, slots=True)
class PartsAsked:
    """Which parts of an upload a listing is to have."""

    after: int = 0
    most: int = MOST_KEYS
    is_encoded: bool = False


def listing(bucket: str, asked: Asked, found: Sequence[Listed], is_cut: bool) -> bytes:
    """Write one page; the next begins after its last key, which is told only where there is one."""

    def key(text: str) -> str:
        return quote(text, safe="/") if asked.is_encoded else text

    parts: list[tuple[str, object]] = [
        ("Name", bucket),
        *([("EncodingType", "url")] if asked.is_encoded else []),
    ]
    parts += [("Prefix", key(asked.prefix)), ("Marker", key(asked.marker)), ("MaxKeys", asked.most)]
    parts += [("Delimiter", key(asked.delimiter)), ("IsTruncated", str(is_cut).lower())]
    if is_cut and found:
        parts.append(("NextMarker", key(found[-1].key)))
    objects = "".join(_object(key(one.key), one) for one in found if not one.is_prefix)
    shared = (one for one in found if one.is_prefix)
    folders = "".join(
        f"<CommonPrefixes>{_element('Prefix', key(one.key))}</CommonPrefixes>" for one in shared
    )
    return _document("ListBucketResult", "".join(_element(*part) for part in parts) + objects + folders)


def _object(key: str, one: Listed) -> str:
    inner = (
        ("Key", key),
        ("LastModified", moment(one.modified_at or 0.0)),
        ("ETag", f'"{one.tag}"'),
        ("Size", one.size_bytes),
        ("StorageClass", "STANDARD"),
    )
    return f"<Contents>{''.join(_element(*part) for part in inner)}</Contents>"


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def buckets(owner: str, names: Iterable[str], region: str, made_at: float) -> bytes:
    known = "".join(
        "<Bucket>"
        + _element("Name", name)
        + _element("Location", region)
        + _element("CreationDate", moment(made_at))
        + "</Bucket>"
        for name in names
    )
    who = _element("ID", owner) + _element("DisplayName", owner)
    body = f"<Owner>{who}</Owner><Buckets>{known}</Buckets>"
    return _document("ListAllMyBucketsResult", body)


def begun(bucket: str, key: str, upload: str) -> bytes:
    inner = (("Bucket", bucket), ("Key", key), ("UploadId", upload))
    return _document("InitiateMultipartUploadResult", "".join(_element(*part) for part in inner))


def completed(location: str, bucket: str, key: str, tag: str) -> bytes:
    inner = (("Location", location), ("Bucket", bucket), ("Key", key), ("ETag", f'"{tag}"'))
    return _document("CompleteMultipartUploadResult", "".join(_element(*part) for part in inner))


def uploads(bucket: str, asked: Asked, known: Sequence[tuple[str, str, float]]) -> bytes:
    """Tell of the uploads that could go on: key, id, and when each began."""

    def key(text: str) -> str:
        return quote(text, safe="/") if asked.is_encoded else text

    inner: list[tuple[str, object]] = [
        ("Bucket", bucket),
        *([("EncodingType", "url")] if asked.is_encoded else []),
        ("Prefix", key(asked.prefix)),
        ("MaxUploads", MOST_KEYS),
        ("IsTruncated", "false"),
    ]
    each = "".join(
        f"<Upload>{_element('Key', key(name))}{_element('UploadId', upload)}"
        f"{_element('Initiated', moment(began))}</Upload>"
        for name, upload, began in known
    )
    return _document("ListMultipartUploadsResult", "".join(_element(*part) for part in inner) + each)


def parts(
    bucket: str, key: str, upload: str, asked: PartsAsked, found: Sequence[tuple[int, str, int]], is_cut: bool
) -> bytes:
    """Tell of parts that have come, by number, digest and size; the next page begins after the last."""
    inner: list[tuple[str, object]] = [
        ("Bucket", bucket),
        *([("EncodingType", "url")] if asked.is_encoded else []),
        ("Key", quote(key, safe="/") if asked.is_encoded else key),
        ("UploadId", upload),
        ("PartNumberMarker", asked.after),
        ("MaxParts", asked.most),
        ("IsTruncated", str(is_cut).lower()),
        *([("NextPartNumberMarker", found[-1][0])] if is_cut and found else []),
    ]
    each = "".join(
        f"<Part>{_element('PartNumber', number)}{_element('ETag', _quoted(digest))}"
        f"{_element('Size', n_bytes)}</Part>"
        for number, digest, n_bytes in found
    )
    return _document("ListPartsResult", "".join(_element(*part) for part in inner) + each)


def _quoted(tag: str) -> str:
    return f'"{tag}"'


def copied(tag: str, modified_at: float) -> bytes:
    inner = (("ETag", _quoted(tag)), ("LastModified", moment(modified_at)))
    return _document("CopyObjectResult", "".join(_element(*part) for part in inner))


def versioning() -> bytes:
    """Tell that a bucket keeps no versions."""
    return _document("VersioningConfiguration", "")


def deleted(keys: Iterable[str], failed: Iterable[tuple[str, str, str]], is_quiet: bool) -> bytes:
    told = [] if is_quiet else [f"<Deleted>{_element('Key', key)}</Deleted>" for key in keys]
    told += [
        f"<Error>{_element('Key', key)}{_element('Code', code)}{_element('Message', why)}</Error>"
        for key, code, why in failed
    ]
    return _document("DeleteResult", "".join(told))


def error(code: str, message: str, resource: str, request_id: str) -> bytes:
    inner = (
        ("Code", code),
        ("Message", message),
        ("Resource", resource),
        ("RequestId", request_id),
        ("TraceId", request_id),
    )
    return _document("Error", "".join(_element(*part) for part in inner))


def _document(name: str, inner: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{name}>{inner}</{name}>'.encode("utf-8", "replace")


def _element(name: str, value: object) -> str:
    return f"<{name}>{escape(_UNWRITABLE.sub('?', str(value)))}</{name}>"


class NotXml(ValueError):
    """A body is not the document that the call takes."""


def keys_to_delete(body: bytes) -> tuple[list[str], bool]:
    """Read which keys to delete, and whether only failures are to be told."""
    root = _parsed(body, "Delete")
    keys = [_text(one, "Key") for one in root.iter("Object")]
    if not 0 < len(keys) <= MOST_KEYS:
        raise NotXml(f"between 1 and {MOST_KEYS} keys can be deleted at once")
    return keys, _text(root, "Quiet", "false").lower() == "true"


def parts_to_join(body: bytes) -> list[tuple[int, str]]:
    """Read the numbers and tags of the parts that make an object."""
    parts = [
        (_number(_text(one, "PartNumber")), _text(one, "ETag").strip('"'))
        for one in _parsed(body, "CompleteMultipartUpload").iter("Part")
    ]
    numbers = [number for number, _ in parts]
    if not parts or numbers != sorted(set(numbers)):
        raise NotXml("the parts must be in the order of their numbers")
    return parts


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or not 1 <= int(text) <= MOST_PARTS:
        raise NotXml(f"the number of a part is between 1 and {MOST_PARTS}")
    return int(text)


def _parsed(body: bytes, name: str) -> Xml.Element:
    if _DANGEROUS.search(body):
        raise NotXml("the body has a document type")
    try:
        root = Xml.fromstring(body)  # noqa: S314  # without document types there are no entities to expand
    except (Xml.ParseError, ValueError, LookupError) as problem:
        raise NotXml(str(problem)) from problem
    for one in root.iter():
        one.tag = one.tag.rpartition("}")[2]
    if root.tag != name:
        raise NotXml(f"the body is not a {name}")
    return root


def _text(element: Xml.Element, name: str, default: str | None = None) -> str:
    found = element.find(name)
    if found is None:
        if default is None:
            raise NotXml(f"{name} is missing")
        return default
    return found.text or ""
