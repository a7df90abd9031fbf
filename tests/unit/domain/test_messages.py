"""Messages: every code has a sentence in every language, and every use of a code fits its sentence."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from footplate.domain.messages import Message, as_json, from_json, say, text
from footplate.domain.messages.render import LANGUAGES, language, render
from footplate.domain.messages.tables import NOUNS, gather
from footplate.domain.messages.template import parse, slots

SHARED = Path(__file__).parents[2] / "fixtures" / "messages.json"
CHINA = timezone(timedelta(hours=8))
CODES = sorted(language("en").sentences)


def parameters(into: str, code: str) -> set[tuple[str, bool]]:
    found = {}
    for slot, is_optional in slots(parse(language(into).sentences[code])):
        found[slot.name] = found.get(slot.name, True) and is_optional
    return set(found.items())


@pytest.mark.parametrize("into", [name for name in LANGUAGES if name != "en"])
def test_every_language_has_the_same_sentences_as_english(into: str) -> None:
    assert set(language(into).sentences) == set(language("en").sentences)
    assert {name: set(words) for name, words in language(into).words.items()} == {
        name: set(words) for name, words in language("en").words.items()
    }


@pytest.mark.parametrize("code", CODES)
def test_a_sentence_uses_the_same_parameters_in_every_language(code: str) -> None:
    assert len({frozenset(parameters(into, code)) for into in LANGUAGES}) == 1


def test_no_word_list_has_the_name_of_a_format() -> None:
    formats = {"size", "duration", "span", "time", "amounts", "figure", "quoted", "clauses", "comma"}
    assert not formats & set(language("en").words)


@pytest.mark.parametrize("example", json.loads(SHARED.read_text()), ids=lambda one: one["en"][:40])
def test_python_and_the_console_tell_a_message_alike(example: dict[str, object]) -> None:
    message = from_json(example["message"])
    for into in LANGUAGES:
        assert render(message, into, lambda at: at.astimezone(CHINA)) == example[into]


def test_a_part_without_its_parameters_is_left_out() -> None:
    told = say("task_exited", task="main-0", exit_code=1, signal=None, detail=None)
    assert str(told) == "task main-0 exited with code 1"


def test_a_time_for_nobody_in_particular_is_told_in_utc() -> None:
    assert str(say("starts_by", at="2026-11-16T01:53:25.133Z")) == (
        "starts by 2026-11-16 01:53:25 UTC at the latest"
    )


def test_a_time_is_told_by_the_readers_clock() -> None:
    told = render(say("starts_by", at="2026-11-16T01:53:25.133Z"), "zh", lambda at: at.astimezone(CHINA))
    assert told == "最迟 2026-11-16 09:53:25 启动"


def test_words_of_others_are_told_as_they_are() -> None:
    assert str(text("{not} [a] template")) == "{not} [a] template"


def test_a_message_survives_json_with_all_that_is_in_it() -> None:
    inner = say("limit_out_of_memory", limit_bytes=1024, peak_bytes=2048)
    message = say(
        "retried", why=say("task_exited", task="a-0", exit_code=137, detail=inner), retry=1, retries=2
    )
    assert from_json(json.loads(json.dumps(as_json(message)))) == message


def test_a_sentence_that_an_older_version_stored_is_still_told() -> None:
    assert str(from_json("all tasks are done")) == "all tasks are done"


def test_a_code_that_is_not_known_here_is_told_with_its_parameters() -> None:
    assert str(Message("of_tomorrow", {"n": 1})) == "of_tomorrow {'n': 1}"


def test_a_parameter_that_is_missing_does_not_break_the_sentence() -> None:
    assert str(Message("stopped_by")) == "stopped by ?"


@pytest.mark.parametrize("broken", ["{a", "[a", "a]", "[{a}", "a {"])
def test_a_template_with_unpaired_signs_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match="not a template"):
        parse(broken)


def test_utc_is_what_the_clock_is_given() -> None:
    seen: list[datetime] = []
    render(say("starts_by", at="2026-11-16T09:00:00+08:00"), "en", lambda at: seen.append(at) or at)
    assert seen == [datetime(2026, 11, 16, 1, tzinfo=UTC)]


@pytest.mark.parametrize("into", ["english", "chinese"])
def test_every_table_of_a_language_is_read(into: str) -> None:
    package = import_module(f"footplate.domain.messages.{into}")
    assert {one.name for one in iter_modules(package.__path__)} == {*NOUNS, "words"}


def test_a_code_that_stands_in_two_tables_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "sentences_twice"
    package.mkdir()
    for noun in NOUNS:
        same = '"used_twice": "text"' if noun in ("jobs", "models") else ""
        (package / f"{noun}.py").write_text(f"TABLE = {{{same}}}")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="used_twice of models stands in another table too"):
        gather("sentences_twice")
