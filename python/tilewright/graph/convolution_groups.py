"""Groups of one convolution of rows of pixels: one kernel of images, rows, columns and channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from mlir import ir

from ..rules import auto_schedule
from ..rules.warpgroup_convolutions import WarpgroupConvolutions
from ..target import Target
from ..te import Schedule, Tensor, Var, placeholder
from .definitions import attributes_of, tensors_of
from .operators.contractions import conv_of_channels_together
from .operators.elementwise import ELEMENTWISE
from .types import from_ir
from .views import View

__all__ = ["ConvolutionGroup", "convolution_group"]


@dataclass(frozen=True, slots=True)
class ConvolutionGroup:
    """One kernel for a group: its inputs and its result as the kernel reads and writes them.

    `values` are the tensors of the model that the inputs are views of.
    """

    schedule: Schedule
    values: tuple[ir.Value, ...]
    views: tuple[View | None, ...]
    arguments: tuple[Tensor, ...]


def convolution_group(
    members: Sequence[ir.Operation],
    constants: Mapping[ir.Value, Tensor],
    yielded: Sequence[ir.Value],
    symbols: Mapping[str, Var],
    target: Target,
) -> ConvolutionGroup | None:
    """The kernel of a group whose matmul multiplies `windows` of images; None where no rule for convolutions is for it.

    Its rows of pixels are images, rows and columns of the results: in the matmul, and in what is computed of its
    elements. Inputs and the result that have as many rows are views then. `members` are the operators of the
    group, `constants` their operands that are numbers, and `yielded` its results.
    """
    gpu = target.device
    if gpu is None or "wgmma" not in gpu.features or len(yielded) != 1:
        return None
    made = _Unrolled.of(members, constants, symbols)
    if made is None or yielded[0] not in made.images:
        return None
    result = made.images[yielded[0]]
    schedule = auto_schedule(result.op, target)
    if schedule.plan is None or schedule.plan.decisions[-1].rule != WarpgroupConvolutions.name:
        return None
    view = None if from_ir(yielded[0].type, symbols).rank == 4 else _whole(result)
    views = [made.views.get(value) for value in made.inputs]
    return ConvolutionGroup(schedule, tuple(made.inputs), (*views, view), (*made.inputs.values(), result))


@dataclass(slots=True)
class _Unrolled:
    """The tensors of a group, with four dimensions instead of rows of pixels."""

    rows: int
    shape: tuple[int, ...]
    tensors: dict[ir.Value, Tensor]
    inputs: dict[ir.Value, Tensor] = field(default_factory=dict[ir.Value, Tensor])
    views: dict[ir.Value, View] = field(default_factory=dict[ir.Value, View])
    images: dict[ir.Value, Tensor] = field(default_factory=dict[ir.Value, Tensor])

    @staticmethod
    def of(
        members: Sequence[ir.Operation], constants: Mapping[ir.Value, Tensor], symbols: Mapping[str, Var]
    ) -> _Unrolled | None:
        windows = [one for one in members if one.name == "graph.windows"]
        matmuls = [one for one in members if one.name == "graph.matmul"]
        if len(windows) != 1 or len(matmuls) != 1 or matmuls[0].operands[0] != windows[0].result:
            return None
        types = [from_ir(value.type, symbols) for value in (*windows[0].operands, *matmuls[0].operands)]
        if not all(one.is_static for one in types) or types[0].rank != 4 or types[2].rank != 2:
            return None
        options = attributes_of(windows[0], symbols)
        image, (rows, _), (_, filters) = (one.shape for one in types)
        out = [
            (extent + low + high - (size - 1) * dilation - 1) // stride + 1
            for extent, low, high, size, dilation, stride in zip(
                image[1:3], *(options[name] for name in ("before", "after", "kernel", "dilations", "strides"))
            )
        ]
        made = _Unrolled(int(str(rows)), (image[0], *out, filters), dict(constants))  # type: ignore[arg-type]
        turned = _transpose_of(matmuls[0].operands[1], members)
        for one in members:
            if one is windows[0] or one is turned:
                continue
            if one is matmuls[0]:
                if not made._convolve(windows[0], one, turned, options, symbols):
                    return None
            elif not made._add(one, symbols):
                return None
        return made

    def _convolve(
        self, windows: ir.Operation, matmul: ir.Operation, turned: ir.Operation | None, options: dict[str, Any],
        symbols: Mapping[str, Var],
    ) -> bool:  # fmt: skip
        """The convolution of the image with filters that come as a matrix, which is `turned` if that is an operator."""
        filters = matmul.operands[1] if turned is None else turned.operands[0]
        if filters in self.tensors:
            return False
        image = self._tensor(windows.operands[0], symbols)
        kernel, accumulation = options.pop("kernel"), attributes_of(matmul, symbols)
        inner = (*kernel, image.shape[3])
        shape = (*inner, self.shape[3]) if turned is None else (self.shape[3], *inner)
        own = placeholder(shape, image.dtype, name=f"x{len(self.inputs)}")
        self.tensors[filters] = self.inputs[filters] = own
        self.views[filters] = _whole(own)
        self.images[matmul.result] = conv_of_channels_together(
            image, own, **options, **accumulation, filters_last=turned is None
        )
        return True

    def _add(self, one: ir.Operation, symbols: Mapping[str, Var]) -> bool:
        """An operator: on the elements of images, on their shape, or on what else the group has."""
        name = one.name.removeprefix("graph.")
        if not any(value in self.images or self._is_image(value) for value in one.operands):
            operands = [self._tensor(value, symbols) for value in one.operands]
            for value, tensor in zip(one.results, tensors_of(one, operands, symbols, by_threads=True)):
                self.tensors[value] = tensor
                if tuple(ir.RankedTensorType(value.type).shape) == self.shape:
                    self.images[value] = tensor
            return True
        if name == "reshape":
            if not self._has_rows(one.result):
                return False
            (given,) = one.operands
            self.images[one.result] = self.images[given] if given in self.images else self._image(given, symbols)
            return True
        is_of_one = name in ("quantize", "dequantize") and all(
            prod(ir.RankedTensorType(value.type).shape) == 1 for value in list(one.operands)[1:]
        )
        if name not in ELEMENTWISE and not is_of_one or not self._has_rows(one.result):
            return False
        operands: list[Tensor] = []
        for value in one.operands:
            if value in self.images:
                operands.append(self.images[value])
            elif self._is_image(value):
                operands.append(self._image(value, symbols))
            elif prod(ir.RankedTensorType(value.type).shape[:-1]) == 1:
                operands.append(self._tensor(value, symbols))
            else:
                return False
        (self.images[one.result],) = tensors_of(one, operands, symbols, by_threads=True)
        return True

    def _has_rows(self, value: ir.Value) -> bool:
        """Whether it has a row for each pixel, or four dimensions instead."""
        shape = tuple(ir.RankedTensorType(value.type).shape)
        return shape in (self.shape, (self.rows, self.shape[3]))

    def _is_image(self, value: ir.Value) -> bool:
        """Whether it is an input with a row for each pixel."""
        return self._has_rows(value) and (value not in self.tensors or value in self.inputs)

    def _tensor(self, value: ir.Value, symbols: Mapping[str, Var]) -> Tensor:
        """A tensor as it is; an input where it is not known yet."""
        if value not in self.tensors:
            kind = from_ir(value.type, symbols)
            made = placeholder(kind.shape, kind.dtype, name=f"x{len(self.inputs)}")
            self.tensors[value] = self.inputs[value] = made
        return self.tensors[value]

    def _image(self, value: ir.Value, symbols: Mapping[str, Var]) -> Tensor:
        """An input with a row for each pixel."""
        if value in self.inputs:  # the image that is convolved
            return self.inputs[value]
        kind = from_ir(value.type, symbols)
        made = placeholder(self.shape, kind.dtype, name=f"x{len(self.inputs)}")
        self.images[value] = self.inputs[value] = made
        if kind.rank != 4:
            self.views[value] = _whole(made)
        return made


def _transpose_of(value: ir.Value, members: Sequence[ir.Operation]) -> ir.Operation | None:
    """The member that makes a matrix of its transpose, which nothing else reads."""
    made = next((one for one in members if value in list(one.results)), None)
    if made is None or made.name != "graph.transpose":
        return None
    readers = [one for one in members if value in list(one.operands)]
    return made if len(readers) == 1 and list(attributes_of(made, {})["permutation"]) == [1, 0] else None


def _whole(tensor: Tensor) -> View:
    """The view that is all of a tensor's elements in their order."""
    shape = tuple(int(str(extent)) for extent in tensor.shape)
    return View(shape, tuple(prod(shape[d + 1 :]) for d in range(len(shape))), 0)
