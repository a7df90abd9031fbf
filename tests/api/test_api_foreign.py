"""Job files of other systems over our own API: accepted as they are, and kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from apiclient import Api, Hire, fresh

from footplate.wire.jobs import DryRun, JobDetail, OriginalBody, Translated

V2 = """\
protocolVersion: 2
name: {name}
type: job
prerequisites:
  - {{type: dockerimage, name: img, uri: "python:3.9"}}
secrets: {{pw: hunter2hunter2}}
taskRoles:
  train:
    dockerImage: img
    resourcePerInstance: {{cpu: 1, memoryMB: 512, gpu: 0}}
    commands: ["echo <% $secrets.pw %>"]
extras: {{com.microsoft.pai.runtimeplugin: [{{plugin: ssh}}]}}
"""
SBATCH = "#!/bin/bash\n#SBATCH --job-name={name}\n#SBATCH --mem=1G\n#SBATCH --qos=high\npython a.py\n"
YAML, TEXT = {"Content-Type": "text/yaml"}, {"Content-Type": "text/plain"}


def v1(name: str, **changes: Any) -> dict[str, Any]:
    roles = [{"name": "main", "command": "true", "memoryMB": 256}]
    return {"jobName": name, "image": "python:3.9", "taskRoles": roles, **changes}


def test_a_file_of_pai_v2_is_accepted_kept_and_given_back_without_its_secrets(ann: Api) -> None:
    text = V2.format(name=fresh("demo"))
    job = ann.ok("POST", "/jobs", JobDetail, 201, content=text, headers=YAML)
    assert job["config"]["roles"][0]["name"] == "train"
    assert job["config"]["parameters"] == {"pw_secret": "***"}
    assert [one["message_code"] for one in job["warnings"]] == ["ssh_plugin_lost"]
    original = ann.ok("GET", f"/jobs/{job['id']}/original", OriginalBody)
    assert original["dialect"] == "pai_v2"
    assert yaml.safe_load(original["text"])["secrets"] == "******"
    assert "hunter2" not in original["text"]


def test_a_file_of_pai_v1_is_accepted_as_json(ann: Api) -> None:
    name = fresh("demo")
    job = ann.ok("POST", "/jobs", JobDetail, 201, json=v1(name))
    assert (job["name"], job["resources"]["memory_bytes"]) == (name, 256 * 1024**2)
    kept = ann.ok("GET", f"/jobs/{job['id']}/original")
    assert json.loads(kept["text"]) == v1(name)


def test_a_batch_script_is_accepted_and_says_what_it_lost(ann: Api) -> None:
    name = fresh("demo")
    text = SBATCH.format(name=name)
    job = ann.ok("POST", "/jobs", JobDetail, 201, content=text, headers=TEXT)
    assert (job["name"], job["config"]["roles"][0]["command"]) == (name, "python a.py")
    codes = [one["message_code"] for one in job["warnings"]]
    assert codes == ["slurm_option_unmapped", "code_not_sent"]
    assert ann.ok("GET", f"/jobs/{job['id']}/original")["text"] == text


def test_fields_of_ours_replace_those_of_a_foreign_text(ann: Api) -> None:
    name = fresh("demo")
    body = {"original": json.dumps(v1("other")), "overrides": {"name": name, "cpus": 2}}
    job = ann.ok("POST", "/jobs", JobDetail, 201, json=body)
    assert (job["name"], job["resources"]["cpus"]) == (name, 2)
    tried = ann.ok("POST", "/jobs/dry-run", DryRun, json={**body, "overrides": {"cpus": 3}})
    assert tried["config"]["name"] == "other"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"taskRoles": [{"name": "a", "command": "x", "memoryMB": 1}]}, "taskRoles[0].memoryMB"),
        ({"mystery": 1}, "mystery"),
        ({"taskRoles": [{"name": "a", "command": "x", "cpuNumber": 99}]}, "taskRoles[0].cpuNumber"),
        ({"gpuType": "none", "taskRoles": [{"name": "a", "command": "x", "gpuNumber": 1}]}, "gpuType"),
    ],
)
def test_refusals_name_the_field_of_the_original(ann: Api, changes: dict[str, Any], path: str) -> None:
    body = ann.refused("POST", "/jobs", 422, field=path, json=v1("x", **changes))
    assert "did you mean" not in body["message"]
    ann.refused("POST", "/jobs/dry-run", 422, field=path, json=v1("x", **changes))


def test_a_converted_document_keeps_the_text_that_it_was_made_from(ann: Api) -> None:
    text = V2.format(name=fresh("demo"))
    made = ann.ok("POST", "/jobs/translate", Translated, content=text, headers=TEXT)["document"]
    name = fresh("renamed")
    sent = {"original": text, "document": {**made, "name": name}}
    assert ann.ok("POST", "/jobs/dry-run", DryRun, json=sent)["config"]["name"] == name
    job = ann.ok("POST", "/jobs", JobDetail, 201, json=sent)
    assert (job["name"], job["config"]["parameters"]) == (name, {"pw_secret": "***"})
    kept = ann.ok("GET", f"/jobs/{job['id']}/original")
    assert (kept["dialect"], "hunter2" in kept["text"]) == ("pai_v2", False)


def test_a_text_that_says_something_else_by_now_is_not_kept(ann: Api) -> None:
    text = V2.format(name=fresh("demo"))
    made = ann.ok("POST", "/jobs/translate", Translated, content=text, headers=TEXT)["document"]
    job = ann.ok(
        "POST", "/jobs", JobDetail, 201, json={"original": text, "document": {**made, "tags": ["x"]}}
    )
    assert job["tags"] == ["x"]
    ann.refused("GET", f"/jobs/{job['id']}/original", 404)


def test_a_refusal_of_a_converted_document_names_its_own_fields(ann: Api) -> None:
    text = json.dumps(v1(fresh("demo")))
    made = ann.ok("POST", "/jobs/translate", Translated, content=text, headers=TEXT)["document"]
    for document, field in (({**made, "priority": "high"}, "priority"), ([], "document")):
        ann.refused("POST", "/jobs", 422, field, json={"original": text, "document": document})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"original": 1}, "original"),
        ({"original": "x", "overrides": []}, ""),
        ({"original": json.dumps(v1("x")), "overrides": [1]}, "overrides"),
        ({"original": "name: x"}, ""),
        ({"original": json.dumps(v1("x")), "overrides": {"nothing": 1}}, "nothing"),
    ],
)
def test_a_bad_envelope_is_refused(ann: Api, body: dict[str, Any], field: str) -> None:
    ann.refused("POST", "/jobs", 422, field=field, json=body)


def test_a_manifest_that_nobody_translates_is_met_by_its_name(ann: Api) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod"}
    ann.refused("POST", "/jobs", 422, says="a Kubernetes manifest", json=pod)


def test_a_translation_says_what_became_of_the_fields_and_creates_nothing(ann: Api) -> None:
    name = fresh("demo")
    made = ann.ok("POST", "/jobs/translate", Translated, content=V2.format(name=name), headers=TEXT)
    assert (made["dialect"], made["document"]["name"]) == ("pai_v2", name)
    assert "`taskRoles.*.instances` became `roles[].count`" in [one["message"] for one in made["converted"]]
    assert [one["message_code"] for one in made["lost"]] == ["ssh_plugin_lost"]
    ann.refused("GET", f"/jobs/{name}", 404)


def test_the_original_is_for_those_who_may_look_into_the_job(ann: Api, hire: Hire) -> None:
    job = ann.ok("POST", "/jobs", status=201, json=v1(fresh("demo")))
    hire(default="member").refused("GET", f"/jobs/{job['id']}/original", 403)
    hire().refused("GET", f"/jobs/{job['id']}/original", 404)


def test_a_job_of_ours_has_no_original(ann: Api) -> None:
    ann.refused("GET", f"/jobs/{ann.submit()['id']}/original", 404)


def test_a_repeated_submit_of_a_foreign_text_makes_no_second_job(ann: Api) -> None:
    sent = {"json": v1(fresh("demo")), "headers": {"Idempotency-Key": fresh("key")}}
    first = ann.ok("POST", "/jobs", status=201, **sent)
    assert ann.ok("POST", "/jobs", status=200, **sent)["id"] == first["id"]
