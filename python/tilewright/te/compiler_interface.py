"""What te asks of the packages that are made on top of it: they install it when they are imported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mlir import ir

if TYPE_CHECKING:
    from ..target import Target
    from .intrinsic import TensorIntrin

__all__ = ["CompilerInterface", "compiler", "install"]


class _Lower(Protocol):
    def __call__(self, program: Any, args: Any, *, stage: str, target: Target) -> ir.Module: ...


class _Build(Protocol):
    def __call__(self, program: str, *, start: str, target: str) -> Any: ...


class _PipelineText(Protocol):
    def __call__(self, start: str, stop: str, target: Target) -> str: ...


class _IntrinsicsLike(Protocol):
    def __call__(
        self, name: str, a: Any, b: Any, c: Any, promote: int = 0, tf32x3: bool = False
    ) -> Iterable[TensorIntrin]: ...


@dataclass(frozen=True, slots=True)
class CompilerInterface:
    """What te needs of the compiler.

    A schedule shows its loops by `tw.lower`. An intrinsic is checked by `tw.build` and the pipelines. An intrinsic in a
    file is recognised by those of `tilewright.instructions`.
    """

    lower: _Lower
    build: _Build
    pipeline_text: _PipelineText
    intrinsics_like: _IntrinsicsLike


_installed: list[CompilerInterface] = []


def install(interface: CompilerInterface) -> None:
    """Called once, when the compiler is imported."""
    _installed[:] = [interface]


def compiler() -> CompilerInterface:
    """The compiler. `import tilewright` has installed it before anything of te can be called."""
    return _installed[0]
