"""UFile: buckets and objects, as UCloud's transfer programs ask for them."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from footplate.dialects.cos.answers import Asked
from footplate.dialects.cos.signature import parameters_of
from footplate.dialects.ufile import signature
from footplate.domain.errors import FootplateError, InvalidInput, Unauthenticated
from footplate.server.foreign import PREFIX
from footplate.server.parts import Parts, parts_of
from footplate.server.routes.compat.objecterrors import named, plainly
from footplate.server.routes.compat.signed import announced, body_of, foreign_of, headers_of, request_id
from footplate.server.sendfile import send_file
from footplate.services import access_keys, objectparts, objects
from footplate.services.access import Caller

log = logging.getLogger(__name__)
router = APIRouter(prefix=f"{PREFIX}/ufile", include_in_schema=False)
METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE"]
PART_BYTES = 4 * 1024**2
MOST_BODY_BYTES = 2 * 1024**2
LISTED, MOST_LISTED = 20, 1000

Query = dict[str, str]
Operation = Callable[[Parts, Caller, Request, Query], Awaitable[Response]]


@router.api_route("", methods=METHODS)
async def answer(request: Request) -> Response:
    """Answer a signed request, or refuse it as UFile would."""
    try:
        parts, query = parts_of(request), dict(parameters_of(foreign_of(request).query))
        caller = await _identify(parts, request, query)
        return await _operation(request, query)(parts, caller, request, query)
    except FootplateError as error:
        return _refusal(request, *named(error), plainly(error))
    except Exception:
        log.exception("a request to UFile failed")
        return _refusal(request, 500, "InternalError", "the server could not do this")


def _refusal(request: Request, status: int, code: str, message: str) -> Response:
    if request.method == "HEAD":
        return Response(status_code=status)
    body = {"RetCode": -status * 1000, "ErrMsg": f"{code}: {message}"}
    return _json(body, status, {"X-SessionId": request_id(request)})


def _json(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, headers, "application/json")


async def _identify(parts: Parts, request: Request, query: Query) -> Caller:
    sent, headers = foreign_of(request), headers_of(request)
    given = signature.read(headers.get("authorization", ""), query)
    if given is None or (given.expires and request.method not in ("GET", "HEAD")):
        raise Unauthenticated("signature_missing")
    if not given.is_timely(parts.platform.clock.now()):
        raise Unauthenticated("signature_too_old")
    check = partial(signature.is_signed, given, request.method, headers, sent.bucket, sent.key)
    return await access_keys.identify(parts.platform, given.key_id, check)


def _operation(request: Request, query: Query) -> Operation:
    has_key = bool(foreign_of(request).key)
    wanted = {
        ("GET", False): _list,
        ("GET", True): _get,
        ("HEAD", True): _get,
        ("PUT", True): _put_part if "uploadId" in query else _put,
        ("POST", True): _begin if "uploads" in query else _complete,
        ("DELETE", True): _abort if "uploadId" in query else _delete,
    }
    return wanted.get((request.method, has_key), _impossible)


async def _impossible(_parts: Parts, _caller: Caller, request: Request, _query: Query) -> Response:
    return _refusal(request, 405, "MethodNotAllowed", f"{request.method} is not offered here")


def _whole(query: Query, name: str, default: int | None = None) -> int:
    given = query.get(name, "")
    if not given and default is not None:
        return default
    if not (given.isdecimal() and len(given) < 10):
        raise InvalidInput("not_whole_number", name, given=given[:64])
    return int(given)


async def _list(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    bucket, most = foreign_of(request).bucket, min(_whole(query, "limit", LISTED) or LISTED, MOST_LISTED)
    asked = Asked(prefix=query.get("prefix", ""), marker=query.get("marker", ""), most=most)
    found, is_cut = await objects.listing(parts.platform, caller, bucket, asked)
    files = [
        {
            "BucketName": bucket,
            "FileName": one.key,
            "Hash": one.tag,
            "MimeType": "application/octet-stream",
            "Size": one.size_bytes,
            "first_object": "",
            "CreateTime": int(one.modified_at or 0),
            "ModifyTime": int(one.modified_at or 0),
            "StorageClass": "STANDARD",
            "RestoreStatus": "",
        }
        for one in found
    ]
    body = {"BucketName": bucket, "BucketId": bucket, "DataSet": files}
    return _json({**body, "NextMarker": found[-1].key if is_cut and found else ""})


async def _get(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    sent = foreign_of(request)
    opened, source = await objects.open_object(parts.platform, caller, sent.bucket, sent.key)
    return await send_file(request, opened, source, inline=False)


async def _put(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    sent, md5 = foreign_of(request), request.headers.get("content-md5", "")
    entry = await objects.put(
        parts.platform, caller, sent.bucket, sent.key, request.stream(), announced(request), md5
    )
    return Response(headers={"ETag": f'"{entry.tag}"'})


async def _delete(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    sent = foreign_of(request)
    for error in (await objects.remove(parts.platform, caller, sent.bucket, [sent.key])).values():
        raise error
    return Response(status_code=204)


async def _begin(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    sent = foreign_of(request)
    upload = await objectparts.begin(parts.platform, caller, sent.bucket, sent.key)
    return _json({"UploadId": upload, "BlkSize": PART_BYTES, "Bucket": sent.bucket, "Key": sent.key})


async def _put_part(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    sent, number = foreign_of(request), _whole(query, "partNumber")
    digest = await objectparts.send(
        parts.platform,
        caller,
        sent.bucket,
        sent.key,
        query["uploadId"],
        number,
        request.stream(),
        announced(request),
        request.headers.get("content-md5", ""),
    )
    # The client sends back what it was told, in the order of the parts: the number goes with the digest.
    return _json({"PartNumber": number}, headers={"ETag": f'"{number:05}{digest}"'})


async def _complete(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    sent = foreign_of(request)
    body = (await body_of(request, MOST_BODY_BYTES)).decode("utf-8", "replace")
    wanted = [_part(tag.strip().strip('"')) for tag in body.split(",") if tag.strip()]
    entry = await objectparts.join(
        parts.platform, caller, sent.bucket, sent.key, query.get("uploadId", ""), sorted(wanted)
    )
    told = {"Bucket": sent.bucket, "Key": sent.key, "FileSize": entry.size_bytes}
    return _json(told, headers={"ETag": f'"{entry.tag}"'})


def _part(tag: str) -> tuple[int, str]:
    number, digest = tag[:5], tag[5:]
    if not number.isdecimal() or not digest:
        raise InvalidInput("part_not_there", "body", number=0)
    return int(number), digest


async def _abort(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    sent = foreign_of(request)
    await objectparts.cancel(parts.platform, caller, sent.bucket, sent.key, query["uploadId"])
    return Response(status_code=204)
