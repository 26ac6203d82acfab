"""What is tuned: a program with its sizes, the conditions under which it is measured, and what it computes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..records import NAME, Where, device_name, identify
from ..target import Target
from ..te.definitions import compute, placeholder
from ..te.double import in_double
from ..te.emit import emit_module
from ..te.expr import Expr, Read, Var
from ..te.program import operations
from ..te.tensor import ComputeOp, PlaceholderOp, Tensor
from ..te.walks import parts
from .policy import Policy

if TYPE_CHECKING:
    from ..te.schedule import Schedule

__all__ = ["AnotherProgram", "TunedProgram"]

_MOST = 1 << 27
"""Of an output with more iterations than this, some elements are computed in double precision, not all."""
_SAMPLES = 4096


class AnotherProgram(ValueError):
    """A space that makes schedules of several programs."""


class TunedProgram:
    """A program by its arguments, at certain sizes, for a target and a device."""

    target: Target
    policy: Policy
    device: int
    sizes: dict[str, int]
    outputs: list[Tensor]
    text: str
    key: str
    where: Where

    def __init__(
        self, args: Sequence[Any], target: Target, device: int, sizes: Mapping[str, int], policy: Policy
    ) -> None:
        from .. import __version__
        from ..runtime.device import device as device_of

        self.target, self.policy, self.device = target, policy, device
        self._args = tuple(args)
        for one in self._args:
            if not isinstance(one, (Tensor, Var)):
                raise TypeError(f"expected tensors and te.vars as arguments, got {one!r}")
        if target.kind == "sim":
            raise ValueError('expected a target whose time can be measured ("cuda" or "cpu"), got "sim"')
        where = device_of(target.kind, device)
        if not where.exist:
            raise TilewrightError(f"expected a device to measure on, got none: no {target.kind} device {device}")
        self.outputs = [one for one in self._args if isinstance(one, Tensor) and isinstance(one.op, ComputeOp)]
        if not self.outputs:
            raise ValueError("expected an output among the arguments, got none")
        self.text, self.sizes, self.key = identify(self.outputs, self._args, sizes)
        driver, compiler = _driver(target), f"tilewright {__version__} {_compiler()}"
        self.where = Where(self.key, device_name(target), driver, compiler, policy.key())
        self._reference: dict[str, Any] | None = None

    @property
    def apart(self) -> bool:
        """Whether candidates are compiled in other processes than the one that measures."""
        return self.target.kind == "cuda"

    def extent(self, extent: int | Expr) -> int:
        if isinstance(extent, int):
            return extent
        if isinstance(extent, Var) and extent.name in self.sizes:
            return self.sizes[extent.name]
        raise ValueError(f"expected extents that are numbers or symbols, got {extent}")

    def schedule_text(self, schedule: Schedule, args: Sequence[Any]) -> str:
        """The program with a schedule as IR. Raises AnotherProgram where it is not the tuned one."""
        text = str(emit_module(schedule, args, NAME))
        same = len(args) == len(self._args) and all(one is known for one, known in zip(args, self._args))
        if not same and str(emit_module([one for one in args if self._is_output(one)], args, NAME)) != self.text:
            raise AnotherProgram("expected a schedule of one program for each point of the space, got another program")
        return text

    @staticmethod
    def _is_output(one: Any) -> bool:
        return isinstance(one, Tensor) and not isinstance(one.op, PlaceholderOp)

    def task(self, text: str, incumbent: str | None, first_error: float | None, seed: int) -> dict[str, Any]:
        """What a worker is told, of JSON's types."""
        from dataclasses import asdict

        return {
            "program": self.key, "text": text, "incumbent": incumbent, "target": str(self.target), "seed": seed,
            "device": self.device, "policy": asdict(self.policy), "first_error": first_error, "apart": self.apart,
            "arguments": self._arguments(), "reference": self.reference(),
        }  # fmt: skip

    def _arguments(self) -> list[dict[str, Any]]:
        ranges = _index_ranges(self.outputs, self.extent)
        made: list[dict[str, Any]] = []
        for one in self._args:
            if isinstance(one, Var):
                made.append({"value": self.sizes[one.name]})
            else:
                made.append({"shape": [self.extent(extent) for extent in one.shape], "range": ranges.get(one)})
        return made

    def reference(self) -> dict[str, Any]:
        """The program in double precision for target cpu; of outputs that take long, at random places alone."""
        if self._reference is None:
            wide, inputs = in_double(self.outputs)
            given: list[Any] = []
            positions: list[int] = []
            for at, one in enumerate(self._args):
                if isinstance(one, Var) or isinstance(one.op, PlaceholderOp):
                    given.append(one if isinstance(one, Var) else inputs.get(one, one))
                    positions.append(at)
            results: list[Tensor] = []
            samples: list[list[int] | None] = []
            for output in wide:
                extents = [self.extent(extent) for extent in output.shape]
                work = math.prod(extents) * math.prod(
                    self.extent(axis.dom[1]) for axis in output.op.reduce_axis if axis.dom is not None
                )
                if work <= _MOST or math.prod(extents) <= _SAMPLES:
                    results.append(output)
                    samples.append(None)
                    continue
                places, sampled = _sampled(output, len(results))
                given.extend(places)
                results.append(sampled)
                samples.append(extents)
            text = str(emit_module(results, [*given, *results], f"{NAME}_in_double"))
            self._reference = {
                "text": text, "inputs": positions, "samples": samples, "count": _SAMPLES,
                "shapes": [[self.extent(extent) for extent in one.shape] for one in results],
                "dtypes": [one.dtype for one in results],
            }  # fmt: skip
        return self._reference


def _sampled(output: Tensor, number: int) -> tuple[list[Tensor], Tensor]:
    """An output at places that are given: a tensor of indices a dimension, and the elements there."""
    from ..te.rewrite import rewrite

    op = output.op
    places = [placeholder((_SAMPLES,), "int64", f"place_{number}_{dim}") for dim in range(output.ndim)]
    if not isinstance(op, ComputeOp) or type(op) is not ComputeOp or op.num_outputs != 1:
        return places, compute((_SAMPLES,), lambda p: output(*(one[p] for one in places)), f"sampled_{number}")
    reduction = op.reduction

    def element(p: Any) -> Any:
        at = {id(axis): one[p] for axis, one in zip(op.axis, places)}

        def replace(expr: Expr) -> Expr | None:
            return at.get(id(expr))

        if reduction is None:
            return rewrite(op.body[0], replace)
        from ..te.expr import ReduceItem
        from ..te.reduction import Reduction

        wide = Reduction(
            reduction.name, tuple(rewrite(one, replace) for one in reduction.exprs), reduction.axis, reduction.source
        )
        wide.lhs, wide.rhs, wide.combined, wide.identity = (
            reduction.lhs, reduction.rhs, reduction.combined, reduction.identity
        )  # fmt: skip
        return ReduceItem(wide, 0)

    return places, compute((_SAMPLES,), element, f"sampled_{number}")


def _index_ranges(outputs: Sequence[Tensor], extent: Any) -> dict[Tensor, list[int]]:
    """Of each input of integers that is read in an index, the numbers that it may hold: 0 up to the least extent."""
    ranges: dict[Tensor, list[int]] = {}
    for op in operations([one.op for one in outputs]):
        if not isinstance(op, ComputeOp):
            continue
        for expr in parts(op.body):
            if not isinstance(expr, Read):
                continue
            for index, length in zip(expr.indices, expr.tensor.shape):
                most = extent(length)
                for part in parts([index]):
                    if isinstance(part, Read):
                        known = ranges.setdefault(part.tensor, [0, most])
                        known[1] = min(known[1], most)
    return ranges


def _driver(target: Target) -> str:
    if target.kind != "cuda":
        return ""
    from ..runtime import cuda_driver

    return cuda_driver.driver_version()


def _compiler() -> str:
    from ..compiler.known import compiler_hash

    return compiler_hash()
