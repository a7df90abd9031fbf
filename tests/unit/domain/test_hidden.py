"""Values that are secrets by their names."""

from __future__ import annotations

from typing import Any

import pytest

from footplate.domain.errors import InvalidInput
from footplate.domain.hidden import fill, hidden_values, hide, hides_something, is_secret_name
from footplate.domain.jobfile import read_job, show_job, write_job

LONG = "s3same-open-0123"


@pytest.mark.parametrize(
    "name",
    [
        "PASSWORD",
        "MYSQL_PASSWORD",
        "db_passwd",
        "DB_PWD",
        "HF_TOKEN",
        "token",
        "WANDB_API_KEY",
        "APIKEY",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_PRIVATE_KEY",
        "CLIENT_SECRET",
        "GCP_CREDENTIALS",
        "KEY_PASSPHRASE",
    ],
)
def test_names_that_people_give_to_secrets_are_known(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "PWD",
        "OLDPWD",
        "MAX_TOKENS",
        "TOKENIZERS_PARALLELISM",
        "TOKEN_FILE",
        "AWS_ACCESS_KEY_ID",
        "SECRET_NAME",
        "SORT_KEY",
        "KEYBOARD",
        "PASSWORD_MIN_LENGTH",
        "lr",
    ],
)
def test_other_names_are_not(name: str) -> None:
    assert not is_secret_name(name)


def document(**more: Any) -> dict[str, Any]:
    role = {"name": "main", "command": "true", "env": {"ROLE_TOKEN": LONG + "-role", "EPOCHS": "3"}}
    env = {"HF_TOKEN": LONG, "PLAIN": "visible-value", "DB": "postgres://me:pass-word-1@host/db"}
    return {"name": "job", "env": env, "parameters": {"api_key": LONG + "-p"}, "roles": [role], **more}


def test_what_is_shown_has_no_secret_and_everything_else() -> None:
    shown = show_job(read_job(document()))
    assert shown["env"] == {
        "HF_TOKEN": "***",
        "PLAIN": "visible-value",
        "DB": "postgres://me:***@host/db",
    }
    assert shown["parameters"] == {"api_key": "***"}
    assert shown["roles"][0]["env"] == {"ROLE_TOKEN": "***", "EPOCHS": "3"}


def test_the_values_of_secrets_are_known_by_job_role_parameter_and_address() -> None:
    found = hidden_values(read_job(document()))
    assert found == {LONG, f"{LONG}-role", f"{LONG}-p", "pass-word-1"}


def test_short_values_are_hidden_where_they_stand_and_not_looked_for_in_output() -> None:
    spec = read_job(document(env={"DB_PASSWORD": "root"}))
    assert show_job(spec)["env"] == {"DB_PASSWORD": "***"}
    assert "root" not in hidden_values(spec)


def test_a_reference_stays_and_its_value_is_masked() -> None:
    spec = read_job(document(env={"HF_TOKEN": "${{ parameters.mine }}"}, parameters={"mine": LONG}))
    assert show_job(spec)["env"] == {"HF_TOKEN": "${{ parameters.mine }}"}
    assert LONG in hidden_values(spec)


def test_what_was_shown_is_refused_field_by_field() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_job(hide(document()))
    assert sorted(one.path for one in refused.value.problems) == [
        "env.DB",
        "env.HF_TOKEN",
        "parameters.api_key",
        "roles[0].env.ROLE_TOKEN",
    ]


def test_what_was_shown_is_filled_from_the_original_and_what_was_typed_stays() -> None:
    original = write_job(read_job(document()))
    shown = hide(original)
    assert hides_something(shown)
    assert not hides_something(original)
    shown["env"]["PLAIN"] = "typed"
    shown["env"]["NEW_TOKEN"] = "***"
    filled = fill(shown, original)
    assert filled["env"]["HF_TOKEN"] == LONG
    assert filled["env"]["DB"] == "postgres://me:pass-word-1@host/db"
    assert filled["env"]["PLAIN"] == "typed"
    assert filled["roles"][0]["env"]["ROLE_TOKEN"] == LONG + "-role"
    # Of which the original knows nothing.
    assert filled["env"]["NEW_TOKEN"] == "***"


def test_an_address_that_was_changed_is_not_filled_with_the_old_one() -> None:
    original = write_job(read_job(document()))
    shown = hide(original)
    shown["env"]["DB"] = "postgres://me:***@elsewhere/db"
    assert fill(shown, original)["env"]["DB"] == "postgres://me:***@elsewhere/db"


@pytest.mark.parametrize("raw", [None, [], "text", {"env": 3, "roles": 4}, {"roles": [7]}])
def test_a_document_of_any_shape_is_taken_as_it_is(raw: Any) -> None:
    assert fill(raw, write_job(read_job(document()))) == raw
    assert not hides_something(raw)
