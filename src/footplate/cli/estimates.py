"""When a job is expected to start, as people read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footplate.cli.language import phrase
from footplate.cli.reader import told_in
from footplate.sdk.accounting import money


def show_cost(cost: Mapping[str, Any] | None) -> str:
    """Say what a job would cost, where the server has prices."""
    if cost is None:
        return ""
    per_hour = money(cost["per_hour"], cost["currency"])
    at_most = "" if cost["at_most"] is None else money(cost["at_most"], cost["currency"])
    return phrase("{per_hour} per hour[, {at_most} at most]", per_hour=per_hour, at_most=at_most)


def show_use(use: Mapping[str, Any]) -> str:
    """Say what a job has used so far, and what that cost."""
    hours = {"gpu": use["gpu_hours"], "cpu": use["cpu_hours"], "memory": use["memory_gb_hours"]}
    shown = {name: f"{value:.2f}" if value or name != "gpu" else "" for name, value in hours.items()}
    told = phrase("{cpu} CPU hours, {memory} GB hours[, {gpu} GPU hours]", **shown)
    return told if use["cost"] is None else f"{money(use['cost'], use['currency'])} ({told})"


def show_estimate(estimate: Mapping[str, Any] | None) -> str:
    """Say when a job that waits, or would, is expected to start, as far as that is known."""
    if estimate is None:
        return ""
    expected, latest = estimate["expected_at"], estimate["latest_at"]
    basis = told_in(estimate["basis"])
    if not expected and not latest:
        return basis
    if not expected:
        return phrase("{latest:time} at the latest ({basis})", latest=latest, basis=basis)
    known = {"at": expected, "latest": latest, "basis": basis}
    return phrase("{at:time}[, {latest:time} at the latest] ({basis})", **known)
