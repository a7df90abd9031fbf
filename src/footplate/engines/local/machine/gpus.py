"""This machine's GPUs as NVML sees them."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from footplate.domain.cluster import Gpu
from footplate.engines.local.process.processes import PROC, environment_of
from footplate.engines.usage import CardUsage

REFRESH_S = 5


class Cards:
    """The cards that this process may use; who occupies them is looked up at most every few seconds."""

    def __init__(self) -> None:
        self._nvml = _load_nvml()
        self._cards = _detect(self._nvml) if self._nvml else ()
        self._sampled_at = float("-inf")

    @property
    def known(self) -> tuple[Gpu, ...]:
        """The cards that were found, as last looked at."""
        return self._cards

    def minors(self) -> dict[int, int]:
        """Say which device file (`/dev/nvidiaN`) each card has, also those that this process may not use."""
        return _minors(self._nvml) if self._nvml else {}

    def usage(self) -> dict[int, CardUsage]:
        """Read how busy each card is."""
        return {card.index: usage for card in self._cards if (usage := _usage(self._nvml, card.index))}

    async def list(self, our_attempts: Collection[str]) -> tuple[Gpu, ...]:
        """List the cards; those with processes of anything but our attempts are in use by others."""
        if self._cards and time.monotonic() - self._sampled_at > REFRESH_S:
            self._cards = await asyncio.to_thread(self._sample, frozenset(our_attempts))
            self._sampled_at = time.monotonic()
        return self._cards

    def _sample(self, our_attempts: Collection[str]) -> tuple[Gpu, ...]:
        ours = {f"FOOTPLATE_ATTEMPT_ID={attempt_id}".encode() for attempt_id in our_attempts}
        return tuple(
            replace(card, in_use_by_others=any(_is_foreign(pid, ours) for pid in _users(self._nvml, card)))
            for card in self._cards
        )


def select_visible(cards: tuple[Gpu, ...], visible: str | None) -> tuple[Gpu, ...]:
    """Keep the cards that `CUDA_VISIBLE_DEVICES` of the server allows, by index or UUID."""
    if visible is None:
        return cards
    names = [name.strip() for name in visible.split(",") if name.strip()]
    return tuple(
        card
        for card in cards
        if any(
            name == str(card.index) or (not name.isdigit() and card.uuid.startswith(name)) for name in names
        )
    )


def _load_nvml() -> Any:
    """Load and start NVML; None where there is no library, driver or card."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


_MAKERS = frozenset({"nvidia", "tesla", "geforce", "quadro"})


def short_type(name: str) -> str:
    """Name a card as people do: `NVIDIA A100-SXM4-80GB` is an A100, `NVIDIA GeForce RTX 4090` an RTX4090.

    Form factor and memory are left out: the memory is told beside the type.
    """
    words = [word for word in name.split() if word.lower() not in _MAKERS]
    kept: list[str] = []
    for word in words:
        if kept and re.fullmatch(r"\d+GB|PCIe|SXM\d*|NVL|HBM\d\w*", word, re.IGNORECASE):
            break
        kept.append(word.partition("-")[0])
    return "".join(kept) or name


def _detect(nvml: Any) -> tuple[Gpu, ...]:
    cards = []
    for index in range(nvml.nvmlDeviceGetCount()):
        card = nvml.nvmlDeviceGetHandleByIndex(index)
        memory_bytes = nvml.nvmlDeviceGetMemoryInfo(card).total
        kind = short_type(nvml.nvmlDeviceGetName(card))
        cards.append(Gpu(index, kind, memory_bytes, nvml.nvmlDeviceGetUUID(card)))
    return select_visible(tuple(cards), os.environ.get("CUDA_VISIBLE_DEVICES"))


def _usage(nvml: Any, index: int) -> CardUsage | None:
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        busy = nvml.nvmlDeviceGetUtilizationRates(handle).gpu
        memory_bytes = nvml.nvmlDeviceGetMemoryInfo(handle).used
    except nvml.NVMLError:
        return None
    return CardUsage(index, busy / 100, memory_bytes, _power_w(nvml, handle))


def _power_w(nvml: Any, handle: Any) -> float | None:
    """Read the power that a card draws; not every card, or share of one, tells."""
    try:
        return float(nvml.nvmlDeviceGetPowerUsage(handle)) / 1000
    except nvml.NVMLError:
        return None


def _minors(nvml: Any) -> dict[int, int]:
    count = nvml.nvmlDeviceGetCount()
    handles = {index: nvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)}
    return {index: nvml.nvmlDeviceGetMinorNumber(handle) for index, handle in handles.items()}


def _users(nvml: Any, card: Gpu) -> list[int]:
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(card.index)
        return [process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)]
    except nvml.NVMLError:
        return []


def _is_foreign(pid: int, ours: Collection[bytes]) -> bool:
    # A process that cannot be seen has ended, or lives where this server cannot tell whose it is.
    return (PROC / str(pid)).exists() and not environment_of(pid) & set(ours)
