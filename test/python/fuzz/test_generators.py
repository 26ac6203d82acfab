"""What the generators themselves got wrong: programs whose exact result was none, and tiles that they could not make."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from fuzz.choices import Choices, Seeded
from fuzz.program import Program
from fuzz.scripts import script
from fuzz.tiles import Tile, element_of
from fuzz.typed import integers
from tilewright import te, testing


@pytest.mark.parametrize("largest", [3, 2**32 - 1])
def test_what_is_divided_does_not_wrap(largest: int) -> None:
    """It would be small again, and so pass for exact."""
    texts = []
    for seed in range(300):
        program = Program(Choices(Seeded(seed)), np.random.default_rng(seed))
        program.placeholder((50,), "uint32", largest)
        if integers(program):
            texts.append(program.text)
    assert len(texts) > 50
    assert any("* 2 + 1" in text for text in texts) == (largest == 3)


@pytest.mark.parametrize("largest", [16_000, 32_000])
def test_what_a_script_adds_does_not_wrap(largest: int) -> None:
    made = 0
    for seed in range(50):
        program = Program(Choices(Seeded(seed)), np.random.default_rng(seed))
        program.placeholder((50,), "int16", largest)
        made += script(program)
    assert (made > 10) == (largest == 16_000)


@pytest.mark.sweep
def test_a_tile_reads_a_scalar() -> None:
    A, x = te.placeholder((8,), "int32", name="A"), te.placeholder((), "int32", name="x")
    B = te.compute((8,), lambda i: A[i] + x[()], name="B")
    for seed in range(8):  # with and without the dimensions of one element
        s = te.create_schedule(B.op)
        element = element_of(B.op)
        assert element is not None
        outer, inner = s[B].split(B.op.axis[0], factor=4)
        s[B].bind(outer, te.thread_axis("threadIdx.x"))
        s[B].tensorize(inner, Tile(Choices(Seeded(seed)), element, [4]).intrinsic("tile_of_B"))
        a, three = np.arange(8, dtype="int32"), np.array(3, "int32")
        (b,) = testing.run(tw.build(s, [A, x, B], target="sim"), [a, three], [((8,), "int32")])
        np.testing.assert_array_equal(b, a + 3)
