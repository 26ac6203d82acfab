"""What a compute capability has, by the names of `tvm.contrib.nvcc`. Nothing is compiled by nvcc.

>>> from tilewright.contrib import nvcc
>>> nvcc.have_tensorcore("9.0"), nvcc.have_tensorcore("6.1"), nvcc.have_bf16("7.5")
(True, False, False)
"""

from __future__ import annotations

from ..errors import TilewrightValueError as ValueError
from ..messages.location import user_source
from ..target import Target

__all__ = [
    "get_target_compute_version", "have_bf16", "have_fp16", "have_int8", "have_tensorcore", "parse_compute_version",
]  # fmt: skip


def parse_compute_version(compute_version: str) -> tuple[int, int]:
    """A compute capability as its two numbers.

    >>> parse_compute_version("9.0")
    (9, 0)
    """
    major, _, minor = str(compute_version).partition(".")
    if not major.isdecimal() or not minor.isdecimal():
        raise ValueError(f"{user_source()}: expected a compute capability such as '9.0', got {compute_version!r}")
    return int(major), int(minor)


def get_target_compute_version(target: Target | None = None) -> str:
    """The compute capability of a target, or of that of the `with` block around.

    >>> get_target_compute_version(Target("cuda", arch="sm_90a"))
    '9.0'
    """
    known = target or Target.current() or Target("cuda")
    digits = "".join(one for one in known.arch or "" if one.isdecimal())
    if not digits:
        raise ValueError(f"{user_source()}: expected a target of cuda, got {known}")
    return f"{digits[:-1]}.{digits[-1]}"


def _is_from(compute_version: str | None, least: tuple[int, int], target: Target | None = None) -> bool:
    return parse_compute_version(compute_version or get_target_compute_version(target)) >= least


def have_fp16(compute_version: str) -> bool:
    """Whether there is arithmetic of float16."""
    return _is_from(compute_version, (5, 3))


def have_int8(compute_version: str) -> bool:
    """Whether there is `te.dp4a`."""
    return _is_from(compute_version, (6, 1))


def have_bf16(compute_version: str) -> bool:
    """Whether there is arithmetic of bfloat16."""
    return _is_from(compute_version, (8, 0))


def have_tensorcore(compute_version: str | None = None, target: Target | None = None) -> bool:
    """Whether there are tensor cores."""
    return _is_from(compute_version, (7, 0), target)
