"""Settings for clients of other clouds: what they are told of regions, prices and bounds."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.dialects.prices import Prices
from footplate.domain.fields import Field, Record
from footplate.domain.kinds import Flag, Integer, Text

REGION = "ap-guangzhou"
MOST_PRICE = 10**9


@dataclass(frozen=True, slots=True)
class CloudSettings:
    examples: bool = True
    region: str = REGION
    cpu_price: int = 0
    memory_price: int = 0
    gpu_price: int = 0
    nodes_least: int = 2
    nodes_most: int = 4
    hours_most: int = 720
    open_reads: bool = False

    @property
    def prices(self) -> Prices:
        return Prices(self.cpu_price, self.memory_price, self.gpu_price)


CLOUDS = Record(
    CloudSettings,
    (
        Field(
            "examples",
            Flag(),
            "Whether clients find the frameworks, machines and images that TI-ONE's and UAI's own "
            "walkthroughs name, cut to the size of this platform, beside those of the catalogue.",
            True,
        ),
        Field(
            "region",
            Text(64, 1, r"[a-z0-9][a-z0-9-]*", "name"),
            "Region that buckets and jobs are said to be in.",
            REGION,
        ),
        Field(
            "cpu_price",
            Integer(0, MOST_PRICE),
            "Price of a CPU for an hour, in hundredths of the currency (default: free).",
            0,
        ),
        Field("memory_price", Integer(0, MOST_PRICE), "Price of a GiB of memory for an hour.", 0),
        Field("gpu_price", Integer(0, MOST_PRICE), "Price of a GPU for an hour.", 0),
        Field("nodes_least", Integer(1, 10_000), "Fewest nodes of a distributed job of UAI-Train.", 2),
        Field("nodes_most", Integer(1, 10_000), "Most nodes of a distributed job of UAI-Train.", 4),
        Field("hours_most", Integer(1, 8760), "Longest job of UAI-Train, in hours.", 720),
        Field(
            "open_reads",
            Flag(),
            "Whether the calls of OpenPAI v1 that read jobs and queues are answered without a token, as "
            "there: to everybody who reaches the server, of all jobs.",
            False,
        ),
    ),
)
