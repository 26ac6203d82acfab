"""Whether a change of the compiler leaves the PTX of the kernels for sm_90a as it was.

`python bench/compare_ptx.py write FOLDER [part of a name]` writes the PTX of each kernel of `cases` to a file, and
`python bench/compare_ptx.py compare BEFORE AFTER` lists the kernels whose PTX differs, with the first lines that do. Of
the text names of registers, labels and symbols, comments and locations do not count. No GPU is needed, nor ptxas.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tilewright as tw
from tilewright import ops, schedules, te
from tilewright.backend.ptx import emit_ptx
from tilewright.devices.table import find

TARGET = tw.Target("cuda", arch="sm_90a")
TYPES = {
    "bf16": ("bfloat16", "bfloat16", None),
    "bf16-f32": ("bfloat16", "float32", None),
    "f16": ("float16", "float16", None),
    "f16-f16": ("float16", "float16", "float16"),
    "tf32": ("tf32", "float32", None),
    "fp8": ("float8_e4m3fn", "bfloat16", None),
    "fp8-f16": ("float8_e5m2", "float16", None),
    "int8": ("int8", "int32", None),
}
# Shapes, types and options of `matmul_wgmma`: what the schedules of bench/ are made of, and the corners of the pass.
LARGE = (4096, 4096, 4096)
MATMULS: list[tuple[tuple[int, int, int], str, dict[str, Any]]] = [
    *((LARGE, types, {"transpose_b": True}) for types in TYPES),
    *((LARGE, "bf16", {"transpose_a": a, "transpose_b": b}) for a in (False, True) for b in (False, True)),
    *(
        (LARGE, "bf16", {"swap_ab": True, "transpose_a": a, "transpose_b": b})
        for a in (False, True)
        for b in (False, True)
    ),
    *((LARGE, "bf16", {"raster": raster}) for raster in ("row", "hilbert")),
    *((LARGE, "bf16", {"blocks": None, "tile": tile}) for tile in ((128, 256), (64, 128))),
    *((LARGE, "bf16", {"narrower": 16, "swap_ab": swaps, "transpose_b": not swaps}) for swaps in (False, True)),
    *((LARGE, "bf16", {"narrower": 16, "deferred": later, "serpentine_k": True}) for later in (False, True)),
    *((LARGE, "bf16", {"stream_k": True, "deferred": later}) for later in (False, True)),
    *((LARGE, "bf16", {"specialize": False, "stages": 3, "narrower": n, "tile": (128, 128)}) for n in (0, 32)),
    *((LARGE, "bf16", {"cluster": cluster, "transpose_b": True}) for cluster in ((2, 1), (1, 2), (2, 2))),
    *((LARGE, "bf16", {"cluster": cluster, "stream_k": True}) for cluster in ((2, 1), (1, 2))),
    *((LARGE, "bf16", {"consumers": n, "tile": (64, 128), "cluster": (1, 1)}) for n in (2, 3)),
    *((LARGE, "fp8", {"transpose_b": True, "promote": promote}) for promote in (0, 128, 384)),
    (LARGE, "fp8", {"transpose_b": True, "stream_k": True}),
    (LARGE, "fp8", {"transpose_b": True, "consumers": 2, "tile": (64, 128)}),
    (LARGE, "int8", {"transpose_b": True, "narrower": 32, "tile": (128, 128), "blocks": 132}),
    (LARGE, "bf16-f32", {"columns": 64, "cluster": (1, 1)}),
    (LARGE, "bf16-f32", {"columns": 64, "swap_ab": True}),
    (LARGE, "bf16", {"bias": True}),
    (LARGE, "bf16", {"bias": True, "deferred": True, "residual": True}),
    (LARGE, "bf16", {"bias": True, "swap_ab": True, "residual": True}),
    (LARGE, "bf16", {"serpentine_k": True, "deferred": False}),
    ((4096, 4096, 4096), "bf16", {"dependent": True}),
    ((8192, 8192, 8192), "bf16", {"narrower": 16, "deferred": True, "transpose_b": True}),
    ((8192, 8192, 8192), "bf16", {"narrower": 32, "raster": "hilbert"}),
    ((4095, 4097, 4093), "bf16", {}),
    ((130, 133, 72), "bf16", {"tile": (64, 64), "bias": True}),
    ((130, 135, 72), "f16", {"tile": (64, 64), "batch": 2, "cluster": (1, 1)}),
    ((33, 48, 66), "f16", {"tile": (64, 64), "transpose_a": True}),
    ((70, 71, 72), "f16", {"tile": (64, 64), "transpose_b": True, "bias": True}),
    ((180, 136, 136), "bf16-f32", {"tile": (64, 64), "cluster": (2, 1), "blocks": 4, "bias": True}),
    ((64, 192, 128), "bf16", {"tile": (64, 64), "cluster": (1, 2), "blocks": None}),
    ((128, 128, 64), "bf16", {"tile": (64, 64), "cluster": (2, 2), "blocks": 4}),
    ((64, 256, 128), "bf16", {"tile": (64, 64), "cluster": (1, 4), "blocks": 4}),
    ((64, 64, 250), "bf16", {"tile": (64, 64), "split_k": 3}),
    ((64, 64, 250), "bf16", {"tile": (64, 64), "split_k": 3, "dependent": True}),
    (
        (192, 72, 200),
        "bf16",
        {"consumers": 3, "blocks": 1, "stages": 2, "cluster": (1, 1), "bias": True, "tile": (64, 64)},
    ),
    ((64, 128, 40), "f16", {"tile": (64, 64), "specialize": False, "stages": 2}),
    ((256, 64, 128), "f16", {"specialize": False, "tile": (128, 64), "cluster": (2, 1)}),
    ((128, 512, 320), "bf16", {"tile": (64, 256), "columns": 128, "blocks": 1, "deferred": True}),
    ((128, 256, 192), "bf16", {"tile": (64, 128), "specialize": False, "stages": 3, "deferred": True}),
    ((320, 128, 192), "bf16", {"tile": (64, 128), "cluster": (2, 1), "blocks": 4, "deferred": True}),
    ((64, 320, 512), "bf16", {"tile": (64, 64), "stream_k": True, "deferred": True, "blocks": 2}),
    ((64, 64, 448), "bf16", {"tile": (64, 64), "batch": 3, "cluster": (1, 1), "stream_k": True, "blocks": 2}),
    ((150, 248, 136), "bf16", {"tile": (64, 64), "blocks": 5, "narrower": 24, "bias": True, "cluster": (1, 1)}),
    ((128, 256, 200), "bf16", {"tile": (64, 64), "blocks": 5, "narrower": 16, "transpose_a": True, "bias": True}),
    ((320, 512, 200), "bf16", {"tile": (64, 64), "blocks": 7, "narrower": 8, "raster": "hilbert", "cluster": (1, 1)}),
    ((64, 96, 128), "f16", {"tile": (64, 48), "transpose_b": True}),
    ((16, 8192, 8192), "bf16", {"tile": (16, 128), "swap_ab": True}),
    ((900, 64, 64), "bf16", {"tile": (448, 32), "blocks": 1, "registers": (24, 64), "deferred": True}),
]
# Of `conv2d_wgmma`: batch, channels, size, filters, kernel.
CONVOLUTIONS: list[tuple[tuple[int, int, int, int, int], dict[str, Any]]] = [
    ((32, 64, 56, 64, 3), {}),
    ((32, 256, 14, 256, 3), {}),
    ((32, 3, 224, 64, 7), {"stride": 2}),
    ((1, 1024, 13, 1024, 3), {}),
    ((1, 64, 9, 64, 3), {"tile": (1, 8, 8, 64), "blocks": 2}),
    ((3, 64, 7, 72, 3), {"tile": (2, 8, 8, 72), "in_dtype": "bfloat16"}),
    ((3, 72, 9, 64, 3), {"tile": (1, 8, 16, 64), "stride": 2, "bias": True}),
    ((2, 64, 11, 30, 3), {"tile": (1, 8, 8, 32), "dilation": 2, "bias": True}),
    ((2, 64, 11, 64, 3), {"tile": (2, 4, 16, 64), "share_rows": False, "blocks": None}),
    ((2, 32, 11, 64, 1), {"out_dtype": "float32"}),
    ((1, 64, 9, 128, 3), {"tile": (1, 8, 16, 64), "cluster": (1, 2), "bias": True}),
    ((2, 64, 9, 64, 3), {"tile": (1, 8, 16, 64), "cluster": (2, 1), "share_rows": False}),
    ((1, 3, 40, 64, 7), {"tile": (1, 8, 16, 64), "stride": 2, "cluster": (2, 1), "bias": True}),
    ((1, 128, 13, 64, 3), {"tile": (1, 8, 16, 64), "split_k": 2, "bias": True}),
    ((1, 20, 11, 64, 5), {"tile": (1, 8, 8, 64), "consumers": 2}),
    ((2, 3, 21, 64, 7), {"tile": (2, 4, 8, 64), "stride": 2, "share_rows": False}),
    ((1, 64, 18, 64, 5), {"tile": (1, 16, 8, 64), "stride": 2}),
]


# Of `attention_wgmma`: batch, queries, keys, width.
ATTENTIONS: list[tuple[tuple[int, int, int, int], dict[str, Any]]] = [
    ((128, 4096, 4096, 128), {}),
    ((128, 4096, 4096, 128), {"causal": True}),
    ((128, 4096, 4096, 64), {"causal": True}),
    ((2, 128, 256, 32), {"tile": (64, 64), "dtype": "float16"}),
    ((2, 256, 256, 256), {"tile": (64, 64)}),
]


def matmul(shape: tuple[Any, Any, Any], types: str, options: dict[str, Any]) -> Any:
    in_dtype, out_dtype, acc_dtype = TYPES[types]
    options = dict(options)
    bias, residual = options.pop("bias", False), options.pop("residual", False)
    if bias or residual:
        b, r = te.placeholder(shape[1:2], "float32", name="b"), te.placeholder(shape[:2], out_dtype, name="r")
        options["operands"] = [b, r] if residual else [b]

        def epilogue(value: te.Expr, i: te.Expr, j: te.Expr) -> te.Expr:
            biased = te.max(value + b[j], 0.0)
            return biased + r[i, j].astype("float32") if residual else biased

        options["epilogue"] = epilogue
    return schedules.matmul_wgmma(*shape, in_dtype, out_dtype, acc_dtype=acc_dtype, **options)


def convolution(shape: tuple[int, int, int, int, int], options: dict[str, Any]) -> Any:
    options = dict(options)
    if options.pop("bias", False):
        b = te.placeholder(shape[3:4], "float32", name="b")
        options["operands"] = [b]
        options["epilogue"] = lambda value, n, y, x, f: te.max(value + b[f], 0.0)
    return schedules.conv2d_wgmma(*shape, **options)


def symbolic() -> Iterator[tuple[tuple[Any, Any, Any], dict[str, Any]]]:
    M, N, K = te.var("M"), te.var("N", divisible_by=8), te.var("K", divisible_by=8)
    small = {"tile": (64, 64), "blocks": 2}
    yield (M, 4096, 4096), {}
    yield (M, N, K), {"transpose_b": True}
    yield (M, 64, 64), small | {"cluster": (2, 1)}
    yield (M, 64, 64), small | {"cluster": (2, 1), "blocks": None}
    yield (M, 136, 72), small | {"transpose_b": True, "raster": "row", "blocks": 3}
    yield (M, 64, 128), small | {"consumers": 2, "blocks": 1}
    yield (M, 64, 192), small | {"specialize": False, "stages": 3}
    yield (72, 72, K), small | {"specialize": False, "stages": 3}
    yield (72, 72, K), small | {"cluster": (2, 1)}
    yield (M, N, K), small | {"batch": 2, "group": 2, "blocks": 3}
    yield (64, 64, te.var("K", divisible_by=8, min=8)), small | {"raster": "hilbert"}
    yield (M, 128, 192), small | {"swap_ab": True, "deferred": True}


def measured() -> Iterator[tuple[str, Callable[[], Any]]]:
    """What a table of measured choices has: each of them is what somebody gets."""
    from tilewright.schedules.matmuls.selection import table

    once = {
        f"{problem.dtype} {choice.schedule} {json.dumps(choice.options)}": (problem, choice)
        for problem, choice in table(find("H200"))
    }
    for problem, choice in once.values():
        if choice.schedule != "matmul_wgmma":
            continue

        def make(p: Any = problem, choice: Any = choice) -> Any:
            some, dtype = (p.batch,) if p.batch > 1 else (), "float32" if p.dtype == "tf32" else p.dtype
            a = ops.Operand((*some, *((p.K, p.M) if p.layout[0] == "T" else (p.M, p.K))), dtype)
            b = ops.Operand((*some, *((p.N, p.K) if p.layout[1] == "T" else (p.K, p.N))), dtype)
            options = {"precision": p.dtype} if dtype != p.dtype else {}
            transposed = {"transpose_a": p.layout[0] == "T", "transpose_b": p.layout[1] == "T"}
            return ops.matmul.schedule(a, b, **transposed, **options, choice=choice, target=TARGET)

        yield f"{problem.M}x{problem.N}x{problem.K} {problem.dtype} {problem.layout} {choice.options}", make


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    for shape, types, options in MATMULS:
        yield f"matmul {shape} {types} {options}", lambda s=shape, t=types, o=options: matmul(s, t, o)
    for shape, options in symbolic():
        sizes = tuple(str(getattr(extent, "name", extent)) for extent in shape)
        yield f"symbolic {sizes} {options}", lambda s=shape, o=options: matmul(s, "bf16", o)
    for shape, options in CONVOLUTIONS:
        yield f"convolution {shape} {options}", lambda s=shape, o=options: convolution(s, o)
    for shape, options in ATTENTIONS:
        yield f"attention {shape} {options}", lambda s=shape, o=options: schedules.attention_wgmma(*s, **o)
    for name, make in measured():
        yield f"measured {name}", make


def file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.=-]+", "_", name).strip("_")[:180] + ".ptx"


def write(folder: Path, part: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in cases():
        if part not in name:
            continue
        try:
            text = emit_ptx(tw.lower(*make(), "f", stage="nvvm", target=TARGET))
        except tw.TilewrightError as error:
            text = f"// {type(error).__name__}: {error}\n"
            print(name, text.splitlines()[0][:200], file=sys.stderr)
        (folder / file_name(name)).write_text(text)


def plain(text: str) -> list[str]:
    """The text's lines, with registers and labels numbered in the order in which they come."""
    text = re.sub(r"//.*|^\s*\.(loc|file|section)\b.*", "", text, flags=re.MULTILINE)
    numbers: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        kind = re.sub(r"[0-9]+.*", "", found[0])
        return numbers.setdefault(found[0], f"{kind}{len(numbers)}")

    text = re.sub(r"%[a-z]+[0-9]+|\$L__[A-Za-z_]+[0-9_]*", number, text)
    # How many of a kind there are is declared above.
    text = re.sub(r"^\s*\.reg .*", "", text, flags=re.MULTILINE)
    return [line.strip() for line in text.splitlines() if line.strip()]


def compare(before: Path, after: Path) -> int:
    names = sorted({path.name for path in before.glob("*.ptx")} & {path.name for path in after.glob("*.ptx")})
    different = 0
    for name in names:
        old, new = (plain((folder / name).read_text()) for folder in (before, after))
        if old == new:
            continue
        different += 1
        at = next((i for i, pair in enumerate(zip(old, new)) if pair[0] != pair[1]), min(len(old), len(new)))
        same = (
            "the same lines in another order" if sorted(map(opcode, old)) == sorted(map(opcode, new)) else "other lines"
        )
        print(f"{name}: {len(old)} and {len(new)} lines, {same}, from line {at} on")
        print(f"  - {old[at : at + 1]}\n  + {new[at : at + 1]}")
    missing = {path.name for path in before.glob("*.ptx")} ^ {path.name for path in after.glob("*.ptx")}
    print(f"{len(names)} kernels, {different} differ" + (f", {len(missing)} in one folder alone" if missing else ""))
    return int(different > 0 or not names)


def opcode(line: str) -> str:
    return line.split()[0] if not line.startswith("@") else " ".join(line.split()[1:2])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writes = commands.add_parser("write")
    writes.add_argument("folder", type=Path)
    writes.add_argument("part", nargs="?", default="")
    compares = commands.add_parser("compare")
    compares.add_argument("before", type=Path)
    compares.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "write":
        write(options.folder, options.part)
        return 0
    return compare(options.before, options.after)


if __name__ == "__main__":
    sys.exit(main())
