"""Which stage of the compiler changes what a program computes, and which pass: see `tilewright.testing.bisect`.

A program runs at each of its stages on the same inputs: te by NumPy, linalg and loops on this machine's processor, gpu
on the simulator, and the cubin on a GPU where there is one. Each runs in a process of its own, so that one that crashes
is a result, too.
"""

from __future__ import annotations

from .bisect import bisect
from .result import Bisection, StageResult

__all__ = ["Bisection", "StageResult", "bisect"]
