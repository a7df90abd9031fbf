"""The edge of OpenPAI's API: who is calling, bodies as its clients send them, refusals in its words."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute

from footplate.domain import errors as e
from footplate.domain.messages import codes_in
from footplate.server.auth import Wired
from footplate.server.errors import Refusal, status_of
from footplate.server.routes.compat.asked import check_address, check_document
from footplate.services.access import Caller
from footplate.wire.documents import load_json

PREFIX = "/rest-server"
MOST_KEYS, MOST_STEPS = 10_000, 10
_FORM = "application/x-www-form-urlencoded"
_STEPS = re.compile(r"\[([^\[\]]*)\]")
# By what our own refusal says: its status there and its code.
_NAMED = {
    "job_name_taken": (409, "ConflictJobError"),
    "job_not_visible": (404, "NoJobError"),
    "job_not_named": (404, "NoJobError"),
    "job_unknown": (404, "NoJobError"),
    "no_attempt": (404, "NoJobError"),
    "user_exists": (409, "ConflictUserError"),
    "user_unknown": (404, "NoUserError"),
    "group_exists": (409, "ConflictGroupError"),
    "group_unknown": (404, "NoGroupError"),
    "queue_exists": (409, "ConflictVcError"),
    "queue_unknown": (400, "NoVirtualClusterError"),
    "queue_not_visible": (404, "NoVirtualClusterError"),
    "queue_not_usable": (403, "ForbiddenUserError"),
    "no_queues": (403, "ForbiddenUserError"),
    "queue_closed": (403, "ForbiddenUserError"),
    "storage_not_visible": (404, "NoStorageError"),
    "storage_unknown": (404, "NoStorageError"),
    "task_unknown": (404, "NoTaskError"),
    "no_task_but": (404, "NoTaskError"),
    "last_admin": (403, "RemoveAdminError"),
    "wrong_password": (400, "IncorrectPasswordError"),
    "token_unknown": (401, "UnauthorizedUserError"),
}
_BY_STATUS = {
    400: "InvalidParametersError",
    401: "UnauthorizedUserError",
    403: "ForbiddenUserError",
    404: "NoApiError",
    405: "NoApiError",
    409: "ConflictJobError",
    413: "InvalidParametersError",
    422: "InvalidParametersError",
    429: "TooManyRequestsError",
}
FOR_PAGES = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Location, X-Warning"}
GUEST = "Guest is not allowed to do this operation."
BAD_TOKEN = "Your token is invalid."  # noqa: S105  # what is said of one


class Refused(Exception):
    """A refusal in the words of OpenPAI."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def no_job(owner: str, name: str) -> Refused:
    return Refused(404, "NoJobError", f"Job {owner}~{name} is not found.")


def told(error: e.FootplateError) -> Refused:
    """Say a refusal of ours as OpenPAI would."""
    if isinstance(error, e.Unauthenticated) and error.said.code != "wrong_password":
        return Refused(401, "UnauthorizedUserError", BAD_TOKEN)
    problems = error.problems if isinstance(error, e.InvalidInput) else ()
    codes = [error.said.code, *(code for one in problems for code in codes_in(one.said))]
    for code in codes:
        if code in _NAMED:
            return Refused(*_NAMED[code], error.message)
    status = status_of(error)
    status = 400 if status == 422 else status
    return Refused(status, _BY_STATUS.get(status, "UnknownError"), error.message)


def body_of(refusal: Refusal) -> dict[str, Any]:
    """The body of what is refused before any of these routes is asked, or because one broke."""
    code = _BY_STATUS.get(refusal.status, "UnknownError")
    return {"code": code, "message": refusal.error.message}


Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PaiRoute(APIRoute):
    """A route whose refusals are in the words of OpenPAI."""

    def get_route_handler(self) -> Handler:
        answer = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                check_address(request)
                response = await answer(request)
            except Refused as refused:
                response = refusal(refused)
            except e.FootplateError as error:
                response = refusal(told(error))
            return for_pages_elsewhere(request, response)

        return handle


def for_pages_elsewhere(request: Request, response: Response) -> Response:
    """Let pages of other servers read an answer: nobody is known here by a cookie, only by what is sent.

    Not so what is answered to everybody who reaches the server: a browser may reach more than its pages do.
    """
    if not getattr(request.state, "is_open_read", False):
        response.headers.update(FOR_PAGES)
    return response


def refusal(refused: Refused) -> Response:
    return JSONResponse({"code": refused.code, "message": str(refused)}, refused.status)


# Who is calling


@dataclass(frozen=True, slots=True)
class Who:
    """A caller, with the token that was shown."""

    caller: Caller
    token: str
    is_program: bool

    @property
    def name(self) -> str:
        return self.caller.name


async def who_of(request: Request, parts: Wired) -> Who:
    given = request.headers.get("authorization")
    if not given:
        raise Refused(401, "UnauthorizedUserError", GUEST)
    user, token = _token_in(given)
    caller = await parts.accounts.identify(token)
    is_program = parts.web_tokens.claims(token).get("application") is True
    if user is not None and (caller.name != user or not is_program):
        raise Refused(401, "UnauthorizedUserError", BAD_TOKEN)
    return Who(caller, token, is_program)


def _token_in(given: str) -> tuple[str | None, str]:
    """Read a header: a bearer's token, or the name of an account with a token for programs."""
    scheme, _, word = given.partition(" ")
    if scheme.lower() == "bearer":
        return None, word.strip()
    if scheme.lower() == "basic":
        try:
            user, _, token = base64.b64decode(word, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            user, token = "", ""
        return user, token
    return None, ""


async def person_of(request: Request, parts: Wired) -> Who:
    """Who is calling, where a token for programs is not enough."""
    who = await who_of(request, parts)
    if who.is_program or who.caller.job_id is not None:
        raise Refused(403, "ForbiddenUserError", "Applications are not allowed to do this operation.")
    return who


async def admin_of(request: Request, parts: Wired) -> Who:
    return _admin(await who_of(request, parts))


async def admin_person_of(request: Request, parts: Wired) -> Who:
    return _admin(await person_of(request, parts))


def _admin(who: Who) -> Who:
    if not who.caller.is_admin:
        raise Refused(403, "ForbiddenUserError", "Non-admin is not allow to do this operation.")
    return who


async def reader_of(request: Request, parts: Wired) -> Who:
    """Who reads by the calls of v1, which have no token: anybody, where the settings allow it."""
    if not request.headers.get("authorization") and parts.settings.clouds.open_reads:
        request.state.is_open_read = True
        return Who(Caller("", is_admin=True), "", is_program=True)
    return await who_of(request, parts)


Anyone = Annotated[Who, Depends(who_of)]
Person = Annotated[Who, Depends(person_of)]
Admin = Annotated[Who, Depends(admin_of)]
AdminPerson = Annotated[Who, Depends(admin_person_of)]
Reader = Annotated[Who, Depends(reader_of)]


# Bodies


async def read_fields(request: Request) -> dict[str, Any]:
    """Read a body as JSON or as a form; nothing is an empty mapping."""
    body = await request.body()
    if not body.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM:
        document = parse_form(body)
    else:
        document = load_json(body, "body")
    if not isinstance(document, dict):
        raise Refused(400, "InvalidParametersError", "The body must be an object.")
    check_document(document)
    return document


def parse_form(body: bytes) -> dict[str, Any]:
    """Read a form whose names have steps in brackets, such as `taskRoles[0][name]`."""
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_KEYS)
    except (ValueError, UnicodeDecodeError) as error:
        raise Refused(400, "InvalidParametersError", f"The form cannot be read: {error}") from None
    root: dict[str, Any] = {}
    for name, value in pairs:
        head = name.partition("[")[0]
        steps = [head, *_STEPS.findall(name[len(head) :])][:MOST_STEPS]
        _put(root, steps, value)
    listed = _listed(root)
    assert isinstance(listed, dict)
    return listed


def _put(root: dict[str, Any], steps: list[str], value: str) -> None:
    at = root
    for step in steps[:-1]:
        inner = at.setdefault(step or str(len(at)), {})
        if not isinstance(inner, dict):
            return
        at = inner
    at[steps[-1] or str(len(at))] = value


def _listed(value: Any) -> Any:
    """Make lists of mappings whose keys count from 0."""
    if not isinstance(value, dict):
        return value
    inner = {name: _listed(item) for name, item in value.items()}
    if inner and list(inner) == [str(i) for i in range(len(inner))]:
        return list(inner.values())
    return inner


def text_in(fields: Mapping[str, Any], name: str, pattern: str = "", least: int = 0) -> str:
    """A text that must be there; raise with the name of the field otherwise."""
    value = fields.get(name)
    if not isinstance(value, str) or len(value) < max(least, 1) or len(value) > 4096:
        raise Refused(400, "InvalidParametersError", f'child "{name}" fails: it is required as a text')
    if pattern and not re.fullmatch(pattern, value):
        raise Refused(400, "InvalidParametersError", f'child "{name}" fails to match the pattern {pattern}')
    return value


def said(message: str, status: int = 200, with_status: bool = False) -> Response:
    return JSONResponse({**({"status": status} if with_status else {}), "message": message}, status)


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
