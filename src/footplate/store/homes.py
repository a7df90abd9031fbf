"""The identity of a home folder: in the folder itself, in the database, and bound to machine and path.

Tasks belong to the server of one home folder. A second folder on the same database would run each of them
once more, and a copy of a folder would take the original's for its own and end them. So a folder has a name
that nobody else has, the database knows which folder it belongs to, and a folder knows where it lies: what
has been copied is found out, and needs a person's word to go on under a new name.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

import sqlalchemy as sa

from footplate.domain.errors import Conflict
from footplate.machine.wholefile import write_private
from footplate.store import tables

FILE = "identity.json"
HOME = "home"
MACHINE_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


@dataclass(frozen=True, slots=True)
class Identity:
    """What a home folder is called, and where it lies; a machine without a name of its own has none."""

    id: str
    machine: str
    path: str


def claim(engine: sa.Engine, home: Path, at: float, takes_over: bool = False) -> str:
    """Make sure that this folder is the one of this database, and return its identity; else raise `Conflict`.

    With `takes_over` a folder that is not becomes it, under a new name if it is a copy.
    """
    with engine.connect() as connection:
        known = _known(connection)
    identity = judge(read(home), known, home, machine_id(), takes_over)
    _write(home, identity)
    if identity == known:
        return identity.id
    with engine.execution_options(footplate_writer=True).begin() as connection:
        connection.execute(sa.delete(tables.homes).where(tables.homes.c.name == HOME))
        connection.execute(sa.insert(tables.homes).values(name=HOME, taken_at=at, **asdict(identity)))
    return identity.id


def check(engine: sa.Engine, home: Path) -> None:
    """Raise `Conflict` when this folder is not the one of this database; change nothing."""
    with engine.connect() as connection:
        if sa.inspect(connection).has_table("homes"):
            judge(read(home), _known(connection), home, machine_id(), takes_over=False)


def forget_elsewhere(engine: sa.Engine, home: Path) -> None:
    """Let a database go that belonged to a folder elsewhere: this one is its own from the next start on."""
    here = (machine_id(), str(home.resolve()))
    with engine.execution_options(footplate_writer=True).begin() as connection:
        known = _known(connection) if sa.inspect(connection).has_table("homes") else None
        if known is not None and (known.machine, known.path) != here:
            connection.execute(sa.delete(tables.homes).where(tables.homes.c.name == HOME))


def judge(
    own: Identity | None, known: Identity | None, home: Path, machine: str, takes_over: bool
) -> Identity:
    """Say what this folder is called from now on; raise `Conflict` when it is not the database's."""
    path = str(home.resolve())
    if own is not None and _is_copy(own, home, machine):
        if not takes_over:
            where = own.path if own.machine == machine else f"{own.path} on another machine"
            raise Conflict("home_copied", home=str(home), other=where)
        own = None
    if known is not None and (own is None or own.id != known.id):
        # A folder of an older version, or one whose file was lost, is known by where it lies.
        if own is None and not takes_over and (known.machine, known.path) == (machine, path):
            own = known
        elif not takes_over:
            raise Conflict(
                "database_of_other_home", other=f"{known.path}{_on(known, machine)}", home=str(home)
            )
    return Identity(own.id if own else uuid.uuid4().hex, machine, path)


def _on(known: Identity, machine: str) -> str:
    return "" if known.machine == machine else " of another machine"


def _is_copy(own: Identity, home: Path, machine: str) -> bool:
    """Tell whether a folder that says where it lies was copied; one that was moved is the same as before."""
    if own.machine != machine:
        return True
    if own.path == str(home.resolve()):
        return False
    there = Path(own.path)
    try:
        return not there.samefile(home) and (found := read(there)) is not None and found.id == own.id
    except OSError:
        return False


def machine_id() -> str:
    """What this machine is called, as long as its system lives; empty where it has no such name."""
    for path in MACHINE_FILES:
        try:
            text = path.read_text().strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text and text != "uninitialized":
            return text[:64]
    return ""


def read(home: Path) -> Identity | None:
    """What a home folder says of itself; None when it says nothing."""
    try:
        return Identity(**json.loads((home / FILE).read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise Conflict("home_file_damaged", file=str(home / FILE), error=str(error)) from error


def _write(home: Path, identity: Identity) -> None:
    if read(home) != identity:
        write_private(home / FILE, json.dumps(asdict(identity)).encode())


def _known(connection: sa.Connection) -> Identity | None:
    homes = tables.homes
    row = connection.execute(
        sa.select(homes.c.id, homes.c.machine, homes.c.path).where(homes.c.name == HOME)
    ).first()
    return None if row is None else Identity(*row)
