"""Instance types, frameworks and what is free, over REST."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from footplate.domain.accounting import Held, Size, used
from footplate.domain.capacity import Capacity, Stock
from footplate.domain.choices import Framework, InstanceType
from footplate.domain.environmentfields import ENVIRONMENT
from footplate.domain.names import CHOICE
from footplate.domain.prices import HOUR_S, Prices, cost_of
from footplate.domain.resources import MIB
from footplate.wire.body import Body, Maximum, Text
from footplate.wire.convert import instant, maximum_view

ChoiceName = Annotated[Text, Field(min_length=1, max_length=128, pattern=f"^{CHOICE}$")]
_MOST_BYTES = 64 * 1024**4
_POSITION = Field(None, ge=-1000, le=1000, description="Those with a lower one are listed first.")


class TypeChange(Body):
    """The size of one task; of the rest, what is absent stays as it is."""

    cpus: float = Field(ge=0.01, le=1024)
    memory_bytes: int = Field(ge=16 * MIB, le=_MOST_BYTES)
    gpus: int = Field(0, ge=0, le=1024)
    gpu_type: Text = Field("", max_length=64, pattern=r"^[A-Za-z0-9._ -]*$", description="Empty: any.")
    shm_bytes: int | None = Field(
        None, ge=MIB, le=_MOST_BYTES, description="Shared memory; null leaves it to the job."
    )
    description: Text | None = Field(None, max_length=4096)
    position: int | None = _POSITION


class TypeBody(Body):
    name: str
    cpus: float
    memory_bytes: int
    gpus: int
    gpu_type: str
    shm_bytes: int | None
    description: str
    position: int
    created_at: str
    updated_at: str


class OfferedType(TypeBody):
    fit_now: int | None = Field(
        description="How many tasks of this size find room now, if no job is ahead; null if unknown."
    )
    fit_at_most: int | None = Field(description="How many would if nothing else ran; 0: it fits on no node.")
    price: float | None = Field(description="Of one task for an hour; null when the server has no prices.")


class StockBody(Body):
    free: float
    total: float
    largest: float = Field(description="What one node has at most.")


class CardsBody(StockBody):
    type: str


class CapacityBody(Body):
    """What is free on the nodes that jobs of the queue may use."""

    cpus: StockBody
    memory_bytes: StockBody
    gpus: list[CardsBody]
    headroom: Maximum | None = Field(description="What the queue's maximum leaves; null: it has none.")


class Types(Body):
    items: list[OfferedType]
    queue: str | None = Field(description="The queue that counts and capacity are for.")
    capacity: CapacityBody | None = Field(description="Null where an engine keeps its nodes to itself.")
    currency: str = Field(description="Of the prices; empty when none is set.")


class FrameworkChange(Body):
    """One version of a framework; what is absent stays as it is."""

    image: Text | None = Field(None, max_length=512, pattern=r"^\S*$", description="Name or reference.")
    environment: dict[str, Any] | None = Field(
        None, description="Packages as in a job file: a list of requirements, or the path of an environment."
    )
    strategy: Text | None = Field(None, max_length=63, description="Of jobs that name no strategy.")
    strategies: list[Annotated[Text, Field(min_length=1, max_length=63)]] | None = Field(
        None, max_length=64, description="Training modes that it offers; empty: all."
    )
    description: Text | None = Field(None, max_length=4096)
    position: int | None = _POSITION


class FrameworkBody(Body):
    name: str
    version: str
    image: str
    environment: dict[str, Any] | None
    strategy: str
    strategies: list[str]
    is_default: bool = Field(description="Whether a job gets this version that names the framework alone.")
    description: str
    position: int
    created_at: str
    updated_at: str


class Frameworks(Body):
    items: list[FrameworkBody]


def amounts_of(body: TypeChange) -> dict[str, Any]:
    """The size that a change says."""
    return {
        "milli_cpus": round(body.cpus * 1000),
        "memory_bytes": body.memory_bytes,
        "gpus": body.gpus,
        "gpu_type": body.gpu_type,
        "shm_bytes": body.shm_bytes,
    }


def details_of(body: TypeChange) -> dict[str, Any]:
    """What a change says beside the size."""
    return body.model_dump(include={"description", "position"}, exclude_none=True)


def framework_details(body: FrameworkChange) -> dict[str, Any]:
    """What a change of a framework says; an environment of null takes it away."""
    said = body.model_dump(exclude_none=True)
    if "strategies" in said:
        said["strategies"] = tuple(said["strategies"])
    if "environment" in body.model_fields_set:
        said["environment"] = body.environment
    return said


def type_view(one: InstanceType) -> dict[str, Any]:
    return {
        "name": one.name,
        "cpus": one.milli_cpus / 1000,
        "memory_bytes": one.memory_bytes,
        "gpus": one.gpus,
        "gpu_type": one.gpu_type,
        "shm_bytes": one.shm_bytes,
        "description": one.description,
        "position": one.position,
        "created_at": instant(one.created_at),
        "updated_at": instant(one.updated_at),
    }


def price_view(one: InstanceType, prices: Prices) -> float | None:
    """What one task of a type costs in an hour; None where there are no prices."""
    if not prices.are_set:
        return None
    size = Size(one.name, one.milli_cpus, one.memory_bytes, one.gpus, one.gpu_type)
    held = Held(one.milli_cpus, one.memory_bytes, one.gpus, one.gpu_type, ((size, 1),))
    return round(cost_of(used(held, HOUR_S), prices), 6)


def capacity_view(capacity: Capacity) -> dict[str, Any]:
    return {
        "cpus": _stock(capacity.milli_cpus, 1000),
        "memory_bytes": _stock(capacity.memory_bytes),
        "gpus": [{"type": one.type, **_stock(one.count)} for one in capacity.cards],
        "headroom": maximum_view(capacity.headroom),
    }


def _stock(stock: Stock, unit: int = 1) -> dict[str, float]:
    return {"free": stock.free / unit, "total": stock.total / unit, "largest": stock.largest / unit}


def framework_view(one: Framework, is_default: bool) -> dict[str, Any]:
    return {
        "name": one.name,
        "version": one.version,
        "image": one.image,
        "environment": None if one.environment is None else ENVIRONMENT.write(one.environment),
        "strategy": one.strategy,
        "strategies": list(one.strategies),
        "is_default": is_default,
        "description": one.description,
        "position": one.position,
        "created_at": instant(one.created_at),
        "updated_at": instant(one.updated_at),
    }
