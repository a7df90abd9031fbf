"""Lets failing contract tests show the values that they compared."""

import pytest

for name in ("contract", "limit_contract", "engine_bench"):
    pytest.register_assert_rewrite(f"footplate.testing.{name}")
