"""What instructions a kernel has: in PTX, as they were meant, and in SASS, as the assembler made them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

__all__ = ["KINDS", "count_ptx", "count_sass", "stages_of", "tensor_types"]

# Of each kind, what it is in PTX and what in SASS.
KINDS: Mapping[str, tuple[str, str]] = {
    "wgmma": (r"wgmma\.mma_async", r"[HIQB]GMMA\b"),
    "mma.sync": (r"mma\.sync", r"[HIDQB]MMA\b"),
    "ldmatrix": (r"ldmatrix", r"LDSM\b"),
    "stmatrix": (r"stmatrix", r"STSM\b"),
    "TMA load": (r"cp\.async\.bulk\.tensor\S*\.shared::cluster\.global", r"UTMALDG"),
    "TMA store": (r"cp\.async\.bulk\.tensor\S*\.global\.shared::cta", r"UTMASTG"),
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
    kernel = None
    for line in ptx.splitlines():
        if found := re.search(r"\.entry\s+([\w$]+)", line):
            kernel = counts.setdefault(found[1], Counter())
        elif line.startswith("}"):
            kernel = None
        elif kernel is not None:  # an instruction of many operands goes on in lines that begin with these
            _count(kernel, re.sub(r"^\s*(?:@!?%p\d+\s+)?", "", line), _PTX)
    return counts


def tensor_types(ptx: str) -> dict[str, str]:
    """Of each kernel that tensor cores multiply in, by what instructions there are, the type of the first factor.

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


# The shape, then how factors lie, then the types of the sums and of the factors.
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
