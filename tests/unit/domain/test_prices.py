"""What use costs, by resources and by instance types."""

from __future__ import annotations

import pytest

from footplate.domain.accounting import Held, Size, used
from footplate.domain.prices import Prices, cost_of, price_of
from footplate.domain.resources import GIB
from footplate.domain.spec import JobSpec, RoleSpec

PRICES = Prices("EUR", cpu=0.1, memory_gb=0.01, gpu=1.0, gpus={"A100": 3.0}, types={"large": 5.0})
HOUR_S = 3600.0


@pytest.mark.parametrize(
    ("held", "cost"),
    [
        (Held(2000, 4 * GIB), 0.2 + 0.04),
        (Held(1000, 0, 2, "A100"), 0.1 + 6.0),
        (Held(0, 0, 2, "T4"), 2.0),
        # A type with a price costs that, whatever it has; one without costs what it has.
        (Held(8000, 64 * GIB, 1, "A100", ((Size("large", 8000, 64 * GIB, 1, "A100"), 1),)), 5.0),
        (Held(1000, 0, 0, "", ((Size("small", 1000, 0), 1),)), 0.1),
        # One task of a type beside one of another size.
        (Held(9000, 64 * GIB, 1, "A100", ((Size("large", 8000, 64 * GIB, 1, "A100"), 1),)), 5.1),
    ],
)
def test_an_hour_costs_what_is_held(held: Held, cost: float) -> None:
    assert cost_of(used(held, HOUR_S), PRICES) == pytest.approx(cost)


def test_use_adds_up_whatever_it_was_split_into() -> None:
    held = Held(8000, 64 * GIB, 1, "A100", ((Size("large", 8000, 64 * GIB, 1, "A100"), 1),))
    parts = used(held, 1000.0) + used(held, 2600.0)
    assert cost_of(parts, PRICES) == pytest.approx(cost_of(used(held, 3600.0), PRICES))


def job(**fields: object) -> JobSpec:
    roles = (
        RoleSpec("x", count=2, milli_cpus=1000, memory_bytes=GIB),
        RoleSpec("x", "big", instance_type="large"),
    )
    return JobSpec("job", roles, **fields)  # type: ignore[arg-type]


def test_a_job_costs_all_its_tasks_and_at_most_its_time_limit_for_each_attempt() -> None:
    found = price_of(job(time_limit_s=1800, retry=1), PRICES)
    assert found is not None
    assert found.per_hour == pytest.approx(2 * 0.11 + 5.0)
    assert found.at_most == pytest.approx(found.per_hour)
    unlimited = price_of(job(), PRICES)
    assert unlimited is not None
    assert unlimited.at_most is None


def test_without_prices_nothing_is_said() -> None:
    assert price_of(job(), Prices("EUR")) is None
    assert not Prices(types={"large": 0.0}).are_set
