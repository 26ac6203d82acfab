"""What raise-to-tile-ops says of loops that are not those of a product by warpgroups, though they are marked so.

Each case is the loops of a product that is right, in which something is changed that no schedule would.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from mlir import ir
from mlir.passmanager import PassManager

import tilewright as tw
from tilewright import schedules

PASS = "builtin.module(func.func(loops-to-tile))"
SUMS = "memref<64x64xf32, #gpu.address_space<private>>"
COPY = "schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>"
# Loops with what is in them, up to the axis of the outermost.
STORED = re.compile(
    r"            scf\.for (?:(?!scf\.for).)*scf\.for (?:(?!scf\.for).)*\{schedule.axis = #schedule.axis<\"i0.inner\" of \"C.shared\">\}\n",
    re.S,
)
RESULT = re.compile(
    r"          scf\.for (?:(?!scf\.for).)*scf\.for (?:(?!scf\.for).)*\{schedule.axis = #schedule.axis<\"i0.inner\" of \"C\">\}\n",
    re.S,
)
# The loops of the product, rows and columns of the sums outside.
OUTER = "scf.for %arg8 = %c0 to %c64 step %c1 {\n                scf.for %arg9 = %c0 to %c64 step %c1 {\n"
INNER = "                  scf.for %arg10 = %c0 to %c64 step %c1 {"
B = (
    "memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} "
    ": memref<64x64xf16, #gpu.address_space<workgroup>>"
)
# What is multiplied and added, and copied.
SUM = "%0 = memref.load %alloca[%arg8, %arg9]"
MULTIPLY, ADD = "%6 = arith.mulf %3, %5", "%7 = arith.addf %0, %6"
ADDED = re.compile(r"( +)memref\.store %7, .*\n")
FILLED = re.compile(r" +memref\.store %1, %alloc_1\[.*\n")
FILL = re.compile(
    r"              scf\.for (?:(?!scf\.for).)*scf\.for (?:(?!scf\.for).)*\{schedule.axis = #schedule.axis<\"i0\" of \"Bs\">\}\n",
    re.S,
)
KEPT = re.compile(r" +memref\.store %0, %alloc\[%1, %arg8\].*\n")
MASK = """            scf.for %i = %c0 to %c64 step %c1 {
              scf.for %j = %c0 to %c64 step %c1 {
                %s = memref.load %alloca[%i, %j] : memref<64x64xf32, #gpu.address_space<private>>
                %none = arith.subf %s, %s : f32
                %isAbove = arith.cmpi slt, %i, %j : index
                scf.if %isAbove {
                  memref.store %none, %alloca[%i, %j] : memref<64x64xf32, #gpu.address_space<private>>
                }
              }
            }
"""
OF_MATMUL = "'scf.for' op expected the loops of one matmul, got "


@cache
def loops() -> ir.Module:
    """C = A B^T by two warpgroups, whose rows TMA stores together."""
    options = {"tile": (128, 64), "blocks": None, "cluster": (1, 1), "transpose_b": True}
    return tw.lower(
        *schedules.matmul_wgmma(128, 64, 128, "float16", **options), stage="loops", target="cuda -arch=sm_90a"
    )


CASES: list[tuple[str, list[tuple[str | re.Pattern[str], str]]]] = [
    (
        "wgmma of stage 'P': expected a stage in local memory, whose elements are in registers, got one in shared memory: "
        'cache_write it to "local"',
        [(SUMS, SUMS.replace("private", "workgroup")), ("memref.alloca(", "memref.alloc(")],
    ),
    (
        "wgmma of stage 'P': expected 64 accumulator rows a warpgroup, got 32: bind the loop over rows of 64 to threadIdx.y",
        [(SUMS, SUMS.replace("64", "32", 1))],
    ),
    (
        "wgmma of stage 'P': expected a multiple of 8 accumulator columns up to 256, got 60",
        [(SUMS, SUMS.replace("x64", "x60"))],
    ),
    (
        "wgmma of stage 'P': expected loops that go through the accumulator, 64 rows and 64 columns",
        [
            (OUTER + INNER, OUTER.replace("%arg9 = %c0 to %c64", "%arg9 = %c0 to %c128") + INNER),
            ("wgmma, 64x64x64", "wgmma, 64x128x64"),
        ],
    ),
    (
        "wgmma of stage 'P': expected operand B in shared memory that its loop's copies fill, got 'B': cache_read it "
        'to "shared" and copy it by "tma"',
        [(B, B.replace("%alloc_1", "%arg1").replace("64x64xf16, #gpu.address_space<workgroup>", "64x128xf16"))],
    ),
    (
        "wgmma of stage 'P': expected operand A from a multiple of 8 rows of buffer 'As' on",
        [("(d0, d1) -> (d0 + d1 * 64)", "(d0, d1) -> (d0 + d1 * 4)")],
    ),
    (
        "wgmma of stage 'P': expected to sum over elements of buffer 'As' that lie one behind the other",
        [
            (
                "%2 = memref.load %alloc_0[%1, %arg10]",
                "%far = affine.apply affine_map<(d0) -> (d0 * 2)>(%arg10)\n%2 = memref.load %alloc_0[%1, %far]",
            )
        ],
    ),
    (
        "wgmma of stage 'P': expected types that it has an instruction for, got 'f16' and 'bf16' to 'f32'",
        [
            ("memref<64x64xf16", "memref<64x64xbf16"),
            ("memref<64x128xf16", "memref<64x128xbf16"),
            ("%4 : f16", "%4 : bf16"),
        ],
    ),
    (
        "wgmma of stage 'P': expected operands of 'tf32' whose rows are summed over along, got 'Bs', whose columns are summed "
        "over",
        [("xf16", "xf32"), (B.replace("f16", "f32"), B.replace("f16", "f32").replace("%arg9, %arg10", "%arg10, %arg9"))]
        + [(re.compile(r".*arith\.extf.*\n"), ""), ("arith.mulf %3, %5", "arith.mulf %2, %4")],
    ),
    (
        "wgmma: expected loops that store to one buffer beside those of the matmul, got 2 stores",
        [(re.compile(r"(\n +memref\.store %\w+, %alloc\[.*)"), r"\1\1")],
    ),
    (
        "wgmma of stage 'P': expected a result of which the 64 rows of a warpgroup are a box, got 96 rows",
        [
            ("memref<128x64xf32, #gpu.address_space<workgroup>>", "memref<96x64xf32, #gpu.address_space<workgroup>>"),
            (
                "%c128 = arith.constant 128 : index",
                "%c96 = arith.constant 96 : index\n%c128 = arith.constant 128 : index",
            ),
            (
                re.compile(r"to %c128( step %c1 \{\n +scf\.for %\w+ = %c0 to %c64 step %c1 \{\n +%0 = memref\.load)"),
                r"to %c96\1",
            ),
        ],
    ),
    (
        "wgmma: expected stage 'C' to be computed by each warpgroup of its own rows, got it outside of them",
        [(" {" + COPY + "}", "")],
    ),
    (
        "wgmma of stage 'P': expected a stage that reads the accumulator, got none in the kernel",
        [(STORED, ""), (RESULT, "")],
    ),
    (OF_MATMUL + "a sum with something else than A times B", [(MULTIPLY, MULTIPLY.replace("mulf", "addf"))]),
    (OF_MATMUL + "a store of something else than a sum", [(ADD, ADD.replace("addf", "subf"))]),
    (OF_MATMUL + "a multiplication of something else than A and B", [(MULTIPLY, MULTIPLY.replace("%3", "%0"))]),
    (
        OF_MATMUL + "a multiplication of something else than A and B",
        [(MULTIPLY, "%n = arith.negf %5 : f32\n%6 = arith.mulf %3, %n")],
    ),
    (
        OF_MATMUL + "a multiplication of something else than A and B",
        [(MULTIPLY, MULTIPLY.replace("%5", "%3"))],
    ),
    (
        OF_MATMUL + "an accumulator that is stored elsewhere than where it is loaded from",
        [(SUM, SUM.replace("%arg8, %arg9", "%arg9, %arg8"))],
    ),
    # A causal mask that somebody wrote into the loops.
    (
        OF_MATMUL + "a condition",
        [(ADDED, r"%in = arith.cmpi sge, %arg8, %arg9 : index\nscf.if %in {\n\g<0>}\n")],
    ),
    (OF_MATMUL + "more than one statement", [(ADDED, r"\g<0>\g<0>")]),
    (OF_MATMUL + "'gpu.barrier'", [(ADDED, r"\g<0>gpu.barrier\n")]),
    (
        OF_MATMUL + "one that carries values",
        [
            (INNER, "%carried = scf.for %arg10 = %c0 to %c64 step %c1 iter_args(%it = %c0) -> index {"),
            (ADDED, r"\g<0>scf.yield %it : index\n"),
        ],
    ),
    (
        "wgmma of stage 'P': expected the loops of one matmul, got indices that are no sums of multiples of loops",
        [("%1 = affine.apply #map1(%arg8, %arg6)", "%1 = arith.xori %arg8, %arg6 : index")],
    ),
    (
        "wgmma of stage 'P': expected the loops of one matmul, got operands that are summed over in different orders",
        [
            ("%c2 = arith", "%c32 = arith.constant 32 : index\n%c2 = arith"),
            (INNER, "scf.for %o = %c0 to %c2 step %c1 {\nscf.for %i = %c0 to %c32 step %c1 {"),
            (
                '} {schedule.axis = #schedule.axis<"k" of "P">, schedule.matrix_axis = #schedule.matrix_axis<k>}',
                "} {schedule.matrix_axis = #schedule.matrix_axis<k>}\n} {schedule.matrix_axis = #schedule.matrix_axis<k>}",
            ),
            (SUM, "%ka = affine.apply affine_map<(o, i) -> (o * 32 + i)>(%o, %i)\n" + SUM),
            (SUM, "%kb = affine.apply affine_map<(o, i) -> (o + i * 2)>(%o, %i)\n" + SUM),
            ("%alloc_0[%1, %arg10]", "%alloc_0[%1, %ka]"),
            ("%alloc_1[%arg9, %arg10]", "%alloc_1[%arg9, %kb]"),
        ],
    ),
    (
        "wgmma: expected loops from 0 by 1, got axis 'P.k.outer'",
        [("scf.for %arg7 = %c0 to %c2 ", "scf.for %arg7 = %c1 to %c2 ")],
    ),
    (OF_MATMUL + "one that does not run from 0 by 1 to a constant", [(INNER, INNER.replace("%c0 to", "%c1 to"))]),
    (
        "copy_by: stage 'Bs': expected a copy where a condition holds, got one where it does not",
        [(FILLED, r"%in = arith.cmpi slt, %arg8, %c64 : index\nscf.if %in {\n} else {\n\g<0>}\n")],
    ),
    (
        "copy_by: stage 'Bs': expected a copy of boxes, at indices that are sums of multiples of loops",
        [("memref.load %arg1[%arg8, %0]", "memref.load %arg1[%x, %0]")]
        + [("%1 = memref.load %arg1", "%x = arith.xori %arg8, %c1 : index\n%1 = memref.load %arg1")],
    ),
    (
        "wgmma: stage 'C.shared' of the accumulator of 'P': expected elements that are stored where a condition holds, got a store "
        "where one does not",
        [(KEPT, r"%in = arith.cmpi slt, %arg8, %arg7 : index\nscf.if %in {\n} else {\n\g<0>}\n")],
    ),
    (
        "wgmma: stage 'P' of the accumulator of 'P': expected elements that are stored anew everywhere, got a condition under which "
        "they stay as they were: compute both by te.if_then_else",
        [(STORED, MASK + r"\g<0>")],
    ),
    (
        "software_pipeline: expected a loop with wgmma to fill shared buffers and to multiply, got another stage in it",
        [(FILL, r"\g<0>\g<0>")],
    ),
    (
        "software_pipeline: expected a loop with wgmma to fill shared buffers and to multiply, got 'gpu.barrier' in it",
        [(FILL, r"\g<0>gpu.barrier\n")],
    ),
    (
        "wgmma: expected loops that load, compute and store beside those of the matmul, got 'gpu.barrier'",
        [(STORED, r"\g<0>gpu.barrier\n")],
    ),
]


def message(text: str, context: ir.Context) -> str:
    """What the verifier of loops says of the text, or the passes where it says nothing."""
    with context, pytest.raises(ir.MLIRError) as error:
        PassManager.parse(PASS).run(ir.Module.parse(text).operation)
    return error.value.error_diagnostics[0].message


@pytest.mark.parametrize(("expected", "changes"), CASES, ids=[text.split(": ", 1)[-1][:60] for text, _ in CASES])
def test_what_is_no_product_is_refused(expected: str, changes: list[tuple[str | re.Pattern[str], str]]) -> None:
    module = loops()
    text = str(module)
    for old, new in changes:
        changed = old.sub(new, text) if isinstance(old, re.Pattern) else text.replace(old, new)
        assert changed != text, old
        text = changed
    assert message(text, module.context) == expected


def test_the_loops_are_right() -> None:
    module = loops()
    with module.context:
        copy = ir.Module.parse(str(module))
        PassManager.parse(PASS).run(copy.operation)
    assert "tile.wgmma" in str(copy)


def test_what_all_blocks_of_a_cluster_need() -> None:
    """A load goes to the blocks along one axis: each row of the cluster brings what does not depend on either for itself."""
    module = loops()
    text = str(module)
    for axis, tag in (("%arg4", "blockIdx.y"), ("%arg5", "blockIdx.x")):
        text = text.replace(f"scf.for {axis} = %c0 to %c1", f"scf.for {axis} = %c0 to %c2")
        bind = f"schedule.bind = #schedule.thread<{tag}>"
        text = text.replace(bind, f"{bind}, schedule.cluster = 2 : i64")
    with module.context:
        changed = ir.Module.parse(text)
        PassManager.parse(PASS).run(changed.operation)
    made = str(changed)
    assert "multicast x" in made and "multicast y" not in made
    # Of A's 128 rows and B's 64 each of two blocks brings a half.
    assert re.findall(r"tile\.encode %arg[01] .*-> <(\w+),", made) == ["64x64xf16", "32x64xf16"]


def test_sums_may_begin_at_another_number() -> None:
    text = str(loops()).replace("arith.constant 0.000000e+00 : f32", "arith.constant 1.000000e+00 : f32")
    func = tw.build(text, start="loops", target="sim", name="main")
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((128, 128), (64, 128)))
    c = np.zeros((128, 64), np.float32)
    func(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32) + 1)
