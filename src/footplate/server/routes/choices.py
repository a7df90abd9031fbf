"""Instance types and frameworks over REST."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from footplate.domain.choices import Framework
from footplate.server.auth import SIGNED_IN, Signed, Wired
from footplate.services import choices
from footplate.wire import choices as w
from footplate.wire.body import Text

router = APIRouter(tags=["choices"])


@router.get("/instance-types", response_model=w.Types)
async def types(
    parts: Wired,
    caller: Signed,
    queue: Annotated[
        Text | None, Query(max_length=63, description="The queue to count for (default: `default`).")
    ] = None,
) -> dict[str, Any]:
    """The instance types that admins offer, how many of each find room now, and what is free."""
    offered, prices = choices.offer(parts.platform, caller, queue), parts.platform.prices
    items = [
        {
            **w.type_view(one.type),
            "fit_now": one.fit_now,
            "fit_at_most": one.fit_at_most,
            "price": w.price_view(one.type, prices),
        }
        for one in offered.types
    ]
    capacity = None if offered.capacity is None else w.capacity_view(offered.capacity)
    return {"items": items, "queue": offered.queue, "capacity": capacity, "currency": prices.currency}


@router.put("/instance-types/{name}", response_model=w.TypeBody)
async def put_type(parts: Wired, caller: Signed, name: w.ChoiceName, body: w.TypeChange) -> dict[str, Any]:
    """Add an instance type, or change it."""
    made = await choices.put_type(parts.platform, caller, name, w.amounts_of(body), w.details_of(body))
    return w.type_view(made)


@router.delete("/instance-types/{name}", status_code=204)
async def remove_type(parts: Wired, caller: Signed, name: Text) -> Response:
    """Remove an instance type; jobs that have it keep their size."""
    await choices.remove_type(parts.platform, caller, name)
    return Response(status_code=204)


@router.get("/frameworks", response_model=w.Frameworks, dependencies=[SIGNED_IN])
async def frameworks(parts: Wired) -> dict[str, Any]:
    """The frameworks that admins offer, with their versions and training modes."""
    listed = choices.all_frameworks(parts.platform)
    return {"items": [_show(one, listed) for one in listed]}


def _show(one: Framework, listed: list[Framework]) -> dict[str, Any]:
    first = next((other for other in listed if other.name == one.name), one)
    return w.framework_view(one, is_default=first.version == one.version)


@router.put("/frameworks/{name}/{version}", response_model=w.FrameworkBody)
async def put_framework(
    parts: Wired, caller: Signed, name: w.ChoiceName, version: w.ChoiceName, body: w.FrameworkChange
) -> dict[str, Any]:
    """Add a version of a framework, or change it."""
    details = w.framework_details(body)
    made = await choices.put_framework(parts.platform, caller, name, version, details)
    return _show(made, choices.all_frameworks(parts.platform))


@router.delete("/frameworks/{name}/{version}", status_code=204)
async def remove_framework(parts: Wired, caller: Signed, name: Text, version: Text) -> Response:
    """Remove a version of a framework; jobs that have it keep what it gave them."""
    await choices.remove_framework(parts.platform, caller, name, version)
    return Response(status_code=204)
