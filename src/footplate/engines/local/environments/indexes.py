"""Where packages come from: the site's settings of pip, as uv understands them."""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

# What builds set themselves, and what would lead uv to the server's own folders.
OWN = ("UV_CACHE_DIR", "UV_PYTHON", "UV_PROJECT", "UV_WORKING_DIR", "UV_TOOL_", "UV_PUBLISH_", "UV_SYSTEM_")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
# Not one of uv's own: it has an option for this, and no variable.
NO_INDEX = "UV_NO_INDEX"
# What may name a place of this machine.
LOCAL = (
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_INDEX",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
FALSE = ("0", "false", "no", "off")
SECTIONS = ("global", "install")
# What uv has a variable for, and what stands between several values in it.
AS_UV = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "no-index": (NO_INDEX, " "),
}


def config_files(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Name the files that pip reads, the most important last."""
    home = Path(environ.get("HOME") or "/nonexistent")
    own = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    files = [Path("/etc/xdg/pip/pip.conf"), Path("/etc/pip.conf"), home / ".pip/pip.conf"]
    files += [own / "pip/pip.conf", Path(sys.prefix) / "pip.conf"]
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return []
    return [*files, Path(named)] if named else files


def pip_settings(environ: Mapping[str, str], files: Iterable[Path]) -> dict[str, list[str]]:
    """Read where pip finds packages: its files, then the variables PIP_*."""
    found: dict[str, list[str]] = {}
    for file in files:
        parser = configparser.RawConfigParser()
        with suppress(OSError, configparser.Error, UnicodeDecodeError):
            parser.read_string(file.read_text())
        for section in filter(parser.has_section, SECTIONS):
            found |= {name: text.split() for name, text in parser.items(section) if name in AS_UV}
    for name in AS_UV:
        if text := environ.get(f"PIP_{name.upper().replace('-', '_')}"):
            found[name] = text.split()
    if found.get("no-index", ["0"])[0].lower() in FALSE:
        found.pop("no-index", None)
    return found


def for_uv(environ: Mapping[str, str], files: Sequence[Path]) -> dict[str, str]:
    """Write the variables of a build: the site's settings of pip and of uv, and the proxies."""
    settings = pip_settings(environ, files)
    variables = {AS_UV[name][0]: AS_UV[name][1].join(values) for name, values in settings.items()}
    if "extra-index-url" in settings:
        # As pip chooses among several indexes.
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    own = {
        name: text for name, text in environ.items() if name.startswith("UV_") and not name.startswith(OWN)
    }
    proxies = {name: text for name, text in environ.items() if name.upper() in PROXIES}
    return {**variables, **own, **proxies}


def for_pip(environ: Mapping[str, str], files: Sequence[Path]) -> dict[str, str]:
    """Write the variables that tell pip where packages come from."""
    settings = pip_settings(environ, files)
    return {f"PIP_{name.upper().replace('-', '_')}": " ".join(values) for name, values in settings.items()}


def for_builds(environ: Mapping[str, str], files: Sequence[Path]) -> dict[str, str]:
    """Write the same for both, passwords included."""
    return {**for_pip(environ, files), **for_uv(environ, files)}


def for_tasks(environ: Mapping[str, str], files: Sequence[Path]) -> dict[str, str]:
    """Write the same for pip and uv in tasks; what holds a password stays with the server."""
    of_uv = {name: text for name, text in for_uv(environ, files).items() if name != NO_INDEX}
    both = {**of_uv, **for_pip(environ, files)}
    return {name: text for name, text in both.items() if not passwords({name: text})}


def for_images(environ: Mapping[str, str], files: Sequence[Path]) -> dict[str, str]:
    """Write the same for images, which have none of the folders and files of this machine."""
    variables = for_tasks(environ, files)
    for name in (*LOCAL, "PIP_CERT"):
        between = "," if name == "UV_FIND_LINKS" else " "
        words = variables.pop(name, "").replace(",", " ").split()
        if far := [word for word in words if not word.startswith(("/", "file:"))]:
            variables[name] = between.join(far)
    return variables


def certificates(environ: Mapping[str, str], files: Sequence[Path]) -> str:
    """Read whom the site trusts, where its settings of pip name a file for that."""
    for file in pip_settings(environ, files).get("cert", ()):
        with suppress(OSError, UnicodeDecodeError):
            return Path(file).read_text()
    return ""


def local_places(variables: Mapping[str, str]) -> list[str]:
    """Name the folders and files of this machine that these variables lead to."""
    named = (variables.get(name, "").replace(",", " ").split() for name in LOCAL)
    paths = dict.fromkeys(word.removeprefix("file://") for words in named for word in words)
    return [path for path in paths if path.startswith("/") and Path(path).exists()]


def passwords(variables: Mapping[str, str]) -> set[str]:
    """Find what of these variables nobody may read in the output of a build."""
    found = {text for name, text in variables.items() if name.endswith(("_PASSWORD", "_TOKEN"))}
    for text in variables.values():
        for word in re.split(r"[\s,]+", text):
            with suppress(ValueError):
                found.add(urlsplit(word.partition("=")[2] if "=http" in word else word).password or "")
    return found - {""}
