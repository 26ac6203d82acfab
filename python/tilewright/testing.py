"""What tests of built functions share: poisoned outputs, and bounds on rounding that come from the arithmetic.

A bound here is never a guess that made a test pass: it is what the computation's own rounding can amount to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .bisection import bisect
from .bisection.comparison import POISON, assert_allclose, assert_within, dot_bound, guarded, poisoned, unit_roundoff
from .tvm_compat.missing_names import attribute_of

if TYPE_CHECKING:
    from .compiler import Function
    from .runtime import Device

__all__ = [
    "assert_allclose", "assert_within", "bisect", "device_enabled", "dot_bound", "enabled_targets", "main",
    "parametrize_targets", "poisoned", "requires_cuda", "requires_gpu", "requires_llvm", "run", "unit_roundoff",
    "uses_gpu",
]  # fmt: skip


def run(
    function: Function, inputs: Sequence[NDArray[Any]], outputs: Sequence[tuple[tuple[int, ...], Any]]
) -> list[NDArray[Any]]:
    """Calls a built function with copies of `inputs` and poisoned outputs of the given shapes and types.

    For target "cuda" the arrays travel to the GPU and back; elsewhere an AssertionError tells of what was written
    beside an output. Returns the outputs.

    >>> import numpy as np
    >>> import tilewright as tw
    >>> from tilewright import te, testing
    >>> A = te.placeholder((3,), name="A")
    >>> B = te.compute((3,), lambda i: A[i] * 2, name="B")
    >>> double = tw.build(te.create_schedule(B.op), [A, B], target="cpu", name="double")
    >>> (y,) = testing.run(double, [np.ones(3, "float32")], [((3,), "float32")])
    >>> y.tolist()
    [2.0, 2.0, 2.0]
    """
    given = [np.array(each) for each in inputs] + [guarded(shape, dtype) for shape, dtype in outputs]
    if function.target.kind != "cuda":
        function(*given)
        for array in given[len(inputs) :]:
            memory: Any = array.base
            first = array.ctypes.data - memory.ctypes.data
            if (memory[:first] != POISON).any() or (memory[first + array.nbytes :] != POISON).any():
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
    """The targets of TVM's that this machine can run programs for, with the device for each.

    >>> from tilewright import testing
    >>> all(device.exist for _, device in testing.enabled_targets())
    True
    """
    from .runtime.device import device

    return [(target, device(target)) for target in ("llvm", "cuda") if device_enabled(target)]


def parametrize_targets(*targets: str) -> Any:
    """A decorator: the test runs for each of `targets` as its ``target`` and ``dev``, where the machine can.

    All of TVM's targets are meant where none is given.

    >>> from tilewright import testing
    >>> @testing.parametrize_targets("llvm", "cuda")
    ... def test_add(target, dev):
    ...     ...
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
    """A decorator: the test is skipped on a machine without a GPU.

    >>> from tilewright import testing
    >>> @testing.requires_cuda
    ... def test_launch():
    ...     ...
    """
    import pytest

    mark = pytest.mark.skipif(not device_enabled("cuda"), reason="needs an NVIDIA GPU and its driver")
    return mark if test is None else mark(test)


requires_cuda: Callable[..., Any] = requires_gpu
uses_gpu = requires_cuda


def requires_llvm(test: Callable[..., Any] | None = None) -> Any:
    """A decorator that does not change `test`: there is a processor everywhere.

    >>> from tilewright import testing
    >>> @testing.requires_llvm
    ... def test_host():
    ...     ...
    """

    def same(given: Callable[..., Any]) -> Callable[..., Any]:
        return given

    return test if test is not None else same


def main() -> None:
    """Runs the tests of the script that calls it and exits.

    >>> from tilewright import testing
    >>> testing.main()                                       # doctest: +SKIP
    """
    import pytest

    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    sys.exit(pytest.main([frame.f_globals["__file__"], *sys.argv[1:]]))


__getattr__: Callable[[str], object] = attribute_of("testing", "module 'tilewright.testing'")
