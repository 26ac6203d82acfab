"""Groups that a library computes, as the pass `dispatch-to-library` says it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field

from mlir import ir

from ..ir.attributes import parameters
from ..native.library import library as native_library
from ..runtime.libraries import LIBRARIES, LibraryCallRow, find_library

__all__ = ["LibraryCall", "library_call", "problem_of_model"]

_EPILOGUES = ("none", "relu", "gelu_tanh")
_LIBRARY = "library"
_MATMUL = 0
_RANK = 8


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A group as one call of a library: epilogue(a b + residual + bias).

    `a`, `b`, `bias` and `residual` are places among the group's inputs, the last two -1 where there is none. The matmul
    reads `a` transposed by `a_order`, and `b` by `b_order`. `own_seconds` and `library_seconds` say what the group took
    by its own kernel and by the library when it was measured, 0 where it was not.

    >>> call = LibraryCall("cublaslt", 0, 1, None, (1, 0), -1, -1, "relu", 12.5e-6, 9.25e-6)
    >>> call.library, call.epilogue
    ('cublaslt', 'relu')
    """

    library: str
    a: int
    b: int
    a_order: tuple[int, ...] | None
    b_order: tuple[int, ...] | None
    bias: int
    residual: int
    epilogue: str
    own_seconds: float
    library_seconds: float
    _asked: list[Callable[[], str]] = field(default_factory=list[Callable[[], str]], repr=False, compare=False)

    @property
    def problem(self) -> str:
        """Why the group's own kernel ran the last time that it did, or will run; "" where the library runs the group.

        Raises ValueError where `library` is none.
        """
        missing = find_library(self.library).problem
        return missing or next((problem for each in self._asked if (problem := each())), "")

    def asks(self, ask: Callable[[], str]) -> None:
        """Whom to ask for the problem."""
        self._asked[:] = [ask]

    def row(self, group: int, inputs: int) -> LibraryCallRow:
        """What the run time has of the call, of group number `group` with that many inputs."""
        return LibraryCallRow(
            group, LIBRARIES.index(self.library), _MATMUL, self.a, self.b, self.bias, self.residual, inputs,
            _packed(self.a_order), _packed(self.b_order), _EPILOGUES.index(self.epilogue),
        )  # fmt: skip

    def __str__(self) -> str:
        if problem := self.problem:
            return f"by its own kernel, in place of {self.library}: {problem}"
        return (
            f"by {self.library}: {self.library_seconds * 1e6:.4g} us, "
            f"where its own kernel took {self.own_seconds * 1e6:.4g} us"
        )


def _packed(order: tuple[int, ...] | None) -> int:
    """Four bits for each dimension."""
    return sum(d << (4 * i) for i, d in enumerate(range(_RANK) if order is None else order))


def library_call(group: ir.Operation) -> LibraryCall | None:
    """How a library computes a group, or None where its own kernel does."""
    if _LIBRARY not in group.attributes:
        return None
    found = parameters(group.attributes[_LIBRARY])
    return LibraryCall(
        found["library"], found["a"], found["b"], found.get("a_order"), found.get("b_order"), found["bias"],
        found["residual"], found["epilogue"], found["own_ns"] / 1e9, found["library_ns"] / 1e9,
    )  # fmt: skip


def problem_of_model(model: int, call: int, device: int = 0) -> str:
    """Why a call of a library ran the group's own kernel in a model of this process, whose address is `model`."""
    ask = native_library().tilewrightHostLibraryProblem
    ask.argtypes, ask.restype = (ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64), ctypes.c_char_p
    problem: bytes | None = ask(model, device, call)
    return "" if problem is None else problem.decode()
