"""The prices that there have been, as one document of the settings that are kept."""

from __future__ import annotations

from dataclasses import asdict

import sqlalchemy as sa

from footplate.domain.pricebook import PriceBook, PricesSince
from footplate.domain.prices import Prices
from footplate.store import kept_settings

ROW = "prices"


def note(connection: sa.Connection, prices: Prices, at: float) -> PriceBook:
    """Note the prices that hold from a moment on; return all that there have been.

    The first that are noted hold for what was before as well: nothing is known of earlier ones.
    """
    document, _ = kept_settings.read(connection, ROW)
    entries = tuple(
        PricesSince(float(one["since"]), Prices(**one["prices"])) for one in document.get("items", ())
    )
    before = PriceBook(entries) if entries else PriceBook((PricesSince(0.0, prices),))
    book = before.with_prices(prices, at)
    if len(book.entries) != len(entries):
        items = [{"since": one.since, "prices": asdict(one.prices)} for one in book.entries]
        kept_settings.put(connection, ROW, {"items": items})
    return book
