"""The extents of a call's arguments, which its launches depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError

if TYPE_CHECKING:
    from ..runtime import Argument, Signature

__all__ = ["extents_of"]


def extents_of(signature: Signature, arrays: tuple[Any, ...]) -> list[int]:
    """The extents of all arguments in order, checked against the signature, and the numbers' bits."""
    from ..runtime.calls import flattened
    from ..runtime.numbers import bits_of

    arguments = signature.arguments
    is_known = all(isinstance(extent, int) for argument in arguments for extent in argument.shape)
    is_plain = not any(argument.is_number or argument.optional for argument in arguments)
    if not arrays and is_known and is_plain:
        known = [(*argument.shape, *_strides_without(argument)) for argument in arguments]
        return [int(extent) for extents in known for extent in extents]  # type: ignore[arg-type]
    arrays = tuple(flattened(signature, arrays))
    extents: list[int] = []
    for argument, array in zip(arguments, arrays):
        if argument.is_number:
            extents.append(bits_of(array, argument.dtype, f"{signature}: {argument.name}"))
            continue
        if argument.is_pointer or (argument.optional and array is None):
            extents.extend(_extents_without(signature, argument, arrays))
            extents.extend(_strides_without(argument))
            continue
        shape = getattr(array, "shape", None)
        if shape is None:
            raise TypeError(
                f"{signature}: {argument.name}: expected something with a shape, got {type(array).__name__}"
            )
        given = tuple(int(extent) for extent in shape)
        fits = len(given) == len(argument.shape) and all(
            not isinstance(wanted, int) or wanted == extent for wanted, extent in zip(argument.shape, given)
        )
        if not fits:
            wanted = ", ".join(map(str, argument.shape)) + "," * (len(argument.shape) == 1)
            raise ValueError(f"{signature}: {argument.name}: expected shape ({wanted}), got {given}")
        extents.extend(given)
        extents.extend(_strides_without(argument))
    flags = [array is not None for argument, array in zip(arguments, arrays) if argument.optional]
    return extents + [int(flag) for flag in flags]


def _extents_without(signature: Signature, argument: Argument, arrays: tuple[Any, ...]) -> list[int]:
    """The extents of an array that is not given, or of which but the address is, as far as others have them."""
    known: dict[str, int] = {}
    for other, array in zip(signature.arguments, arrays):
        found = (array,) if other.is_number else () if other.is_pointer else getattr(array, "shape", ())
        known.update({str(symbol): int(extent) for symbol, extent in zip(other.shape, found)})
    return [extent if isinstance(extent, int) else known.get(str(extent), 0) for extent in argument.shape]


def _strides_without(argument: Argument) -> list[int]:
    """The strides of an argument where no array is looked at: no launch's numbers depend on them."""
    return [stride if isinstance(stride, int) else stride.divisible_by for stride in argument.strides or ()]
