"""Whether what is given as the arguments of a program are its inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source
from .arguments import ArgumentList
from .expr import Var
from .extern_op import ExternOp
from .scan_stages import check_scans
from .tensor import CacheOp, ComputeOp, Operation, PlaceholderOp, Tensor, is_optional

__all__ = ["check_arguments"]


def check_arguments(ops: list[Operation], outputs: Sequence[Tensor], list_: ArgumentList, source: Source) -> None:
    """All inputs and outputs are arguments, once, and nothing else is."""
    args = list_.args
    for position, (arg, place) in enumerate(zip(args, list_.places)):
        if any(arg is other for other in args[:position]):
            what = "tensor" if isinstance(arg, Tensor) else "te.var"
            raise ValueError(f"{source}: argument {place}: expected each {what} once, got {arg.name} twice")
        if isinstance(arg, Var) and arg.is_symbol:
            if arg.default is not None and not place.isdigit():
                raise ValueError(
                    f"{source}: argument {place}: expected a te.var without default, for a call gives a tuple whole, "
                    f"got {arg.name} with {arg.default!r}"
                )
            continue
        if not isinstance(arg, Tensor):
            raise TypeError(f"{source}: argument {place}: expected a tensor or a te.var, got {arg!r}")
        if isinstance(arg.op, CacheOp) or isinstance(arg.op, (ComputeOp, ExternOp)) and arg.op not in ops:
            raise ValueError(
                f"{source}: argument {place}: expected an input or a compute of the program, got {arg.name}"
            )
    check_scans(ops, outputs, source)
    _check_pointers(list_, source)
    given = ", ".join(arg.name for arg in args)
    for what, needed in (
        ("input", [op.output(0) for op in ops if isinstance(op, PlaceholderOp)]),
        ("output", list(outputs)),
    ):
        for one in needed:
            if not any(one is arg for arg in args):
                got = given or "none"
                if any(one.name == arg.name for arg in args):
                    got += f", where {one.name} is another tensor of that name ({one.op.source})"
                raise ValueError(f"{source}: expected the {what} {one.name} among the arguments, got {got}")


def _check_pointers(list_: ArgumentList, source: Source) -> None:
    """What is given by its address has extents that are numbers or those of others, which every call gives."""
    known: set[Var] = set()
    for i, arg in enumerate(list_.args):
        if isinstance(arg, Var):
            known.add(arg)
        elif i not in list_.pointers and not is_optional(arg):
            known.update(extent for extent in arg.shape if isinstance(extent, Var))
    for i in sorted(list_.pointers):
        for extent in list_.args[i].shape:
            if not isinstance(extent, int) and extent not in known:
                raise ValueError(
                    f"{source}: argument {list_.places[i]}: te.pointer {list_.args[i].name}: expected extents that are "
                    f"numbers, or te.vars that other arguments are or have, got {extent}"
                )
