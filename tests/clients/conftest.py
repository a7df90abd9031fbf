"""The real clients of other systems, installed by these tests from their own registries."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

OPENPAI = Path(__file__).parent / "openpai"
INSTALL_S = 600


@pytest.fixture(scope="session")
def openpai_folder() -> Path:
    """The client, installed once; without npm there is none."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm and node are not installed: OpenPAI's own client cannot be run")
    if not (OPENPAI / "node_modules" / "@microsoft" / "openpai-js-sdk").is_dir():
        installed = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"],
            cwd=OPENPAI,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_S,
        )
        if installed.returncode != 0:
            pytest.skip(f"npm could not install OpenPAI's own client: {installed.stderr[-500:]}")
    return OPENPAI
