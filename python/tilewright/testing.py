"""What tests of built functions share: poisoned outputs, and bounds on rounding that come from the arithmetic.

A bound here is never a guess that made a test pass: it is what the computation's own rounding can amount to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .bisection import bisect
from .compat import attribute_of

if TYPE_CHECKING:
    from .driver import Function
    from .runtime import Device

__all__ = [
    "assert_allclose", "assert_within", "bisect", "device_enabled", "dot_bound", "enabled_targets", "main",
    "parametrize_targets", "poisoned", "requires_cuda", "requires_gpu", "requires_llvm", "run", "unit_roundoff",
    "uses_gpu",
]  # fmt: skip


_POISON = 0xA5


def unit_roundoff(dtype: Any) -> float:
    """Half the distance from 1 to the next number of a floating-point type, e.g. 2**-24 for float32."""
    return float(ml_dtypes.finfo(dtype).eps) / 2


def poisoned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array that no program can have computed: NaN, or bytes of 0xA5 in an integer.

    >>> poisoned((2,), "float32")
    array([nan, nan], dtype=float32)
    """
    kind = np.dtype(dtype)
    if kind.kind in "iub":
        return np.full(int(np.prod(shape)) * kind.itemsize, _POISON, np.uint8).view(kind).reshape(shape)
    return np.full(shape, np.nan, kind)


def _guarded(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """A poisoned array, as aligned as others are, with poison in the 64 bytes on either side of it."""
    within = poisoned(shape, dtype)
    memory = np.full(within.nbytes + 192, _POISON, np.uint8)
    array = np.ndarray(shape, within.dtype, memory, 64 + -memory.ctypes.data % 64)
    array[...] = within
    return array


def dot_bound(lhs: NDArray[Any], rhs: NDArray[Any], length: int, dtype: Any = "float32") -> NDArray[np.float64]:
    """How far sums of `length` products in `dtype` may be from the exact ones, element by element.

    `lhs` and `rhs` are two matrices whose product is taken. The bound is the probabilistic one of Higham and Mary
    (SIAM J. Sci. Comput. 41-5, 2019): 4 sqrt(length) u |lhs| |rhs|, which a result exceeds with negligible chance.
    """
    magnitude = np.abs(lhs.astype(np.float64)) @ np.abs(rhs.astype(np.float64))
    return 4 * np.sqrt(length) * unit_roundoff(dtype) * magnitude


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """NumPy's `assert_allclose` with TVM's defaults, on its arrays and those of `tw.nd`; the shapes must be the same.

    >>> assert_allclose([1.0, 2.0], [1.0, 2.0 + 1e-8])
    """
    given, wanted = (np.asanyarray(each.numpy() if hasattr(each, "copyto") else each) for each in (actual, desired))
    np.testing.assert_allclose(given.shape, wanted.shape)
    np.testing.assert_allclose(given, wanted, rtol=rtol, atol=atol, verbose=True)


def assert_within(got: NDArray[Any], expected: NDArray[np.float64], bound: Any) -> None:
    """Raises AssertionError unless every element of `got` is a number within `bound` of `expected`."""
    if got.shape != expected.shape:
        raise AssertionError(f"expected shape {expected.shape}, got {got.shape}")
    limit = np.broadcast_to(bound, expected.shape)
    wrong = ~(np.abs(got.astype(np.float64) - expected) <= limit)  # so that NaN counts as wrong
    if wrong.any():
        at = tuple(int(index[0]) for index in np.nonzero(wrong)) if wrong.ndim else ()
        raise AssertionError(
            f"{int(wrong.sum())} of {wrong.size} elements are wrong, the first at {at}: "
            f"expected {expected[at]!r} within {limit[at]:.3g}, got {got[at]!r}"
        )


def run(
    function: Function, inputs: Sequence[NDArray[Any]], outputs: Sequence[tuple[tuple[int, ...], Any]]
) -> list[NDArray[Any]]:
    """Calls a built function with copies of `inputs` and poisoned outputs of the given shapes and types.

    For target "cuda" the arrays travel to the GPU and back; elsewhere an AssertionError tells of what was written
    beside an output. Returns the outputs.
    """
    given = [np.array(each) for each in inputs] + [_guarded(shape, dtype) for shape, dtype in outputs]
    if function.target.kind != "cuda":
        function(*given)
        for array in given[len(inputs) :]:
            memory: Any = array.base
            first = array.ctypes.data - memory.ctypes.data
            if (memory[:first] != _POISON).any() or (memory[first + array.nbytes :] != _POISON).any():
                raise AssertionError("memory beside an output was written to")
    else:
        from . import nd

        arrays = [nd.array(each, nd.cuda(0)) for each in given]
        function(*arrays)
        given = [each.numpy() for each in arrays]
    for before, after in zip(inputs, given):
        if before.tobytes() != after.tobytes():
            raise AssertionError("an input was written to")
    return given[len(inputs) :]


# What tests for TVM use. pytest comes with the first use of what needs it.


def device_enabled(target: str) -> bool:
    """True where this machine can run programs for a target.

    >>> device_enabled("llvm"), device_enabled("sim")
    (True, True)
    """
    from .runtime.device import device

    return device(target).exist


def enabled_targets() -> list[tuple[str, Device]]:
    """The targets of TVM's that this machine can run programs for, with the device for each."""
    from .runtime.device import device

    return [(target, device(target)) for target in ("llvm", "cuda") if device_enabled(target)]


def parametrize_targets(*targets: str) -> Any:
    """A decorator: the test runs for each of `targets` as its ``target`` and ``dev``, where the machine can.

    All of TVM's targets are meant where none is given.
    """
    if len(targets) == 1 and callable(targets[0]):
        return parametrize_targets()(targets[0])
    import pytest

    from .runtime.device import device

    cases = [
        pytest.param(
            target, device(target), marks=() if device_enabled(target) else pytest.mark.skip(f"no device for {target}")
        )
        for target in targets or ("llvm", "cuda")
    ]
    return pytest.mark.parametrize(("target", "dev"), cases)


def requires_gpu(test: Callable[..., Any] | None = None) -> Any:
    """A decorator: the test is skipped on a machine without a GPU."""
    import pytest

    mark = pytest.mark.skipif(not device_enabled("cuda"), reason="needs an NVIDIA GPU and its driver")
    return mark if test is None else mark(test)


uses_gpu = requires_cuda = requires_gpu


def requires_llvm(test: Callable[..., Any] | None = None) -> Any:
    """A decorator that changes nothing: there is a processor everywhere."""
    return test if test is not None else lambda given: given


def main() -> None:
    """Runs the tests of the script that calls it and exits."""
    import pytest

    frame = sys._getframe(1)
    sys.exit(pytest.main([frame.f_globals["__file__"], *sys.argv[1:]]))


__getattr__ = attribute_of("testing", "module 'tilewright.testing'")
