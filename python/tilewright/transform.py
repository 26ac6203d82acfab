"""`tvm.transform.PassContext`, as scripts for TVM write it around a build."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from collections.abc import Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .errors import TilewrightValueError as ValueError
from .tvm_compat.missing_names import attribute_of, attributes_of

__all__ = ["PassContext"]


_current: ContextVar[tuple[PassContext, ...]] = ContextVar("contexts", default=())


class PassContext:
    """A context that changes nothing: there is one level of optimisation, and a schedule decides the rest.

    Your own passes, and the entries of TVM's `config`, are options of the build: `tvm.build(..., after={stage: pass})`.

    Raises ValueError for passes or entries of `config`.

    >>> with PassContext(opt_level=3):
    ...     pass
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: object = None,
        disabled_pass: object = None,
        instruments: object = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        if config and "te.keep_schedule_record" in config:
            raise ValueError(
                f"expected no config in a PassContext, got {config!r}: every schedule keeps its record, and "
                "Schedule.trace() shows it"
            )
        for name, value in (
            ("required_pass", required_pass),
            ("disabled_pass", disabled_pass),
            ("instruments", instruments),
            ("config", config),
        ):
            if value:
                raise ValueError(
                    f"expected no {name} in a PassContext, got {value!r}: passes of one's own are asked of the build, "
                    "tvm.build(..., after={stage: pass}), and Function.ir(stage) shows every stage"
                )
        self.opt_level = opt_level
        self.config: dict[str, Any] = {}

    if not TYPE_CHECKING:
        __getattr__ = attributes_of("PassContext", "'PassContext' object")

    @staticmethod
    def current() -> PassContext:
        """The context of the innermost ``with`` block, or one with the defaults."""
        contexts = _current.get()
        return contexts[-1] if contexts else PassContext()

    def __enter__(self) -> PassContext:
        _current.set((*_current.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.set(_current.get()[:-1])


__getattr__: _Callable[[str], object] = attribute_of("transform", "module 'tilewright.transform'")
