"""Services of jobs: a real program in a task, over HTTP and WebSockets, by ticket and cookie."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from footplate.dialects.uai import signature
from footplate.testing.process import PASSWORD, ServerProcess, await_that, free_port

DEADLINE_S = 60.0
# The state of a socket in /proc/net/tcp.
LISTENS = "0A"
# Tells what it is asked, and says everything back.
PROGRAM = """
import json, sys
from http import HTTPStatus
from websockets.sync.server import serve
from websockets.http11 import Response
from websockets.datastructures import Headers

def answer(line, request):
    if "Upgrade" in request.headers:
        return None
    headers = Headers()
    if request.path == "/redirect":
        headers["Location"] = "/elsewhere"
        headers["Content-Length"] = "0"
        return Response(302, "Found", headers, b"")
    if request.path == "/big":
        body = b"x" * 5_000_000
    else:
        told = {"path": request.path, "headers": list(request.headers.raw_items())}
        body = json.dumps(told).encode()
    headers["Content-Length"] = str(len(body))
    headers["Set-Cookie"] = "own=1; Path=/; Domain=example.org"
    headers["Set-Cookie"] = "footplate_8750=stolen; Path=/api/"
    return Response(200, "OK", headers, body)

def talk(line):
    for message in line:
        line.send(message)

with serve(talk, "127.0.0.1", int(sys.argv[1]), process_request=answer, max_size=None) as server:
    server.serve_forever()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("services") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def inner() -> int:
    return free_port()


@pytest.fixture(scope="module")
def job(server: ServerProcess, inner: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("program")
    (folder / "program.py").write_text(PROGRAM)
    command = f"{sys.executable} program.py {inner}"
    made = server.command(
        "submit", "--name", "web", "--code", str(folder), "--json", "--", "sh", "-c", command
    )
    assert made.returncode == 0, made.stderr
    job_id = str(json.loads(made.stdout)["id"])
    with server.client() as client:
        await_that(lambda: client.get(f"/jobs/{job_id}").json()["state"] == "RUNNING", DEADLINE_S)
    yield job_id
    server.command("stop", job_id)


@pytest.fixture(scope="module")
def opened(server: ServerProcess, job: str, inner: int) -> str:
    """The address of the service with its ticket, once the program answers."""
    with httpx.Client(timeout=30, follow_redirects=True) as browser:

        def answers() -> bool:
            return browser.get(address(server, job, inner)).status_code == 200

        await_that(answers, DEADLINE_S, every_s=0.5)
    return address(server, job, inner)


def address(server: ServerProcess, job: str, inner: int) -> str:
    ran = server.command("open", job, str(inner), "--json")
    assert ran.returncode == 0, ran.stderr
    return str(json.loads(ran.stdout)["url"])


@pytest.fixture
def browser(server: ServerProcess, job: str, inner: int, opened: str) -> Iterator[httpx.Client]:
    """Somebody who was let in."""
    del opened
    url = address(server, job, inner)
    base = url.partition("?")[0]
    with httpx.Client(base_url=base, timeout=30) as client:
        answer = client.get(url)
        assert answer.status_code == 303
        assert "ticket" not in answer.headers["location"]
        yield client


def told(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_page_comes_through_and_no_cookie_or_token_of_the_platform_goes(browser: httpx.Client) -> None:
    answer = browser.get(
        "deep/page?x=1",
        headers={
            "Authorization": "Bearer fp_abc",
            "X-Footplate-Key": "secret",
            "Cookie": "mine=1; footplate_8750=secret; "
            + "; ".join(f"{name}={value}" for name, value in browser.cookies.items()),
        },
    )
    seen = told(answer)
    assert seen["path"] == "/deep/page?x=1"
    names = [name.lower() for name, _ in seen["headers"]]
    values = " ".join(value for _, value in seen["headers"])
    assert "authorization" not in names
    assert "x-footplate-key" not in names
    assert "footplate_" not in values
    assert ["cookie", "mine=1"] in [[name.lower(), value] for name, value in seen["headers"]]


def test_cookies_of_a_service_stay_with_it(browser: httpx.Client) -> None:
    kept = browser.get("").headers.get_list("set-cookie")
    prefix = urlsplit(str(browser.base_url)).path
    assert kept == [f"own=1; Path={prefix}"]


def test_an_address_of_the_services_own_is_led_below_its_prefix(browser: httpx.Client) -> None:
    answer = browser.get("redirect")
    assert answer.headers["location"] == urlsplit(str(browser.base_url)).path + "elsewhere"


def test_a_large_answer_comes_whole(browser: httpx.Client) -> None:
    assert browser.get("big").content == b"x" * 5_000_000


def test_a_websocket_comes_through(browser: httpx.Client) -> None:
    url = str(browser.base_url).replace("http", "ws", 1) + "socket"
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    with connect(url, additional_headers={"Cookie": cookie}, max_size=None) as line:
        line.send("hello")
        assert line.recv(10) == "hello"
        line.send(b"\0" * 3_000_000)
        assert line.recv(20) == b"\0" * 3_000_000


def test_a_page_of_elsewhere_opens_no_websocket_and_posts_nothing(browser: httpx.Client) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    headers = {"Cookie": cookie, "Origin": "http://127.0.0.1:1"}
    url = str(browser.base_url).replace("http", "ws", 1)
    with pytest.raises(InvalidStatus), connect(url, additional_headers=headers):
        pytest.fail("a foreign page got in")
    assert browser.post("", headers={"Origin": "http://127.0.0.1:1"}).status_code == 403


def test_a_service_has_a_host_name_of_its_own_and_is_served_at_no_other(
    server: ServerProcess, job: str, inner: int, browser: httpx.Client
) -> None:
    printed = urlsplit(server.command("open", job, str(inner), "--print").stdout.strip())
    assert printed.hostname is not None
    assert printed.hostname.endswith(".localhost")
    # Only browsers find such names.
    own = {"Host": f"{printed.hostname}:{printed.port}"}
    assert browser.get("", headers=own).status_code == 200
    other = {"Host": f"s-{'0' * 20}.localhost:{printed.port}"}
    assert browser.get("", headers=other).status_code == 404


def test_the_page_of_another_service_asks_in_vain(browser: httpx.Client) -> None:
    own = str(browser.base_url)
    other = own.replace("/main-0/", "/main-1/")
    assert browser.get("", headers={"Sec-Fetch-Site": "same-origin", "Referer": own}).status_code == 200
    assert browser.get("", headers={"Sec-Fetch-Site": "same-origin", "Referer": other}).status_code == 403
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert browser.get("", headers=embedded).status_code == 403


def test_a_revoked_token_closes_what_it_has_opened(server: ServerProcess, job: str, inner: int) -> None:
    with server.client() as lost:
        answer = lost.post(f"/jobs/{job}/services", json={"service": str(inner)}).json()
        with httpx.Client(timeout=30, follow_redirects=True) as client:
            assert client.get(answer["url"]).status_code == 200
            base = answer["url"].partition("?")[0]
            cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
            with connect(base.replace("http", "ws", 1), additional_headers={"Cookie": cookie}) as line:
                line.send("hello")
                assert line.recv(10) == "hello"
                tokens = lost.get("/tokens").json()["items"]
                (own,) = [one["id"] for one in tokens if one["is_current"]]
                assert lost.delete(f"/tokens/{own}").status_code == 204
                with pytest.raises(ConnectionClosed):
                    line.recv(DEADLINE_S)
            assert client.get(base).status_code == 403


def test_without_the_cookie_nothing_is_shown_and_a_ticket_is_good_once(
    server: ServerProcess, job: str, inner: int, opened: str
) -> None:
    del opened
    url = address(server, job, inner)
    assert httpx.get(url.partition("?")[0]).status_code == 403
    assert httpx.get(url).status_code == 303
    assert httpx.get(url).status_code == 403
    assert httpx.get(url.replace(str(inner), "1", 2)).status_code == 403
    bad = {"Cookie": "footplate_service=61646d696e.9999999999." + "0" * 64}
    assert httpx.get(url.partition("?")[0], headers=bad).status_code == 403


def test_the_address_of_services_is_none_of_the_api(server: ServerProcess, opened: str) -> None:
    at = urlsplit(opened)
    origin = f"{at.scheme}://{at.netloc}"
    assert at.port != server.port
    assert httpx.get(f"{origin}/api/v1/health").status_code == 404
    assert httpx.get(f"{server.url}{at.path}").status_code == 404


def test_others_are_refused_and_noted_and_lose_what_they_had(
    server: ServerProcess, job: str, inner: int, opened: str
) -> None:
    del opened
    with server.client() as admin:
        admin.post("/users", json={"name": "bob", "password": PASSWORD, "queues": {"default": "member"}})
        with server.client("bob") as bob:
            refused = bob.post(f"/jobs/{job}/services", json={"service": str(inner)})
        assert refused.status_code == 403
        noted = admin.get("/audit", params={"subject": job, "actor": "bob"}).json()["items"]
    assert [(one["action"], one["detail"]["way"]) for one in noted] == [("job.entry_refused", "service")]


@pytest.mark.parametrize("service", ["nothing", "0", "65536", "-1", "jupyter "])
def test_what_is_no_service_is_refused(server: ServerProcess, job: str, service: str) -> None:
    with server.client() as client:
        assert client.post(f"/jobs/{job}/services", json={"service": service}).status_code == 422


def bare(client: httpx.Client, name: str, **spec: Any) -> str:
    """A job that runs, in whose tasks hardly any program is found."""
    command = "/bin/mkdir bare; /bin/ln -s /bin/sh /bin/cat /bin/true bare; /bin/sleep 600"
    spec = {"name": name, "cpus": 0.1, "command": command, "env": {"PATH": "bare"}, **spec}
    made = client.post("/jobs", json=spec).json()
    path = f"/jobs/{made['id']}"
    await_that(lambda: client.get(path).json()["state"] == "RUNNING", DEADLINE_S)
    ran = {"command": ["sh", "-c", "true"]}
    await_that(lambda: client.post(f"{path}/exec", json=ran).json().get("exit_code") == 0, DEADLINE_S)
    return str(made["id"])


@pytest.mark.parametrize(
    ("service", "says"), [("jupyter", "no Python"), ("desktop", "apt install tigervnc-standalone-server")]
)
def test_a_program_that_cannot_be_supplied_is_named_with_what_to_install(
    server: ServerProcess, service: str, says: str
) -> None:
    with server.client() as client:
        job_id = bare(client, f"bare-{service}")
        refused = client.post(f"/jobs/{job_id}/services", json={"service": service}, timeout=60)
        client.post(f"/jobs/{job_id}/stop")
    assert refused.status_code == 409, refused.text
    assert says in refused.json()["message"]


def address_for_uai(server: ServerProcess, job_id: str) -> str:
    """Ask for TensorBoard as the tools of UAI-Train do."""
    key = json.loads(server.command("keys", "create", "uai", "--json").stdout)
    asked = {
        "Action": "GetUAITrainTensorboardUrl",
        "TrainJobId": f"uaitrain-{job_id}",
        "PublicKey": key["id"],
    }
    asked["Signature"] = signature.sign(asked, key["secret"])
    return str(httpx.get(server.url, params=asked, timeout=30).json()["TensorboardURL"])


def test_the_file_of_a_job_starts_services_in_the_folders_and_tasks_that_it_names(
    server: ServerProcess, tmp_path: Path
) -> None:
    """What runs is a program of the job's own by the name of JupyterLab: how it is started is the point."""
    folder = tmp_path / "code"
    (folder / "bin").mkdir(parents=True)
    lab = folder / "bin" / "jupyter-lab"
    lab.write_text(
        f"#!/bin/sh\necho $FOOTPLATE_ROLE $* > asked; exec {sys.executable} -m http.server ${{4#--port=}}\n"
    )
    lab.chmod(0o755)
    (folder / "job.yaml").write_text(
        """name: wishing
env: {PATH: "bin:/usr/bin:/bin"}
roles:
  - {name: chief, command: sleep 600, cpus: 0.1}
  - {name: worker, command: sleep 600, cpus: 0.1}
services:
  - {kind: jupyter, role: worker, path: "my logs"}
  - {kind: jupyter, path: plans}
"""
    )
    made = server.command("submit", str(folder / "job.yaml"), "--code", str(folder), "--json")
    assert made.returncode == 0, made.stderr
    job_id = str(json.loads(made.stdout)["id"])
    with server.client() as client:

        def services() -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = client.get(f"/jobs/{job_id}/services").json()["items"]
            return items

        await_that(lambda: len(services()) == 2, DEADLINE_S, "both are listed")
        ports = {one["task"]: one["port"] for one in services() if one["service"] == "jupyter"}

        def said() -> list[str]:
            events = client.get(f"/jobs/{job_id}/events").json()["items"]
            return [event["message"] for event in events]

        # It is listed when it answers, and told a moment later.
        await_that(lambda: said().count("jupyter is ready") == 2, DEADLINE_S, "jupyter is ready")
        for role, path in {"worker": "my logs", "chief": "plans"}.items():
            asked = server.command("exec", job_id, "--task", f"{role}/0", "--", "cat", "asked").stdout
            assert asked.startswith(f"{role} --no-browser")
            assert f"--port={ports[f'{role}-0']} " in asked
            assert f"--ServerApp.root_dir={path}" in asked
        client.post(f"/jobs/{job_id}/stop")
        await_that(lambda: client.get(f"/jobs/{job_id}").json()["state"] == "STOPPED", DEADLINE_S)
        await_that(lambda: not services(), DEADLINE_S)


# As much of TensorBoard as is asked for to start it; it shows how it was asked.
BOARD = """
import sys
from wsgiref.simple_server import make_server

class WerkzeugServer:
    def __init__(self, app, flags):
        self.serve = make_server("127.0.0.1", int(flags[flags.index("--port") + 1]), app).serve_forever

class TensorBoard:
    def __init__(self, plugins, server_class):
        self.server_class = server_class
    def configure(self, argv):
        self.flags = argv
    def main(self):
        self.server_class(show, self.flags).serve()

def show(environ, start):
    body = (environ["PATH_INFO"] + " SECRET" * ("SECRET" in __import__("os").environ)).encode()
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


def test_nobodys_task_reaches_a_tensorboard_past_the_door(server: ServerProcess, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    for name, text in {
        "tensorboard/__init__.py": "",
        "tensorboard/default.py": "def get_plugins(): return []",
        "tensorboard/program.py": BOARD,
        "bin/tensorboard": f"#!{sys.executable}\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "bin" / "tensorboard").chmod(0o755)
    words = ["--env", "PATH=bin:/usr/bin:/bin", "--env", "PYTHONPATH=.", "--cpus", "0.1", "--json"]
    made = server.command("submit", "--name", "board", "--code", str(folder), *words, "--", "sleep", "600")
    assert made.returncode == 0, made.stderr
    job_id = str(json.loads(made.stdout)["id"])
    with server.client() as client:
        await_that(lambda: client.get(f"/jobs/{job_id}").json()["state"] == "RUNNING", DEADLINE_S)
        answer = client.post(f"/jobs/{job_id}/services", json={"service": "tensorboard"}, timeout=DEADLINE_S)
        told_of_it = answer.json()
        assert told_of_it["task"] == "main-0", answer.text
        with httpx.Client(timeout=30, follow_redirects=True) as browser:
            shown = browser.get(told_of_it["url"])
        assert shown.text == urlsplit(told_of_it["url"]).path
        client.post("/users", json={"name": "eve", "password": PASSWORD, "queues": {"default": "member"}})
        url = f"http://127.0.0.1:{told_of_it['port']}/"
        asks = (
            f"import urllib.request, urllib.error as e\ntry: urllib.request.urlopen('{url}')\n"
            "except e.HTTPError as r: raise SystemExit(r.code - 400)"
        )
        with server.client("eve") as eve:
            spec = {"name": "asks", "cpus": 0.1, "command": f'{sys.executable} -c "{asks}"'}
            asked = eve.post("/jobs", json=spec).json()
            path = f"/jobs/{asked['id']}"
            await_that(lambda: eve.get(path).json()["state"] in ("SUCCEEDED", "FAILED"), DEADLINE_S)
            # 403 less 400: it was there, and refused.
            assert eve.get(path).json()["tasks"][0]["exit_code"] == 3
        client.post(f"/jobs/{job_id}/stop")


def test_a_service_of_a_file_that_cannot_be_started_is_told_in_the_jobs_events(server: ServerProcess) -> None:
    with server.client() as client:
        job_id = bare(client, "unlucky", services=[{"kind": "jupyter"}])

        def said() -> list[str]:
            events = client.get(f"/jobs/{job_id}/events").json()["items"]
            return [event["message"] for event in events if event["kind"] == "service"]

        (told_of_it,) = await_that(said, DEADLINE_S)
        client.post(f"/jobs/{job_id}/stop")
    assert "jupyter was not started: " in told_of_it


def listened_at(server: ServerProcess) -> set[int]:
    """The ports at which the server's own process listens."""
    own = set()
    for each in Path(f"/proc/{server.pid}/fd").iterdir():
        # Files come and go meanwhile; those that listen stay.
        with contextlib.suppress(FileNotFoundError):
            own.add(str(each.readlink()))
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [row for row in rows if row[3] == LISTENS and f"socket:[{row[9]}]" in own]
    return {int(row[1].partition(":")[2], 16) for row in listening}


def test_a_server_beyond_loopback_has_no_second_port_until_it_is_asked_for(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home", 'host = "0.0.0.0"\n') as server, server.client() as client:
        assert listened_at(server) == {server.port}
        made = client.post("/jobs", json={"name": "shut", "command": "true"}).json()
        refused = client.post(f"/jobs/{made['id']}/services", json={"service": "7860"})
    assert refused.status_code == 409
    assert "services_port" in refused.json()["message"]
    asked = free_port()
    settings = f'host = "0.0.0.0"\nservices_port = {asked}\n'
    with ServerProcess(tmp_path / "other", settings) as server:
        assert listened_at(server) == {server.port, asked}


# What a notebook does with its cells, without Jupyter: pictures are counted instead of shown.
CELLS = """
import json, os, sys, types
shown = []
display = types.ModuleType("IPython.display")
display.SVG, display.display, display.clear_output = str, shown.append, lambda wait=False: None
sys.modules["IPython"], sys.modules["IPython.display"] = types.ModuleType("IPython"), display
os.chdir("notebooks/samples")
scope = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), scope)
print(len(shown), "shown,", sum("<polyline" in one for one in shown), "with curves")
"""


def test_the_samples_run_in_a_notebook_where_the_client_needs_no_arguments(server: ServerProcess) -> None:
    samples = ["first-steps.ipynb", "distributed-training.ipynb", "compare-settings.ipynb"]
    made = server.command(
        *("notebook", "--name", "lab", "--cpus", "0.2", "--memory", "256MB", "--detach", "--json"),
        *(word for name in samples for word in ("--sample", name)),
    )
    assert made.returncode == 0, made.stderr
    job_id = str(json.loads(made.stdout)["id"])

    def has_begun() -> bool:
        return "notebooks are in" in server.command("logs", job_id).stdout

    await_that(has_begun, DEADLINE_S, every_s=0.5)
    said = []
    for name in samples:
        ran = server.command("exec", job_id, "--", "python3", "-c", CELLS, name)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        said.append(ran.stdout)
    assert "hello from main-0\nSUCCEEDED" in said[0]
    assert "SUCCEEDED all tasks are done\nweight 3.0" in said[1]
    assert re.search(r"[1-9]\d* with curves", said[1])
    assert [line.split()[1] for line in said[2].splitlines() if line.startswith("rate ")] == [
        "0.3",
        "0.1",
        "0.03",
    ]
    server.command("stop", job_id)
    # The next one finds what the last has left.
    server.command("notebook", "--name", "lab-2", "--cpus", "0.1", "--detach")
    await_that(lambda: server.command("exec", "lab-2", "--", "ls", "notebooks/samples").stdout, DEADLINE_S)
    left = server.command("exec", "lab-2", "--", "ls", "notebooks/samples").stdout.split()
    assert set(samples) <= set(left)
    assert "training-code" in left
    server.command("stop", "lab-2")
