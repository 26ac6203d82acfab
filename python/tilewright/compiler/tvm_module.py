"""What TVM's scripts do with a built function beside calling it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import TilewrightKeyError as KeyError
from ..errors import TilewrightValueError as ValueError

if TYPE_CHECKING:
    from ..runtime import Timing
    from ..target import Target

__all__ = ["DeviceModule", "TvmModule", "tvm_time_evaluator"]

Self = TypeVar("Self", bound="TvmModule")


@dataclass(frozen=True, slots=True)
class DeviceModule:
    """The kernels of a program as text."""

    type_key: str
    format: str
    source: str

    def get_source(self, fmt: str = "") -> str:
        """The text, in the one format that it has. Raises ValueError for another `fmt`."""
        if fmt not in ("", self.format):
            raise ValueError(f"expected {self.format!r}, the format that kernels for {self.type_key} have, got {fmt!r}")
        return self.source

    def inspect_source(self, fmt: str = "") -> str:
        """TVM's newer word for `get_source`. Raises ValueError as that does."""
        return self.get_source(fmt)


class TvmModule:
    """A built function as TVM's modules are looked at: it is the one function of its module."""

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...
        @property
        def entry_name(self) -> str: ...
        @property
        def target(self) -> Target: ...
        @property
        def ptx(self) -> str: ...
        def ir(self, stage: str, *, locations: bool = False) -> str: ...

    def __getitem__(self: Self, name: str) -> Self:
        """The function itself, by its name. Raises KeyError for another name."""
        if name not in (self.entry_name, self.name):
            raise KeyError(f"expected the name of this function, {self.entry_name!r}, got {name!r}")
        return self

    def get_function(self: Self, name: str, query_imports: bool = False) -> Self:
        """The function itself, by its name."""
        return self[name]

    def implements_function(self, name: str, query_imports: bool = False) -> bool:
        """Whether that is its name."""
        return name in (self.entry_name, self.name)

    @property
    def entry_func(self: Self) -> Self:
        """The function itself."""
        return self

    @property
    def type_key(self) -> str:
        """The kind of its target."""
        return str(self.target.kind)

    @property
    def imported_modules(self) -> list[DeviceModule]:
        """The kernels: `f.imported_modules[0].get_source()` is their PTX, on the simulator their IR of stage gpu."""
        if self.target.kind == "cuda":
            return [DeviceModule("cuda", "ptx", self.ptx)]
        return [DeviceModule("sim", "mlir", self.ir("gpu"))] if self.target.kind == "sim" else []

    def get_source(self, fmt: str = "") -> str:
        """The host function, in MLIR's LLVM dialect. Raises ValueError for another `fmt`."""
        if fmt not in ("", "mlir"):
            raise ValueError(f"expected 'mlir', the format that the host function has, got {fmt!r}")
        return self.ir("host")

    def inspect_source(self, fmt: str = "") -> str:
        """TVM's newer word for `get_source`. Raises ValueError as that does."""
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
