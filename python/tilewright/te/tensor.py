"""Tensors and the operations that define them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..dtypes import DType, dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_tuple
from ..messages.location import Source, user_source
from .alignment import ALIGNMENT
from .arithmetic import literal
from .expr import Expr, ExprLike, IterVar, Read, ReduceItem, Var
from .extents import Array
from .numpy_calls import NumpyOfElements
from .reduction import Reduction
from .strides import Strides

if TYPE_CHECKING:
    pass

__all__ = ["CacheOp", "ComputeOp", "Operation", "PlaceholderOp", "Tensor", "TensorRegion", "TensorSlice", "is_optional"]

Extent = int | Expr


class Operation:
    """What defines tensors: an input of the program, a compute, or a copy that a schedule made.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A")
    >>> B = te.compute((8,), lambda i: A[i] * 2, name="B")
    >>> B.op, B.op.input_tensors
    (ComputeOp(B), (Tensor(name=A, shape=(8,), dtype=float32),))
    """

    __slots__ = ("_axis", "element_types", "_reduce_axis", "results", "attrs", "name", "shape", "source", "tag")

    name: str
    shape: Array[Extent]
    source: Source
    element_types: tuple[DType, ...]
    results: tuple[Tensor, ...]
    tag: str
    attrs: dict[str, Any]

    def __init__(self, name: str, shape: tuple[Extent, ...], dtypes: Sequence[DType], source: Source) -> None:
        self.name, self.shape, self.source = name, Array(shape), source
        self._axis: Array[IterVar] = Array()
        self._reduce_axis: Array[IterVar] = Array()
        self.tag, self.attrs = "", dict[str, Any]()
        self.element_types = tuple(dtypes)
        self.results = tuple(Tensor(self, i) for i in range(len(self.element_types)))

    @property
    def axis(self) -> Array[IterVar]:
        """The axes of the elements, one a dimension."""
        return self._axis

    @axis.setter
    def axis(self, axes: Sequence[IterVar]) -> None:
        self._axis = Array(axes)

    @property
    def reduce_axis(self) -> Array[IterVar]:
        """The axes that are reduced over."""
        return self._reduce_axis

    @reduce_axis.setter
    def reduce_axis(self, axes: Sequence[IterVar]) -> None:
        self._reduce_axis = Array(axes)

    @property
    def num_outputs(self) -> int:
        """How many tensors it defines."""
        return len(self.results)

    @property
    def outputs(self) -> Array[Tensor]:
        """The tensors that this operation defines."""
        return Array(self.results)

    @property
    def dtype(self) -> str:
        """The type of the elements of its first tensor."""
        return self.element_types[0].name

    def output(self, index: int) -> Tensor:
        """The tensor that this operation defines, by its position `index`."""
        return self.results[index]

    def shape_of(self, index: int) -> tuple[Extent, ...]:
        """The extents of the tensor at the position `index`."""
        return self.shape

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that are read, each once, in the order of their first read."""
        return ()

    @property
    def together(self) -> tuple[Operation, ...]:
        """The operations that are computed together with it, itself too: the updates of one scan."""
        return (self,)

    @property
    def exprs(self) -> Sequence[Expr]:
        """The expressions, other than those of the elements, that it is made of."""
        return ()

    def same_as(self, other: object) -> bool:
        """Whether `other` is this operation."""
        return self is other

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class PlaceholderOp(Operation):
    """An input of the program.

    `given` says whether a call passes it; None means that every call does. `align` divides the address of its memory,
    in bytes. `strides` are None for a row-major tensor. `scan` is the scan whose state it is, or None for an input.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A")
    >>> A.op
    PlaceholderOp(A)
    """

    __slots__ = ("align", "given", "scan", "strides")

    align: int
    given: Var | None

    def __init__(
        self,
        name: str,
        shape: tuple[Extent, ...],
        dtypes: Sequence[DType],
        source: Source,
        optional: bool = False,
        align: int = ALIGNMENT,
    ) -> None:
        super().__init__(name, shape, dtypes, source)
        self.align = align
        is_bool = dtype_of("bool")
        self.given = Var(f"{name}_is_given", is_bool, source, is_index=False, is_symbol=True) if optional else None
        self.strides: Strides | None = None
        self.scan: Operation | None = None


class ComputeOp(Operation):
    """A compute: its axes and the value of one element.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A")
    >>> B = te.compute((8,), lambda i: A[i] * 2, name="B")
    >>> B.op.axis, B.op.reduce_axis
    ((i,), ())
    """

    __slots__ = ("_inputs", "body")

    body: tuple[Expr, ...]

    def __init__(
        self, name: str, axis: tuple[IterVar, ...], shape: tuple[Extent, ...], body: tuple[Expr, ...], source: Source
    ) -> None:
        super().__init__(name, shape, [expr.element_type for expr in body], source)
        self.axis, self.body = axis, body
        if self.reduction is not None:
            self.reduce_axis = self.reduction.axis
        from .check_body import inputs_of

        self._inputs = inputs_of(self)

    @property
    def reduction(self) -> Reduction | None:
        """The reduction that the whole body is, where it is one."""
        first = self.body[0]
        return first.reduction if isinstance(first, ReduceItem) else None

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        return self._inputs


class CacheOp(Operation):
    """A stage that `cache_read`, `cache_write` or `rfactor` made, or what one of these left of another.

    `body` has the value of one element, or several, as the body of a compute has; for people to read.
    """

    __slots__ = ("body",)

    def __init__(self, name: str, shape: tuple[Extent, ...], dtypes: Sequence[DType], source: Source) -> None:
        super().__init__(name, shape, dtypes, source)
        self.body: tuple[Expr, ...] = ()


def _no_operator(tensor: Tensor | TensorSlice, *_: object) -> Any:
    """Operators take elements: on a whole tensor they are an error that says so."""
    literal(tensor, None, user_source())


class _Elementless:
    """What has no arithmetic of its own, as it is no scalar."""

    __slots__ = ()
    if not TYPE_CHECKING:  # to which a tensor has no operators
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _no_operator
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _no_operator


class Tensor(_Elementless, NumpyOfElements):
    """A tensor. ``A[i, k]`` reads one element, and ``A.op`` is the operation that defines it.

    >>> from tilewright import te
    >>> A = te.placeholder((8, 4), "float16", name="A")
    >>> A.shape, A.dtype, A.ndim
    ((8, 4), 'float16', 2)
    >>> A[te.var("i"), 0]
    A[i, 0]
    """

    __slots__ = ("op", "value_index")

    op: Operation
    value_index: int

    def __init__(self, op: Operation, value_index: int) -> None:
        self.op, self.value_index = op, value_index

    @property
    def name(self) -> str:
        """The name that messages and IR say."""
        return self.op.name if self.op.num_outputs == 1 else f"{self.op.name}.v{self.value_index}"

    @property
    def shape(self) -> tuple[Extent, ...]:
        """The extents, of numbers and of symbolic extents."""
        return self.op.shape_of(self.value_index)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def axis(self) -> Array[IterVar]:
        """The axes of its operation."""
        return self.op.axis

    @property
    def dtype(self) -> str:
        """The type of an element, by its name."""
        return self.op.element_types[self.value_index].name

    def same_as(self, other: object) -> bool:
        """Whether `other` is this tensor."""
        return self is other

    def __getitem__(self, indices: object) -> Expr:
        given = indices if is_tuple(indices) else (indices,)
        return TensorSlice(self, ())[given]

    def __call__(self, *indices: ExprLike) -> Expr:
        """The element at `indices`: ``A(i, k)`` is ``A[i, k]``, handy with a lambda's ``*axes``. Raises ValueError for
        another number of indices.
        """
        source = user_source()
        if len(indices) != self.ndim:
            raise ValueError(f"{source}: tensor {self.name}: expected {self.ndim} indices, got {len(indices)}")
        return self[indices]

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{user_source()}: expected a sequence, got the tensor {self.name}")

    def __len__(self) -> int:
        raise TypeError(f"{user_source()}: expected a sequence, got the tensor {self.name}: its extents are .shape")

    def __repr__(self) -> str:
        return f"Tensor(name={self.name}, shape={self.shape}, dtype={self.dtype})"


class TensorSlice(_Elementless, NumpyOfElements):
    """A tensor with some of its indices given: ``A[i][k]`` is ``A[i, k]``.

    Another number of indices is a ValueError, an index that is no integer a TypeError.

    >>> from tilewright import te
    >>> A = te.placeholder((8, 4), name="A")
    >>> A[1].dtype
    'float32'
    >>> A[1][2]
    A[1, 2]
    """

    __slots__ = ("indices", "tensor")

    tensor: Tensor
    indices: tuple[Expr | slice, ...]

    def __init__(self, tensor: Tensor, indices: tuple[Expr | slice, ...]) -> None:
        self.tensor, self.indices = tensor, indices

    @property
    def name(self) -> str:
        """The name of the tensor."""
        return self.tensor.name

    @property
    def dtype(self) -> str:
        """The type of an element, by its name."""
        return self.tensor.dtype

    @property
    def ndim(self) -> int:
        """How many indices are still to be given."""
        return self.tensor.ndim

    def __getitem__(self, indices: object) -> Any:
        source = user_source()
        given = indices if is_tuple(indices) else (indices,)
        exprs = self.indices + tuple(
            index if isinstance(index, slice) else literal(index, None, source)
            for index in given  # pyright: ignore[reportUnknownArgumentType]
        )
        for position, expr in enumerate(exprs):
            if not isinstance(expr, slice) and not expr.element_type.is_integer:
                raise TypeError(f"{source}: index {position} of {self.name}: expected an integer, got {expr.dtype}")
        if len(exprs) > self.ndim:
            raise ValueError(f"{source}: tensor {self.name}: expected {self.ndim} indices, got {len(exprs)}")
        if len(exprs) < self.ndim:
            return TensorSlice(self.tensor, exprs)
        whole = tuple(expr for expr in exprs if not isinstance(expr, slice))
        if len(whole) < len(exprs):
            return TensorRegion(self.tensor, exprs, source)
        return Read(self.tensor, whole, source)


class TensorRegion(_Elementless):
    """A part of a tensor, ``A[i, 0:16]``: what an intrinsic takes that is called in a compute."""

    __slots__ = ("indices", "source", "tensor")

    tensor: Tensor
    indices: tuple[Expr | slice, ...]
    source: Source

    def __init__(self, tensor: Tensor, indices: tuple[Expr | slice, ...], source: Source) -> None:
        self.tensor, self.indices, self.source = tensor, indices, source


def is_optional(tensor: Tensor) -> bool:
    """Whether a call may be without the tensor."""
    return isinstance(tensor.op, PlaceholderOp) and tensor.op.given is not None
