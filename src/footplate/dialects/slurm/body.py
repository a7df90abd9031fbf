"""Rewrites the commands of a batch script: what belongs to Slurm goes, or gets a stand-in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from footplate.dialects.slurm.script import FLAGS, SHORT, Script
from footplate.domain.messages import Message, say

# What each variable of Slurm is here; in braces, what the job asks for.
VARIABLES = {
    "SLURM_JOB_ID": "$FOOTPLATE_JOB_ID",
    "SLURM_JOBID": "$FOOTPLATE_JOB_ID",
    "SLURM_JOB_NAME": "$FOOTPLATE_JOB_NAME",
    "SLURM_JOB_USER": "$FOOTPLATE_USER",
    "SLURM_JOB_PARTITION": "$FOOTPLATE_QUEUE",
    "SLURM_JOB_NODELIST": "$FOOTPLATE_NODES",
    "SLURM_NODELIST": "$FOOTPLATE_NODES",
    "SLURMD_NODENAME": "$FOOTPLATE_NODE",
    "SLURM_RESTART_COUNT": "$FOOTPLATE_ATTEMPT",
    "SLURM_SUBMIT_DIR": "$PWD",
    "SLURM_PROCID": "$RANK",
    "SLURM_LOCALID": "$LOCAL_RANK",
    "SLURM_NODEID": "$NODE_RANK",
    "SLURM_NTASKS": "$WORLD_SIZE",
    "SLURM_NPROCS": "$WORLD_SIZE",
    # Each task counts as a machine of its own.
    "SLURM_NNODES": "$WORLD_SIZE",
    "SLURM_JOB_NUM_NODES": "$WORLD_SIZE",
    "SLURM_NTASKS_PER_NODE": "1",
    "SLURM_CPUS_PER_TASK": "{cpus}",
    "SLURM_CPUS_ON_NODE": "{cpus}",
    "SLURM_GPUS": "{gpus}",
    "SLURM_GPUS_ON_NODE": "{gpus}",
    "SLURM_GPUS_PER_NODE": "{gpus}",
    "SLURM_GPUS_PER_TASK": "{gpus}",
    "SLURM_ARRAY_JOB_ID": "$FOOTPLATE_JOB_ID",
    "SLURM_TMPDIR": "/tmp",  # noqa: S108  # each task has its own
}
# The platform tells the tasks where to meet, at a port that is free.
RENDEZVOUS = ("MASTER_ADDR", "MASTER_PORT", "RANK", "LOCAL_RANK", "WORLD_SIZE", "NODE_RANK")
TOOLS = ("sbatch", "scancel", "scontrol", "squeue", "sacct", "sinfo", "sbcast", "salloc", "sattach")
_SHELLS = ("bash", "sh", "dash", "ksh", "zsh")
_END = "END_OF_SCRIPT"

_SRUN = re.compile(r"(?<![\w./$=-])srun(?=[ \t\\]|$)")
_GAP = re.compile(r"(?:[ \t]|\\\n)+")
_WORD = re.compile(r"(?:[^\s\"'\\|&;<>]|\\.|\"[^\"]*\"|'[^']*')+")
_RENDEZVOUS = re.compile(rf"\s*(?:export\s+)?({'|'.join(RENDEZVOUS)})=")
_MODULE = re.compile(r"\s*(?:module|ml)\s")
_TOOL = re.compile(rf"(?<![\w./$=-])({'|'.join(TOOLS)})(?=\s|$)")
_VARIABLE = re.compile(r"\$\{?(SLURMD?_\w+)")


@dataclass(slots=True)
class Body:
    """The commands as they are rewritten, step by step."""

    text: str
    n_srun: int = 0
    notes: list[Message] = field(default_factory=list)


def rewrite(script: Script) -> Body:
    """Take Slurm out of the commands of a script; variables come later, when the resources are known."""
    body = Body(script.body)
    _leave_out_lines(body)
    _strip_srun(body)
    if body.n_srun > 1:
        body.notes.append(say("slurm_several_srun", n=body.n_srun))
    return body


def with_variables(body: Body, cpus: int, gpus: int, known: Set[str]) -> str:
    """The commands, below what defines the variables of Slurm that they use, apart from those known."""
    found = dict.fromkeys(_VARIABLE.findall(_without_comments(body.text)))
    used = [name for name in found if name not in known]
    body.notes += [say("slurm_variable_unmapped", variable=name) for name in used if name not in VARIABLES]
    values = {name: VARIABLES[name] for name in used if name in VARIABLES}
    amounts = {"{cpus}": str(cpus), "{gpus}": str(gpus)}
    lines = [f'export {name}="{amounts.get(value, value)}"' for name, value in values.items()]
    return "\n".join([*lines, body.text]) if lines else body.text


def for_interpreter(script: Script, command: str) -> str:
    """The command as its first line asks for it: by another program than a shell, or with options of one."""
    if not script.interpreter:
        return command
    program, *options = [word for word in script.interpreter if word not in ("/usr/bin/env", "env", "-S")]
    if program.rpartition("/")[2] not in _SHELLS:
        words = shlex.join([program, *options])
        return f"exec {words} /dev/stdin <<'{_END}'\n{command}\n{_END}"
    flags = [option for option in options if re.fullmatch(r"-[eux]+", option)]
    return "\n".join([f"set {shlex.join(flags)}", command]) if flags else command


def _leave_out_lines(body: Body) -> None:
    """Comment out what cannot work here, and name other calls of Slurm's own programs."""
    lines = []
    for number, line in _whole_lines(body.text):
        first = line.strip().partition("\n")[0]
        if match := _RENDEZVOUS.match(line):
            body.notes.append(say("slurm_rendezvous_left_out", line=first, variable=match[1]))
        elif _MODULE.match(line):
            body.notes.append(say("slurm_module_left_out", line=first))
        else:
            tools = _TOOL.findall(_without_comments(line))
            body.notes += [say("slurm_tool", tool=tool, number=number) for tool in dict.fromkeys(tools)]
            lines.append(line)
            continue
        lines += [f"# {part}" for part in line.split("\n")]
    body.text = "\n".join(lines)


def _whole_lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line, with those that continue it; numbered from 1."""
    held, began = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        began = began if held else number
        held = f"{held}\n{line}" if held else line
        if not line.endswith("\\"):
            yield began, held
            held = ""
    if held:
        yield began, held


def _strip_srun(body: Body) -> None:
    """Let what `srun` starts stand alone."""
    done, at = "", 0
    for match in _SRUN.finditer(body.text):
        if match.start() < at or _is_comment(body.text, match.start()):
            continue
        done += body.text[at : match.start()]
        at = _after_options(body.text, match.end(), body)
        body.n_srun += 1
    body.text = done + body.text[at:]


def _is_comment(text: str, place: int) -> bool:
    return text[text.rfind("\n", 0, place) + 1 : place].lstrip().startswith("#")


def _after_options(text: str, place: int, body: Body) -> int:
    """Where the command of an `srun` begins, behind its options."""
    while True:
        gap = _GAP.match(text, place)
        place = gap.end() if gap else place
        word = _WORD.match(text, place) if text.startswith("-", place) else None
        if word is None:
            return place
        place = word.end()
        name, equals, _ = word[0].lstrip("-").partition("=")
        if not word[0].startswith("--"):
            name, equals = SHORT.get(name[:1], name[:1]), name[1:]
        if name == "multi-prog":
            body.notes.append(say("slurm_option_unmapped", option="srun --multi-prog"))
        gap = _GAP.match(text, place)
        value = _WORD.match(text, gap.end()) if gap and not equals and name not in FLAGS else None
        place = value.end() if value else place


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
