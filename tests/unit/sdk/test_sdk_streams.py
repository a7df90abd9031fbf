from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footplate.sdk.lines import Lines, fold
from footplate.sdk.sse import ServerEvent, parse


def test_events_are_read_with_kind_and_cursor() -> None:
    stream = (
        b": ping\n\nevent: log\nid: c1\ndata: {}\n\nevent: end\r\ndata: a\r\ndata: b\r\n\r\ndata: cut off"
    )
    assert list(parse([stream])) == [ServerEvent("log", "{}", "c1"), ServerEvent("end", "a\nb")]


@given(st.text().filter(lambda text: "\n" not in text and "\r" not in text), st.integers(1, 7))
def test_data_survives_any_cut_of_the_stream(text: str, size: int) -> None:
    stream = f"event: log\nid: 7\ndata: {text}\n\n".encode("utf-8", "replace")
    pieces = [stream[i : i + size] for i in range(0, len(stream), size)]
    expected = text.encode("utf-8", "replace").decode()
    assert list(parse(pieces)) == [ServerEvent("log", expected, "7")]


def test_a_progress_bar_folds_to_its_last_drawing() -> None:
    assert fold("\r 10%\r 50%\r100%") == "100%"
    assert fold("windows line\r") == "windows line"
    assert fold("\r") == ""


def test_an_unfinished_line_is_shown_as_it_looks_now() -> None:
    lines = Lines()
    assert lines.feed("one\n 10%\r 50%") == ["one"]
    assert lines.unfinished == " 50%"
    assert lines.feed("\r") == []
    assert lines.feed("done\nrest") == ["done"]
    assert lines.finish() == ["rest"]
    assert lines.finish() == []


@given(st.lists(st.text("ab\n")))
def test_lines_do_not_depend_on_how_the_text_is_cut(pieces: list[str]) -> None:
    lines = Lines()
    cut = [line for piece in pieces for line in lines.feed(piece)] + lines.finish()
    assert cut == "".join(pieces).removesuffix("\n").split("\n") or "".join(pieces) in ("", "\n")


def test_an_endless_progress_bar_takes_no_memory() -> None:
    lines = Lines()
    for i in range(10_000):
        lines.feed(f"\r{i}%")
    assert lines.unfinished == "9999%"
    assert len(lines._rest) < 20
