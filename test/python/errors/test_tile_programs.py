"""What form-tile-kernels says of loops that are not those of a product by warpgroups, though they are marked so.

Each case is the loops of a product that is right, in which something is changed that no schedule would.
"""

from __future__ import annotations

import re
from functools import cache

import pytest
from mlir import ir
from mlir.passmanager import PassManager

import tilewright as tw
from tilewright import schedules

PASS = "builtin.module(func.func(form-tile-kernels))"
SUMS = "memref<64x64xf32, #gpu.address_space<private>>"
COPY = "schedule.columns = 64 : i64, schedule.copy_by = #schedule.copier<tma>, schedule.swizzle = 128 : i64"
# Loops with what is in them, up to the axis of the outermost.
STORED = re.compile(
    r"            scf\.for (?:(?!scf\.for).)*scf\.for (?:(?!scf\.for).)*\{schedule.axis = \"C\.shared\.i0\.inner\"\}\n",
    re.S,
)
RESULT = re.compile(
    r"          scf\.for (?:(?!scf\.for).)*scf\.for (?:(?!scf\.for).)*\{schedule.axis = \"C\.i0\.inner\"\}\n", re.S
)
# The loops of the product, rows and columns of the sums outside.
OUTER = "scf.for %arg8 = %c0 to %c64 step %c1 {\n                scf.for %arg9 = %c0 to %c64 step %c1 {\n"
INNER = "                  scf.for %arg10 = %c0 to %c64 step %c1 {"
B = "memref.load %alloc_1[%arg9, %arg10] : memref<64x64xf16, #gpu.address_space<workgroup>>"


@cache
def loops() -> ir.Module:
    """C = A B^T by two warpgroups, whose rows the engine stores together."""
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
        "wgmma of stage 'P': expected 64 rows of sums a warpgroup, got 32: bind the loop over rows of 64 to threadIdx.y",
        [(SUMS, SUMS.replace("64", "32", 1))],
    ),
    (
        "wgmma of stage 'P': expected a multiple of 8 columns of sums up to 256, got 60",
        [(SUMS, SUMS.replace("x64", "x60"))],
    ),
    (
        "wgmma of stage 'P': expected loops that go through all sums, 64 rows and 64 columns",
        [(OUTER + INNER, OUTER.replace("c64", "c2", 1) + INNER)],
    ),
    (
        "wgmma of stage 'P': expected a second operand in shared memory that its loop's copies fill, got 'B': cache_read it "
        'to "shared" and copy it by "tma"',
        [(B, "memref.load %arg1[%arg9, %arg10] : memref<64x128xf16>")],
    ),
    (
        "wgmma of stage 'P': expected a first operand from a multiple of 8 rows of buffer 'As' on",
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
        "wgmma: expected loops that store to one buffer beside those of the product, got 2 stores",
        [(re.compile(r"(\n +memref\.store %\w+, %alloc\[.*)"), r"\1\1")],
    ),
    (
        "wgmma: expected stages that are computed before the product to be its operands, got stage 'P'",
        [("arith.constant 0.000000e+00 : f32", "arith.constant 1.000000e+00 : f32")],
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
    ("copy_by: expected one result that the engine copies, got a second", [(RESULT, r"\g<0>\g<0>")]),
    (
        "wgmma: expected stage 'C' to be computed by each warpgroup of its own rows, got it outside of them",
        [(" {" + COPY + "}", "")],
    ),
    ("wgmma of stage 'P': expected a stage that reads the sums, got none in the kernel", [(STORED, ""), (RESULT, "")]),
]


def message(text: str, context: ir.Context) -> str:
    with context:
        module = ir.Module.parse(text)
        with pytest.raises(ir.MLIRError) as error:
            PassManager.parse(PASS).run(module.operation)
    return error.value.error_diagnostics[0].message


@pytest.mark.parametrize(("expected", "changes"), CASES, ids=[text.split(": ", 1)[1][:50] for text, _ in CASES])
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
