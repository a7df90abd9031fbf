"""Detects once which limits this machine can enforce, by control groups and namespaces, and applies them."""

from __future__ import annotations

import json
import os
import pwd
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from footplate.domain.errors import Problem, problem
from footplate.domain.messages import Message, say, text
from footplate.domain.spec import JobSpec
from footplate.engines.base import Limit
from footplate.engines.local.confine import ownership, syscall_filter
from footplate.engines.local.confine.accounts import FIRST_ID, Accounts
from footplate.engines.local.confine.cgroups import Need, Tree
from footplate.engines.local.confine.delegation import Delegated, find_tree
from footplate.engines.local.confine.targets import bad_target, is_below, overlapping
from footplate.engines.local.confine.view import ViewRules, compose, outermost
from footplate.engines.local.exchange import (
    Account,
    Confined,
    Ground,
    LocalRequest,
    ProcessRequest,
    ProcessTask,
    View,
)
from footplate.engines.local.machine import devices
from footplate.engines.local.machine.settings import LocalSettings
from footplate.machine.bareprocess import PACKAGES

PROBE_S = 20
SYS = "/sys"
# Where services of the machine listen.
RUN = "/run"
KEPT_OF_RUN = ("/run/nvidia-persistenced", "/run/nscd")
# The machine's programs and settings, which a task that is root could change for everybody.
SYSTEM = ("/usr", "/etc", "/boot", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/var/spool/cron")
NOBODYS = ("/", *SYSTEM, "/home", "/nonexistent", "/opt", "/srv", "/tmp", "/var")  # noqa: S108
OFF = say("limits_turned_off")
# What each limit needs: a controller of the kernel's, or a view.
BY_CONTROLLER: Mapping[Limit, str] = {"cpus": "cpu", "memory": "memory", "processes": "pids"}
BY_VIEW: tuple[Limit, ...] = ("shm", "files")
ALL_LIMITS: tuple[Limit, ...] = (*BY_CONTROLLER, *BY_VIEW, "gpus", "isolation", "accounts")
PROBE = """
import json, os, sys
sys.path.append(sys.argv[1])
from footplate.engines.local.confine import probe
probe.main(json.loads(sys.argv[2]))
"""
How = Literal["root", "user"]


@dataclass(frozen=True, slots=True)
class Confinement:
    """How tasks are confined, which limits hold by that, and why the others do not."""

    tree: Tree | None = None
    view_rules: ViewRules | None = None
    nodes: devices.Nodes = field(default_factory=dict)
    faults: Mapping[Limit, Message] = field(default_factory=dict)
    n_processes: int = 4096
    # The platform's files, which no mount may cover; containers see none of its programs.
    home: str = ""
    # Where servers of this home made groups before, besides the tree.
    earlier: tuple[Tree, ...] = ()
    # Where container engines may listen: no task may speak to them.
    sockets: tuple[str, ...] = ()
    accounts: Accounts = field(default_factory=Accounts)

    @property
    def limits(self) -> frozenset[Limit]:
        return frozenset(limit for limit in ALL_LIMITS if limit not in self.faults)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The folders that tasks do not see as this machine has them."""
        return self.view_rules.hidden if self.view_rules else ()

    @property
    def holds_single_processes(self) -> bool:
        return self.faults.get("memory", OFF) != OFF

    @property
    def trees(self) -> tuple[Tree, ...]:
        return (*([self.tree] if self.tree else []), *self.earlier)

    @property
    def why_not(self) -> Message | None:
        """Say what is not enforced and why; None when everything is."""
        said: list[Message] = []
        for why in self.faults.values():
            limits = [limit for limit, fault in self.faults.items() if fault == why]
            if (one := say("limits_off", limits=limits, why=why)) not in said:
                said.append(one)
        return say("clauses", clauses=said) if said else None

    def refuses(self, spec: JobSpec, environments: Mapping[str, str]) -> Problem | None:
        """Say why the mounts of a job can never be made on this machine; None if they can."""
        images = [role.image or spec.image for role in spec.roles]
        in_images = all(one and one not in environments for one in images)
        for number, data in enumerate(spec.data):
            if why := bad_target(data.path, self._own(in_images), in_images):
                return problem(f"data[{number}].path", "cannot_mount_at", target=data.path, why=why)
        if both := overlapping([data.path for data in spec.data]):
            return problem("data", "mounts_overlap", inner=both[1], outer=both[0])
        return None

    def refusal(self, request: LocalRequest) -> Message | None:
        """Say why a request's mounts cannot be given to its tasks, if so."""
        if both := overlapping([mount["target"] for mount in request["mounts"]]):
            return say("mounts_overlap", inner=both[1], outer=both[0])
        in_images = all(task["in_container"] for task in request["tasks"])
        for mount in request["mounts"]:
            # The job's own folders may lie wherever the platform put them.
            is_own = mount["target"] in request["folders"]
            if not is_own and (why := bad_target(mount["target"], self._own(in_images), in_images)):
                return say("cannot_mount_at", target=mount["target"], why=why)
            if not in_images and (why_none := self.no_mounts):
                return why_none
        return None

    def _own(self, in_images: bool) -> tuple[str, ...]:
        if self.view_rules and not in_images:
            return self.view_rules.own
        return (self.home,) if self.home else ()

    @property
    def no_mounts(self) -> Message | None:
        """Say why nothing can be mounted for a process; None if it can."""
        return say("no_mounts", why=self.faults["files"]) if self.view_rules is None else None

    def ground(self, mounted_within_s: float) -> Ground:
        """Write what the spawner prepares for all tasks."""
        return {
            "mounted_within_s": mounted_within_s,
            "places": list(self.tree.places) if self.tree else [],
            "view": self.view_rules.how if self.view_rules else None,
            "sealed": list(self.view_rules.sealed) if self.view_rules else [],
            "covers": list(self.view_rules.common_covers) if self.view_rules else [],
            "keeps": list(self.view_rules.common_keeps) if self.view_rules else [],
            "accounts": self.view_rules is not None and self.view_rules.has_accounts,
            "pids": self.view_rules is not None and self.view_rules.has_pids,
            "filter": self.faults.get("isolation") != OFF and syscall_filter.is_known(),
        }

    def order(self, request: ProcessRequest, task: ProcessTask) -> Confined:
        """Write what the spawner does to confine one task."""
        denied = devices.others(self.nodes, task["gpus"])
        # In a view of its own a task finds only what it was given.
        by_group = self.view_rules is None and self.tree is not None and "devices" in self.tree.folders
        need = Need(
            task["milli_cpus"],
            task["memory_bytes"],
            self.n_processes,
            devices.rules(denied) if by_group else (),
        )
        account = self._account_of(request)
        return {
            "groups": self.tree.order(need) if self.tree else [],
            "counters": self.tree.counters() if self.tree else [],
            "joins": "",
            # Where no group holds them together, each process alone.
            "data_bytes": task["memory_bytes"] if self.holds_single_processes else None,
            "view": self._view(request, task, account),
            "account": account,
        }

    def _account_of(self, request: ProcessRequest) -> Account | None:
        if self.view_rules is None or not self.view_rules.has_accounts:
            return None
        return self.accounts.account_of(request["owner"], request["owner_number"])

    def hand_over(self, request: LocalRequest) -> None:
        """Give folders that the server keeps for people to the accounts of their tasks."""
        account = self._account_of(request)
        if account is None:
            return
        in_containers = any(task["in_container"] for task in request["tasks"])
        for mount in request["mounts"]:
            if (kept_for := mount.get("kept_for")) == "one":
                ownership.hand_over(mount["source"], account, in_containers)
            elif kept_for == "all" and "first" not in account:
                # Accounts of the site are shown files as they are.
                Path(mount["source"]).chmod(0o777)
            elif kept_for == "all" and not mount["read_only"]:
                ownership.hand_over(mount["source"], self.accounts.everybody, in_containers)

    def _view(self, request: ProcessRequest, task: ProcessTask, account: Account | None) -> View | None:
        if self.view_rules is None:
            return None
        # Below what is hidden anyway there is nothing to mask.
        open_sockets = [path for path in self.sockets if not is_below(path, self.view_rules.hidden)]
        cards = devices.given(self.nodes, task["gpus"])
        view = compose(self.view_rules, request, task, [*filter(os.path.exists, open_sockets)], cards)
        return {**view, "account": account}


def confine(settings: LocalSettings, nodes: devices.Nodes) -> Confinement:
    """Find out what this machine can hold tasks to."""
    home = settings.home
    delegated, found = find_tree(home, settings.home_id), find_view()
    faults: dict[Limit, Message] = {
        limit: delegated.faults[controller]
        for limit, controller in BY_CONTROLLER.items()
        if controller in delegated.faults
    }
    if "memory" in faults:
        faults["memory"] = say("memory_by_process", why=faults["memory"])
    if found.why_not:
        faults |= dict.fromkeys(BY_VIEW, found.why_not)
    if nodes and found.why_not and not (delegated.tree and "devices" in delegated.tree.folders):
        faults["gpus"] = say("cards_only_masked")
    if (
        why := found.why_not
        or found.why_no_pids
        or (None if syscall_filter.is_known() else say("no_call_filter"))
    ):
        faults["isolation"] = why
    if why := found.why_not or found.why_no_accounts:
        faults["accounts"] = why
    return Confinement(
        delegated.tree,
        None if found.why_not else _view_rules(home, found),
        nodes,
        faults,
        settings.n_processes,
        str(home.resolve()) if home else "",
        _earlier_trees(home, delegated),
        accounts=settings.accounts,
    )


def unconfined(home: Path | None = None) -> Confinement:
    return Confinement(faults=dict.fromkeys(ALL_LIMITS, OFF), home=str(home.resolve()) if home else "")


def _view_rules(home: Path | None, found: Found) -> ViewRules:
    interpreter = [str(Path(folder).resolve()) for folder in (sys.prefix, sys.base_prefix, PACKAGES)]
    place = str(home.resolve()) if home else ""
    trees = [*interpreter, *(SYSTEM if found.how == "root" else ())]
    # A home within one of them must stay writable.
    unwritable = [tree for tree in outermost(filter(_is_real_folder, trees)) if not is_below(place, (tree,))]
    keeps = [*interpreter, *outermost(kept_of_run())]
    has_accounts = found.how == "root" and not found.why_no_accounts
    closed = [path for path in (*account_folders(), RUN) if _is_real_folder(path)]
    if has_accounts:
        closed += [folder for keep in interpreter if (folder := _closed_folder_on_the_way(keep))]
    return ViewRules(
        found.how,
        place,
        tuple(keeps),
        (SYS, *unwritable),
        tuple(outermost(closed)),
        not found.why_no_pids,
        has_accounts,
    )


def kept_of_run(names: Path = Path("/etc/resolv.conf")) -> list[str]:
    """Name what of /run tasks still need: how the names of machines are looked up, and what cards need."""
    found = str(names.resolve().parent)
    lookup = [found] if is_below(found, (RUN,)) else []
    return [path for path in (*KEPT_OF_RUN, *lookup) if Path(path).is_dir()]


def account_folders() -> list[str]:
    """Name the folders of the account that the server runs as: settings and keys of a person lie there."""
    folders = [os.environ.get("HOME", "")]
    with suppress(KeyError):
        folders.append(pwd.getpwuid(os.geteuid()).pw_dir)
    real = dict.fromkeys(str(Path(folder).resolve()) for folder in folders if folder)
    # Service accounts may have such folders; nothing of a person is there.
    return [folder for folder in real if folder not in NOBODYS]


def _closed_folder_on_the_way(path: str) -> str:
    """Find the outermost folder around a path that other accounts cannot pass; empty when there is none."""
    for folder in (*reversed(Path(path).parents), Path(path)):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return str(folder)
    return ""


def _is_real_folder(path: str) -> bool:
    return bool(path) and Path(path).is_dir() and not Path(path).is_symlink()


@dataclass(frozen=True, slots=True)
class Found:
    """By which right tasks can have a view of their own, or why they cannot; the same for what comes on top.

    `why_no_pids`: why tasks have no processes of their own, `why_no_accounts`: why people have no accounts of
    their own.
    """

    how: How
    why_not: Message | None = None
    why_no_pids: Message | None = None
    why_no_accounts: Message | None = None


@cache
def find_view() -> Found:
    """Find out what the kernel allows."""
    rights: tuple[How, ...] = ("root", "user") if os.geteuid() == 0 else ("user",)
    faults = []
    for how in rights:
        found = _try_view(how)
        if not found.why_not:
            return found
        faults.append(found.why_not)
    return Found(rights[0], say("no_mount_namespace", error=faults[0]))


def _try_view(how: How) -> Found:
    if fault := _fault_of(how, "view"):
        return Found(how, text(fault))
    no_pids = _fault_of(how, "pids")
    return Found(
        how,
        why_no_pids=say("no_pid_namespace", error=no_pids) if no_pids else None,
        why_no_accounts=_why_no_accounts(how),
    )


def _why_no_accounts(how: How) -> Message | None:
    if how != "root":
        return say("one_account")
    fault = _fault_of(how, "accounts")
    return say("no_account_namespace", error=fault) if fault else None


def _fault_of(how: How, what: str) -> str:
    """Try one thing in a separate process; return why it fails, empty if it works."""
    with tempfile.TemporaryDirectory() as folder:
        asked = json.dumps({"how": how, "what": what, "tmp": folder, "first": FIRST_ID})
        probe = subprocess.run(  # noqa: S603  # our own program
            [sys.executable, "-I", "-S", "-c", PROBE, PACKAGES, asked],
            capture_output=True,
            timeout=PROBE_S,
            check=False,
            cwd="/",
        )
    if probe.returncode == 0:
        return ""
    lines = probe.stderr.decode(errors="replace").strip().splitlines()
    return (lines or ["it failed"])[-1].removeprefix("PermissionError: ")


def _earlier_trees(home: Path | None, delegated: Delegated) -> tuple[Tree, ...]:
    """Remember in the home folder where groups are made: a later server may be put elsewhere."""
    if home is None or not home.is_dir():
        return ()
    file = home / "control-groups.json"
    known = list(_read_trees(file))
    now = delegated.tree
    earlier = tuple(tree for tree in known if now is None or tree.folders != now.folders)
    if now is not None and len(earlier) == len(known):
        trees = [{"version": tree.version, "folders": dict(tree.folders)} for tree in (now, *known)]
        draft = file.with_suffix(".part")
        draft.write_text(json.dumps(trees))
        draft.replace(file)
    return tuple(tree for tree in earlier if any(Path(place).is_dir() for place in tree.places))


def _read_trees(file: Path) -> Iterable[Tree]:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return [Tree(one["version"], one["folders"]) for one in json.loads(file.read_text())]
    return []
