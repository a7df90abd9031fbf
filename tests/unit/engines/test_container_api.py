"""What becomes of the answers of a container engine, said by a small server in its place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.errors import EngineUnavailable, OutcomeUnknown
from footplate.engines.local.containers import listing, starting
from footplate.engines.local.containers.api import ContainerApi, Refused
from footplate.engines.local.containers.listing import containers_with


def answering(path: Path, answer: bytes | list[bytes], ask: Callable[[ContainerApi], Any]) -> Any:
    """Ask something of an engine that says this, or these one after another and the last for ever."""
    answers = [answer] if isinstance(answer, bytes) else list(answer)

    async def main() -> Any:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answers.pop(0) if len(answers) > 1 else answers[0])
            writer.close()

        server = await asyncio.start_unix_server(serve, path)
        api = ContainerApi(path)
        try:
            return await ask(api)
        finally:
            await api.close()
            server.close()
            await server.wait_closed()

    return asyncio.run(main())


def test_an_engine_that_breaks_off_leaves_the_outcome_unknown(tmp_path: Path) -> None:
    with pytest.raises(OutcomeUnknown, match="broke off its answer"):
        answering(tmp_path / "s", b"", lambda api: api.start("x"))
    with pytest.raises(OutcomeUnknown, match="broke off its answer"):
        answering(tmp_path / "s", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", lambda api: api.info())


def test_an_engine_that_is_away_is_told_with_its_socket(tmp_path: Path) -> None:
    async def ask() -> None:
        api = ContainerApi(tmp_path / "missing.sock")
        try:
            await api.info()
        finally:
            await api.close()

    with pytest.raises(EngineUnavailable, match=r"missing\.sock does not answer"):
        asyncio.run(ask())


def refusal(status: str, body: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def test_a_listing_that_stumbles_over_a_vanishing_container_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stumbles = refusal("500 Oops", '{"message": "no such container"}')
    lists = refusal("200 OK", '[{"Id": "c1"}]')
    found = answering(tmp_path / "s", [stumbles, stumbles, lists], lambda api: containers_with(api, "mine"))
    assert found == [{"Id": "c1"}]
    monkeypatch.setattr(listing, "WITHIN_S", 0.2)
    with pytest.raises(Refused, match="no such container"):
        answering(tmp_path / "s", stumbles, lambda api: containers_with(api, "mine"))


def test_what_an_engine_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no such thing") as caught:
        answering(tmp_path / "s", refusal("500 Oops", '{"message": "no such thing"}'), lambda a: a.start("x"))
    assert caught.value.status == 500
    with pytest.raises(Refused, match="plain words"):
        answering(tmp_path / "s", refusal("500 Oops", "plain words"), lambda api: api.start("x"))
    gone = refusal("404 Gone", "{}")
    assert answering(tmp_path / "s", gone, lambda api: api.container("x")) is None
    assert answering(tmp_path / "s", gone, lambda api: api.remove("x")) is None
    assert answering(tmp_path / "s", refusal("409 Ended", "{}"), lambda api: api.kill("x", "KILL")) is None


def test_a_container_that_ends_while_the_engine_looks_at_it_counts_as_started(tmp_path: Path) -> None:
    stumbles = refusal("500 Oops", '{"message": "read /proc/29160/cgroup: no such process"}')
    over = refusal("200 OK", '{"Id": "c1", "State": {"Running": false}}')
    folder = tmp_path / "task"
    folder.mkdir()

    def claim(api: ContainerApi) -> Any:
        return starting.claim(api, "x", folder, ["FOOTPLATE_TASK=of-nobody"])

    assert "at" in answering(tmp_path / "s", [stumbles, over], claim)
    with pytest.raises(Refused, match="no such thing"):
        answering(tmp_path / "s", refusal("500 Oops", '{"message": "no such thing"}'), claim)
