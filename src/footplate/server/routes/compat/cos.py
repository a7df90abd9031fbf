"""COS: buckets and objects, as tikit's client asks for them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from urllib.parse import unquote

from fastapi import APIRouter, Request
from fastapi.responses import Response

from footplate.dialects.cos import answers, signature
from footplate.domain.errors import FootplateError, InvalidInput, Unauthenticated
from footplate.server.foreign import PREFIX
from footplate.server.parts import Parts, parts_of
from footplate.server.routes.compat.objecterrors import named, plainly
from footplate.server.routes.compat.signed import announced, body_of, foreign_of, headers_of, request_id
from footplate.server.sendfile import send_file
from footplate.services import access_keys, buckets, objectparts, objects
from footplate.services.access import Caller

log = logging.getLogger(__name__)
router = APIRouter(prefix=f"{PREFIX}/cos", include_in_schema=False)
METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE"]
MOST_BODY_BYTES = 2 * 1024**2
XML = "application/xml"
# What else clients ask of buckets: to take it for a listing would be a wrong answer.
UNKNOWN = frozenset(
    {
        "accelerate",
        "acl",
        "cors",
        "domain",
        "encryption",
        "inventory",
        "lifecycle",
        "location",
        "logging",
        "object-lock",
        "origin",
        "policy",
        "referer",
        "replication",
        "tagging",
        "versions",
        "website",
    }
)

Query = dict[str, str]
Operation = Callable[[Parts, Caller, Request, Query], Awaitable[Response]]


@router.api_route("", methods=METHODS)
async def answer(request: Request) -> Response:
    """Answer a signed request, or refuse it as COS would."""
    try:
        parts = parts_of(request)
        caller = await _identify(parts, request)
        query = dict(signature.parameters_of(foreign_of(request).query))
        return await _operation(request, query)(parts, caller, request, query)
    except FootplateError as error:
        return _refusal(request, *named(error), plainly(error))
    except answers.NotXml as error:
        return _refusal(request, 400, "MalformedXML", str(error))
    except Exception:
        log.exception("a request to COS failed")
        return _refusal(request, 500, "InternalError", "")


def _refusal(request: Request, status: int, code: str, message: str) -> Response:
    if request.method == "HEAD":
        return Response(status_code=status)
    place = foreign_of(request).path
    return Response(answers.error(code, message, place, request_id(request)), status, media_type=XML)


async def _identify(parts: Parts, request: Request) -> Caller:
    sent = foreign_of(request)
    parameters = signature.parameters_of(sent.query)
    headers = headers_of(request)
    given = signature.read(headers.get("authorization", ""), parameters)
    if given is None:
        raise Unauthenticated("signature_missing")
    if not given.is_timely(parts.platform.clock.now()):
        raise Unauthenticated("signature_too_old")
    signed = signature.Signed(request.method, sent.path, headers, parameters)
    return await access_keys.identify(
        parts.platform, given.key_id, partial(signature.is_signed, given, signed)
    )


def _operation(request: Request, query: Query) -> Operation:
    """Choose by the method, and by which parameters there are."""
    sent, method = foreign_of(request), request.method
    if not sent.bucket:
        return _list_buckets
    if not sent.key and not UNKNOWN.isdisjoint(query):
        return _impossible
    if sent.key and method == "GET" and "uploadId" in query:
        return _list_parts
    wanted = {
        ("GET", False): next((made for name, made in _OF_BUCKETS.items() if name in query), _list),
        ("HEAD", False): _head_bucket,
        ("POST", False): _delete_many,
        ("GET", True): _get,
        ("HEAD", True): _get,
        ("PUT", True): _put_part if "partNumber" in query else _put,
        ("POST", True): _begin if "uploads" in query else _complete,
        ("DELETE", True): _abort if "uploadId" in query else _delete,
    }
    return wanted.get((method, bool(sent.key)), _impossible)


async def _impossible(_parts: Parts, _caller: Caller, request: Request, _query: Query) -> Response:
    return _refusal(request, 405, "MethodNotAllowed", f"{request.method} is not offered here")


async def _list_buckets(parts: Parts, caller: Caller, _request: Request, _query: Query) -> Response:
    names = await buckets.all_of(parts.platform, caller)
    region = parts.settings.clouds.region
    return Response(answers.buckets(caller.name, names, region, 0.0), media_type=XML)


async def _head_bucket(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    buckets.locate(parts.platform, caller, foreign_of(request).bucket)
    return Response()


def _whole(query: Query, name: str, default: int) -> int:
    given = query.get(name, "")
    if given and not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise InvalidInput("not_whole_number", name, given=given[:64])
    return int(given or default)


def _asked(query: Query) -> answers.Asked:
    if query.get("delimiter", "") not in ("", "/"):
        raise InvalidInput("delimiter_unknown", "delimiter")
    return answers.Asked(
        prefix=query.get("prefix", ""),
        delimiter=query.get("delimiter", ""),
        marker=query.get("marker", ""),
        most=min(_whole(query, "max-keys", answers.MOST_KEYS), answers.MOST_KEYS),
        is_encoded=query.get("encoding-type") == "url",
    )


async def _list(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    bucket, asked = foreign_of(request).bucket, _asked(query)
    found, is_cut = await objects.listing(parts.platform, caller, bucket, asked)
    return Response(answers.listing(bucket, asked, found, is_cut), media_type=XML)


async def _list_uploads(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    bucket = buckets.locate(parts.platform, caller, foreign_of(request).bucket)
    asked = answers.Asked(query.get("prefix", ""), is_encoded=query.get("encoding-type") == "url")
    known = await objectparts.under_way(parts.platform, caller, bucket.name, asked.prefix)
    return Response(answers.uploads(bucket.name, asked, known[-answers.MOST_KEYS :]), media_type=XML)


async def _list_parts(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    sent, upload = foreign_of(request), query["uploadId"]
    asked = answers.PartsAsked(
        _whole(query, "part-number-marker", 0),
        min(_whole(query, "max-parts", answers.MOST_KEYS), answers.MOST_KEYS),
        query.get("encoding-type") == "url",
    )
    found, is_cut = await objectparts.sent(
        parts.platform, caller, sent.bucket, sent.key, upload, asked.after, asked.most
    )
    each = [(one.number, one.digest, one.size_bytes) for one in found]
    return Response(answers.parts(sent.bucket, sent.key, upload, asked, each, is_cut), media_type=XML)


async def _versioning(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    buckets.locate(parts.platform, caller, foreign_of(request).bucket)
    return Response(answers.versioning(), media_type=XML)


_OF_BUCKETS = {"uploads": _list_uploads, "versioning": _versioning}


async def _get(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    sent = foreign_of(request)
    entry = await objects.stat(parts.platform, caller, sent.bucket, sent.key)
    if entry.is_folder:
        return Response(headers={"ETag": f'"{entry.tag}"'})
    opened, source = await objects.open_object(parts.platform, caller, sent.bucket, sent.key)
    return await send_file(request, opened, source, inline=False)


async def _put(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    sent = foreign_of(request)
    if given := request.headers.get("x-cos-copy-source"):
        entry = await objects.copy(parts.platform, caller, _source(given), (sent.bucket, sent.key))
        return Response(answers.copied(entry.tag, entry.modified_at or 0.0), media_type=XML)
    md5, n_bytes = request.headers.get("content-md5", ""), announced(request)
    entry = await objects.put(parts.platform, caller, sent.bucket, sent.key, request.stream(), n_bytes, md5)
    return Response(headers={"ETag": f'"{entry.tag}"'})


def _source(given: str) -> tuple[str, str]:
    """Read which object to copy: the host of its bucket, and its key."""
    host, _, key = unquote(given.removeprefix("/").partition("?")[0], errors="surrogateescape").partition("/")
    return host.partition(".")[0], key


async def _delete(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    sent = foreign_of(request)
    for error in (await objects.remove(parts.platform, caller, sent.bucket, [sent.key])).values():
        raise error
    return Response(status_code=204)


async def _delete_many(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    if "delete" not in query:
        return await _impossible(parts, caller, request, query)
    body = await body_of(request, MOST_BODY_BYTES)
    keys, is_quiet = answers.keys_to_delete(body)
    failed = await objects.remove(parts.platform, caller, foreign_of(request).bucket, keys)
    told = [(key, named(error)[1], plainly(error)) for key, error in failed.items()]
    gone = [key for key in keys if key not in failed]
    return Response(answers.deleted(gone, told, is_quiet), media_type=XML)


async def _begin(parts: Parts, caller: Caller, request: Request, _query: Query) -> Response:
    sent = foreign_of(request)
    upload = await objectparts.begin(parts.platform, caller, sent.bucket, sent.key)
    return Response(answers.begun(sent.bucket, sent.key, upload), media_type=XML)


async def _put_part(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    sent, given = foreign_of(request), query.get("partNumber", "")
    if "x-cos-copy-source" in request.headers:
        raise InvalidInput("copying_not_offered", "x-cos-copy-source")
    if not (given.isdecimal() and len(given) < 6):
        raise InvalidInput("bad_part_number", "partNumber", most=answers.MOST_PARTS)
    digest = await objectparts.send(
        parts.platform,
        caller,
        sent.bucket,
        sent.key,
        query.get("uploadId", ""),
        int(given),
        request.stream(),
        announced(request),
        request.headers.get("content-md5", ""),
    )
    return Response(headers={"ETag": f'"{digest}"'})


async def _complete(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    sent, upload = foreign_of(request), query.get("uploadId", "")
    wanted = answers.parts_to_join(await body_of(request, MOST_BODY_BYTES))
    entry = await objectparts.join(parts.platform, caller, sent.bucket, sent.key, upload, wanted)
    location = f"{sent.host}/{sent.key}"
    return Response(answers.completed(location, sent.bucket, sent.key, entry.tag), media_type=XML)


async def _abort(parts: Parts, caller: Caller, request: Request, query: Query) -> Response:
    sent = foreign_of(request)
    await objectparts.cancel(parts.platform, caller, sent.bucket, sent.key, query.get("uploadId", ""))
    return Response(status_code=204)
