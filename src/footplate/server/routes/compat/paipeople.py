"""People of OpenPAI: signing in, tokens, users, groups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from footplate.domain.errors import InvalidInput
from footplate.server.addresses import neighbourhood
from footplate.server.auth import Wired
from footplate.server.parts import Parts
from footplate.server.routes.compat.paiedge import (
    AdminPerson,
    Anyone,
    PaiRoute,
    Person,
    Refused,
    Who,
    read_fields,
    said,
    text_in,
)
from footplate.services import groups, storages
from footplate.services.access import Caller
from footplate.services.accounts import Change
from footplate.store.group_queries import Group

router = APIRouter(route_class=PaiRoute)
_USER = r"[A-Za-z0-9][\w.-]{0,63}"
_GROUP = r"[A-Za-z0-9_]{1,255}"
LEAST_PASSWORD = 6
_LIFE = (60, 604_800)


# Signing in


@router.post("/v2/authn/basic/login")
@router.post("/v1/authn/basic/login")
@router.post("/v1/token")
async def login(request: Request, parts: Wired) -> Response:
    fields = await read_fields(request)
    name = text_in(fields, "username", r"[\w.-]+")
    password = text_in(fields, "password", least=LEAST_PASSWORD)
    _check_life(fields.get("expiration"))
    address = neighbourhood(parts.settings.proxies.caller(request))
    token, user = await parts.web_tokens.login(name, password, address)
    return JSONResponse({"user": user.name, "token": token, "admin": user.is_admin, "hasGitHubPAT": False})


def _check_life(given: Any) -> None:
    """Look at how long a token is to live; all live for a week, as there."""
    if given is None:
        return
    is_number = isinstance(given, int) or (isinstance(given, str) and given.isdigit())
    if not is_number or not _LIFE[0] <= int(given) <= _LIFE[1]:
        message = f'child "expiration" fails: it must be from {_LIFE[0]} to {_LIFE[1]}'
        raise Refused(400, "InvalidParametersError", message)


@router.delete("/v2/authn/basic/logout")
@router.delete("/v1/authn/basic/logout")
async def logout(parts: Wired, who: Person) -> Response:
    await parts.accounts.sign_out(who.token)
    return said("Logout successfully")


@router.get("/v2/authn/info")
@router.get("/v1/authn/info")
async def authn_info() -> dict[str, str]:
    return {"authn_type": "basic", "loginURI": "/api/v1/authn/basic/login", "loginURIMethod": "post"}


# Tokens


@router.get("/v2/tokens")
@router.get("/v1/token")
async def tokens(parts: Wired, who: Person) -> dict[str, Any]:
    return {"tokens": await parts.web_tokens.all_of(who.caller)}


@router.post("/v2/tokens/application")
@router.post("/v1/token/application")
async def application_token(parts: Wired, who: Person) -> dict[str, Any]:
    return {"token": await parts.web_tokens.issue_for_program(who.caller), "application": True}


@router.get("/v2/tokens/check")
@router.get("/v1/token/check")
async def check(parts: Wired, who: Anyone) -> dict[str, Any]:
    return parts.web_tokens.claims(who.token) or {"username": who.name, "application": False}


@router.delete("/v2/tokens/{token}")
@router.delete("/v1/token/{token}")
async def revoke(parts: Wired, who: Person, token: str) -> Response:
    await parts.web_tokens.revoke(who.caller, token)
    return said("revoke successfully")


# Users


def show_person(parts: Parts, person: groups.Person) -> dict[str, Any]:
    user = person.user
    known = parts.platform.cluster.queues
    as_caller = Caller(user.name, user.is_admin, person.roles)
    usable = storages.all_usable(parts.platform, as_caller)
    return {
        "username": user.name,
        "admin": user.is_admin,
        "virtualCluster": sorted(known) if user.is_admin else sorted(person.roles),
        "storageConfig": [storage.name for storage, _ in usable],
        "email": person.profile.email,
        "extension": dict(person.profile.extension),
        "grouplist": list(person.groups),
    }


@router.get("/v2/users")
@router.get("/v2/users/")
@router.get("/v1/user")
async def users(parts: Wired, who: Anyone) -> list[Any]:
    return [show_person(parts, one) for one in await groups.people(parts.platform, who.caller)]


@router.get("/v2/users/{user}")
@router.get("/v1/user/{user}")
async def user_info(parts: Wired, who: Anyone, user: str) -> dict[str, Any]:
    known = {one.user.name: one for one in await groups.people(parts.platform, who.caller)}
    if user not in known:
        raise Refused(400, "NoUserError", f"User {user[:64]} is not found.")
    return show_person(parts, known[user])


@router.post("/v2/users")
@router.post("/v2/users/")
async def add_user(request: Request, parts: Wired, who: AdminPerson) -> Response:
    fields = await read_fields(request)
    name = text_in(fields, "username", _USER)
    password = text_in(fields, "password", least=LEAST_PASSWORD)
    queues = _texts(fields, "virtualCluster", ["default"]) or []
    email, extension = _profile_in(fields)
    _known_queues(parts, queues)
    roles = dict.fromkeys(queues, "member")
    await parts.accounts.add(who.caller, name, password, _flag(fields, "admin") or False, roles)
    await groups.keep_profile(parts.platform, who.caller, name, email, extension)
    return said("User is created successfully", 201)


def _known_queues(parts: Parts, queues: list[str]) -> None:
    for queue in queues:
        if queue not in parts.platform.cluster.queues:
            raise Refused(400, "NoVirtualClusterError", f"Virtual cluster {queue[:64]} is not found.")


def _texts(fields: Mapping[str, Any], name: str, default: list[str] | None) -> list[str] | None:
    value = fields.get(name, default)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Refused(400, "InvalidParametersError", f'child "{name}" fails: it must be a list of texts')
    return [one for one in value if one]


def _flag(fields: Mapping[str, Any], name: str) -> bool | None:
    value = {"true": True, "false": False}.get(str(fields.get(name)).lower())
    if name in fields and fields[name] is not None and value is None:
        raise Refused(400, "InvalidParametersError", f'child "{name}" fails: it must be a boolean')
    return value


def _profile_in(fields: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any] | None]:
    email, extension = fields.get("email"), fields.get("extension")
    if email is not None and (not isinstance(email, str) or (email and not re.fullmatch(r"\S+@\S+", email))):
        raise Refused(400, "InvalidParametersError", 'child "email" fails: it must be an address')
    if extension is not None and not isinstance(extension, Mapping):
        raise Refused(400, "InvalidParametersError", 'child "extension" fails: it must be an object')
    return email, extension


async def _data_in(request: Request) -> tuple[dict[str, Any], bool]:
    fields = await read_fields(request)
    data = fields.get("data")
    if not isinstance(data, dict):
        raise Refused(400, "InvalidParametersError", 'child "data" fails: it is required')
    return data, bool(_flag(fields, "patch"))


@router.put("/v2/users")
@router.put("/v2/users/")
async def change_user(request: Request, parts: Wired, who: AdminPerson) -> Response:
    data, is_patch = await _data_in(request)
    name = text_in(data, "username", _USER)
    if not is_patch:
        for field in ("email", "virtualCluster", "admin", "password"):
            if field not in data:
                raise Refused(400, "InvalidParametersError", f'child "{field}" fails: it is required')
    await _change(parts, who, name, data)
    return said("update user successfully", 201)


async def _change(parts: Parts, who: Who, name: str, data: Mapping[str, Any]) -> None:
    password = text_in(data, "password", least=LEAST_PASSWORD) if data.get("password") else None
    queues, admin = _texts(data, "virtualCluster", None), _flag(data, "admin")
    email, extension = _profile_in(data)
    await groups.person(parts.platform, who.caller, name)
    if queues is not None:
        _known_queues(parts, queues)
        await groups.set_queues(parts.platform, who.caller, name, queues)
    if password is not None or admin is not None:
        await parts.accounts.change(who.caller, name, Change(password=password, is_admin=admin))
    await groups.keep_profile(parts.platform, who.caller, name, email, extension)
    parts.accounts.forget()


@router.put("/v2/users/me")
async def change_me(request: Request, parts: Wired, who: Person) -> Response:
    """Change one's own profile; passwords are looked at and not applied, as there."""
    data, _ = await _data_in(request)
    if text_in(data, "username") != who.name:
        raise Refused(403, "ForbiddenUserError", "Can't update other user's data")
    if data.get("newPassword") is not None:
        text_in(data, "newPassword", least=LEAST_PASSWORD)
    await groups.keep_profile(parts.platform, who.caller, who.name, *_profile_in(data))
    return said("update user successfully", 201)


@router.delete("/v2/users/{user}")
async def remove_user(parts: Wired, who: AdminPerson, user: str) -> Response:
    known = await groups.person(parts.platform, who.caller, user)
    if known.user.is_admin:
        raise Refused(403, "RemoveAdminError", f"Admin {user} is not allowed to remove.")
    await parts.accounts.remove(who.caller, user)
    return said("user is removed successfully")


@router.put("/v1/user")
async def put_user_v1(request: Request, parts: Wired, who: AdminPerson) -> Response:
    fields = await read_fields(request)
    name = text_in(fields, "username", _USER)
    if _flag(fields, "modify"):
        await _change(parts, who, name, {**fields, "virtualCluster": None})
    else:
        password = text_in(fields, "password", least=LEAST_PASSWORD)
        roles = {"default": "member"}
        await parts.accounts.add(who.caller, name, password, _flag(fields, "admin") or False, roles)
    return said("update successfully", 201)


@router.delete("/v1/user")
async def remove_user_v1(request: Request, parts: Wired, who: AdminPerson) -> Response:
    return await remove_user(parts, who, text_in(await read_fields(request), "username"))


@router.put("/v1/user/{user}/virtualClusters")
async def set_queues_v1(request: Request, parts: Wired, who: AdminPerson, user: str) -> Response:
    given = (await read_fields(request)).get("virtualClusters", "")
    await _change(parts, who, user, {"virtualCluster": [one for one in str(given).split(",") if one]})
    return said("update user virtual clusters successfully", 201)


# Single fields, as the portal changes them


@router.put("/v2/users/{user}/password")
async def put_password(request: Request, parts: Wired, who: Person, user: str) -> Response:
    fields = await read_fields(request)
    new = text_in(fields, "newPassword", least=LEAST_PASSWORD)
    if who.caller.is_admin and user != who.name:
        await groups.person(parts.platform, who.caller, user)
        await parts.accounts.change(who.caller, user, Change(password=new))
    elif user != who.name:
        raise Refused(403, "ForbiddenUserError", "Can't update other user's data")
    else:
        try:
            await parts.accounts.change_password(who.caller, text_in(fields, "oldPassword"), new)
        except InvalidInput as error:
            raise Refused(400, "IncorrectPasswordError", "Password is incorrect.") from error
    return said("update user password successfully.", 201)


@router.put("/v2/users/{user}/{field}")
async def put_field(request: Request, parts: Wired, who: Person, user: str, field: str) -> Response:
    fields = await read_fields(request)
    if field in ("group", "grouplist"):
        return await _put_groups(parts, who, user, field, fields)
    names = {"email": "email", "admin": "admin", "virtualcluster": "virtualCluster", "extension": "extension"}
    if field not in names:
        raise Refused(404, "NoApiError", f"API {request.url.path} is not found.")
    name = names[field]
    if name not in fields:
        raise Refused(400, "InvalidParametersError", f'child "{name}" fails: it is required')
    if name in ("email", "extension") and user == who.name:
        await groups.keep_profile(parts.platform, who.caller, user, *_profile_in({name: fields[name]}))
    else:
        _require_admin(who)
        await _change(parts, who, user, {name: fields[name]})
    return said(f"update user {name} successfully.", 201)


def _require_admin(who: Who) -> None:
    if not who.caller.is_admin:
        raise Refused(403, "ForbiddenUserError", "Non-admin is not allow to do this operation.")


async def _put_groups(parts: Parts, who: Who, user: str, field: str, fields: Mapping[str, Any]) -> Response:
    _require_admin(who)
    person = await groups.person(parts.platform, who.caller, user)
    if field == "group":
        names = [*dict.fromkeys((*person.groups, text_in(fields, "groupname", _GROUP)))]
    else:
        names = _texts(fields, "grouplist", None) or []
        if "grouplist" not in fields:
            raise Refused(400, "InvalidParametersError", 'child "grouplist" fails: it is required')
    await groups.set_groups(parts.platform, who.caller, user, names)
    parts.accounts.forget()
    return said(f"update user {field} successfully.", 201)


@router.delete("/v2/users/{user}/group")
async def leave_group(request: Request, parts: Wired, who: AdminPerson, user: str) -> Response:
    name = text_in(await read_fields(request), "groupname", _GROUP)
    person = await groups.person(parts.platform, who.caller, user)
    await groups.find(parts.platform, who.caller, name)
    left = [one for one in person.groups if one != name]
    await groups.set_groups(parts.platform, who.caller, user, left)
    parts.accounts.forget()
    return said("update user group successfully.", 201)


# Groups


def _show_group(group: Group) -> dict[str, Any]:
    return {
        "groupname": group.name,
        "description": group.description,
        "externalName": group.external_name,
        "extension": dict(group.extension),
    }


def _group_changes(fields: Mapping[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for theirs, ours in (("description", "description"), ("externalName", "external_name")):
        if fields.get(theirs) is not None:
            changes[ours] = str(fields[theirs])[:4096]
    extension = _profile_in({"extension": fields.get("extension")})[1]
    return changes if extension is None else {**changes, "extension": extension}


@router.get("/v2/groups")
@router.get("/v2/groups/")
async def all_groups(parts: Wired, who: Anyone) -> list[Any]:
    return [_show_group(one) for one in await groups.all_groups(parts.platform, who.caller)]


@router.post("/v2/groups")
@router.post("/v2/groups/")
async def add_group(request: Request, parts: Wired, who: AdminPerson) -> Response:
    fields = await read_fields(request)
    group = Group(text_in(fields, "groupname", _GROUP), **_group_changes(fields))
    await groups.add(parts.platform, who.caller, group)
    return said("group is created successfully", 201)


@router.put("/v2/groups")
@router.put("/v2/groups/")
async def change_group(request: Request, parts: Wired, who: AdminPerson) -> Response:
    data, is_patch = await _data_in(request)
    name = text_in(data, "groupname", _GROUP)
    changes = _group_changes(data)
    blank = {} if is_patch else {"description": "", "external_name": "", "extension": {}}
    await groups.change(parts.platform, who.caller, name, {**blank, **changes})
    parts.accounts.forget()
    return said("update group successfully", 201)


@router.get("/v2/groups/{group}")
async def one_group(parts: Wired, who: Anyone, group: str) -> dict[str, Any]:
    return _show_group(await groups.find(parts.platform, who.caller, group))


@router.delete("/v2/groups/{group}")
async def remove_group(parts: Wired, who: AdminPerson, group: str) -> Response:
    await groups.remove(parts.platform, who.caller, group)
    parts.accounts.forget()
    return said("group is removed successfully")


@router.get("/v2/groups/{group}/userlist")
async def group_members(parts: Wired, who: Anyone, group: str) -> list[Any]:
    _require_admin(who)
    listed = await groups.members(parts.platform, who.caller, group)
    return [{"username": user.name, "clusterAdmin": user.is_admin} for user in listed]
