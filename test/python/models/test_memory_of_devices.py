"""What a model keeps in a GPU's memory, shown in the processor's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tilewright.graph.memory import DeviceMemory
from tilewright.runtime.device import cpu

MEMORY = DeviceMemory(cpu())


@pytest.mark.parametrize("name", ["int2", "uint2", "int4", "uint4", "float4_e2m1fn"])
def test_elements_of_few_bits_are_bytes(name: str) -> None:
    if not hasattr(ml_dtypes, name):
        pytest.skip(f"ml_dtypes has no {name} here")
    value = np.array([[1, 0], [1, 1]]).astype(getattr(ml_dtypes, name))
    for held in (MEMORY.given("x", value), MEMORY.constant(value.T.copy().T)):
        assert held.dtype.name == name
        assert held.numpy().dtype == value.dtype
        assert (held.numpy() == value).all()
        assert (MEMORY.viewed(held, "uint8").numpy() == value.view(np.uint8)).all()
        assert (MEMORY.viewed(MEMORY.viewed(held, "uint8"), name).numpy() == value).all()


def test_what_no_array_holds_is_refused() -> None:
    with pytest.raises(TypeError, match="^expected a dtype of numbers, got object$"):
        MEMORY.given("x", np.array([None]))
