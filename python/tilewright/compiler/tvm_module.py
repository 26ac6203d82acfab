"""What TVM's scripts do with a built function beside calling it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightValueError as ValueError

if TYPE_CHECKING:
    from ..runtime import Timing

__all__ = ["DeviceModule", "tvm_time_evaluator"]


@dataclass(frozen=True, slots=True)
class DeviceModule:
    """The kernels of a program as text."""

    type_key: str
    format: str
    source: str

    def get_source(self, fmt: str = "") -> str:
        """The text, in the one format that it has."""
        if fmt not in ("", self.format):
            raise ValueError(f"expected {self.format!r}, the format that kernels for {self.type_key} have, got {fmt!r}")
        return self.source

    def inspect_source(self, fmt: str = "") -> str:
        """TVM's newer word for `get_source`."""
        return self.get_source(fmt)


def tvm_time_evaluator(
    function: Callable[..., object],
    device: Any,
    number: int = 10,
    repeat: int = 1,
    min_repeat_ms: float = 0,
    cache_flush_bytes: int = 0,
    f_preproc: str = "",
) -> Callable[..., Timing]:
    """`Function.time_evaluator` in TVM's form."""
    from ..runtime import time_evaluator

    if f_preproc not in ("", "cache_flush_cpu_non_first_arg"):
        raise ValueError(f"expected f_preproc='cache_flush_cpu_non_first_arg', got {f_preproc!r}")
    flush = bool(cache_flush_bytes or f_preproc)
    time_evaluator(function, device, number=number, repeat=repeat)  # checks the numbers now

    def evaluate(*arrays: object) -> Timing:
        count = number
        while True:
            timing = time_evaluator(function, device, number=count, repeat=repeat, flush_l2=flush)(*arrays)
            seconds = min_repeat_ms * 1e-3
            if timing.min * count >= seconds:
                return timing
            count = max(int(seconds / max(timing.min, 1e-9)) + 1, int(count * 1.618) + 1)

    return evaluate
