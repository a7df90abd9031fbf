"""Cards are called what people call them."""

from __future__ import annotations

import pytest

from footplate.engines.local.machine.gpus import short_type


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("NVIDIA H200", "H200"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA A100 80GB PCIe", "A100"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H100 NVL", "H100"),
        ("Tesla V100-SXM2-32GB", "V100"),
        ("Tesla T4", "T4"),
        ("NVIDIA GeForce RTX 4090", "RTX4090"),
        ("NVIDIA RTX A6000", "RTXA6000"),
        ("NVIDIA L40S", "L40S"),
        ("Something else", "Somethingelse"),
    ],
)
def test_the_type_of_a_card_is_its_model(name: str, short: str) -> None:
    assert short_type(name) == short
