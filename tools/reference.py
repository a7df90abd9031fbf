"""Writes the reference pages that come from code: `make docs`.

What a page says beside a name is kept in `meanings`; a name that the code has and `meanings` lacks stops
the writing, so that no page is ever silent about something new.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
import meanings
from environment_page import environment
from markdown_parts import code, page, table, yes

from footplate.cli.main import cli
from footplate.cli.verbs import VERBS
from footplate.domain import codefields, environmentfields, errors, policyfields, rolefields, specfields
from footplate.domain import names as name_forms
from footplate.domain import spec as s
from footplate.domain.fields import Field, Kind, ListOf, MapOf, Nullable, Record
from footplate.domain.kinds import (
    AnyJson,
    Choice,
    Cpus,
    Duration,
    Flag,
    Instant,
    Integer,
    Number,
    Scalar,
    Size,
    Text,
    show_duration,
)
from footplate.domain.messages.render import language
from footplate.domain.moves import LATE, MOVES
from footplate.domain.problems import MISSING
from footplate.domain.resources import show_bytes
from footplate.domain.states import JobState, ReasonCode, TaskState
from footplate.server import settings
from footplate.server.describe import descriptions
from footplate.server.errors import status_of
from footplate.server.livesettings import LIVE

# The pages are English, whoever writes them.
os.environ["LC_ALL"] = "C.UTF-8"

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"

RECORDS = {
    "Job": specfields.JOB,
    "Role": rolefields.ROLE,
    "Port": rolefields.PORT,
    "Completion": rolefields.COMPLETION,
    "Code": specfields.CODE,
    "Revision": codefields.REVISION,
    "Environment": environmentfields.ENVIRONMENT,
    "Data": specfields.DATA,
    "Results": specfields.RESULTS,
    "Model": specfields.MODEL,
    "Service": specfields.SERVICE,
    "Alert": policyfields.ALERT,
    "Rule": policyfields.FAILURE_RULE,
    "Hang": policyfields.HANG,
}


# States


def states() -> str:
    return page(
        "States and reasons",
        "src/footplate/domain/moves.py and states.py",
        "A job is in one of seven states. A state says where it is; the reason beside it says why.",
        table(
            ("state", "meaning", "holds resources", "final"),
            (
                (code(state), meanings.JOB_STATES[state], yes(state.holds_resources), yes(state.is_final))
                for state in JobState
            ),
        ),
        "## Moves",
        "```mermaid\n" + "\n".join(_diagram()) + "\n```",
        "This is the table that the code obeys. A pair of state and event that is not in it is an error, "
        "unless the event is news that came late.",
        table(("in state", "the event", "may lead to"), _moves()),
        "Some news may come late or twice, and then changes nothing. "
        "So does all news of an attempt that is over.",
        table(("in state", "the event that means nothing any more"), _late()),
        "## Tasks",
        table(("state", "meaning"), ((code(state), meanings.TASK_STATES[state]) for state in TaskState)),
        "## Reasons",
        "Every job carries a reason: a code for programs, a sentence for people, and the figures behind it.",
        table(("code", "meaning"), ((code(reason), meanings.REASONS[reason]) for reason in ReasonCode)),
    )


def _late() -> Iterator[tuple[str, str]]:
    for state in JobState:
        kinds = sorted(kind.__name__ for late, kind in LATE if late is state)
        if kinds:
            yield code(state), ", ".join(map(code, kinds))


def _diagram() -> Iterable[str]:
    edges: dict[tuple[JobState, JobState], list[str]] = {}
    for (state, event), following in MOVES.items():
        for after in following - {state}:
            edges.setdefault((state, after), []).append(event.__name__)
    order = list(JobState)
    yield "stateDiagram-v2"
    yield "    [*] --> QUEUED: submit"
    for (state, after), events in sorted(
        edges.items(), key=lambda edge: (order.index(edge[0][0]), order.index(edge[0][1]))
    ):
        yield f"    {state} --> {after}: {', '.join(sorted(events))}"
    yield from (f"    {state} --> [*]" for state in JobState if state.is_final)


def _moves() -> Iterable[Sequence[str]]:
    order = list(JobState)
    moves = sorted(MOVES.items(), key=lambda move: (order.index(move[0][0]), move[0][1].__name__))
    for (state, event), following in moves:
        after = ", ".join(code(one) for one in order if one in following)
        yield code(state), code(event.__name__), after


# Fields of job file and settings


def describe(kind: Kind) -> tuple[str, str]:
    """Say what a field may hold, and within which bounds."""
    match kind:
        case Nullable():
            name, bounds = describe(kind.kind)
            return f"{name} or null", bounds
        case ListOf():
            least = f"{kind.least} to {kind.most}" if kind.least else f"at most {kind.most}"
            return f"list of {describe(kind.kind)[0]}", f"{least} entries"
        case MapOf():
            return f"mapping of names to {describe(kind.kind)[0]}", f"at most {kind.most} entries"
        case Record():
            return _link(kind), ""
        case environmentfields.FileOrList():
            entries, bounds = describe(kind.entries)
            return f"a file's name, or {entries}", bounds
        case Text():
            form = language("en").words["form"].get(kind.form, kind.form)
            return "text", "; ".join(filter(None, (form, f"at most {kind.most} characters")))
        case Integer():
            return "whole number", f"{kind.least} to {kind.most}"
        case Cpus():
            return "number", f"{kind.least_milli / 1000:g} to {kind.most_milli // 1000}"
        case Size():
            return "size, such as `512MB`", _sizes(kind)
        case Duration():
            return (
                "duration, such as `1h30m`",
                f"{show_duration(kind.least_s)} to {show_duration(kind.most_s)}",
            )
        case Choice():
            return "one of " + ", ".join(map(code, kind.options)), ""
        case _:
            return _PLAIN[type(kind)](kind)


_PLAIN: Mapping[type, Callable[[Any], tuple[str, str]]] = {
    Instant: lambda _: ("date and time, such as `2030-01-31T18:00:00Z`", ""),
    Flag: lambda _: ("true or false", ""),
    Number: lambda _: ("number", ""),
    Scalar: lambda kind: ("text, number, true or false", f"at most {kind.most} characters"),
    type(name_forms.ENV.kind): lambda kind: (
        "text, number, true or false",
        f"at most {kind.most} characters",
    ),
    AnyJson: lambda kind: ("any JSON", f"at most {show_bytes(kind.most_bytes)} each"),
}


def _link(record: Record) -> str:
    name = next((name.lower() for name, known in RECORDS.items() if known is record), "")
    return f"[{name}](#{name})" if name else "mapping"


def _sizes(kind: Size) -> str:
    least = show_bytes(kind.least_bytes)
    return f"{least} to {show_bytes(kind.most_bytes)}" if kind.most_bytes < 2**60 else f"at least {least}"


def _default(field: Field) -> str:
    return "required" if field.default is MISSING else _shown(field, field.default)


def _shown(field: Field, default: Any) -> str:
    if default in (None, "", (), {}):
        return ""
    written = show_bytes(default) if isinstance(field.kind, Size) else field.kind.write(default)
    return "" if written == {} else code(str(written).lower() if isinstance(written, bool) else str(written))


def _fields(name: str, record: Record) -> str:
    rows = []
    for field in record.fields:
        kind, bounds = describe(field.kind)
        note = meanings.NOT_YET.get((name, field.name))
        text = f"{field.help} *({note})*" if note else field.help
        rows.append((code(field.name), kind, bounds, _default(field), text))
    return table(("field", "holds", "bounds", "default", "meaning"), rows)


def job_file() -> str:
    parts = []
    for name, record in RECORDS.items():
        parts += [f"## {name}", *_short_note(record), _fields(name, record)]
    short = ", ".join(code(field.name) for field in rolefields.ROLE_BODY)
    return page(
        "The job file",
        "src/footplate/domain/specfields.py and rolefields.py",
        "YAML or JSON, at most 1 MiB. The same document is the body of a submit over REST and the argument "
        "of `Client.submit`. Unknown fields are refused. A job may have "
        f"{rolefields.MAX_TASKS} tasks at most, over all roles.",
        "## Short form",
        "A job of one role needs no list of roles. It writes these fields beside `name`, and its role is "
        f"called `{s.DEFAULT_ROLE}`: {short}.",
        "```yaml\nname: hello\ncommand: echo hello\ncpus: 0.5\n```",
        *parts,
    )


def _short_note(record: Record) -> list[str]:
    if not record.short:
        return []
    kinds = "text, number or list" if record.takes_list else "text or number"
    return [f"A bare {kinds} stands for `{record.short}`."]


# Settings


def _of_class(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def server_settings() -> str:
    defaults = {field.name: _of_class(field) for field in dataclasses.fields(settings.Settings)}
    rows = [
        (code(field.name), *describe(field.kind), _shown(field, defaults[field.target]), field.help)
        for field in settings.FILE.fields
        if not isinstance(field.kind, Record)
    ]
    live = ", ".join(code(name) for name in LIVE)
    variables = settings._ENVIRONMENT  # noqa: SLF001  # the one table of them
    return page(
        "Settings of the server",
        "src/footplate/server/settings.py and src/footplate/cli/up.py",
        "The command line wins over the environment, and that over `settings.toml` in the home folder. Where "
        "none of them says anything, what admins have set in the console or over REST holds, at once and "
        f"after a restart: {live}.",
        "## settings.toml",
        table(("setting", "holds", "bounds", "default", "meaning"), rows),
        *_tables(settings.FILE),
        "## Environment",
        table(
            ("variable", "meaning"),
            [
                ("`FOOTPLATE_HOME`", "the home folder; `~/.footplate` when absent"),
                *((code(name), meanings.SETTING_VARIABLES[name]) for name in variables),
            ],
        ),
        "## Command line",
        *_usage("footplate up", _load("up")),
        "## Settings of the client",
        "The command line and the SDK look for a server and credentials in this order: arguments, the "
        "environment, files. A stored token is sent only to the server that it was stored with.",
        table(
            ("variable", "meaning"),
            (
                ("`FOOTPLATE_URL`", "address of the server"),
                ("`FOOTPLATE_TOKEN`", "token to use"),
                ("`FOOTPLATE_USER`, `FOOTPLATE_PASSWORD`", "account to log in with, where no token is given"),
                ("`FOOTPLATE_NEW_PASSWORD`", "the password that `footplate password` sets"),
                ("`FOOTPLATE_HOME`", "home folder of a server on this machine; its `client.toml` is read"),
                (
                    "`FOOTPLATE_CONFIG`",
                    "file in which `footplate login` keeps its token; `footplate/client.toml` below "
                    "`XDG_CONFIG_HOME` or `~/.config` when absent",
                ),
            ),
        ),
    )


_MORE = {
    "connections": "They are what a connection may cost before anybody is known to be calling. Live streams "
    "and long polls have no bound: it is the waiting for a request that has one, not the waiting for its "
    "answer."
}


def _tables(record: Record, above: str = "") -> Iterator[str]:
    """A section for each field that has fields of its own."""
    for field in record.fields:
        inner, is_each = field.kind, False
        while isinstance(inner, (Nullable, ListOf, MapOf)):
            is_each = is_each or not isinstance(inner, Nullable)
            inner = inner.kind
        if not isinstance(inner, Record):
            continue
        name = f"{above}{field.name}"
        yield f"### Each of {name}" if is_each else f"### [{name}]"
        yield " ".join(filter(None, (field.help, _MORE.get(name))))
        yield _fields(name, inner)
        yield from _tables(inner, f"{name}.")


# Command line


def command_line() -> str:
    parts = []
    for verb in VERBS:
        command = _load(verb.name)
        parts += [f"## {verb.name}", cleandoc(command.help or verb.summary), f"```\n{verb.example}\n```"]
        parts += [f"Also understood: {', '.join(map(code, verb.aliases))}."] if verb.aliases else []
        parts += _usage(f"footplate {verb.name}", command)
        for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
            parts += [f"### {verb.name} {name}", cleandoc(inner.help or "")]
            parts += _usage(f"footplate {verb.name} {name}", inner)
    return page(
        "The command line",
        "src/footplate/cli/",
        "`JOB` is the id of a job, or the name of one of yours. `--url URL` before the verb names another "
        "server for one command. `-h` explains any verb. Where `--json` is listed, it prints the answer of "
        "the API.",
        "The command speaks English or Chinese, by `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` or `LANG`, with "
        "times in the local time zone. `--json` is the same in every language.",
        "The exit code is 0 only when what was asked happened; 2 means that the command was written wrongly, "
        "130 that Ctrl-C ended it, 124 that `wait` ran out of time, 1 everything else. "
        "`submit --follow` and `wait` exit with the outcome of "
        "the job: 0 when it succeeded, else the exit code of the task that failed if that is from 1 to 125, "
        "else 1.",
        *parts,
    )


def _load(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli, info_name="footplate"), name)
    assert command is not None
    return command


def _usage(path: str, command: click.Command) -> list[str]:
    """Write how a command is typed, and its options."""
    ctx = click.Context(command, info_name=path)
    options = [param for param in command.params if isinstance(param, click.Option)]
    options.sort(key=lambda option: option.name == "as_json")
    records = [record for option in options if (record := option.get_help_record(ctx))]
    rows = [(code(names), help_.replace("  ", " ")) for names, help_ in records]
    usage = f"Usage: `{' '.join((path, *command.collect_usage_pieces(ctx)))}`"
    return [usage, table(("option", "meaning"), rows)] if rows else [usage]


# Errors


def error_codes() -> str:
    order = sorted(errors.BY_CODE.values(), key=lambda kind: (status_of(kind("")), kind.code))
    return page(
        "Errors",
        "src/footplate/domain/errors.py and src/footplate/server/errors.py",
        "Every request that is refused is answered with one kind of body:",
        "```json\n"
        '{"code": "invalid_input", "message": "roles[0].count: must be a whole number, not a text",\n'
        ' "message_code": "problems", "params": {"problems": […]},\n'
        ' "problems": [{"path": "roles[0].count", "message": "must be a whole number, not a text",\n'
        '               "message_code": "not_whole_number", "params": {"given": "text"}}],\n'
        ' "request_id": "d93ab5273d49d7b9"}\n'
        "```",
        "`code` says what kind of refusal it is, `message_code` which sentence, and `params` are what the "
        "sentence names: both are for programs. `message` is the sentence in English, with times in UTC; its "
        "words may change. The OpenAPI description lists every `message_code` with its parameters, as "
        "`x-messages`. The SDK raises the class beside the code, from "
        "`footplate` where it is there and else from `footplate.domain.errors`.",
        table(
            ("code", "status", "class", "meaning"),
            ((code(k.code), str(status_of(k(""))), code(k.__name__), meanings.ERRORS[k.code]) for k in order),
        ),
        "A path that does not exist is answered with 404 and `not_found`, a method that a path does not have "
        "with 405 and `method_not_allowed`.",
        "## On the client's side",
        table(
            ("code", "class", "meaning"),
            ((code(kind.code), code(kind.__name__), text) for kind, text in meanings.CLIENT_ERRORS.items()),
        ),
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "states.md": states,
    "job-file.md": job_file,
    "environment.md": environment,
    "settings.md": server_settings,
    "cli.md": command_line,
    "errors.md": error_codes,
}


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = {name: write() for name, write in PAGES.items()}
    written = {FOLDER / name: text for name, text in {**pages, **descriptions()}.items()}
    for path, text in written.items():
        path.write_text(text, "utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
