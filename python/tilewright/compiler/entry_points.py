"""`tw.lower` and `tw.build`: a program, given as a schedule, a module or IR text, at a stage or as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, cast, overload

from mlir import ir

from ..cache import Cache
from ..errors import CompileError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_listed
from ..ir import context
from ..ir.diagnostics import MLIRError, diagnostics_of
from ..messages.location import user_source
from ..messages.progress import progress
from ..target import Target
from .dispatcher import Dispatch, dispatch
from .function import Function
from .pipeline import PATHS, Hook, Lowering, hooks_of, stages_of
from .program_name import checked_name

if TYPE_CHECKING:
    from ..te import Schedule, Tensor
    from ..te.statements import Buffer

    Program = Schedule | Tensor | Sequence[Tensor] | ir.Module | str
    Classes = Sequence[Schedule]

__all__ = ["build", "build_classes", "lower", "take_up"]


def _parse(text: str, name: str, stage: str) -> ir.Module:
    """The module that IR text of the user's stands for."""
    from ..ir.reading import check_readable

    check_readable(text, name)
    with context():
        try:
            return ir.Module.parse(text)
        except MLIRError as error:
            found = diagnostics_of(error.error_diagnostics)
            told = "\n".join(map(str, found)) or str(error)
            raise CompileError(
                f"{told}\n(reading {name} as IR of stage {stage})", stage=stage, diagnostics=found
            ) from None


def _program_name(module: ir.Module, name: str | None) -> str:
    """The function of `module` that is the program: the one called `name`, or the only public one."""
    names = [
        ir.StringAttr(operation.attributes["sym_name"]).value
        for operation in module.body
        if operation.operation.name == "func.func" and "sym_visibility" not in operation.attributes
    ]
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        wanted = "one public function" if name is None else f"a public function {name!r}"
        raise ValueError(f"expected {wanted} in the module, got {', '.join(names) or 'none'}")
    return name


def _bound(args: Sequence[Any] | None, binds: Mapping[Tensor, Buffer] | None) -> Sequence[Any] | None:
    """The arguments, of which those that are bound have the strides of their buffers."""
    if not binds:
        return args
    from ..te import Tensor, strided
    from ..te.statements import Buffer

    source = user_source()
    if not isinstance(binds, Mapping):
        raise TypeError(f"{source}: binds: expected a dictionary of buffers by tensor, got {binds!r}")
    for tensor, buffer in binds.items():
        if not isinstance(tensor, Tensor) or not isinstance(buffer, Buffer):
            raise TypeError(f"{source}: binds: expected buffers of decl_buffer by tensors, got {tensor!r}: {buffer!r}")
        if tuple(map(str, buffer.shape)) != tuple(map(str, tensor.shape)) or buffer.dtype != tensor.dtype:
            raise ValueError(
                f"{source}: binds: expected a buffer as {tensor.name}, {tensor.dtype} of shape {tensor.shape}, got "
                f"{buffer.name}, {buffer.dtype} of shape {buffer.shape}"
            )
        if not any(arg is tensor for arg in args or ()):
            raise ValueError(f"{source}: binds: expected {tensor.name} among the arguments")
    found = [binds.get(arg) if isinstance(arg, Tensor) else None for arg in args or ()]
    return [
        arg if buffer is None or not buffer.strides else strided(arg, buffer.strides)
        for arg, buffer in zip(args or (), found)
    ]


def take_up(
    program: Program,
    args: Sequence[Any] | None = None,
    target: Target | str | None = None,
    name: str | None = None,
    *,
    after: Mapping[str, Hook | Sequence[Hook]] | None = None,
    start: str | None = None,
) -> Lowering:
    """The program at the stage where it is taken up, from which `Lowering.reach` makes any later one."""
    target = Target.of(target)
    path = PATHS[target.kind]
    if isinstance(program, (str, ir.Module)):
        start = "te" if start in (None, "schedule") else start
        if start not in path:
            raise ValueError(
                f"expected a stage to start at ({', '.join(path)} for target {target.kind}), got {start!r}"
            )
        if args is not None:
            raise TypeError("expected no args beside a module or IR text: its function has them")
        module = _parse(program, name or "the text", start) if isinstance(program, str) else program
        if start not in ("gpu", "nvvm") and any(op.operation.name == "gpu.module" for op in module.body):
            raise ValueError(f"expected IR of stage {start}, got IR of a later stage: it has a gpu.module")
        name = checked_name(_program_name(module, name))
        lowering = Lowering(name, target, start, hooks_of(after, target))
    else:
        from ..te.emit import emit_module

        if start is not None:
            raise TypeError("expected start only beside a module or IR text: a schedule starts at te")
        if args is None:
            raise TypeError("expected args beside a schedule: the tensors that the function takes, outputs too")
        name = checked_name("main" if name is None else name)
        lowering = Lowering(name, target, "te", hooks_of(after, target))
        with lowering.timed("te"):
            module = emit_module(program, args, name)
    lowering.enter(module)
    return lowering


@overload
def lower(
    program: Program,
    args: Sequence[Any] | None = None,
    name: str | None = None,
    stage: str = "loops",
    target: Target | str | None = None,
    *,
    after: Mapping[str, Hook | Sequence[Hook]] | None = None,
    start: str | None = None,
    simple_mode: Literal[False] = False,
    binds: Mapping[Tensor, Buffer] | None = None,
) -> ir.Module: ...


@overload
def lower(
    program: Program,
    args: Sequence[Any] | None = None,
    name: str | None = None,
    stage: str = "loops",
    target: Target | str | None = None,
    *,
    simple_mode: Literal[True],
    binds: Mapping[Tensor, Buffer] | None = None,
) -> str: ...


def lower(
    program: Program,
    args: Sequence[Any] | None = None,
    name: str | None = None,
    stage: str = "loops",
    target: Target | str | None = None,
    *,
    after: Mapping[str, Hook | Sequence[Hook]] | None = None,
    start: str | None = None,
    simple_mode: bool = False,
    binds: Mapping[Tensor, Buffer] | None = None,
) -> ir.Module | str:
    """The module of a program at `stage`, without building it.

    The parameters `args`, `name`, `target`, `after`, `start` and `binds` are those of `build`; `stage` is any stage
    that the target has. With `simple_mode`, of a schedule, the loop nest as ``print(s)`` shows it.

    Raises ValueError for a stage that the target does not have, TypeError for `simple_mode` without a schedule, and
    what `build` raises.

    >>> print(tw.lower(s, [A, B, C], "mmult", stage="loops"))      # doctest: +SKIP
    >>> print(tw.lower(s, [A, B, C], simple_mode=True))            # doctest: +SKIP
    """
    args = _bound(args, binds)
    if simple_mode:
        from ..te import Schedule

        if not isinstance(program, Schedule):
            raise TypeError(f"expected a schedule with simple_mode, got {type(program).__name__}")
        take_up(program, args, target, name)  # for its errors
        return str(program)
    lowering = take_up(program, args, target, name, after=after, start=start)
    known = stages_of(lowering.target)
    if stage not in known:
        raise ValueError(f"expected a stage of target {lowering.target.kind} ({', '.join(known)}), got {stage!r}")
    if stage == "loops" and not lowering.follows_schedule:
        raise ValueError(
            "expected a stage of this program (te, schedule, linalg, host), got 'loops': target cpu has loops of a "
            "schedule only where one changes the loops and binds none to a GPU's blocks or threads"
        )
    return lowering.copy_of("te" if stage == "schedule" else stage)


@overload
def build(
    program: Program,
    args: Sequence[Any] | None = None,
    target: Target | str | None = None,
    name: str | None = None,
    *,
    after: Mapping[str, Hook | Sequence[Hook]] | None = None,
    start: str | None = None,
    target_host: Target | str | None = None,
    cache: Cache | str | PathLike[str] | bool | None = None,
    host: Literal["managed"] | None = None,
    binds: Mapping[Tensor, Buffer] | None = None,
) -> Function: ...


@overload
def build(
    program: Classes,
    args: Sequence[Any] | None = None,
    target: Target | str | None = None,
    name: str | None = None,
    *,
    after: Mapping[str, Hook | Sequence[Hook]] | None = None,
    target_host: Target | str | None = None,
    cache: Cache | str | PathLike[str] | bool | None = None,
    host: Literal["managed"] | None = None,
    binds: Mapping[Tensor, Buffer] | None = None,
) -> Function | Dispatch: ...


def build(
    program: Program | Classes,
    args: Sequence[Any] | None = None,
    target: Target | str | None = None,
    name: str | None = None,
    *,
    after: Mapping[str, Hook | Sequence[Hook]] | None = None,
    start: str | None = None,
    target_host: Target | str | None = None,
    cache: Cache | str | PathLike[str] | bool | None = None,
    host: Literal["managed"] | None = None,
    binds: Mapping[Tensor, Buffer] | None = None,
) -> Function | Dispatch:
    """Compiles a program to a function.

    Parameters
    ----------
    program
        A schedule, an MLIR module, or IR text. The text may be the edited output of `Function.ir(stage)` or
        `tilewright-opt`. Of schedules for classes of extents (`te.Schedule.classes`), the result is a `Dispatch`.
    args
        Only with a schedule: the function's parameters in order. They are all input and output tensors, and each
        `te.var` that a call passes as a number. A tuple, a NamedTuple, a dataclass or a `te.shape` of these is one
        parameter. A tensor that is not row-major is a `te.strided`.
    target
        "cuda", "sim", "cpu" or a `Target`. The default is the target of the ``with`` block around the call, or else
        "cuda".
    name
        The function's name; the default is "main". With a module or text, the name of the function to compile.
    after
        Your own passes: a dictionary from a stage to what runs after it. That is the flag of a C++ pass
        (`"canonicalize"`), a Python function that changes the module or returns another one, or a list of these.
    start
        The stage of the given module or text; the default is "te".
    target_host
        The target of the host function, for scripts written for TVM: "cpu" or "llvm", which mean this machine.
    cache
        The cache of compiled CUDA kernels, which later builds in any process use: a `tw.Cache`, its folder, or False
        for no cache. The default is `tw.cache.default()`, which reads the environment. If `after` has Python functions,
        no cache is used, because their effect on the kernel is unknown.
    host
        "managed" makes a function for target cuda take arrays in host memory. It copies them to the thread's current
        GPU and back, and waits for the results. This also holds for its tvm-ffi function and in an exported library.
        Functions for the other targets take arrays in host memory anyway.
    binds
        For scripts written for TVM: a dictionary from a tensor to its buffer of `decl_buffer`, which has its strides.

    Raises
    ------
    ScheduleError
        The schedule cannot be applied, or it needs more than the target has.
    CompileError
        The program does not compile, or one of your passes leaves invalid IR.
    ValueError, TypeError
        An argument is wrong.

    >>> mmult = tw.build(s, [A, B, C], target="sim", name="mmult")      # doctest: +SKIP
    >>> mmult(a, b, c)                                                  # doctest: +SKIP
    >>> edited = mmult.ir("loops").replace("1.0", "2.0")                # doctest: +SKIP
    >>> tw.build(edited, target="sim", start="loops")(a, b, c)          # doctest: +SKIP
    """
    if isinstance(name, Target) or name == "llvm":
        raise TypeError(f"expected the function's name as the fourth argument, got a host: write target_host={name!r}")
    if target_host is not None:
        target = Target(Target.of(target), host=target_host)
    if _is_of_classes(program):
        if start is not None:
            raise TypeError("expected start only beside a module or IR text: a schedule starts at te")
        made = [(one, args) for one in program]
        return build_classes(made, target, name or "main", after=after, cache=cache, host=host, binds=binds)
    lowering = take_up(cast("Program", program), _bound(args, binds), target, name, after=after, start=start)
    lowering.cache = Cache.of(cache)
    if host not in (None, "managed"):
        raise ValueError(f"expected host to be 'managed' or None, got {host!r}")
    lowering.managed = host == "managed"
    with progress(f"compiling {lowering.name}") as lowering.line:
        function = Function(lowering)
    lowering.line = None
    strided = [argument for argument in function.signature.arguments if argument.strides is not None]
    if lowering.managed and strided:
        raise ValueError(f"{function.signature}: expected row-major arguments with host='managed', got {strided[0]}")
    return function


def _is_of_classes(program: Program | Classes) -> TypeGuard[Classes]:
    from ..te import Schedule

    return is_listed(program) and bool(program) and all(isinstance(one, Schedule) for one in program)


def build_classes(
    schedules: Sequence[tuple[Schedule, Sequence[Any] | None]],
    target: Target | str | None,
    name: str,
    **options: Any,
) -> Function | Dispatch:
    """One function of schedules for classes of extents, each with its arguments, that chooses by a call's extents."""
    if len(schedules) == 1:
        return build(*schedules[0], target, name, **options)
    if not all(s.ranges for s, _ in schedules):
        raise ValueError(
            f"{name}: expected schedules for classes of extents (te.Schedule.classes), got several that are for all: "
            "tw.dispatch makes one function of several"
        )
    functions: list[Function] = []
    for s, args in schedules:
        most = [str(most) if most is not None else "more" for _, most in s.ranges.values()]
        functions.append(build(s, args, target, "_".join([name, "to", *most]), **options))
    return dispatch(functions, name)
