"""What makes an operation of arrays of a function that makes a schedule for their shapes."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, update_wrapper
from typing import Any, TypeVar, overload

import numpy as np

from ..compiler import Dispatch, Function, build_classes
from ..compiler.program_name import free_name
from ..dtypes import as_dtype
from ..errors import TilewrightTypeError, TilewrightValueError
from ..guards import integer_of, is_listed, is_mapping
from ..rules.classes import in_classes
from ..target import Target
from ..te import Tensor
from ..te.alignment import ALIGNMENT
from ..te.expr import Var
from ..te.schedule import Schedule
from .strides import is_row_major, row_major

__all__ = ["Operand", "Operator", "Scheduled", "frozen", "is_on_gpu", "operator"]

Scheduled = tuple[Schedule, list[Tensor]]
Array = TypeVar("Array")  # of any library that speaks DLPack
# DLPack's numbers of the devices whose memory a GPU computes in.
_GPU = (2, 13)
# Of all operations together so many compiled functions are kept, each of which takes one to four megabytes: those that
# were found last, and those of calls with arrays like earlier ones.
_MOST = 1024


@dataclass(frozen=True, slots=True)
class Operand:
    """What a schedule is made for: the extents of an array and the type of its elements.

    >>> from tilewright import ops
    >>> ops.Operand((64, 32), "float16").shape
    (64, 32)
    """

    shape: tuple[Any, ...]  # numbers; of an operation that takes symbols te.vars, too
    dtype: str
    strides: tuple[int, ...] | None = field(default=None, repr=False)  # in elements; None of a row-major array
    align: int = field(default=ALIGNMENT, repr=False)  # bytes that divide its address

    @classmethod
    def of(cls, array: Any, name: str, *, symbols: bool = False) -> Operand:
        """Of an array of any library, another `Operand` or a `te.placeholder`; `name` is its parameter.

        Its extents may be `symbols` where the operation takes them.

        Raises TypeError for an array without a shape and a dtype, and for extents that are no numbers.

        >>> import numpy as np
        >>> Operand.of(np.zeros((2, 3), "float16"), "a")
        Operand(shape=(2, 3), dtype='float16')
        """
        if isinstance(array, Operand):
            return array
        shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
        if shape is None or dtype is None:
            raise TilewrightTypeError(f"{name}: expected an array with a shape and a dtype, got {type(array).__name__}")
        extents: list[Var | int] = []
        for extent in shape:
            if integer_of(extent) is None and not (symbols and isinstance(extent, Var)):
                raise TilewrightTypeError(
                    f"{name}: expected extents that are numbers{' or te.var' * symbols}, got {extent}"
                )
            extents.append(extent if isinstance(extent, Var) else int(extent))
        return cls(tuple(extents), str(dtype).removeprefix("torch."))


@dataclass(frozen=True, slots=True)
class _Known:
    """A compiled function for arrays like some that it was called with, and how its result is allocated beside them."""

    function: Function | Dispatch
    empty: Callable[[Any], Any] | None
    """Of the first array; None where the function does it."""

    @classmethod
    def of(cls, function: Function | Dispatch, first: Any) -> _Known:
        outputs = [one for one in function.signature.arguments if one.is_allocated]
        shape = tuple(extent for one in outputs for extent in one.shape if isinstance(extent, int))
        if len(outputs) != 1 or len(shape) != len(outputs[0].shape):
            return cls(function, None)
        dtype = outputs[0].dtype
        if isinstance(first, np.ndarray):
            of_numpy = as_dtype(dtype)
            return cls(function, lambda _: np.empty(shape, of_numpy))
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(first, torch.Tensor):
            of_torch = getattr(torch, dtype)
            return cls(function, lambda one: torch.empty(shape, dtype=of_torch, device=one.device))
        return cls(function, None)

    def __call__(self, arrays: tuple[Any, ...], out: Any) -> Any:
        if out is None:
            if self.empty is None:
                return self.function(*arrays)
            out = self.empty(arrays[0])
        self.function(*arrays, out)
        return out


def _key_of(operator: Operator, arrays: tuple[Any, ...], options: dict[str, Any], target: Any) -> Hashable | None:
    """What decides which function arrays get; None where that takes a closer look."""
    try:
        if not all([is_row_major(one) and not isinstance(one, np.generic) for one in arrays]):
            return None
        key = (  # pyright: ignore[reportUnknownVariableType]
            operator,
            tuple([(type(one), one.shape, one.dtype, getattr(one, "device", None)) for one in arrays]),  # pyright: ignore[reportUnknownArgumentType]
            tuple(options.items()),
            target,
        )
        hash(key)  # pyright: ignore[reportUnknownArgumentType]
    except (AttributeError, TypeError):
        return None
    return key if arrays else None  # pyright: ignore[reportUnknownVariableType]


class Operator:
    """An operation, which `ops.operator` makes. Call it with arrays.

    It compiles what their shapes and types need, once, and runs it.

    Options are keyword arguments; `target` is where to compute: by default the GPU for arrays in its memory, this
    machine's processor for others. With `out` the result is written there, else to a new array of the first one's
    library. Arrays that are not row-major, as views are, are copied first. `make` is the function that `ops.operator`
    was given.

    Raises TypeError for arrays of another type than the operation takes. Raises ValueError for shapes or options that
    do not fit, and for tensors of which PyTorch would want a gradient. Nothing is computed then.

    >>> import numpy as np
    >>> from tilewright import ops
    >>> ops.add(np.ones(2, "float32"), np.ones(3, "float32"))
    Traceback (most recent call last):
        ...
    tilewright.errors.TilewrightValueError: add: expected shapes that broadcast, got x (2,) and y (3,)
    """

    takes_symbols = False
    __name__: str

    def __init__(self, make: Callable[..., Scheduled]) -> None:
        self.__name__ = make.__name__
        update_wrapper(self, make)
        self._make = make
        self._signature = inspect.signature(make)
        self._call = _without_types(self._signature)
        self._takes_target = "target" in self._signature.parameters
        self._arrays = tuple(
            name for name, parameter in self._signature.parameters.items() if "Operand" in str(parameter.annotation)
        )
        self._known = _KNOWN

    @overload
    def __call__(
        self, array: Array, /, *arrays: Any, target: Target | str | None = ..., out: Any = ..., **options: Any
    ) -> Array: ...
    @overload
    def __call__(self, *, target: Target | str | None = ..., out: Any = ..., **arrays: Any) -> Any: ...
    def __call__(self, *arrays: Any, **options: Any) -> Any:
        return self._run(*arrays, **options)

    def _run(self, *arrays: Any, target: Target | str | None = None, out: Any = None, **options: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is not None and torch.is_grad_enabled():
            self._refuse_gradients(*arrays, **options)
        if out is not None and not is_row_major(out):
            return _into_view(self.__name__, self._run(*arrays, target=target, **options), out)
        key = _key_of(self, arrays, options, target)
        known = self._known.get(key) if key is not None else None
        if known is not None:
            return known(arrays, out)
        given, rest = self._split(arrays, options)
        if not all(map(is_row_major, given.values())):
            given, rest = self._row_major(given, rest)
            if tuple(given) == self._arrays[: len(given)]:  # in their order, and none is left out
                return self._run(*given.values(), target=target, out=out, **rest)
            return self._run(**given, target=target, out=out, **rest)
        where = "cpu" if target is None and not any(is_on_gpu(array) for array in given.values()) else target
        function = self._find(given, rest, where)
        if key is not None and len(given) == len(arrays):
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = _Known.of(function, arrays[0])
        return function(*given.values()) if out is None else _into(function, given, out)

    def _refuse_gradients(self, *arrays: Any, **options: Any) -> None:
        """PyTorch would go on with a result that is cut off from its gradient."""
        for name, one in (*zip(self._arrays, arrays), *options.items()):
            if getattr(one, "requires_grad", False):
                raise TilewrightValueError(
                    f"{self.__name__}: {name} requires a gradient, which an operation does not have: expected a call "
                    f'under torch.no_grad(), or a function of torch.compile(backend="tilewright")'
                )

    def _row_major(self, given: dict[str, Any], options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Row-major arrays in place of those given, and the options for them."""
        return {name: row_major(array) for name, array in given.items()}, options

    def function(self, *arrays: Any, target: Target | str | None = None, **options: Any) -> Function | Dispatch:
        """The compiled function of a `target` for such `arrays`, or placeholders. Where one of the extents is a symbol,
        it may be a `Dispatch` over classes of its values.

        `options` are the operation's other parameters.

        It takes the arrays in the order of the parameters, then the result. Without the result, it returns a new one.

        Raises TypeError for arrays or options that the operation does not take.
        """
        return self._find(*self._split(arrays, options), target)

    def schedule(self, *arrays: Any, target: Target | str | None = None, **options: Any) -> Scheduled:
        """The schedule that `function` compiles of the same `arrays`, `target` and `options`, and its tensors: print
        it, change it, give it to `tw.build`.

        Raises TypeError as `function` does.
        """
        given, rest = self._split(arrays, options)
        return self._scheduled(
            dict(self._operands(given)), rest, Target(target) if target is not None else Target("cuda")
        )

    def _split(self, arrays: tuple[Any, ...], options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arrays by name, in the order of the parameters, and the options."""
        try:
            bound = self._signature.bind(*arrays, **options)
        except TypeError as error:
            raise TilewrightTypeError(f"{self.__name__}: {error}: expected {self.__name__}{self._call}") from None
        given = {name: bound.arguments[name] for name in self._arrays if bound.arguments.get(name) is not None}
        # A number of NumPy's, such as a sum of an array, is an array of no dimension.
        for name, one in given.items():
            if isinstance(one, np.generic):
                given[name] = np.asarray(one)  # pyright: ignore[reportUnknownArgumentType]
        return given, {name: value for name, value in bound.arguments.items() if name not in self._arrays}

    def _find(
        self, given: Mapping[str, Any], options: Mapping[str, Any], target: Target | str | None
    ) -> Function | Dispatch:
        where = Target(target) if target is not None else Target("cuda")
        return self._function(self._operands(given), frozen(options), where)

    def _function(
        self, operands: tuple[tuple[str, Operand], ...], options: Hashable, target: Target
    ) -> Function | Dispatch:
        """What `_compile` makes, which is kept."""
        return _compiled(self._compile, operands, options, target)

    def _operands(self, given: Mapping[str, Any]) -> tuple[tuple[str, Operand], ...]:
        return tuple(
            (name, Operand.of(array, f"{self.__name__}: {name}", symbols=self.takes_symbols))
            for name, array in given.items()
        )

    def _compile(
        self, operands: tuple[tuple[str, Operand], ...], options: Hashable, target: Target
    ) -> Function | Dispatch:
        def make() -> Scheduled:
            return self._scheduled(dict(operands), _thawed(options), target)

        symbols = {extent for _, operand in operands for extent in operand.shape if isinstance(extent, Var)}
        made = in_classes(symbols.pop(), make, lambda made: made[0]) if len(symbols) == 1 else [make()]
        return build_classes(made, target, free_name(self.__name__))

    def _scheduled(self, operands: dict[str, Operand], options: Mapping[str, Any], target: Target) -> Scheduled:
        more = {"target": target} if self._takes_target else {}
        with target:  # whose device the schedules are made for
            return self._make(**operands, **options, **more)


# Of all operations, by what `_key_of` makes of a call.
_KNOWN: dict[Hashable, _Known] = {}


@lru_cache(maxsize=_MOST)
def _compiled(make: Callable[..., Function | Dispatch], *of: Hashable) -> Function | Dispatch:
    """What an operation's `make` compiles."""
    return make(*of)


def operator(make: Callable[..., Scheduled]) -> Operator:
    """An operation of the function `make`, which makes a schedule: its parameters of type `Operand` are the arrays.

    >>> from tilewright import schedules
    >>> @operator
    ... def double(x: Operand):
    ...     return schedules.elementwise(lambda x: x * 2.0, x.shape)
    >>> import numpy as np
    >>> double(np.ones(4, "float32"))
    array([2., 2., 2., 2.], dtype=float32)
    """
    return Operator(make)


def _without_types(signature: inspect.Signature) -> str:
    parameters = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def is_on_gpu(array: Any) -> bool:
    where = getattr(array, "__dlpack_device__", None)
    try:
        return where is not None and int(where()[0]) in _GPU
    except (ValueError, BufferError, RuntimeError):  # on no device that DLPack knows: the function says so
        return False


def _into(function: Function | Dispatch, given: Mapping[str, Any], out: Any) -> Any:
    function(*given.values(), out)
    return out


def _into_view(name: str, result: Any, out: Any) -> Any:
    """Copies the result into an array that is not row-major."""
    if tuple(out.shape) != tuple(result.shape) or out.dtype != result.dtype:
        raise TilewrightValueError(
            f"{name}: out: expected {result.dtype}{[*result.shape]}, got {out.dtype}{[*out.shape]}"
        )
    out[...] = result
    return out


def frozen(value: Any) -> Hashable:
    """Options that may be dictionaries and lists, as a key."""
    if is_mapping(value):
        return ("mapping", *((name, frozen(one)) for name, one in sorted(value.items())))
    if is_listed(value):
        return ("sequence", *map(frozen, value))
    return ("value", value)


def _thawed(value: Any) -> Any:
    kind, *rest = value
    if kind == "mapping":
        return {name: _thawed(one) for name, one in rest}
    return tuple(map(_thawed, rest)) if kind == "sequence" else rest[0]
