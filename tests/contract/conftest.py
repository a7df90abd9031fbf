"""Lets failing contract tests show the values that they compared."""

import pytest

pytest.register_assert_rewrite(
    "footplate.testing.contract", "footplate.testing.limit_contract", "footplate.testing.engine_bench"
)
