"""Where the code says something: each code is in the tables, and gets the parameters of its sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from footplate.domain import errors
from footplate.domain.messages.render import language
from footplate.domain.messages.template import parse, slots
from footplate.sdk import errors as client_errors

SOURCE = Path(errors.__file__).parents[1]
SENTENCES = language("en").sentences
ERRORS = {
    name
    for module in (errors, client_errors)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, errors.FootplateError)
}
# Which argument is the code, by what is called; `kind` is an error that was chosen from several, `Refused` is
# raised by the process that becomes a task.
SAYING = {"say": 0, "problem": 1, "Refused": 0, "Unmountable": 0, "kind": 0, **dict.fromkeys(ERRORS, 0)}


def calls() -> Iterator[tuple[str, ast.Call, ast.expr]]:
    """Every call that says something, with where it is and the argument that is the code."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.is_relative_to(SOURCE / "runtime"):
            # What runs beside a user's process stands alone, and prints.
            continue
        text = path.read_text()
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name == "say" and "footplate.domain.messages import" not in text:
                continue
            is_adding = name == "add" and getattr(getattr(node.func, "value", None), "id", "") == "problems"
            at = 1 if is_adding else SAYING.get(name)
            if at is not None and len(node.args) > at:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node, node.args[at]


def test_nothing_is_said_in_words_that_no_table_has() -> None:
    spoken = [
        where
        for where, _, code in calls()
        if isinstance(code, ast.JoinedStr)
        or (isinstance(code, ast.Constant) and isinstance(code.value, str) and code.value not in SENTENCES)
    ]
    assert spoken == []


def test_every_code_gets_the_parameters_of_its_sentence() -> None:
    wrong = []
    for where, call, code in calls():
        if not isinstance(code, ast.Constant) or code.value not in SENTENCES:
            continue
        wanted = dict(_parameters(code.value))
        given = {keyword.arg for keyword in call.keywords if keyword.arg}
        has_more = any(keyword.arg is None for keyword in call.keywords)
        missing = {name for name, is_optional in wanted.items() if not is_optional} - given
        if given - set(wanted) or (missing and not has_more):
            wrong.append(f"{where} {code.value}: has {sorted(given)}, wants {sorted(wanted)}")
    assert wrong == []


def test_every_sentence_is_said_somewhere() -> None:
    """A code may also be chosen from several, so that it stands anywhere as a text of its own."""
    texts = {
        node.value
        for path in SOURCE.rglob("*.py")
        if "domain/messages/" not in str(path)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert set(SENTENCES) - texts == set()


def _parameters(code: str) -> Iterator[tuple[str, bool]]:
    found: dict[str, bool] = {}
    for slot, is_optional in slots(parse(SENTENCES[code])):
        found[slot.name] = found.get(slot.name, True) and is_optional
    yield from found.items()
