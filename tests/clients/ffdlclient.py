"""The requests of the commands of FfDL and Prophecis, as they go over the wire."""

from __future__ import annotations

import base64
import io
import zipfile
from dataclasses import dataclass, field
from typing import Any

import httpx
from websockets.sync.client import connect
from websockets.typing import Subprotocol

VERSION = {"version": "2017-02-13"}
# Both commands give up after this long, but for downloads.
TIMEOUT_S = 10.0


def zipped(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, content in files.items():
            packed.writestr(name.replace("__", "."), content)
    return out.getvalue()


@dataclass
class Ffdl:
    """The command of FfDL: Basic, and X-Watson-Userinfo with every request."""

    url: str
    user: str
    password: str
    prefix: str = ""
    more: dict[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        word = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return {
            "Authorization": f"Basic {word}",
            "X-Watson-Userinfo": f"bluemix-instance-id={self.user}",
            **self.more,
        }

    def call(self, method: str, path: str, **request: Any) -> httpx.Response:
        params = {**VERSION, **request.pop("params", {})}
        url = f"{self.url}{self.prefix}{path}"
        return httpx.request(method, url, params=params, headers=self.headers, timeout=TIMEOUT_S, **request)

    def train(self, manifest: str, code: bytes | None) -> httpx.Response:
        files: dict[str, Any] = {"manifest": ("manifest.yml", manifest.encode(), "application/octet-stream")}
        if code is not None:
            files["model_definition"] = ("code.zip", code, "application/octet-stream")
        return self.call("POST", "/v1/models", files=files)

    def follow(self, model: str, *protocols: str) -> tuple[str, int]:
        """Read the log over a WebSocket until it is closed; return it with the code of the close."""
        url = f"{self.url.replace('http', 'ws', 1)}{self.prefix}/v1/models/{model}/logs"
        offered = [Subprotocol(one) for one in protocols] or None
        with connect(
            f"{url}?version=2017-03-17",
            additional_headers=self.headers,
            origin="http://localhost/",  # type: ignore[arg-type]
            subprotocols=offered,
            open_timeout=TIMEOUT_S,
        ) as socket:
            text = "".join(str(frame) for frame in socket)
            assert socket.subprotocol == (protocols[0] if protocols else None)
            assert socket.protocol.close_code is not None
            return text, socket.protocol.close_code


def prophecis(url: str, user: str, password: str) -> Ffdl:
    """The command of Prophecis: headers of its own, with the password in base64, and below /di."""
    sent = base64.b64encode(password.encode()).decode()
    more = {"MLSS-Auth-Type": "LDAP", "MLSS-UserID": user, "MLSS-Passwd": sent}
    return Ffdl(url, user, password, "/di", more)
