"""Routes that read the request themselves."""

from __future__ import annotations

import asyncio

import httpx
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import JSONResponse

from footplate.server.plain import PlainRoute


async def _injected() -> str:
    return "injected"


async def _say(request: Request) -> JSONResponse:
    return JSONResponse({"has_stack": "fastapi_function_astack" in request.scope})


def _send(method: str, path: str) -> httpx.Response:
    router = APIRouter(prefix="/things", dependencies=[Depends(_injected)])
    router.add_api_route("", _say, methods=["POST"], route_class_override=PlainRoute)
    router.add_api_route("/other", _say, methods=["POST"])
    app = FastAPI()
    app.include_router(router, prefix="/api")

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return await client.request(method, path)

    return asyncio.run(send())


def test_an_included_plain_route_is_called_without_injection() -> None:
    assert _send("POST", "/api/things").json() == {"has_stack": False}
    assert _send("POST", "/api/things/other").json() == {"has_stack": True}


def test_a_plain_route_refuses_other_methods() -> None:
    assert _send("GET", "/api/things").status_code == 405
