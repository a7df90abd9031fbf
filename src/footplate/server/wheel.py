"""The client as a wheel, made from the program that runs here: a laptop gets just this version."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distribution
from pathlib import Path

import footplate
from footplate.engines.local.process import native

# The built console is the server's, and larger than all the rest; tests are nobody's. A program that was
# compiled is for machines like this one only.
LEFT_OUT = frozenset({"__pycache__", "static", "testing", native.PROGRAM.name})
# Zip files know no earlier time. It is always the same, so that the same program makes the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_KIND = "Wheel-Version: 1.0\nGenerator: footplate\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@dataclass(frozen=True, slots=True)
class Wheel:
    name: str
    content: bytes
    sha256: str


@cache
def client_wheel() -> Wheel:
    """Make the wheel; the first call takes a moment, all others nothing."""
    installed = distribution("footplate")
    about = f"footplate-{installed.version}.dist-info"
    files = {**dict(_sources()), **dict(_description(installed, about))}
    files[f"{about}/RECORD"] = _record(files, f"{about}/RECORD")
    content = _zip(files)
    name = f"footplate-{installed.version}-py3-none-any.whl"
    return Wheel(name, content, hashlib.sha256(content).hexdigest())


def _sources() -> Iterator[tuple[str, bytes]]:
    root = Path(footplate.__file__).parent
    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root)
        if path.is_file() and not LEFT_OUT.intersection(inner.parts):
            yield f"footplate/{inner.as_posix()}", path.read_bytes()


def _description(installed: Distribution, about: str) -> Iterator[tuple[str, bytes]]:
    yield f"{about}/WHEEL", _KIND.encode()
    for name in ("METADATA", "entry_points.txt"):
        yield f"{about}/{name}", (installed.read_text(name) or "").encode()


def _record(files: dict[str, bytes], own: str) -> bytes:
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    return "\n".join([*lines, f"{own},,", ""]).encode()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def _zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, content)
    return out.getvalue()
