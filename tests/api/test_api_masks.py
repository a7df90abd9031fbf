"""Secrets in the output of jobs: masked in every view, for everybody."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest
import sqlalchemy as sa
from apiclient import Api, Data, fresh

from footplate.domain import messages
from footplate.domain.messages import say
from footplate.services.masks import Masks
from footplate.services.vault import Vault
from footplate.store.tables import masks as table
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, until
from footplate.wire.jobs import LogMatches

SECRET = "hunter22-correct-horse"
STARS = "*" * len(SECRET)


@pytest.fixture
def secret(ann: Api) -> str:
    name = fresh("secret")
    ann.ok("PUT", f"/secrets/{name}", json={"value": SECRET})
    return name


@pytest.fixture
def job(ann: Api, secret: str) -> Data:
    """A running job that has printed its secret."""
    job = ann.running(secrets={"TOKEN": secret})
    ann.write_log(job, f"token {SECRET} ok\n".encode())
    return job


def views(ann: Api, job: Data) -> dict[str, str]:
    path = f"/jobs/{job['id']}/logs"
    wanted: dict[str, Data] = {
        path: {},
        f"{path}?raw=true": {"params": {"raw": "true"}},
        f"{path}?tail=1": {"params": {"tail": 1}},
        f"{path}/download": {},
        f"{path}/merged": {},
    }
    return {name: ann.call("GET", name.partition("?")[0], **asked).text for name, asked in wanted.items()}


def test_every_view_of_a_log_masks_the_secrets_of_its_job(ann: Api, job: Data) -> None:
    for name, text in views(ann, job).items():
        assert SECRET not in text, name
        assert f"token {STARS} ok" in text, name


def test_offsets_and_sizes_stay_those_of_the_file(ann: Api, job: Data) -> None:
    size = len(f"token {SECRET} ok\n")
    part = ann.call("GET", f"/jobs/{job['id']}/logs", params={"offset": 10, "limit": 5})
    assert (part.text, part.headers["x-log-next-offset"]) == ("*****", "15")
    assert part.headers["x-log-size"] == str(size)
    whole = ann.call("GET", f"/jobs/{job['id']}/logs/download")
    ranged = ann.call("GET", f"/jobs/{job['id']}/logs/download", headers={"Range": "bytes=8-12"})
    assert (len(whole.content), ranged.text) == (size, "*****")


def test_a_search_finds_nothing_of_a_secret(ann: Api, job: Data) -> None:
    def n_found(text: str, **params: Any) -> int:
        answer = ann.ok("GET", f"/jobs/{job['id']}/logs/search", LogMatches, params={"text": text, **params})
        return len(answer["items"])

    assert n_found("token") == n_found("token", before=10**6) == 1
    assert n_found("hunter") == n_found("hunter", before=10**6) == 0


def test_a_follower_never_sees_a_secret_that_comes_in_two_writes(ann: Api, job: Data) -> None:
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        text = ""
        for part in (b"one hun", b"ter22-correct", b"-horse two\n", b"hunters\n"):
            ann.write_log(job, part)
        ann.finish(job)
        for one in events:
            text += one.data["text"] if one.kind == "log" else ""
            if one.kind == "end":
                break
    assert text == f"token {STARS} ok\none {STARS} two\nhunters\n"


def test_a_follower_from_before_the_start_sees_no_secret(ann: Api, secret: str) -> None:
    holding = ann.running(gpus=2)
    job = ann.submit(gpus=2, secrets={"TOKEN": secret})
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        assert next(events).data
        ann.finish(holding)
        ann.until(job, "RUNNING")
        ann.write_log(job, f"token {SECRET}\n".encode())
        ann.finish(job)
        text = ""
        for one in events:
            text += one.data["text"] if one.kind == "log" else ""
            if one.kind == "end":
                break
    assert text == f"token {STARS}\n"


def test_what_a_job_was_given_stays_masked_when_the_secret_is_replaced_or_deleted(
    ann: Api, job: Data, secret: str
) -> None:
    ann.ok("PUT", f"/secrets/{secret}", json={"value": "another-value"})
    assert SECRET not in str(views(ann, job))
    ann.ok("DELETE", f"/secrets/{secret}", status=204)
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    assert SECRET not in str(views(ann, job))


def test_it_stays_masked_for_a_server_that_begins_anew(ann: Api, job: Data, server: Served) -> None:
    platform = server.parts.platform
    found = server.run(platform.store.job(job["id"]))
    assert found is not None
    again = Masks(platform.store, platform.vault, lambda _job, _attempt: "fpj_x")
    assert SECRET.encode() not in server.run(again.of(found)).cover(f"token {SECRET}".encode())
    # With another key nobody can say what to mask; logs stay readable for those who may read them.
    other = Masks(platform.store, Vault(b"another"), lambda _job, _attempt: "fpj_x")
    assert server.run(other.of(found)).cover(SECRET.encode()) == SECRET.encode()


def test_values_are_kept_sealed_and_go_with_the_job(ann: Api, job: Data, server: Served) -> None:
    def rows() -> list[bytes]:
        wanted = sa.select(table.c.sealed).where(table.c.job_id == job["id"])
        return server.run(server.parts.platform.store.read(lambda c: list(c.scalars(wanted))))

    (sealed,) = rows()
    assert SECRET.encode() not in sealed
    ann.call("DELETE", f"/jobs/{job['id']}", params={"for_good": True})
    until(lambda: not rows())


def test_the_token_of_a_job_is_masked_in_its_log(ann: Api, server: Served) -> None:
    job = ann.running()
    token = server.parts.tokens.issue(job["id"], 0)
    ann.write_log(job, f"FOOTPLATE_TOKEN={token}\n".encode())
    for name, text in views(ann, job).items():
        assert token not in text, name
        assert "FOOTPLATE_TOKEN=*" in text, name


@pytest.mark.parametrize("encoding", ["utf-8", "base64"])
def test_the_output_of_a_command_is_masked(ann: Api, job: Data, server: Served, encoding: str) -> None:
    assert isinstance(server.engine, FakeEngine)
    ask = {"command": ["echo", SECRET], "encoding": encoding}
    output = ann.ok("POST", f"/jobs/{job['id']}/exec", json=ask)["output"]
    text = b64decode(output).decode() if encoding == "base64" else output
    assert SECRET not in text
    assert STARS in text


NAMED = "s3same-open-0123"
NAMED_ENV = {"HF_TOKEN": NAMED, "EPOCHS": "30", "DB": f"postgres://me:{SECRET}@host/db"}
SHOWN_ENV = {"HF_TOKEN": "***", "EPOCHS": "30", "DB": "postgres://me:***@host/db"}


@pytest.fixture
def named(ann: Api) -> Data:
    """A running job with variables that are secrets by their names, which it has printed."""
    job = ann.running(env=NAMED_ENV)
    ann.write_log(job, f"token {NAMED} ok\n{SECRET}\n".encode())
    return job


def test_variables_named_like_secrets_are_masked_in_every_view_of_a_log(ann: Api, named: Data) -> None:
    for name, text in views(ann, named).items():
        assert NAMED not in text, name
        assert SECRET not in text, name
        assert text.rstrip().endswith("*" * len(SECRET)), name
    assert f"token {'*' * len(NAMED)} ok" in views(ann, named)[f"/jobs/{named['id']}/logs"]


def test_no_view_of_a_configuration_tells_them(ann: Api, admin: Api, named: Data) -> None:
    for caller in (ann, admin):
        shown = caller.ok("GET", f"/jobs/{named['id']}")
        assert shown["config"]["env"] == caller.ok("GET", f"/jobs/{named['id']}/config")["env"] == SHOWN_ENV
    document = {"name": fresh("job"), "command": "true", "env": NAMED_ENV}
    tried = ann.call("POST", "/jobs/dry-run", json=document).text
    assert '"HF_TOKEN":"***"' in tried
    assert NAMED not in tried
    assert SECRET not in tried


def test_a_clone_of_ones_own_has_the_values_and_somebody_elses_must_be_given_them(
    ann: Api, admin: Api, named: Data, server: Served
) -> None:
    def env_of(job: Data) -> Any:
        found = server.run(server.parts.platform.store.job(job["id"]))
        assert found is not None
        return found.spec.env

    again = ann.ok("POST", f"/jobs/{named['id']}/clone", status=201)
    assert env_of(again) == NAMED_ENV
    changed = ann.ok(
        "POST", f"/jobs/{named['id']}/clone", status=201, json={"env": {**SHOWN_ENV, "EPOCHS": "3"}}
    )
    assert env_of(changed) == {**NAMED_ENV, "EPOCHS": "3"}
    refusal = admin.refused("POST", f"/jobs/{named['id']}/clone", 422, "env.HF_TOKEN", "is hidden")
    assert NAMED not in str(refusal)
    hidden = [name for name in NAMED_ENV if SHOWN_ENV[name] != NAMED_ENV[name]]
    given = dict.fromkeys(hidden, "mine-instead-of-theirs")
    copy = admin.ok("POST", f"/jobs/{named['id']}/clone", status=201, json={"env": given})
    assert env_of(copy) == {**NAMED_ENV, **given}


def test_a_form_that_was_filled_with_what_was_shown_names_the_job_that_it_shows(
    ann: Api, admin: Api, named: Data
) -> None:
    document = {**ann.ok("GET", f"/jobs/{named['id']}/config"), "name": fresh("job")}
    of = {"headers": {"Hidden-Values-Of": named["id"]}}
    for path in ("/jobs", "/jobs/dry-run"):
        ann.refused("POST", path, 422, "env.HF_TOKEN", "is hidden", json=document)
        admin.refused("POST", path, 422, "env.HF_TOKEN", "is hidden", json=document, **of)
    ann.ok("POST", "/jobs/dry-run", json=document, **of)
    checked = ann.ok("POST", "/jobs/check", json=document, **of)
    assert checked["refusal"] is None
    made = ann.ok("POST", "/jobs", json=document, status=201, **of)
    assert made["config"]["env"] == SHOWN_ENV
    ann.refused("POST", "/jobs", 404, json=document, headers={"Hidden-Values-Of": "nonesuch"})


def test_what_an_engine_quotes_of_a_task_at_its_end_is_masked(ann: Api, secret: str, server: Served) -> None:
    job = ann.running(secrets={"TOKEN": secret}, env=NAMED_ENV)
    assert isinstance(server.engine, FakeEngine)
    quoted = say(
        "container_ended", why=messages.text(f"last words: {SECRET} and {NAMED}"), exit_code_of_container=3
    )
    server.engine.lose(f"{job['id']}.0", detail=quoted)
    told = until(lambda: said if "last words" in (said := str(everything_of(ann, job))) else None)
    assert "last words: *** and ***" in told
    assert SECRET not in told
    assert NAMED not in told


def everything_of(ann: Api, job: Data) -> list[Data]:
    paths = ("", "/events", "/attempts", "/tasks")
    return [ann.ok("GET", f"/jobs/{job['id']}{path}") for path in paths]
