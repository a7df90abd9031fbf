"""The number of each user, from which engines derive host accounts; a number is never reused.

A name that is removed gives its number up for good: whoever has the same name later is somebody else.
"""

from __future__ import annotations

import sqlalchemy as sa

from footplate.store.store import Store
from footplate.store.tables import people
from footplate.store.writer import Transaction


class People:
    """The numbers in memory; a person gets one when their first job starts."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._numbers: dict[str, int] = {}

    def load(self, connection: sa.Connection) -> None:
        rows = connection.execute(sa.select(people.c.name, people.c.number).where(people.c.name.is_not(None)))
        self._numbers = {row.name: row.number for row in rows}

    def number_of(self, name: str) -> int:
        """Tell a person's number; 0, that of nobody, before their first job."""
        return self._numbers.get(name, 0)

    def names(self) -> list[str]:
        """Everybody who has a number."""
        return list(self._numbers)

    async def ensure(self, name: str) -> None:
        """Give a person a number, if they have none."""
        if name in self._numbers or self._store is None:
            return

        def unit(tx: Transaction) -> int:
            return _number(tx.connection, name)

        self._numbers[name] = await self._store.write(unit)

    def forget(self, name: str) -> None:
        self._numbers.pop(name, None)


def _number(connection: sa.Connection, name: str) -> int:
    found = connection.scalar(sa.select(people.c.number).where(people.c.name == name))
    if found is not None:
        return int(found)
    number = int(connection.scalar(sa.select(sa.func.max(people.c.number))) or 0) + 1
    connection.execute(sa.insert(people), {"number": number, "name": name})
    return number
