from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidInput, TooLarge
from footplate.wire.documents import MAX_BYTES, MAX_DEPTH, dump, load, scalar


def test_yaml_and_json_give_the_same_data() -> None:
    expected = {"name": "x", "roles": [{"command": "true", "cpus": 0.5}]}
    assert load("name: x\nroles:\n  - {command: 'true', cpus: 0.5}\n", "f") == expected
    assert load(b'{"name": "x", "roles": [{"command": "true", "cpus": 0.5}]}', "f") == expected
    assert load('{name: x, roles: [{command: "true", cpus: 0.5}]}', "f") == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("No", "No"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
        ("2030-01-01", "2030-01-01"),
        ("1e-3", 0.001),
        ("1.5", 1.5),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("10:30", "10:30"),
        ("1_000", "1_000"),
        ("-7", -7),
        ("'5'", "5"),
        ('"true"', "true"),
        ("!!str 5", "5"),
        ("!!int '5'", 5),
        ("!!float 5", 5),
    ],
)
def test_plain_words_mean_what_they_look_like(text: str, value: Any) -> None:
    assert load(f"a: {text}\n", "f") == {"a": value}


def test_on_is_a_key_like_any_other() -> None:
    assert load("alerts: [{on: failed}]", "f") == {"alerts": [{"on": "failed"}]}


def test_a_plain_key_is_its_text() -> None:
    assert load("1: x\ntrue: {0042: y, null: z}\n", "f") == {"1": "x", "true": {"0042": "y", "null": "z"}}


def test_anchors_aliases_and_merges_work() -> None:
    text = "base: &b {x: 1, y: 2}\none: {<<: *b, y: 3}\ntwo: {<<: [{y: 5}, *b]}\nsame: *b\n"
    assert load(text, "f") == {
        "base": {"x": 1, "y": 2},
        "one": {"x": 1, "y": 3},
        "two": {"x": 1, "y": 5},
        "same": {"x": 1, "y": 2},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f is empty"),
        ("# nothing\n", "f is empty"),
        ("a: 1\nb: 2\na: 3", "f, line 3, column 1: key 'a' is given twice"),
        ('{"a": 1, "a": 2}', "f: key 'a' is given twice"),
        ("a: {b: 1,\n b: 2}", "f, line 2, column 2: key 'b' is given twice"),
        ("!!int 1: x", 'f, line 1, column 1: a key must be a text; quote it: "1"'),
        ("!!bool true: x", "a key must be a text"),
        ("cpus: .inf", "f, line 1, column 7: NaN and infinite"),
        ("a: !!float .inf", "NaN and infinite"),
        ("a: 1\n'a': 2", "key 'a' is given twice"),
        ("1: a\n'1': b", "f, line 2, column 1: key '1' is given twice"),
        ("? [a, b]\n: x", "a key must be a text"),
        ("a: 1\n---\nb: 2", "f, line 2, column 1: a second document begins"),
        ("a:\n\t- b", "f, line 2, column 1: .*spaces, not tabs"),
        ("a: b: c", "f, line 1, column 5: .*quote texts that contain ': '"),
        ("a: 'x", "f, line 1, column 6: .*end of stream"),
        ("a: *b", r"alias \*b refers to nothing that is complete"),
        ("a: &a [*a]", r"alias \*a refers to nothing that is complete"),
        ("a: {<<: 5}", "<< merges mappings only"),
        ("a: !!python/object:os.system x", "the tag .* is not supported"),
        ("a: !mine x", "the tag '!mine' is not supported"),
        ("a: !!binary aGk=", "the tag .* is not supported"),
        ("a: !!map x", "the tag .* is not supported"),
        ("a: .inf", "NaN and infinite"),
        ("a: 1e999", "NaN and infinite"),
        ('{"a": NaN}', "NaN and infinite"),
        ('{"a": -Infinity}', "NaN and infinite"),
        ('{"a": 1e999}', "NaN and infinite"),
        ("a: " + "9" * 5000, "too many digits"),
        ('{"a": ' + "9" * 5000 + "}", "too many digits"),
        (b"\xff\xfea\x00", "is not UTF-8 text: .* at position 0"),
        ("a: \ud800", "is not UTF-8 text"),
        (b"a: \x00", "control characters"),
        ("a: \x07", "control characters"),
        ('{"a" 1}', "f, line 1, column"),
    ],
)
def test_what_cannot_be_accepted_is_refused_with_its_place(text: str | bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load(text, "f")


@pytest.mark.parametrize(
    "text",
    ["[" * 500_000, "- " * 500_000, "? " * 500_000, "{a: " * 250_000, '{"a":' * 200_000, "[" * 60 + "]" * 60],
)
def test_depth_is_bounded_quickly(text: str) -> None:
    began = time.process_time()
    with pytest.raises(InvalidInput, match=f"deeper than {MAX_DEPTH} levels"):
        load(text, "f")
    assert time.process_time() - began < 1


def test_depth_up_to_the_bound_is_fine() -> None:
    assert load("- " * MAX_DEPTH + "x", "f")
    assert load("[" * MAX_DEPTH + "]" * MAX_DEPTH, "f")


def test_depth_through_aliases_counts() -> None:
    steps = [f"k{i}: &k{i} [*k{i - 1}]" for i in range(1, MAX_DEPTH + 5)]
    with pytest.raises(InvalidInput, match="deeper than"):
        load("\n".join(["k0: &k0 [x]", *steps]), "f")


@pytest.mark.parametrize("step", ["[{}]", "{{{}}}"])
def test_aliases_that_explode_are_refused_quickly(step: str) -> None:
    lines = ["k0: &k0 {lol: lol}"]
    for i in range(1, 12):
        inside = ", ".join(f"a{n}: *k{i - 1}" if "{{" in step else f"*k{i - 1}" for n in range(10))
        lines.append(f"k{i}: &k{i} {step.format(inside)}")
    began = time.process_time()
    with pytest.raises(TooLarge, match="aliases expand"):
        load("\n".join(lines), "f")
    assert time.process_time() - began < 1


def test_ten_megabytes_are_refused_unread() -> None:
    with pytest.raises(TooLarge, match="is 10MB long; at most 1MB"):
        load(b"a" * 10 * MAX_BYTES, "f")


def test_a_large_plain_document_is_read() -> None:
    text = "\n".join(f"key{i}: value {i}" for i in range(40_000))
    assert len(load(text, "f")) == 40_000


def test_surrogate_pairs_in_json_are_one_character() -> None:
    assert load('{"a": "\\ud83d\\ude00"}', "f") == {"a": "😀"}


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert load(b"\xef\xbb\xbfname: x", "f") == {"name": "x"}


@given(st.binary(max_size=300))
def test_no_bytes_whatever_break_the_reader(data: bytes) -> None:
    with contextlib.suppress(InvalidInput):
        load(data, "f")


@given(st.text("{}[]:,-?&*!|>'\"%@`#<\n\t ab01~.", max_size=60))
def test_no_punctuation_whatever_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(InvalidInput):
        load(text, "f")


printable = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"), include_characters="\n\t"))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | printable,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(printable, inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(printable, values, max_size=5))
def test_what_is_written_reads_back(document: dict[str, Any]) -> None:
    assert load(dump(document), "f") == document


@pytest.mark.parametrize(
    "text", ["1e3", "0o17", "on", "2030-01-01", "5", "null", "x: y", "", "<<", "- a", "a\nb\n", " a\n b"]
)
def test_texts_that_look_like_something_else_stay_texts(text: str) -> None:
    assert load(dump({"a": text}), "f") == {"a": text}


def test_a_job_is_written_in_the_order_of_the_job_file() -> None:
    text = dump({"retry": 1, "roles": [{"command": "a\nb\n"}], "env": {}, "name": "x", "own": 1})
    assert [line.split(":")[0] for line in text.splitlines() if line[0].isalpha()] == [
        "name",
        "env",
        "roles",
        "retry",
        "own",
    ]
    assert "command: |\n" in text


def test_one_word_can_be_read_alone() -> None:
    assert [scalar(word) for word in ("5", "0.5", "true", "text")] == [5, 0.5, True, "text"]


def test_a_key_given_twice_among_very_many_is_found_quickly() -> None:
    keys = [f"k{number}" for number in range(50_000)]
    text = "{" + ",".join(f'"{key}":1' for key in (*keys, keys[-1])) + "}"
    began_at = time.process_time()
    with pytest.raises(InvalidInput, match="key 'k49999' is given twice"):
        load(text, "f")
    assert time.process_time() - began_at < 2
