"""How models are named, and what two versions differ in."""

from __future__ import annotations

import pytest

from footplate.domain.errors import InvalidInput
from footplate.domain.model import (
    About,
    Difference,
    ModelFile,
    Origin,
    Version,
    Wanted,
    compare,
    read_reference,
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("digits", Wanted("digits")),
        ("digits:3", Wanted("digits", 3)),
        ("digits:v3", Wanted("digits", 3)),
        ("digits@production", Wanted("digits", None, "production")),
        ("m-2me2et0rs812:1", Wanted("m-2me2et0rs812", 1)),
    ],
)
def test_a_model_is_named_alone_by_number_or_by_alias(text: str, wanted: Wanted) -> None:
    assert read_reference(text) == wanted


@pytest.mark.parametrize(
    "text", ["", "a b", "digits:", "digits:x", "digits@", "digits@1", "a/b", "../x", "a:1@b"]
)
def test_what_names_no_model_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_reference(text)


def version(number: int, files: dict[str, str], **about: object) -> Version:
    made = tuple(ModelFile(path, sha256, 1) for path, sha256 in files.items())
    return Version("m", number, About(**about), Origin(parameters={"lr": number}), "ann", 0.0, made)  # type: ignore[arg-type]


def test_a_comparison_tells_all_metrics_and_of_the_rest_what_differs() -> None:
    one = version(1, {"same": "a", "changed": "b", "gone": "c"}, metrics={"loss": 1.0}, framework="x")
    two = version(
        2, {"same": "a", "changed": "d", "new": "e"}, metrics={"loss": 1.0, "f1": 0.5}, framework="x"
    )
    found = compare(one, two)
    assert found.metrics == {"loss": Difference(1.0, 1.0), "f1": Difference(None, 0.5)}
    assert found.parameters == {"lr": Difference(1, 2)}
    assert set(found.files) == {"changed", "gone", "new"}
    assert (found.files["gone"].second, found.files["new"].first) == (None, None)
    assert (found.n_same_files, found.fields) == (1, {})
