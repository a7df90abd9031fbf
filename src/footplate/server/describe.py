"""Writing the published descriptions: `python -m footplate.server.describe docs/reference/openapi.json`.

The JSON schema of job files goes beside it, as `job-schema.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from footplate.domain.jobfile import job_schema
from footplate.server.app import make_app
from footplate.server.settings import Settings


def descriptions() -> dict[str, str]:
    """The text of every published description, by its file's name."""
    api = make_app(Settings(Path("unused"))).openapi()
    return {"openapi.json": _text(api), "job-schema.json": _text(job_schema())}


def _text(description: dict[str, Any]) -> str:
    return json.dumps(description, indent=2, ensure_ascii=False) + "\n"


def main(path: str) -> None:
    openapi = Path(path)
    written = descriptions()
    openapi.write_text(written["openapi.json"])
    (openapi.parent / "job-schema.json").write_text(written["job-schema.json"])


if __name__ == "__main__":
    main(sys.argv[1])
