"""What is drawn on a terminal, and how it takes Ctrl-C and secrets."""

from __future__ import annotations

import os
import signal

from commandline import Start, read_until

from footplate.testing.fake_server import FakeServer, Reply, job

ID = "0abcdefghjk1"
Terminal = tuple[int, int]


def page(*names: str) -> dict[str, object]:
    return {"items": [job(name=name) for name in names], "next_page_token": None}


def test_a_watched_list_changes_and_gives_the_terminal_back(
    server: FakeServer, terminal: Terminal, start: Start
) -> None:
    server.on("GET /jobs", page("first"), page("second"))
    process = start(terminal[1], "list", "--watch")
    seen = read_until(terminal[0], "second")
    assert "first" in seen
    assert ID in seen
    process.send_signal(signal.SIGINT)
    rest = read_until(terminal[0], "\x1b[?1049l")
    assert "interrupted" not in rest
    assert process.wait(10) == 0


def test_a_wait_shows_why_and_ctrl_c_leaves_the_job_alone(
    server: FakeServer, terminal: Terminal, start: Start
) -> None:
    waiting = job(state="QUEUED", reason={"code": "x", "message": "behind 1 job", "details": {}})
    server.on("GET /jobs/digits", waiting)
    server.on(f"GET /jobs/{ID}", waiting)
    process = start(terminal[1], "wait", "digits")
    read_until(terminal[0], "QUEUED 0:00  behind 1 job")
    process.send_signal(signal.SIGINT)
    assert "job digits goes on" in read_until(terminal[0], f"footplate stop {ID}")
    assert process.wait(10) == 130


def test_a_password_is_asked_for_twice_and_never_shown(
    server: FakeServer, terminal: Terminal, start: Start
) -> None:
    server.on("GET /me", {"name": "ada", "is_admin": False, "queues": []})
    server.on("POST /me/password", Reply(204))
    process = start(terminal[1], "password")
    seen = ""
    answers = {
        "Current password of ada": "correct horse",
        "New password": "battery staple",
        "Repeat the password": "battery staple",
    }
    for question, answer in answers.items():
        seen += read_until(terminal[0], f"{question}: ")
        os.write(terminal[0], f"{answer}\n".encode())
    seen += read_until(terminal[0], "Changed the password of ada")
    assert process.wait(10) == 0
    assert "horse" not in seen
    assert "staple" not in seen
    assert server.requests("POST /me/password")[0].json["new_password"] == "battery staple"
