"""What object stores of other clouds call our errors."""

from __future__ import annotations

from footplate.domain import errors as e

# By the code of what is said, before the kind of the error is looked at.
_SAID = {
    "storage_not_visible": (404, "NoSuchBucket"),
    "upload_not_there": (404, "NoSuchUpload"),
    "access_key_wrong": (403, "SignatureDoesNotMatch"),
    "signature_missing": (403, "AccessDenied"),
    "signature_too_old": (403, "RequestTimeTooSkewed"),
    "not_bucket_name": (400, "InvalidBucketName"),
    "wrong_md5": (400, "BadDigest"),
    "part_not_there": (400, "InvalidPart"),
    "body_not_xml": (400, "MalformedXML"),
    "method_impossible": (405, "MethodNotAllowed"),
    "range_empty": (416, "InvalidRange"),
}
_KINDS: tuple[tuple[type[e.FootplateError], int, str], ...] = (
    (e.NotFound, 404, "NoSuchKey"),
    (e.Unauthenticated, 403, "AccessDenied"),
    (e.Denied, 403, "AccessDenied"),
    (e.TooLarge, 400, "EntityTooLarge"),
    (e.InvalidInput, 400, "InvalidArgument"),
    (e.Conflict, 409, "PathConflict"),
    # Not one of those that the client tries again.
    (e.DiskFull, 403, "QuotaExceeded"),
    (e.TooSlow, 400, "RequestTimeout"),
    (e.StoreUnavailable, 503, "ServiceUnavailable"),
    (e.StorageAway, 503, "ServiceUnavailable"),
)


def named(error: e.FootplateError) -> tuple[int, str]:
    """The status and the code of an error."""
    said = (
        [one.said.code for one in error.problems] if isinstance(error, e.InvalidInput) else [error.said.code]
    )
    for code in said:
        if code in _SAID:
            return _SAID[code]
    return next(
        ((status, code) for kind, status, code in _KINDS if isinstance(error, kind)), (500, "InternalError")
    )


def plainly(error: e.FootplateError) -> str:
    return str(error.said)
