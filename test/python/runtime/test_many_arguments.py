"""Calls with many arguments: what is compiled to check them grows with their number and no faster."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright as tw
from tilewright import te


def many(inputs: int, outputs: int) -> tw.Function:
    n = te.var("n")
    given = [te.placeholder((n, 2), name=f"A{i}") for i in range(inputs)]
    made = [te.compute((n, 2), lambda i, j, k=k: given[k][i, j] + k, name=f"C{k}") for k in range(outputs)]
    return tw.build(te.create_schedule([each.op for each in made]), [*given, *made], "cpu", name="many")


def arrays(count: int) -> list[np.ndarray]:
    return [np.full((3, 2), i, "float32") for i in range(count)]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("inputs", "outputs"), [(20, 1), (12, 12), (40, 40)])
def test_many_arguments(inputs: int, outputs: int) -> None:
    function = many(inputs, outputs)
    given = arrays(inputs + outputs)
    function(*given)
    for k in range(outputs):
        assert (given[inputs + k] == 2 * k).all()
    # With several outputs it is the run time's loop that finds what is shared.
    text = re.escape(
        f"many({', '.join(f'A{i}: float32[n, 2]' for i in range(inputs))}, "
        f"{', '.join(f'C{i}: float32[n, 2]' for i in range(outputs))}): argument {inputs} (C0): expected memory of its "
        "own beside A3, for the function writes C0, got 24 bytes shared"
    )
    with pytest.raises(ValueError, match=f"^{text}$"):
        function(*given[:inputs], given[3], *given[inputs + 1 :])


def test_code_grows_with_the_number_of_arguments() -> None:
    def branches(count: int) -> int:
        text = str(many(count - count // 2, count // 2).host_program().ffi_module())
        call = text.split("@many_call(", 1)[1].split("\n  }", 1)[0]
        return call.count("\n")

    few, more = branches(20), branches(60)
    assert more < 3.2 * few


def test_a_call_that_is_no_plain_one() -> None:
    """The run time takes it apart: one row with a stride of its own, arrays without elements, at any address."""
    function = many(1, 1)
    wide = np.arange(20, dtype="float32").reshape(2, 10)[:1, :2]
    assert wide.strides == (40, 4)
    result = np.zeros((1, 2), "float32")
    function(wide, result)
    assert (result == [[0, 1]]).all()
    function(np.zeros((0, 2), "float32"), np.zeros(5, "float32")[1:1].reshape(0, 2))
