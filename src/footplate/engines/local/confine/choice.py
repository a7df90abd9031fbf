"""Chooses how tasks are confined: as far as the machine gives it, unless the settings turn it off."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from footplate.engines.local.confine.confinement import Confinement, unconfined
from footplate.engines.local.containers.finding import known_sockets
from footplate.engines.local.environments import ownpython
from footplate.engines.local.machine.detect import Machine
from footplate.engines.local.machine.devices import Nodes
from footplate.engines.local.machine.settings import LocalSettings

log = logging.getLogger(__name__)

Confine = Callable[[LocalSettings, Nodes], Confinement]


def confinement_of(settings: LocalSettings, machine: Machine, confine: Confine) -> Confinement:
    if not settings.limits:
        return unconfined(settings.home)
    confinement = replace(
        confine(settings, machine.gpu_nodes),
        sockets=known_sockets(settings.containers.socket),
    )
    if rules := confinement.view_rules:
        confinement = replace(confinement, view_rules=replace(rules, python=ownpython.make(settings.home)))
    if confinement.why_not:
        log.warning("tasks are not held to all that they ask for: %s", confinement.why_not)
    return confinement
