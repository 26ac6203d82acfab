"""What a program may be called: its name is a symbol of the process."""

from __future__ import annotations

from ..errors import TilewrightTypeError, TilewrightValueError

__all__ = ["checked_name", "free_name"]

_MATH = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim
floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint
lround modf nan nearbyint nextafter pow remainder remquo rint round roundeven scalbln scalbn sin sincos
sinh sqrt tan tanh tgamma trunc"""
_MEMORY = "abort bcmp calloc free malloc memchr memcmp memcpy memmove memset realloc strlen"
_TAKEN = frozenset(f"{name}{kind}" for name in _MATH.split() for kind in ("", "f", "l")) | frozenset(_MEMORY.split())
"""Functions of the C library that compiled code calls: of that name it would call the program, for ever."""


def free_name(name: str) -> str:
    """`name`, or one made of it that a program may have.

    >>> free_name("softmax"), free_name("tanh")
    ('softmax', 'tanh_kernel')
    """
    return f"{name}_kernel" if name in _TAKEN else name


def checked_name(name: str) -> str:
    """`name`, if a program may have it.

    Raises
    ------
    TypeError
        Where it is no string.
    ValueError
        Where it is no identifier, or a function of the C library that compiled code calls.

    >>> checked_name("mmult")
    'mmult'
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TilewrightTypeError(f"expected a string as name, got {name!r}")
    if not name.isidentifier():
        raise TilewrightValueError(f"expected a name that is an identifier, got {name!r}")
    if name in _TAKEN:
        raise TilewrightValueError(
            f"expected a name that is no function of the C library, which compiled code calls, got {name!r}: "
            f"say name='{free_name(name)}'"
        )
    return name
