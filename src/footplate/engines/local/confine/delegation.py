"""Finds where this server may create control groups, by creating one."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from footplate.domain.messages import Message, say
from footplate.engines.local.confine.cgroups import Need, Tree, write_text
from footplate.engines.local.process.processes import start_ticks

WANTED = {1: ("cpu", "cpuacct", "memory", "pids", "devices"), 2: ("cpu", "memory", "pids", "io")}
HOLDERS = ("cpu", "memory", "pids")
# The device is one of those that the kernel leaves to experiments.
SAMPLE = Need(1000, memory_bytes=64 * 1024**2, n_processes=64, denied_devices=("c 60:0 rwm",))
SWAP_FILE = {1: "memory.memsw.limit_in_bytes", 2: "memory.swap.max"}
PROBE_S = 10
# Where a server is in its own tree: a group that hands on controllers may hold no process itself.
OWN_GROUP = "footplate-server"
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Delegated:
    """The tree that was found, if any, and by controller why one cannot be used."""

    tree: Tree | None
    faults: Mapping[str, Message]


@dataclass(frozen=True, slots=True)
class GroupMount:
    """A mounted hierarchy: its controllers (none for v2), where it is, and which of its groups is its top."""

    controllers: frozenset[str]
    folder: Path
    top: str


def instance_name(home: Path | None, home_id: str = "") -> str:
    """Name the subtree of one server, so that two of them on one machine do not meet."""
    said = home_id or (os.fspath(home) if home else "")
    mark = hashlib.sha256(os.fsencode(said)).hexdigest()[:8] if said else "any"
    return f"footplate-{mark}"


def find_tree(home: Path | None, home_id: str = "", proc: Path = PROC) -> Delegated:
    """Find the place for this server's groups: v2 where it has the controllers, otherwise v1."""
    mounts = list(_mounts((proc / "self/mountinfo").read_text()))
    own = _own_groups((proc / "self/cgroup").read_text())
    unified = [mount for mount in mounts if not mount.controllers]
    if unified and not any("memory" in mount.controllers for mount in mounts):
        return _find_unified(unified[0], own.get("", "/"), instance_name(home, home_id))
    return _find_split(mounts, own, instance_name(home, home_id))


def find_groups(pid: int, proc: Path = PROC) -> tuple[Tree | None, str]:
    """Find the groups that a process is in, whoever made them: where they lie, and the name of its own."""
    mounts = list(_mounts((proc / "self/mountinfo").read_text()))
    try:
        own = _own_groups((proc / str(pid) / "cgroup").read_text())
    except OSError:
        return None, ""
    folders = {}
    for mount in mounts:
        for controller in mount.controllers or WANTED[2]:
            group = own.get(controller if mount.controllers else "", "/")
            if controller in {*WANTED[1], *WANTED[2]} and group != "/" and controller not in folders:
                folders[controller] = _folder_of(mount, group)
    version = 2 if "" in own and "memory" not in own else 1
    names = {folder.name for folder in folders.values()}
    if len(names) != 1:
        return None, ""
    return Tree(version, {one: str(folder.parent) for one, folder in folders.items()}), names.pop()


def _mounts(mountinfo: str) -> Iterator[GroupMount]:
    for line in mountinfo.splitlines():
        place, _, kind = line.partition(" - ")
        words, kinds = place.split(), kind.split()
        if kinds[0] == "cgroup2":
            yield GroupMount(frozenset(), Path(words[4]), words[3])
        elif kinds[0] == "cgroup":
            yield GroupMount(frozenset(kinds[2].split(",")), Path(words[4]), words[3])


def _own_groups(text: str) -> dict[str, str]:
    """Read which group this process is in, by controller; the empty name is v2."""
    groups = {}
    for line in text.splitlines():
        _, controllers, group = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), group))
    return groups


def _folder_of(mount: GroupMount, group: str) -> Path:
    """Say where a group lies; the top of what is mounted when it lies outside, as in some containers."""
    inside = Path(group).relative_to(mount.top) if Path(group).is_relative_to(mount.top) else Path()
    folder = mount.folder / inside
    return folder if folder.is_dir() else mount.folder


def _find_split(mounts: Sequence[GroupMount], own: Mapping[str, str], name: str) -> Delegated:
    folders: dict[str, str] = {}
    faults: dict[str, Message] = {}
    for controller in WANTED[1]:
        if controller == "cpuacct" and not any({"cpu", "cpuacct"} <= mount.controllers for mount in mounts):
            # One group more for every task is dearer than to add up its processes when somebody asks.
            continue
        mount = next((mount for mount in mounts if controller in mount.controllers), None)
        if mount is None:
            faults[controller] = say("no_control_groups", controller=controller)
            continue
        folder = _folder_of(mount, own.get(controller, "/")) / name
        try:
            folder.mkdir(exist_ok=True)
            _probe(Tree(1, {controller: str(folder)}))
            folders[controller] = str(folder)
        except OSError as error:
            faults[controller] = say("groups_unwritable", error=error.strerror or str(error))
    return Delegated(_with_swap(Tree(1, folders)) if folders else None, faults)


def _find_unified(mount: GroupMount, own: str, name: str) -> Delegated:
    mine = _folder_of(mount, own)
    if mine.name == OWN_GROUP:
        # systemd has put this server aside already (DelegateSubgroup): what is ours is the group around it.
        mine = mine.parent
    fault = ""
    best: Tree | None = None
    for folder in (mine, *mine.parents):
        if not folder.is_relative_to(mount.folder):
            break
        try:
            # The groups between are somebody else's: they are used as they are.
            tree = _try_unified(folder, name, may_change=folder in (mine, mount.folder))
        except OSError as error:
            fault = error.strerror or str(error)
            continue
        best, worse = (tree, best) if best is None or len(tree.folders) > len(best.folders) else (best, tree)
        if worse is not None:
            _give_back(worse)
        if all(controller in best.folders for controller in HOLDERS):
            break
    lacking = [one for one in WANTED[2] if best is None or one not in best.folders]
    said = say("groups_not_delegated", error=fault)
    return Delegated(_with_swap(best) if best else None, dict.fromkeys(lacking, said))


def _try_unified(folder: Path, name: str, may_change: bool) -> Tree:
    """Make our subtree below a group and hand it the controllers that there are."""
    if may_change:
        _enable(folder)
    if not set(WANTED[2]).intersection((folder / "cgroup.subtree_control").read_text().split()):
        raise OSError(f"{folder} hands on none of {', '.join(WANTED[2])}")
    ours = folder / name
    ours.mkdir(exist_ok=True)
    try:
        _enable(ours)
        enabled = (ours / "cgroup.subtree_control").read_text().split()
        tree = Tree(2, {one: str(ours) for one in WANTED[2] if one in enabled})
        _probe(tree)
    except OSError:
        with suppress(OSError):
            ours.rmdir()
        raise
    return tree


def _give_back(tree: Tree) -> None:
    for place in tree.places:
        with suppress(OSError):
            Path(place).rmdir()


def _enable(group: Path) -> None:
    offered = (group / "cgroup.controllers").read_text().split()
    control = group / "cgroup.subtree_control"
    for controller in set(WANTED[2]).intersection(offered) - set(control.read_text().split()):
        try:
            write_text(str(control), f"+{controller}")
        except OSError:
            # A group may hold processes or hand on controllers, not both: leave it, if it holds us alone.
            if not _step_aside(group):
                return
            with suppress(OSError):
                write_text(str(control), f"+{controller}")


def _step_aside(group: Path) -> bool:
    """Move this process into a group of its own below, where nobody else is in its group."""
    if (group / "cgroup.procs").read_text().split() != [str(os.getpid())]:
        return False
    try:
        (group / OWN_GROUP).mkdir(exist_ok=True)
        write_text(str(group / OWN_GROUP / "cgroup.procs"), str(os.getpid()))
    except OSError:
        return False
    return True


def _probe_name() -> str:
    """Name a group after this process, so that the next server removes it if this one is killed now."""
    return f"server.probe.{os.getpid()}-{start_ticks(os.getpid())}"


def _probe(tree: Tree) -> None:
    """Make a group with limits, have a process enter it, and remove it again."""
    name = _probe_name()
    for folder, settings in tree.order(SAMPLE):
        group = Path(folder) / name
        # With its parents: a server that ends now, and has the same home, may remove them once more.
        group.mkdir(parents=True, exist_ok=True)
        try:
            for file, text in settings:
                write_text(str(group / file), text)
            _enter(group)
        finally:
            group.rmdir()


def _enter(group: Path) -> None:
    entry = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", 'echo 0 >"$0/cgroup.procs"', str(group)],
        capture_output=True,
        timeout=PROBE_S,
        check=False,
    )
    if entry.returncode:
        raise OSError(entry.stderr.decode(errors="replace").strip() or f"{group} cannot be entered")


def _with_swap(tree: Tree) -> Tree:
    """Note whether swap can be bounded too; without, a task could go on growing there."""
    if "memory" not in tree.folders:
        return tree
    group = Path(tree.folders["memory"]) / _probe_name()
    group.mkdir(parents=True, exist_ok=True)
    try:
        bounds_swap = (group / SWAP_FILE[tree.version]).exists()
    finally:
        group.rmdir()
    return Tree(tree.version, tree.folders, bounds_swap)
