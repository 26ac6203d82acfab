"""Several functions as one: a call's dtypes and extents choose between them."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightTypeError, TilewrightValueError
from ..native.callable import CallableBase, set_target, shorten_calls
from .dispatch_rules import accepts, covers, has_strides_of
from .function import Function
from .program_name import checked_name

if TYPE_CHECKING:
    import tvm_ffi

    from ..runtime import Device, Signature
    from ..target import Target

__all__ = ["Dispatch", "dispatch"]


@shorten_calls
class Dispatch(CallableBase):
    """Functions behind one name, as `tw.dispatch` makes it.

    A call goes to the first function that accepts its dtypes, ranks, extents and alignments, with all its arguments and
    options. That function reports whatever else is wrong with the call.

    Raises
    ------
    TypeError, ValueError
        For a call that no function accepts, with the reason of each.

    >>> import numpy as np
    >>> import tilewright as tw
    >>> from tilewright import te
    >>> def double(dtype):
    ...     A = te.placeholder((8,), dtype, name="A")
    ...     B = te.compute((8,), lambda i: A[i] * 2, name="B")
    ...     return tw.build(te.create_schedule(B.op), [A, B], target="cpu", name=f"double_{dtype}")
    >>> either = tw.dispatch([double("float32"), double("int32")], name="double")
    >>> y = np.empty(8, "int32")
    >>> either(np.arange(8, dtype="int32"), y)
    >>> y[:4].tolist()
    [0, 2, 4, 6]
    """

    __slots__ = ("__weakref__", "_choice")

    def __init__(self, functions: Sequence[Function], name: str) -> None:
        self._choice = _Choice(tuple(functions), name)
        set_target(self, _FirstCall(self, self._choice))

    def __repr__(self) -> str:
        return f"<tilewright.Dispatch {self} of {', '.join(function.name for function in self.functions)}>"

    def __str__(self) -> str:
        return f"{self.name}({', '.join(parameter.name for parameter in self.signature.parameters)})"

    @property
    def name(self) -> str:
        """Its own name."""
        return self._choice.name

    @property
    def entry_name(self) -> str:
        """The name that an exported library has for it."""
        return self._choice.name

    @property
    def functions(self) -> tuple[Function, ...]:
        """What it chooses between, in this order."""
        return self._choice.functions

    @property
    def signature(self) -> Signature:
        """The first function's: all have arguments of these names."""
        return self._choice.signature

    @property
    def target(self) -> Target:
        """The first function's. Those of `tw.build` and `tw.ops` are all for one target."""
        return self.functions[0].target

    def select(self, *arrays: Any) -> Function | None:
        """The function that a call with these arrays goes to, or None. They may be the inputs alone.

        >>> mmult.select(a, b, c).name                      # doctest: +SKIP
        'mmult_float16'
        """
        return self._choice.select(arrays)

    def load(self, device: Device | None = None) -> None:
        """Makes all that the first call on `device` makes otherwise, for each of the functions."""
        for function in self.functions:
            function.load(device)

    @property
    def ffi(self) -> tvm_ffi.Function:
        """It as a function of tvm-ffi, as `Function.ffi` is one."""
        return self._choice.host.ffi

    def module_text(self, *, export: bool) -> str:
        """The host function that chooses, as IR; with `export`, as an exported library has it."""
        from .dispatch_module import module_text

        return module_text(self.name, self.functions, export=export)

    def export_library(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes it as a shared library: `tw.export_library([self], path)`, with its options."""
        from ..aot.library import export_library

        export_library([self], path, **options)


class _FirstCall:
    """What it is called by until it is."""

    __slots__ = ("_choice", "_dispatch")

    def __init__(self, dispatch: Dispatch, choice: _Choice) -> None:
        self._dispatch, self._choice = weakref.ref(dispatch), choice

    def __call__(self, *arrays: object, **options: object) -> Any:
        from ..runtime.caller import make_caller

        choice = self._choice
        kinds = {function.signature.device_kind for function in choice.functions}
        # A builtin takes arrays of one kind of device.
        target = make_caller(choice, slow=choice) if len(kinds) == 1 else choice
        dispatch = self._dispatch()
        if dispatch is not None:
            set_target(dispatch, target)
        return target(*arrays, **options)


class _Choice:
    """What chooses, for builtins to refer to. Called, it chooses in Python: arrays may be any."""

    def __init__(self, functions: tuple[Function, ...], name: str) -> None:
        self.functions, self.name = functions, name
        self._lock = threading.Lock()

    @property
    def signature(self) -> Signature:
        return self.functions[0].signature

    @property
    def host(self) -> _Compiled:
        with self._lock:
            return self._compiled

    @cached_property
    def _compiled(self) -> _Compiled:
        return _Compiled(self)

    def select(self, arrays: Sequence[Any], named: Mapping[str, Any] | None = None) -> Function | None:
        signatures = [function.signature for function in self.functions]
        strided = any(argument.strides is not None for signature in signatures for argument in signature.arguments)
        return next(
            (
                function
                for function, signature in zip(self.functions, signatures)
                if accepts(signature, arrays, named or {})
                and (not strided or has_strides_of(signature, arrays, named or {}))
            ),
            None,
        )

    def __call__(self, *arrays: object, **options: Any) -> Any:
        named = {name: value for name, value in options.items() if name != "stream"}
        if named:
            self.signature.arranged(arrays, named)  # for its errors: all have arguments of these names
        function = self.select(arrays, named)
        if function is not None:
            return function(*arrays, **options)
        said: list[Exception] = []
        for function in self.functions:
            try:
                return function(*arrays, **options)
            except (TypeError, ValueError) as error:
                said.append(error)
        of_types = all(isinstance(error, TypeError) for error in said)
        kind = TilewrightTypeError if of_types else TilewrightValueError
        raise kind("\n  ".join((f"{self.name}: expected a call that one of these takes", *map(str, said))))


class _Compiled:
    """The choice between functions that are compiled in this process."""

    def __init__(self, choice: _Choice) -> None:
        from mlir import ir

        from ..ir import context
        from ..native.jit import Engine, lookup
        from ..runtime.ffi import run_time_symbols
        from .dispatch_module import module_text

        symbols = dict(run_time_symbols())
        self._programs = [function.host_program() for function in choice.functions]
        for program in self._programs:
            symbols[f"{program.name}_call"] = program.entry
            symbols[f"{program.name}_signature"] = lookup(program.engine, f"{program.name}_signature")
        with context():
            module = ir.Module.parse(module_text(choice.name, choice.functions, export=False))
            engine = Engine(module, 1, symbols)
        self._engine = engine
        self.entry: int = lookup(engine, f"{choice.name}_call")
        self._safe_call = lookup(engine, f"__tvm_ffi_{choice.name}")

    @cached_property
    def ffi(self) -> tvm_ffi.Function:
        from ..runtime.ffi import register_errors

        register_errors()
        import tvm_ffi

        return tvm_ffi.Function.__from_extern_c__(self._safe_call, keep_alive_object=self)


def dispatch(functions: Sequence[Function], name: str) -> Dispatch:
    """One function of several, for calls of different dtypes and classes of shapes.

    A call goes to the first function that accepts it. A function accepts dtypes, ranks, extents (numbers, or symbols
    with a divisor and a least value), alignments and a kind of device. So list the special functions before the general
    ones.

    Parameters
    ----------
    functions
        Functions from `tw.build`. Their names differ. Their arguments have the same names, and the same ones are
        outputs.
    name
        The name of the new function, which none of `functions` has. An exported library has it beside them.

    Raises
    ------
    TypeError
        Where one is no function that `tw.build` has made.
    ValueError
        Where the functions' arguments are not called the same, or one comes after another that takes all its calls.

    >>> mmult = dispatch([mmult_f16, mmult_of_128, mmult_any], "mmult")     # doctest: +SKIP
    >>> mmult(a, b, c)                                                      # doctest: +SKIP
    >>> tw.export_library([mmult], "mmult.so", header=True)                 # doctest: +SKIP
    """
    checked_name(name)
    if not isinstance(functions, Iterable):
        raise TilewrightTypeError(
            f"{name}: expected a list of functions that tw.build has made, got {type(functions).__name__}"
        )
    found = list(functions)
    if not found:
        raise TilewrightValueError(f"{name}: expected one function or more, got none")
    for function in found:
        if not isinstance(function, Function):
            raise TilewrightTypeError(
                f"{name}: expected functions that tw.build has made, got {type(function).__name__}"
            )
    names = [name, *(function.entry_name for function in found)]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        raise TilewrightValueError(
            f"{name}: expected functions of different names, and of others than its own, got two called {twice!r}"
        )
    first = found[0].signature
    for function in found[1:]:
        if _called(function.signature) != _called(first):
            raise TilewrightValueError(
                f"{name}: expected functions whose arguments have the same names, in the same order, and of which the "
                f"same are outputs, got {first} and {function.signature}"
            )
    for i, general in enumerate(found):
        for special in found[i + 1 :]:
            if covers(general.signature, special.signature):
                raise TilewrightValueError(
                    f"{name}: expected the special functions before the general ones, got {special.signature} after "
                    f"{general.signature}, which takes all its calls"
                )
    return Dispatch(found, name)


def _called(signature: Signature) -> list[tuple[str, str, bool]]:
    """What the arguments are called and which are outputs, and how a call gives them."""
    from ..runtime.arguments import places_of

    return [(place, one.name, getattr(one, "output", False)) for place, one in places_of(signature.parameters)]
