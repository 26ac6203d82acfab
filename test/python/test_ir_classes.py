"""Ops of each dialect have Python classes."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.sweep
def test_tile_ops_have_classes_once_somebody_asks() -> None:
    """In a process of its own: others may have asked before."""
    script = (
        "import sys, tilewright.ir as twir\n"
        "from mlir import ir\n"
        "assert 'mlir.dialects.tile' not in sys.modules\n"
        "from tilewright.ir import tile\n"
        "with twir.context():\n"
        "    module = ir.Module.parse('func.func @f() { %0 = tile.alloc at 1024 : <64x64xf16> tile.fence_async return }')\n"
        "    alloc, fence, _ = module.body.operations[0].regions[0].blocks[0].operations\n"
        "print(type(alloc).__name__, alloc.offset.value, isinstance(fence, tile.FenceAsyncOp))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.stdout == "AllocOp 1024 True\n", ran.stderr


@pytest.mark.sweep
def test_a_build_searches_the_disk_for_no_dialect() -> None:
    """In a process of its own: what has been found once is not searched for."""
    script = (
        "import sys, tilewright as tw\n"
        "from tilewright import te\n"
        "A = te.placeholder((4,), name='A')\n"
        "B = te.compute((4,), lambda i: A[i] + 1, name='B')\n"
        "class Finder:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.startswith('mlir.dialects.'):\n"
        "            searched.append(name)\n"
        "for count in range(2):\n"
        "    searched = []\n"
        "    sys.meta_path[:0] = [Finder()] if not count else []\n"
        "    tw.build(tw.auto_schedule(B, 'sim'), [A, B], 'sim', cache=False)\n"
        "print(searched)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.stdout == "[]\n", ran.stderr
