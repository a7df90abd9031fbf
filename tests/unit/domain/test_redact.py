"""Secret values taken out of texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.messages import say
from footplate.domain.redact import HIDDEN, redact, redact_message

KEY = "-----BEGIN KEY-----\n  c2VjcmV0\n}\n-----END KEY-----\n"


@pytest.mark.parametrize(
    ("text", "values", "shown"),
    [
        ("token=hunter22 ok", ["hunter22"], f"token={HIDDEN} ok"),
        ("hunter22hunter22", ["hunter22"], HIDDEN),
        ("hunter22, hunter22", ["hunter22"], f"{HIDDEN}, {HIDDEN}"),
        ("nothing here", ["hunter22"], "nothing here"),
        ("nothing here", [], "nothing here"),
        ("", ["hunter22"], ""),
    ],
)
def test_a_value_is_hidden_wherever_it_stands(text: str, values: list[str], shown: str) -> None:
    assert redact(text, values) == shown


@pytest.mark.parametrize("values", [["abcd", "cdef"], ["cdef", "abcd"]])
def test_of_values_that_overlap_nothing_is_left(values: list[str]) -> None:
    assert redact("<abcdef>", values) == f"<{HIDDEN}>"


def test_a_value_that_overlaps_itself_is_hidden_whole() -> None:
    assert redact("xababababx", ["abab"]) == f"x{HIDDEN}x"


@pytest.mark.parametrize("values", [["abcd", "abcdefgh"], ["abcdefgh", "abcd"]])
def test_a_value_within_another_does_not_leave_the_rest_of_it(values: list[str]) -> None:
    assert redact("abcdefgh abcd", values) == f"{HIDDEN} {HIDDEN}"


@pytest.mark.parametrize("short", ["", "a", "abc"])
def test_a_value_of_three_characters_is_too_short_to_hide(short: str) -> None:
    assert redact("abc a", [short]) == "abc a"


def test_a_value_of_four_characters_is_hidden() -> None:
    assert redact("pin 1234", ["1234"]) == f"pin {HIDDEN}"


def test_spaces_alone_hide_nothing() -> None:
    assert redact("a        b", ["     ", "\n\n\n\n\n"]) == "a        b"


def test_a_value_of_several_lines_is_hidden_as_a_whole() -> None:
    assert redact(f"key: {KEY}done", [KEY]) == f"key: {HIDDEN}done"


def test_each_line_of_a_value_is_hidden_by_itself() -> None:
    lines = [f"12:00 {line}" for line in KEY.splitlines()]
    assert [redact(line, [KEY]) for line in lines] == [
        f"12:00 {HIDDEN}",
        f"12:00   {HIDDEN}",
        "12:00 }",
        f"12:00 {HIDDEN}",
    ]


def test_an_escaped_value_of_several_lines_is_hidden() -> None:
    assert "c2VjcmV0" not in redact(repr(KEY), [KEY])


def test_signs_with_a_meaning_in_patterns_are_signs() -> None:
    assert redact("x a.c* x abcc", ["a.c*"]) == f"x {HIDDEN} x abcc"


def test_a_message_is_searched_in_all_that_it_names() -> None:
    inner = say("tasks_not_started", n=1, n_tasks=2, error="--key=hunter22")
    said = say("retried", why=inner, retry=1, retries=3, avoids="hunter22")
    safe = redact_message(said, ["hunter22"])
    assert "hunter22" not in str(safe)
    assert safe.params["why"] == say("tasks_not_started", n=1, n_tasks=2, error=f"--key={HIDDEN}")
    assert redact_message(said, ["abc"]) is said


@given(st.text("ab\n", max_size=40), st.lists(st.text("ab\n", min_size=4, max_size=8), max_size=4))
def test_no_value_survives(text: str, values: list[str]) -> None:
    shown = redact(text, values)
    assert not [value for value in values if value.strip() and value in shown]
