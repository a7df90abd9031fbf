"""Values arrive as typed: a word of a job file is a text wherever its field holds a text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidInput
from footplate.domain.interpolate import resolve
from footplate.domain.jobfile import read_job, write_job
from footplate.domain.spec import JobSpec
from footplate.wire.documents import dump, load, load_json

WORDS = [
    "0042",
    "1.10",
    "1e5",
    "0x10",
    "0o17",
    "1E5",
    "+7",
    "-0",
    "1.0",
    "1e-05",
    "00",
    "1_000",
    ".5",
    "5.",
    "1e999",
    ".inf",
    ".nan",
    "yes",
    "On",
    "true",
    "True",
    "FALSE",
    "null",
    "Null",
    "~",
    "2030-01-01",
    "12345678901234567890",
    "9" * 60,
]
# Words that YAML leaves alone: no signs of its own at the beginning, and none that end a word.
words = st.from_regex(r"[A-Za-z0-9.+~_][A-Za-z0-9.+~_-]{0,12}", fullmatch=True)


def _read(text: str) -> JobSpec:
    return read_job(load(text, "f"))


def _job(**fields: Any) -> str:
    return "\n".join(["name: x", "command: 'true'", *(f"{name}: {text}" for name, text in fields.items())])


def _substituted(spec: JobSpec) -> str:
    return resolve("${{ parameters.P }}", spec.parameters)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_reaches_the_task_as_it_was_typed(word: str) -> None:
    spec = _read(_job(env=f"{{X: {word}}}", parameters=f"{{P: {word}}}", tags=f"[{word}]", description=word))
    assert spec.env["X"] == word
    assert _substituted(spec) == word
    assert spec.tags == (word,)


@given(words)
def test_any_word_reaches_the_task_as_it_was_typed(word: str) -> None:
    spec = _read(_job(env=f"{{X: {word}}}", parameters=f"{{P: {word}}}", tags=f"[{word}]"))
    assert (spec.env["X"], _substituted(spec), spec.tags) == (word, word, (word,))


@given(words)
def test_what_was_typed_survives_storing_and_showing(word: str) -> None:
    spec = _read(_job(env=f"{{X: {word}}}", parameters=f"{{P: {word}}}", tags=f"[{word}]"))
    stored = json.loads(json.dumps(write_job(spec)))
    assert read_job(stored) == spec
    assert read_job(load(dump(stored), "f")) == spec
    assert read_job(load_json(json.dumps(stored), "f")) == spec


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,8})\.[0-9]{1,8}([eE][-+]?[0-9]{1,2})?", fullmatch=True))
def test_a_json_number_keeps_its_text(number: str) -> None:
    text = f'{{"name": "x", "command": "true", "env": {{"X": {number}}}, "parameters": {{"P": {number}}}}}'
    spec = read_job(load_json(text, "f"))
    assert (spec.env["X"], _substituted(spec)) == (number, number)


def test_numbers_that_everybody_writes_the_same_stay_numbers() -> None:
    spec = _read(_job(parameters="{epochs: 5, rate: 0.01, fast: true, name: x, exact: 0.10}"))
    assert spec.parameters == {"epochs": 5, "rate": 0.01, "fast": True, "name": "x", "exact": "0.10"}


def test_fields_of_another_type_read_words_as_before() -> None:
    text = _job(
        cpus="0.50", gpus="0x1", count="02", priority="-0", memory="1024M", time_limit="0090", shared="True"
    )
    spec = _read(text)
    role = spec.roles[0]
    assert (role.milli_cpus, role.gpus, role.count, spec.priority) == (500, 1, 2, 0)
    assert (spec.time_limit_s, spec.shared) == (90, True)


def test_texts_with_a_form_take_words_that_look_like_numbers() -> None:
    text = (
        "name: 2024\nqueue: 007\n"
        "environment: {requirements: [numpy], python: 3.10}\n"
        "roles: [{name: 1, command: 2, gpus: 1, gpu_type: 4090}]"
    )
    spec = _read(text)
    role = spec.roles[0]
    assert (spec.name, spec.queue) == ("2024", "007")
    assert (role.name, role.command, role.gpu_type) == ("1", "2", "4090")
    assert spec.environment is not None
    assert spec.environment.python == "3.10"


def test_an_empty_field_is_one_that_is_not_given() -> None:
    spec = _read(_job(description="null", image="~", env="", time_limit="", deadline="Null"))
    assert (spec.description, spec.image, spec.env) == ("", "", {})
    assert (spec.time_limit_s, spec.deadline_at) == (None, None)


@pytest.mark.parametrize("text", ["env: {X: }", "parameters: {P: }", 'env: {"X": !!null ""}'])
def test_a_variable_without_a_value_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="nothing"):
        _read("name: x\ncommand: 'true'\n" + text)


def test_null_in_json_is_nothing_and_no_text() -> None:
    with pytest.raises(InvalidInput, match="nothing"):
        read_job(load_json('{"name": "x", "command": "true", "env": {"X": null}}', "f"))


def test_a_name_in_json_must_be_a_text() -> None:
    with pytest.raises(InvalidInput, match="name"):
        read_job(load_json('{"name": true, "command": "true"}', "f"))


def test_extras_are_read_as_yaml_says() -> None:
    assert _read(_job(extras="{a: 0042, b: [1.10, yes, null], c: {d: true}}")).extras == {
        "a": 42,
        "b": [1.1, "yes", None],
        "c": {"d": True},
    }


def test_an_alias_means_in_each_place_what_its_field_says() -> None:
    spec = _read(_job(env="{X: &v 0042}", priority="*v"))
    assert (spec.env["X"], spec.priority) == ("0042", 42)
