"""Files of environment variables, one NAME=VALUE a line, as other tools write them."""

from __future__ import annotations

from pathlib import Path

import click

from footplate.cli.language import phrase

MOST_BYTES = 1024**2


def read_env_file(path: str) -> dict[str, str]:
    """Read variables; empty lines and those that begin with # say nothing, quotes around a value go."""
    with Path(path).open("rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise click.BadParameter(phrase("{path} is larger than {most:size}", path=path, most=MOST_BYTES))
    try:
        lines = text.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise click.BadParameter(phrase("{path} is not UTF-8 text", path=path)) from None
    variables = {}
    for number, line in enumerate(lines, 1):
        written = line.strip().removeprefix("export ").strip()
        if not written or written.startswith("#"):
            continue
        name, equals, value = written.partition("=")
        if not equals or not name.strip():
            wrong = phrase("{path}, line {number}: must be written NAME=VALUE", path=path, number=number)
            raise click.BadParameter(wrong)
        variables[name.strip()] = _unquoted(value.strip())
    return variables


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value
