"""Network traffic, as the kernel counts it for each network namespace."""

from __future__ import annotations

from pathlib import Path

from footplate.engines.local.confine.cgroups import read_text

TRAFFIC_UNKNOWN = (None, None)
_RECEIVED, _SENT = 0, 8


def network_of(pid: int | str) -> str:
    """Name the network that a process is in; empty where that cannot be seen."""
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return ""


def traffic_of(pid: int | str, root: Path = Path("/")) -> tuple[int | None, int | None]:
    """Read what was received and sent in the network of a process, without what stayed on its loopback."""
    counts = _counts(pid, root)
    return _total(counts) if counts else TRAFFIC_UNKNOWN


def machine_traffic(root: Path = Path("/")) -> tuple[int | None, int | None]:
    """Read what went over the machine's devices; bridges and tunnels count it once more, and are left out."""
    counts = _counts("self", root)
    devices = root / "sys/class/net"
    real = {name: one for name, one in counts.items() if (devices / name / "device").exists()}
    return _total(real or counts) if counts else TRAFFIC_UNKNOWN


def _counts(pid: int | str, root: Path) -> dict[str, list[str]]:
    lines = read_text(str(root / f"proc/{pid}/net/dev")).splitlines()[2:]
    pairs = (line.partition(":") for line in lines)
    return {name.strip(): numbers.split() for name, _, numbers in pairs if numbers and name.strip() != "lo"}


def _total(counts: dict[str, list[str]]) -> tuple[int, int]:
    found = counts.values()
    return sum(int(one[_RECEIVED]) for one in found), sum(int(one[_SENT]) for one in found)
