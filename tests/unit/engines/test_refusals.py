"""Why an engine can never run a job: by its capabilities, and by what only the engine knows."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from footplate.domain.errors import Problem, problem
from footplate.domain.messages import text
from footplate.domain.spec import JobSpec
from footplate.engines.base import Capabilities
from footplate.engines.refusals import first_refusal, refusal
from footplate.testing.builders import spec
from footplate.testing.fake_engine import FakeEngine

MAPPED = {"torch": "/opt/torch"}
DATA = [{"storage": "sets", "path": "/data"}]
UPLOAD = f"sha256:{0:064}"
MIXED = [{"name": "ps", "command": "true"}, {"name": "worker", "command": "true", "image": "torch"}]


class Bare(FakeEngine):
    """Has neither images nor mounts."""

    capabilities = Capabilities(no_images=text("no containers here"), no_mounts=text("no views here"))


class Choosy(FakeEngine):
    """Knows a reason of its own; counts who asks what it can do."""

    n_asked = 0

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        self.n_asked += 1
        return Capabilities()

    def refuses(self, spec: JobSpec, environments: Mapping[str, str]) -> Problem | None:
        return problem("name", "image_unknown", image=spec.name) if spec.name == "bad" else None


@pytest.mark.parametrize(
    ("fields", "environments", "field", "says"),
    [
        ({}, {}, None, ""),
        ({"image": "torch"}, {}, "image", "no containers here"),
        ({"image": "torch"}, MAPPED, None, ""),
        ({"roles": MIXED}, {}, "image", "role worker needs the image torch"),
        ({"data": DATA}, {}, "data", "no views here"),
        ({"image": "torch", "data": DATA}, MAPPED, "data", "no views here"),
        ({"image": "torch", "data": DATA}, {}, "image", "no containers here"),
        (
            {"code": {"storage": "sets", "path": "x", "read_only": True}},
            {},
            "code.read_only",
            "no views here",
        ),
        ({"code": {"upload": UPLOAD}}, {}, None, ""),
    ],
)
def test_an_engine_refuses_what_its_capabilities_rule_out(
    fields: dict[str, object], environments: Mapping[str, str], field: str | None, says: str
) -> None:
    refused = refusal(Bare(), spec(**fields), environments)
    assert (refused and refused.path) == field
    assert says in (refused.message if refused else "")


def test_tasks_in_images_need_no_mounts_of_processes() -> None:
    class OnlyImages(FakeEngine):
        capabilities = Capabilities(no_mounts=text("no views here"))

    assert refusal(OnlyImages(), spec(image="torch", data=DATA), {}) is None
    assert refusal(OnlyImages(), spec(roles=MIXED, data=DATA), {}) is not None


def test_an_engine_is_asked_what_only_it_knows() -> None:
    refused = refusal(Choosy(), spec(name="bad"), {})
    assert refused is not None
    assert refused.path == "name"


def test_a_plain_job_asks_nobody_what_they_can_do() -> None:
    engine = Choosy()
    assert refusal(engine, spec(), {}) is None
    assert engine.n_asked == 0


def test_a_job_is_refused_when_every_engine_refuses_it() -> None:
    asked = spec(image="torch")
    assert first_refusal([Bare(), FakeEngine()], asked, {}) is None
    assert first_refusal([Bare(), Bare()], asked, {}) is not None
    assert first_refusal([], asked, {}) is None
