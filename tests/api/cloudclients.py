"""Clients of other clouds, as far as they sign and send requests."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

import httpx
from apiclient import Api

from footplate.dialects.cos import signature as cos
from footplate.dialects.tione import signature as tc3
from footplate.dialects.uai import signature as uai
from footplate.dialects.ufile import signature as ufile
from footplate.services import access_keys
from footplate.services.access import Caller

NO_SIGNATURE = "0" * 64


@dataclass(frozen=True)
class Key:
    """An access key of somebody."""

    id: str
    secret: str


def key_of(api: Api) -> Key:
    """Make an access key for somebody."""
    served = api.served
    made, secret = served.run(access_keys.create(served.parts.platform, Caller(api.name), "test"))
    return Key(made.id, secret)


@dataclass(frozen=True)
class Cos:
    """Sends requests to a bucket as the client of COS does."""

    api: Api
    key: Key
    bucket: str = "demo-1256580188"
    suffix: str = "cos.ap-guangzhou.myqcloud.com"

    def call(
        self,
        method: str,
        key: str = "",
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
    ) -> httpx.Response:
        sent = {"host": f"{self.bucket}.{self.suffix}" if self.bucket else "service.cos.myqcloud.com"}
        sent |= {name.lower(): value for name, value in (headers or {}).items()}
        parameters = tuple((query or {}).items())
        now = int(self.api.served.clock.now())
        window = f"{now - 60};{now + 10_000}"
        unsigned = cos.Authorization(
            self.key.id,
            window,
            window,
            tuple(sorted(sent)),
            tuple(sorted(name.lower() for name, _ in parameters)),
            "",
        )
        signed = cos.Signed(method, f"/{key}", sent, parameters)
        signature = cos.sign(unsigned, signed, self.key.secret)
        sent["authorization"] = (
            f"q-sign-algorithm=sha1&q-ak={self.key.id}&q-sign-time={window}&q-key-time={window}"
            f"&q-header-list={';'.join(unsigned.headers)}&q-url-param-list={';'.join(unsigned.parameters)}"
            f"&q-signature={signature}"
        )
        url = f"{self.api.served.url}/{quote(key)}" + (f"?{urlencode(parameters)}" if parameters else "")
        return httpx.request(method, url, headers=sent, content=content)


@dataclass(frozen=True)
class Tione:
    """Calls actions as tikit does."""

    api: Api
    key: Key
    path: str = "/"
    host: str = "tione.tencentcloudapi.com"
    service: str = "tione"

    def send(self, action: str, body: Any, **headers: str) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        at = int(self.api.served.clock.now())
        day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
        sent = {"content-type": "application/json", "host": self.host}
        unsigned = tc3.Authorization(self.key.id, day, self.service, ("content-type", "host"), NO_SIGNATURE)
        signature = tc3.sign(unsigned, tc3.Signed("POST", sent, content, str(at)), self.key.secret)
        sent["authorization"] = (
            f"TC3-HMAC-SHA256 Credential={self.key.id}/{unsigned.scope}, SignedHeaders=content-type;host, "
            f"Signature={signature}"
        )
        sent |= {"x-tc-action": action, "x-tc-version": "2021-11-11", "x-tc-timestamp": str(at)}
        url = f"{self.api.served.url}{self.path}"
        return httpx.post(url, headers={**sent, **headers}, content=content, timeout=20)

    def ok(self, action: str, body: Any = None) -> dict[str, Any]:
        answer = self.send(action, {} if body is None else body)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        response: dict[str, Any] = answer.json()["Response"]
        assert "Error" not in response, response
        assert response.pop("RequestId")
        return response

    def refused(self, action: str, body: Any = None) -> tuple[str, str]:
        """The code and the message by which an action is refused."""
        answer = self.send(action, {} if body is None else body)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        response = answer.json()["Response"]
        assert response["RequestId"]
        return response["Error"]["Code"], response["Error"]["Message"]


@dataclass(frozen=True)
class Uai:
    """Calls actions as the tools of UAI-Train do."""

    api: Api
    key: Key

    def call(self, action: str, **parameters: str | int) -> dict[str, Any]:
        given = {"Action": action, "PublicKey": self.key.id, "Region": "cn-bj2", "Zone": "cn-bj2-04"}
        given |= {name: str(value) for name, value in parameters.items()}
        given["Signature"] = uai.sign(given, self.key.secret)
        url = f"{self.api.served.url}/?{urlencode(given)}"
        answer = httpx.get(url, headers={"Host": "api.ucloud.cn"}, timeout=20)
        body: dict[str, Any] = answer.json()
        assert body["Action"] == f"{action}Response"
        return body

    def ok(self, action: str, **parameters: str | int) -> dict[str, Any]:
        body = self.call(action, **parameters)
        assert body["RetCode"] == 0, body
        return body


@dataclass(frozen=True)
class Ufile:
    """Sends requests to a bucket as the client of UFile does."""

    api: Api
    key: Key
    bucket: str = "mybucket"

    def call(self, method: str, key: str = "", query: str = "", content: bytes = b"") -> httpx.Response:
        headers = {"host": f"{self.bucket}.cn-bj.ufileos.com", "date": "now", "content-type": "text/plain"}
        unsigned = ufile.Authorization(self.key.id, "")
        signature = ufile.sign(unsigned, method, headers, self.bucket, key, self.key.secret)
        headers["authorization"] = f"UCloud {self.key.id}:{signature}"
        url = f"{self.api.served.url}/{quote(key)}{query}"
        return httpx.request(method, url, headers=headers, content=content)

    def link(self, key: str, lasts_s: float) -> str:
        expires = str(int(self.api.served.clock.now() + lasts_s))
        unsigned = ufile.Authorization(self.key.id, "", expires)
        signature = ufile.sign(unsigned, "GET", {}, self.bucket, key, self.key.secret)
        query = urlencode({"UCloudPublicKey": self.key.id, "Expires": expires, "Signature": signature})
        return f"{self.api.served.url}/{quote(key)}?{query}"


def other(key: Key) -> Key:
    """A key of the same id that signs with another secret."""
    return replace(key, secret=f"not {key.secret} {time.monotonic()}")
