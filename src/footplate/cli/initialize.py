"""The verb init: a commented job file to begin with, from two answers."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from footplate.cli.firstfile import template
from footplate.cli.language import phrase
from footplate.cli.newfile import refuse_existing, write_new
from footplate.cli.render import is_terminal, print_hints
from footplate.cli.session import json_option, tell
from footplate.cli.standin import stands_in, write_manifest

DEFAULT_FILE = "footplate.yaml"
HELLO = """python -c "print('hello from Footplate')\""""
# What people call the program that trains, the likeliest first.
PROGRAMS = ("train.py", "main.py", "run.py", "train.sh", "run.sh")


@dataclass(frozen=True, slots=True)
class Resources:
    """What a task asks for, as the job file writes it."""

    cpus: str
    memory: str
    gpus: int = 0


PRESETS = {
    "small": Resources("1", "1GB"),
    "medium": Resources("4", "16GB"),
    "gpu": Resources("8", "32GB", 1),
}
_AMOUNT = re.compile(
    r"(?:(?P<cpus>\d+(?:\.\d+)?)\s*(?:cpus?|cores?|核(?:\s*cpu)?)|(?P<gpus>\d+)\s*(?:张?\s*gpus?|张?卡)"
    r"|(?P<memory>\d+(?:\.\d+)?\s*[kmgt](?:i?b)?)(?:\s*内存)?)(?=[\s,，、]|$)[\s,，、]*",
    re.IGNORECASE,
)


@click.command()
@click.argument("file", default=DEFAULT_FILE, type=click.Path(dir_okay=False))
@click.option("-n", "--name", help="Name of the job (default: the folder's).")
@click.option("--command", help="What the job runs (default: ask, or a hello).")
@click.option(
    "--resources",
    metavar="TEXT",
    help="What each task needs: small, medium, gpu, or '4 CPUs 16GB 1 GPU' (default: ask, or small).",
)
@click.option(
    "--type",
    "framework",
    metavar="FRAMEWORK",
    help="Write FILE/manifest.yml of FfDL or Prophecis instead, for this framework.",
)
@click.option("--version", default="latest", show_default=True, help="Version of that framework.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
def init(
    file: str,
    name: str | None,
    command: str | None,
    resources: str | None,
    framework: str | None,
    version: str,
    force: bool,
    as_json: bool,
) -> None:
    """Write a commented job file that is ready to run.

    On a terminal it asks what to run and with which resources, unless the options say so.
    """
    if framework or (stands_in() and file != DEFAULT_FILE):
        _write_manifest(Path(file), name, framework or "tensorflow", version, force, as_json)
        return
    path = Path(file)
    refuse_existing(path, force)
    folder = path.absolute().parent
    name = name or re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name).strip("-._") or "job"
    asks = is_terminal() and sys.stdin.isatty() and not as_json
    if command is None:
        command = _ask_command(folder) if asks else HELLO
    wanted = read_resources(resources) if resources else (_ask_resources() if asks else PRESETS["small"])
    write_new(path, write_job_file(name, command, wanted, folder), force)
    tell({"path": str(path), "name": name}, phrase("Wrote {path}.", path=path), as_json)
    if not as_json:
        print_hints(
            {
                phrase("try it"): f"footplate submit {path} --dry-run",
                phrase("run it"): f"footplate submit {path} --follow",
            }
        )


def _write_manifest(
    folder: Path, name: str | None, framework: str, version: str, force: bool, as_json: bool
) -> None:
    path = folder / "manifest.yml"
    refuse_existing(path, force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(
            phrase("cannot write {path}: {error}", path=path, error=error.strerror)
        ) from None
    name = name or folder.absolute().name
    write_new(path, write_manifest(name, framework, version), force)
    tell({"path": str(path), "name": name}, phrase("Wrote {path}.", path=path), as_json)


def write_job_file(name: str, command: str, wanted: Resources, folder: Path) -> str:
    """The text of a job file. Where the command uses a file of the folder, the folder goes along."""
    import yaml

    from footplate.sdk.commands import file_named_in, packages_in

    sends = bool(file_named_in(command, folder))
    packages = packages_in({path.name for path in folder.iterdir()}) if sends else None
    example = {"requirements": ["numpy", "torch"]}
    shown = yaml.safe_dump(packages or example, default_flow_style=True)
    return template().format(
        name=name,
        command=yaml.safe_dump(command, width=1 << 20, allow_unicode=True).removesuffix("...\n").strip(),
        cpus=wanted.cpus,
        memory=wanted.memory,
        gpus=f"gpus: {wanted.gpus}" if wanted.gpus else "# gpus: 1",
        code="code: ." if sends else "# code: .",
        environment=f"{'' if packages else '# '}environment: {shown.strip()}",
    )


def read_resources(text: str) -> Resources:
    """Read a preset's name, or amounts in any order; what is left out is as in the smallest preset."""
    if preset := PRESETS.get(text.strip().lower()):
        return preset
    found: dict[str, str] = {}
    rest = text.strip()
    while match := _AMOUNT.match(rest):
        found |= {name: value for name, value in match.groupdict().items() if value}
        rest = rest[match.end() :]
    if rest or not found:
        raise click.BadParameter(
            phrase(
                "{given:quoted}: write small, medium, gpu, or amounts such as 4 CPUs 16GB 1 GPU", given=text
            )
        )
    small = PRESETS["small"]
    memory = found.get("memory", small.memory).replace(" ", "").upper()
    return Resources(found.get("cpus", small.cpus), memory, int(found.get("gpus", "0")))


def _ask_command(folder: Path) -> str:
    program = next((one for one in PROGRAMS if (folder / one).is_file()), None)
    usual = HELLO if program is None else f"{'bash' if program.endswith('.sh') else 'python'} {program}"
    return str(click.prompt(phrase("What should the job run?"), default=usual, err=True))


def _ask_resources() -> Resources:
    for name, one in PRESETS.items():
        gpus = f", {one.gpus} GPU" if one.gpus else ""
        click.echo(f"  {name:8}{one.cpus} CPU, {one.memory}{gpus}", err=True)
    question = phrase("What does it need? One of these, or amounts such as 4 CPUs 16GB 1 GPU")
    answer: Resources = click.prompt(question, default="small", value_proc=read_resources, err=True)
    return answer
