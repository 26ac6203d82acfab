"""Arguments that are not row-major: how far apart the elements of each dimension lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import integer_of, is_sequence
from ..messages.location import Source, user_source
from .expr import Expr, Var

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = ["Stride", "Strided", "Strides", "check_strides", "strided"]

Stride = int | Var | None
Strides = tuple[Stride, ...]


def check_strides(strides: object, shape: Sequence[int | Expr], what: str, source: Source) -> Strides | None:
    """Strides of the user's, in elements, one a dimension; None where they are those of a row-major array."""
    if not is_sequence(strides) or isinstance(strides, str):
        raise TypeError(f"{source}: {what}: expected strides, one a dimension, got {strides!r}")
    if len(strides) != len(shape):
        raise ValueError(f"{source}: {what}: expected {len(shape)} strides, one a dimension, got {len(strides)}")
    found: list[Stride] = []
    for position, stride in enumerate(strides):
        at = f"{source}: {what}: stride of dimension {position}"
        if stride is None:
            found.append(None)
        elif isinstance(stride, Expr):
            if not isinstance(stride, Var) or not stride.is_symbol or not stride.is_index:
                raise TypeError(f"{at}: expected an integer, a te.var of int32 or int64, or None, got {stride}")
            found.append(stride)
        elif (number := integer_of(stride)) is None:
            raise TypeError(f"{at}: expected an integer, a te.var of int32 or int64, or None, got {stride!r}")
        elif number < 0:
            raise ValueError(f"{at}: expected at least 0, got {number}")
        else:
            found.append(number)
    return None if _are_row_major(found, shape) else tuple(found)


def _are_row_major(strides: Sequence[Stride], shape: Sequence[int | Expr]) -> bool:
    """Whether strides are certainly those of a row-major array of that shape."""
    number, symbols = 1, list[Expr]()
    for stride, extent in zip(reversed(strides), reversed(shape)):
        if isinstance(stride, int):
            if symbols or stride != number:
                return False
        elif stride is None or number != 1 or len(symbols) != 1 or symbols[0] is not stride:
            return False
        if isinstance(extent, int):
            number *= extent
        else:
            symbols.append(extent)
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Strided:
    """A tensor among the arguments of `tw.build`, with the strides of the array that a call gives for it.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A")
    >>> te.strided(A, (2,)).tensor is A
    True
    """

    tensor: Tensor
    strides: Strides | None

    @property
    def name(self) -> str:
        """The name of the tensor."""
        return self.tensor.name

    def __repr__(self) -> str:
        return f"strided({self.tensor.name}, {self.strides})"


def strided(tensor: Tensor, strides: Sequence[Stride]) -> Strided:
    """A tensor as an argument that is not row-major, in the list of arguments of `tw.build`.

    It is how an output gets strides; an input may have them from `te.placeholder`, too.

    Parameters
    ----------
    tensor
        An input or output of the program.
    strides
        For each dimension the distance from one element to the next, in elements: a number, a `te.var`, which is one
        number wherever it stands, or None for whatever a call has.

    Raises
    ------
    TypeError, ValueError
        For something that is no tensor, and for strides that are none, or less than 0.

    >>> import tilewright as tw
    >>> from tilewright import te
    >>> n, m, ld = te.var("n"), te.var("m"), te.var("ld")
    >>> A = te.placeholder((n, m), strides=(ld, 1), name="A")
    >>> B = te.compute((n, m), lambda i, j: A[i, j] * 2, name="B")
    >>> double = tw.build(te.create_schedule(B.op), [A, te.strided(B, (ld, 1))], target="cpu", name="double")
    >>> print(double.signature)
    double(A: float32[n, m] strides (ld, 1), B: float32[n, m] strides (ld, 1))
    """
    from .tensor import Tensor

    source = user_source()
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{source}: te.strided: expected a tensor, got {tensor!r}")
    return Strided(tensor, check_strides(strides, tensor.shape, f"te.strided {tensor.name}", source))
