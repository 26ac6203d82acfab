"""Which calls a function takes, of several that one name stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..runtime import Argument, Signature, Symbol

__all__ = ["accepts", "covers", "has_strides_of"]

_CPU, _CUDA = (1, 3), (2, 13)  # DLPack's devices: pinned memory is the cpu's, managed memory a GPU's


def covers(general: Signature, special: Signature) -> bool:
    """Whether all calls that one function takes another takes, too."""
    if general.device_kind != special.device_kind:
        return False
    means: dict[str, int | str] = {}  # what the symbols of one are in the other
    for ours, theirs in zip(general.arguments, special.arguments):
        if ours.alignment > theirs.alignment and not ours.is_number:
            return False
        if ours.is_pointer and theirs.is_pointer:
            continue  # of which nothing else is asked
        if ours.dtype != theirs.dtype or ours.is_number != theirs.is_number or ours.is_pointer != theirs.is_pointer:
            return False
        if ours.optional < theirs.optional or (ours.default is None and theirs.default is not None):
            return False
        if ours.strides != theirs.strides:  # perhaps, but nobody has to know
            return False
        if len(ours.shape) != len(theirs.shape):
            if ours.shape:  # of a number nothing is asked
                return False
            continue
        for wide, narrow in zip(ours.shape, theirs.shape):
            if isinstance(wide, int):
                if wide != narrow:
                    return False
                continue
            unit, least, most = (
                (narrow, narrow, narrow)
                if isinstance(narrow, int)
                else (narrow.divisible_by, narrow.minimum, narrow.maximum)
            )
            meaning = narrow if isinstance(narrow, int) else narrow.name
            if unit % wide.divisible_by or means.setdefault(wide.name, meaning) != meaning:
                return False
            if wide.minimum is not None and (least is None or least < wide.minimum):
                return False
            if wide.maximum is not None and (most is None or most > wide.maximum):
                return False
    return True


def accepts(signature: Signature, given: Sequence[Any], named: Mapping[str, Any]) -> bool:
    """Whether a call has the dtypes, ranks, extents and kind of device that a function takes."""
    from ..runtime.calls import LEFT_OUT, flattened

    try:
        values, leaves_outputs = signature.arranged(given, named)
        arrays = flattened(signature, values, leaves_outputs)
    except TypeError:
        return False
    known: dict[str, int] = {}
    for argument, array in zip(signature.arguments, arrays):
        if argument.is_number:
            if not _is_number_of(argument, array, known):
                return False
            continue
        if argument.is_pointer:
            if not _is_address(array, argument.alignment):
                return False
            continue
        if array is LEFT_OUT or (argument.optional and array is None):
            continue
        shape = getattr(array, "shape", None)
        # "float32" of NumPy's and JAX's, "torch.float32".
        if shape is None or str(getattr(array, "dtype", "")).rpartition(".")[2] != argument.dtype:
            return False
        if len(shape) != len(argument.shape):
            return False
        where = getattr(array, "__dlpack_device__", None)
        if where is not None and where()[0] not in (_CUDA if signature.device_kind.value == _CUDA[0] else _CPU):
            return False
        for wanted, extent in zip(argument.shape, shape):
            if wanted != extent if isinstance(wanted, int) else not _is_value_of(wanted, extent, known):
                return False
        if not _is_aligned(array, argument.alignment):
            return False
    return True


def has_strides_of(signature: Signature, given: Sequence[Any], named: Mapping[str, Any]) -> bool:
    """Whether a function takes the arrays of a call as they lie."""
    try:
        values, leaves_outputs = signature.arranged(given, named)
        signature.bind(signature.with_outputs(values)[0] if leaves_outputs else values)
    except (TypeError, ValueError):
        return False
    return True


def _is_address(value: Any, alignment: int) -> bool:
    from ..runtime.numbers import NotANumber, address_of

    try:
        return (address_of(value).pointer or 0) % alignment == 0
    except NotANumber:
        return False


def _is_aligned(array: Any, alignment: int) -> bool:
    """Whether an array's memory is so, as far as the array says where that is."""
    if isinstance(array, np.ndarray):
        address = array.__array_interface__["data"][0]
    else:
        # torch's, and the project's own.
        data_ptr = getattr(array, "data_ptr", None)
        address = data_ptr() if callable(data_ptr) else getattr(array, "address", 0)
    return not isinstance(address, int) or address % alignment == 0 or 0 in array.shape


def _is_number_of(argument: Argument, value: Any, known: dict[str, int]) -> bool:
    from ..runtime.numbers import bits_of

    try:
        bits = bits_of(value, argument.dtype, argument.name)
    except (TypeError, ValueError):
        return False
    return all(isinstance(symbol, int) or _is_value_of(symbol, bits, known) for symbol in argument.shape)


def _is_value_of(symbol: Symbol, value: int, known: dict[str, int]) -> bool:
    """Whether a symbol may have this value, and has no other one."""
    return (
        value % symbol.divisible_by == 0
        and (symbol.minimum is None or value >= symbol.minimum)
        and (symbol.maximum is None or value <= symbol.maximum)
        and known.setdefault(symbol.name, value) == value
    )
