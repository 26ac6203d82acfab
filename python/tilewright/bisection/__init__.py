"""Which stage of the compiler changes what a program computes, and which pass: see `tilewright.testing.bisect`.

A program runs at each of its stages on the same inputs. NumPy runs te, this machine's CPU runs linalg and loops, and
the simulator runs gpu. A GPU runs the cubin, if there is one. Each stage runs in its own process, so a crash is a
result, too.
"""

from __future__ import annotations

from .bisect import bisect
from .result import Bisection, StageResult

__all__ = ["Bisection", "StageResult", "bisect"]
