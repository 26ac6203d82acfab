"""What instructions a kernel has: at the gpu stage as meant, in PTX, and in SASS as the assembler made them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

__all__ = ["KINDS", "count_ops", "count_ptx", "count_sass", "mismatches_of", "stages_of", "tensor_types"]

# Of each kind, what it is in PTX and what in SASS.
KINDS: Mapping[str, tuple[str, str]] = {
    "wgmma": (r"wgmma\.mma_async", r"[HIQB]GMMA\b"),
    "mma.sync": (r"mma\.sync", r"[HIDQB]MMA\b"),
    "ldmatrix": (r"ldmatrix", r"LDSM\b"),
    "stmatrix": (r"stmatrix", r"STSM\b"),
    "TMA load": (r"cp\.async\.bulk\.tensor\S*\.shared::cluster\.global", r"UTMALDG"),
    "TMA store": (r"cp\.async\.bulk\.tensor\S*\.global\.shared::cta", r"UTMASTG"),
    "TMA addition": (r"cp\.reduce\.async\.bulk\.tensor", r"UTMAREDG"),
    "cp.async": (r"cp\.async\.c[ag]\.", r"LDGSTS"),
    "multiply-add": (r"fma\.rn\.(?:ftz\.)?f(?:32|64)", r"[FD]FMA\b"),
    "global load, 16 bytes": (r"ld\.global\S*\.(?:v4\.[bfus]32|v2\.[bfus]64)", r"LDG\S*\.128"),
    "global load": (r"ld\.global", r"LDG\b"),
    "global store, 16 bytes": (r"st\.global\S*\.(?:v4\.[bfus]32|v2\.[bfus]64)", r"STG\S*\.128"),
    "global store": (r"st\.global", r"STG\b"),
    "shared load, 16 bytes": (r"ld\.shared\S*\.(?:v4\.[bfus]32|v2\.[bfus]64)", r"LDS\S*\.128"),
    "shared load": (r"ld\.shared", r"LDS\b"),
    "shared store, 16 bytes": (r"st\.shared\S*\.(?:v4\.[bfus]32|v2\.[bfus]64)", r"STS\S*\.128"),
    "shared store": (r"st\.shared", r"STS\b"),
    "local memory": (r"(?:ld|st)\.local", r"(?:LDL|STL)\b"),
    "shuffle": (r"shfl\.sync", r"SHFL\b"),
    "barrier": (r"bar(?:rier)?\.(?:cta\.)?sync", r"BAR\.SYNC"),
    "register budget": (r"setmaxnreg", r"USETMAXREG"),
}
# The ops of the gpu stage that are such instructions, one or several each.
_OPS = {
    "wgmma": r"tile\.wgmma ",
    "mma.sync": r"nvgpu\.mma\.sync",
    "ldmatrix": r"nvgpu\.ldmatrix",
    "stmatrix": r"tile\.store_fragment .*, !?(?:tile\.buffer)?<\w+x(?:b?f16)\b",
    "TMA load": r"tile\.tma_load",
    "TMA store": r"tile\.tma_store (?!.* reduce_add)",
    "TMA addition": r"tile\.tma_store .* reduce_add",
    "cp.async": r"nvgpu\.device_async_copy",
    "shuffle": r"gpu\.shuffle",
    "register budget": r"tile\.role .* registers ",
}
# What no op asks for, and why it is there all the same.
_UNMEANT = {"local memory": "what was to be in registers"}
_PTX = tuple((kind, re.compile(ptx)) for kind, (ptx, _) in KINDS.items())
_SASS = tuple((kind, re.compile(sass)) for kind, (_, sass) in KINDS.items())


def count_ptx(ptx: str) -> dict[str, Counter[str]]:
    """Of each kernel the number of instructions of each kind; of several kinds the first in `KINDS` counts.

    >>> ptx = '''.visible .entry f(.param .u64 p)
    ... {
    ...   ld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
    ...   fma.rn.f32 %f1, %f2, %f3, %f4;
    ...   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
    ...       {%r5, %r6, %r7, %r8},
    ... }'''
    >>> dict(count_ptx(ptx)["f"])
    {'global load, 16 bytes': 1, 'multiply-add': 1, 'mma.sync': 1}
    """
    counts: dict[str, Counter[str]] = {}
    kernel, depth = None, 0
    for line in ptx.splitlines():
        before, depth = depth, depth + line.count("{") - line.count("}")
        if found := re.search(r"\.entry\s+([\w$]+)", line):
            kernel = counts.setdefault(found[1], Counter())
        elif before and not depth:  # inline assembly has braces of its own
            kernel = None
        elif kernel is not None:  # an instruction of many operands goes on in lines that begin with these
            _count(kernel, re.sub(r"^\s*(?:@!?%p\d+\s+)?", "", line), _PTX)
    return counts


def count_ops(kernels: str) -> dict[str, Counter[str]]:
    """Of each kernel, from its text at the gpu stage, the number of ops that say which instruction they are to be.

    >>> kernels = '''gpu.func @f(%arg0: index) kernel {
    ...   tile.role "consumer" warps 4 registers 232 {
    ...   %3 = tile.wgmma %1, %2 : !tile.buffer<64x64xf16>, !tile.buffer<64x64xf16> -> !tile.accumulator<64x64xf32>
    ...   tile.store_fragment %4 to %5 : <64x64xf32>, <64x64xbf16, swizzle = 128>'''
    >>> dict(count_ops(kernels)["f"])
    {'register budget': 1, 'wgmma': 1, 'stmatrix': 1}
    """
    counts: dict[str, Counter[str]] = {}
    kernel: Counter[str] = Counter()
    for line in kernels.splitlines():
        if found := re.search(r"gpu\.func @([\w$]+)", line):
            kernel = counts.setdefault(found[1], Counter())
        kernel.update(kind for kind, pattern in _OPS.items() if re.search(pattern, line))
    return counts


def mismatches_of(meant: Mapping[str, int], found: Mapping[str, int], where: str) -> tuple[str, ...]:
    """What was meant and is not there, and what is there that nothing asks for.

    >>> mismatches_of({"wgmma": 2, "stmatrix": 1}, {"wgmma": 8}, "SASS")
    ('stmatrix: 1 op of the kernel is to be that, none is in SASS',)
    >>> mismatches_of({}, {"local memory": 3}, "SASS")
    ('local memory: 3 in SASS, for what was to be in registers',)
    """
    missing = [
        f"{kind}: {count} {'op' if count == 1 else 'ops'} of the kernel {'is' if count == 1 else 'are'} to be that, "
        f"none is in {where}"
        for kind, count in meant.items()
        if count and not found.get(kind)
    ]
    unmeant = [f"{kind}: {found[kind]} in {where}, for {why}" for kind, why in _UNMEANT.items() if found.get(kind)]
    return (*missing, *unmeant)


def tensor_types(ptx: str) -> dict[str, str]:
    """Of each kernel that tensor cores multiply in, by what instructions there are, the type of operand A.

    >>> ptx = '''.visible .entry f(.param .u64 p)
    ... {
    ...   mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};
    ... }'''
    >>> tensor_types(ptx)
    {'f': 'bf16'}
    """
    types: dict[str, str] = {}
    kernel = ""
    for line in ptx.splitlines():
        if found := re.search(r"\.entry\s+([\w$]+)", line):
            kernel = found[1]
        elif found := _PRODUCT.search(line):
            types.setdefault(kernel, found[1])
    return types


# The shape, then how operands lie, then the types of the accumulator and of the operands.
_PRODUCT = re.compile(r"mma(?:_async)?\.sync\.aligned\.m\d+n\d+k\d+(?:\.row|\.col)*\.\w+\.(\w+)\.")


def stages_of(kernels: str) -> dict[str, int]:
    """Of each kernel with buffers that are filled ahead how many places these have, from its text at the gpu stage.

    >>> stages_of("gpu.func @f(%arg0: index) kernel {\\n  nvvm.cp.async.wait.group 2\\n")
    {'f': 4}
    """
    stages: dict[str, int] = {}
    kernel = ""
    for line in kernels.splitlines():
        if found := re.search(r"gpu\.func @([\w$]+)", line):
            kernel = found[1]
        # All groups but the latest are there: of the rest one is being computed with, and one takes the next copies.
        for found in re.finditer(r"nvvm\.cp\.async\.wait\.group (\d+)|!tile\.ring<(\d+),", line):
            places = int(found[1]) + 2 if found[1] else int(found[2])
            stages[kernel] = max(stages.get(kernel, 0), places)
    return stages


def count_sass(sass: str) -> dict[str, Counter[str]]:
    """The same of the text that `Function.sass` gives.

    >>> sass = '''.text.f:
    ...         /*0000*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
    ...         /*0010*/              @!P0 FFMA R3, R4, R5, R3 ;'''
    >>> dict(count_sass(sass)["f"])
    {'global load, 16 bytes': 1, 'multiply-add': 1}
    """
    counts: dict[str, Counter[str]] = {}
    kernel = None
    for line in sass.splitlines():
        if found := re.match(r"\s*(?:\.text\.([\w$]+):|Function : ([\w$]+))", line):
            kernel = counts.setdefault(found[1] or found[2], Counter())
        elif kernel is not None and (found := re.match(r"\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?(\S+.*)", line)):
            _count(kernel, found[1], _SASS)
    return counts


def _count(counts: Counter[str], instruction: str, kinds: tuple[tuple[str, re.Pattern[str]], ...]) -> None:
    for kind, pattern in kinds:
        if pattern.match(instruction):
            counts[kind] += 1
            return
