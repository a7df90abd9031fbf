"""The redirection of programs that name a cloud's hosts: where requests go, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from footplate.runtime import redirection
from footplate.runtime.redirecting import footplate_redirecting

SERVER = "http://127.0.0.1:8750"


@pytest.mark.parametrize(
    ("url", "to"),
    [
        ("https://tione.tencentcloudapi.com/", f"{SERVER}/"),
        ("https://tione.internal.tencentcloudapi.com/", f"{SERVER}/"),
        ("https://b-1.cos.ap-guangzhou.myqcloud.com/a%20b?x=1&y=", f"{SERVER}/a%20b?x=1&y="),
        ("http://api.ucloud.cn?Action=x", f"{SERVER}/?Action=x"),
        ("http://b.cn-bj.ufileos.com/k", f"{SERVER}/k"),
        ("https://cvm.tencentcloudapi.com/", None),
        ("https://example.com/myqcloud.com", None),
        ("https://myqcloud.com.example.com/", None),
    ],
)
def test_only_hosts_that_the_server_stands_in_for_are_redirected(
    url: str, to: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(redirection.URL, SERVER)
    assert footplate_redirecting.redirected(url) == to


def python(tmp_path: Path, program: str, **variables: str) -> str:
    given = {**os.environ, **redirection.variables(SERVER, {"PYTHONPATH": str(tmp_path)}), **variables}
    done = subprocess.run(
        [sys.executable, "-c", program], env=given, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    return done.stdout


FAKE_REQUESTS = """
class HTTPAdapter:
    def send(self, request, stream=False, timeout=None, proxies=None):
        return request.url, request.headers, proxies
"""


def test_requests_is_changed_when_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "requests").mkdir()
    (tmp_path / "requests" / "__init__.py").touch()
    (tmp_path / "requests" / "adapters.py").write_text(FAKE_REQUESTS)
    program = """
import sys
assert "requests" not in sys.modules and "footplate_redirecting" not in sys.modules
from requests.adapters import HTTPAdapter
class Request:
    url = "https://demo-1.cos.ap-guangzhou.myqcloud.com/key"
    headers = {}
print(HTTPAdapter().send(Request(), proxies={"https": "x"}))
"""
    said = python(tmp_path, program)
    assert said.strip() == f"('{SERVER}/key', {{'Host': 'demo-1.cos.ap-guangzhou.myqcloud.com'}}, {{}})"


def test_what_the_tools_of_uai_need_of_json_is_mended_for_them_alone(tmp_path: Path) -> None:
    (tmp_path / "uaitrain").mkdir()
    (tmp_path / "uaitrain" / "__init__.py").touch()
    program = """
import json
try:
    json.loads("1", encoding="utf-8")
except TypeError:
    print("as ever")
import uaitrain
print(json.loads("1", encoding="utf-8"))
"""
    assert python(tmp_path, program).split("\n")[:2] == ["as ever", "1"]


def test_a_sitecustomize_of_somebody_else_runs_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.theirs = 7\n")
    assert python(tmp_path, "print(theirs)").strip() == "7"


def test_python_starts_without_what_it_does_not_need(tmp_path: Path) -> None:
    named = ("requests", "typing", "urllib.parse", "json", "footplate_redirecting")
    program = f"import sys; print([one for one in {named} if one in sys.modules])"
    plain = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert python(tmp_path, program) == plain.stdout
