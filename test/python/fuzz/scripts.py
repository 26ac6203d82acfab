"""Kinds of stages that are hybrid scripts: loops and choices of Python, which Python itself runs for what is right."""

from __future__ import annotations

import linecache
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzz.language import LARGEST
from tilewright import te

if TYPE_CHECKING:
    from fuzz.choices import Choices
    from fuzz.program import Program

_STEPS = {
    "largest": ("best = a[{first}]", ["best = max(best, a[{at}])"]),
    "clipped": ("best = a[{first}]", ["best = max(min(best + a[{at}], 4), 0)"]),
    "choice": (
        "best = a[{first}]",
        ["if a[{at}] > best:", "    best = a[{at}]", "elif k % 3 == 1:", "    best = a[{first}]"],
    ),
    "halved": ("best = a[{first}]", ["while best > 3:", "    best = best // 2", "best = max(best, a[{at}])"]),
}


def _text(c: Choices, name: str, rank: int, *, is_integer: bool, on_threads: bool) -> str:
    """A script that goes along the last axis, and writes what it has so far, or what it has at the end."""
    rows = [f"i{d}" for d in range(rank - 1)]
    step = c.pick([one for one in _STEPS if is_integer or one != "halved"])
    begin, steps = _STEPS[step]
    by_row = c.chance(40) and rank > 1
    shape = f"({', '.join(f'a.shape[{d}]' for d in range(rank - 1))},)" if by_row else "a.shape"
    at = {"first": ", ".join([*rows, "0"]), "at": ", ".join([*rows, "k"])}
    lines, indent = [f"def {name}(a):", f"    b = output_tensor({shape}, a.dtype)"], "    "
    last = c.chance(35)
    if last:
        lines.append(f"    c = output_tensor({shape}, 'int32')")
    if on_threads and rank == 1:
        lines += [f"{indent}for t in bind('threadIdx.x', 1):"]
        indent += "    "
    for d, row in enumerate(rows):
        if d == 0 and on_threads:
            threads = c.integer(1, 16)
            lines += [
                f"{indent}for o in bind('blockIdx.x', ceil_div(a.shape[0], {threads})):",
                f"{indent}    for t in bind('threadIdx.x', {threads}):",
                f"{indent}        {row} = o * {threads} + t",
                f"{indent}        if {row} < a.shape[0]:",
            ]
            indent += "            "
        else:
            lines.append(f"{indent}for {row} in {c.pick(['range', 'serial'])}(a.shape[{d}]):")
            indent += "    "
    lines.append(indent + begin.format(**at))
    if last:
        lines.append(f"{indent}count = 0")
    place = ", ".join(rows if by_row else [*rows, "k"])
    lines.append(f"{indent}for k in range({'1, ' if by_row else ''}a.shape[{rank - 1}]):")
    lines += [f"{indent}    {line}".format(**at) for line in steps]
    if last:
        lines += [f"{indent}    if best > 1:", f"{indent}        count += 1"]
    writes = [f"b[{place}] = best", *([f"c[{place}] = count"] if last else [])]
    lines += [indent + ("" if by_row else "    ") + line for line in writes]
    return "\n".join([*lines, f"    return {'b, c' if last else 'b'}"])


def _function(name: str, text: str) -> Any:
    """The script, whose text stands where Python looks for it."""
    file, names = f"<{name}, script {zlib.crc32(text.encode())}>", dict[str, Any]()
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)
    return te.hybrid.script(names[name])


def script(p: Program) -> bool:
    """A hybrid script of a tensor: on threads that it binds itself, or for a processor."""
    x = p.any_value(rank=2) or p.any_value(rank=p.choices.integer(1, 3))
    # A script adds an element to another one, or to a small number.
    if x is None or not x.shape or max(2 * x.bound, x.bound + 8) > LARGEST[x.dtype]:
        return False
    name = p.fresh_name()
    text = _text(p.choices, name, len(x.shape), is_integer="float" not in x.dtype, on_threads=p.on_threads)
    function = _function(name, text)
    made = function(x.tensor)
    exact = function(x.exact)
    tensors = made if isinstance(made, list) else [made]
    exacts = [np.asarray(one, np.float64) for one in (exact if isinstance(exact, tuple) else (exact,))]
    p.lines += ["@te.hybrid.script", *text.splitlines(), f"{name} = {name}({x.name})"]
    shape = x.shape if exacts[0].ndim == len(x.shape) else x.shape[:-1]
    p.made(name, tensors, exacts, [tuple(shape)] * len(tensors), [x])
    return True
