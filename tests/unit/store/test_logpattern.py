"""Patterns over logs: what they find, what is refused, and that none takes long."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from footplate.control.lastwords import searcher
from footplate.domain.states import TaskState
from footplate.engines.base import Observation
from footplate.store.logpattern import compile_expression, expression_in
from footplate.store.logs import Logs
from footplate.testing.builders import job

LOG = b"epoch 7\nCUDA error: out of memory\n\xff\xfe broken\npath /data/ is full\n"


def test_only_what_stands_between_slashes_is_an_expression() -> None:
    assert expression_in("/CUDA error: .*/") == "CUDA error: .*"
    for words in ("CUDA error: .*", "/data", "data/", "//", "/", ""):
        assert expression_in(words) is None


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("CUDA error", True),
        ("CUDA error: .*", False),
        ("/CUDA error: .* memory/", True),
        ("/^epoch \\d+$/", True),
        ("/epoch.*CUDA/", False),
        ("/(?i)cuda ERROR/", True),
        ("/nan|inf|broken/", True),
        # As an older version may have stored it: no expression, and looked for as it is.
        ("/data(/", False),
        ("/data/", True),
    ],
)
def test_rules_find_words_and_patterns_in_a_log(tmp_path: Path, text: str, is_found: bool) -> None:
    one = job(on_failure=[{"action": "retry", "log": text}])
    logs = Logs(tmp_path)
    logs.append(one.attempt_id, "main-0", LOG)
    search = searcher(logs, one)
    words = search(Observation(f"{one.id}.0", "main", 0, TaskState.EXITED, 1))
    assert words.log_bytes == len(LOG)
    assert words.found == (frozenset({text}) if is_found else frozenset())


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("a(", r"^missing \): a\($"),
        ("a\\", r"^trailing \\$"),
        ("[a", "missing ]"),
        ("(?=a)b", r"invalid perl operator: \(\?="),
        ("(a)\\1", r"invalid escape sequence: \\1"),
        ("(a{50}){50}", "invalid repetition size"),
        ("a{1001}", "invalid repetition size"),
        ("(.?){1000}", "too large"),
        ("(\\w{1,30}){1,30}", "too large"),
        ("((a?){30}){30}" * 99, "too large"),
    ],
)
def test_what_cannot_be_looked_for_is_refused(expression: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        compile_expression(expression)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"\{\d+\}", '{"loss": {7}}'),
        (r"^\d{4}$", "7\n2026\n"),
        (r"\p{Han}+错误", "出现错误"),
        ("a{,3", "a{,3"),
    ],
)
def test_counts_and_classes_in_braces_are_found(expression: str, text: str) -> None:
    matches = compile_expression(expression)
    assert matches(text)
    assert not matches("nothing of it")


@pytest.mark.parametrize(
    "expression",
    [
        "(a+)+$",
        "(a|a)*b",
        "(a|aa)+$",
        ".*" * 90 + "b",
        r"(\w+\s?)*[^a]b",
        r"\w?" * 60 + r"\w" * 9 + "$",
        "(a{1,20}){1,20}$",
    ],
)
def test_no_expression_takes_long(expression: str) -> None:
    began_at = time.process_time()
    compile_expression(expression)("a" * 65_535 + "!")
    assert time.process_time() - began_at < 1
