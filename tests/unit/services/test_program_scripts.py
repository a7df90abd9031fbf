"""The script that brings JupyterLab into a task: run by a real shell, with a stand-in for uv."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

from footplate.services.programs import JUPYTER, PROGRAMS

# Notes what it finds in its variables, and installs nothing.
UV = """#!/bin/sh
echo "$UV_DEFAULT_INDEX $PIP_CERT $(cat "$SSL_CERT_FILE")" > "$HOME/asked"
exit 1
"""


def test_the_site_is_known_while_jupyterlab_is_installed(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "uv").write_text(UV)
    (folder / "uv").chmod(0o755)
    (folder / "python3").symlink_to(sys.executable)
    # Longer than a word of a command may be.
    certificates = "who we trust\n" * 20_000
    site = {"variables": {"UV_DEFAULT_INDEX": "https://mirror/it's simple"}, "certificates": certificates}
    told = base64.b64encode(json.dumps(site).encode()).decode()
    ran = subprocess.run(
        ["sh", "-c", PROGRAMS[JUPYTER].script(1, "/s/x/main-0/jupyter/", "")],
        input=f"secret\n\n{told}\n",
        env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    index, rest = (tmp_path / "asked").read_text().rsplit(" /", 1)[0], (tmp_path / "asked").read_text()
    assert index == "https://mirror/it's simple"
    assert rest.endswith(certificates)
