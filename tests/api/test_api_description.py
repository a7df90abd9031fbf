"""The checked-in descriptions are those of the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from apiclient import Api

from footplate.server.describe import descriptions, main
from footplate.testing.server import Served

REFERENCE = Path(__file__).parents[2] / "docs/reference"


@pytest.mark.parametrize("name", ["openapi.json", "job-schema.json"])
def test_the_checked_in_description_is_current(name: str) -> None:
    is_current = (REFERENCE / name).read_text() == descriptions()[name]
    assert is_current, "run: python -m footplate.server.describe docs/reference/openapi.json"


def test_the_server_serves_the_checked_in_description(server: Served, nobody: Api) -> None:
    assert nobody.ok("GET", "/openapi.json") == json.loads((REFERENCE / "openapi.json").read_text())
    assert nobody.ok("GET", "/schema/job") == json.loads((REFERENCE / "job-schema.json").read_text())


def test_the_descriptions_are_written_where_they_are_asked_for(tmp_path: Path) -> None:
    main(str(tmp_path / "openapi.json"))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == descriptions()


def test_every_operation_describes_how_it_refuses() -> None:
    paths = json.loads(descriptions()["openapi.json"])["paths"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            refusal = operation["responses"]["4XX"]["content"]["application/json"]["schema"]
            assert refusal["$ref"].endswith("/ErrorBody"), (method, path)
            assert "422" not in operation["responses"], (method, path)
