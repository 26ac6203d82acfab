"""`tw.lower` and `tw.build`: a program, given as a schedule, a module or IR text, at a stage or as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, overload

from mlir import ir

from ..cache import Cache
from ..errors import CompileError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..ir import context
from ..ir.diagnostics import MLIRError, diagnostics_of
from ..messages.location import user_source
from ..messages.progress import progress
from ..target import Target
from .function import Function
from .pipeline import PATHS, Hook, Lowering, hooks_of, stages_of
from .program_name import checked_name

if TYPE_CHECKING:
    from ..te import Schedule, Tensor
    from ..te.statements import Buffer

    Program = Schedule | Tensor | Sequence[Tensor] | ir.Module | str

__all__ = ["build", "lower", "take_up"]


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

    Parameters are those of `build`; `stage` is any stage that the target has. With `simple_mode`, of a schedule, the
    loop nest as ``print(s)`` shows it.

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
) -> Function:
    """Compiles a program to a function.

    Parameters
    ----------
    program
        A schedule, or a module or IR text: what `Function.ir(stage)` or `tilewright-opt` printed, edited or not.
    args
        With a schedule, the tensors in the order in which the function takes their arrays, outputs included, and the
        `te.var`s that are numbers. A tuple, a NamedTuple or a dataclass of such, or a `te.shape`, is one argument. One
        that is not row-major is a `te.strided`.
    target
        "cuda", "sim", "cpu" or a `Target`; where it is left out that of the ``with`` block around, else "cuda".
    name
        The function's name, "main" where it is left out. Of a module or text, the function to compile.
    after
        Passes of one's own by the stage that they follow: a C++ pass by its flag (`"canonicalize"`), a function that
        takes the module and changes it or returns another, or a list of these.
    start
        The stage that a module or text is at; "te" where it is left out.
    target_host
        The target of the host function, as scripts for TVM give it: this machine, "cpu" or "llvm".
    cache
        Where compiled kernels of target cuda are kept for the next build, of any process: a `tw.Cache` or its folder;
        False for nowhere. Where it is left out, the environment says: see `tw.cache.default`. With passes that are
        Python functions in `after` nothing is kept, for nobody knows what they do.
    host
        "managed" for a function that takes arrays of this machine's for target cuda too, also as a function of tvm-ffi
        and in a library: it copies them to the thread's current GPU and back, and waits for the results. The other
        targets' functions take such arrays anyway.
    binds
        By tensors, the buffers of `decl_buffer` that scripts for TVM give them: these say what strides they have.

    Raises
    ------
    ScheduleError
        Where the schedule cannot be applied, or asks for more than the target has.
    CompileError
        Where the program does not compile, or a pass of the user's leaves invalid IR.
    ValueError, TypeError
        For wrong arguments.

    >>> mmult = tw.build(s, [A, B, C], target="sim", name="mmult")      # doctest: +SKIP
    >>> mmult(a, b, c)                                                  # doctest: +SKIP
    >>> edited = mmult.ir("loops").replace("1.0", "2.0")                # doctest: +SKIP
    >>> tw.build(edited, target="sim", start="loops")(a, b, c)          # doctest: +SKIP
    """
    if target_host is not None:
        target = Target(Target.of(target), host=target_host)
    lowering = take_up(program, _bound(args, binds), target, name, after=after, start=start)
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
