"""What `tw.build` returns: a function to call, and everything that was made on the way to it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlir import ir

from ..backend.sass import disassemble
from ..errors import TilewrightError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..native.callable import CallableBase, hold_lock, holds_lock, set_target, shorten_calls
from ..target import Target
from ..tvm_compat.missing_names import attribute_of
from .extents import extents_of
from .launch_config import LaunchConfig, with_formulas
from .pickling import parts_of
from .pipeline import Lowering
from .programs import ManagedCuda, Program, make_program
from .tvm_module import TvmModule

if TYPE_CHECKING:
    import tvm_ffi

    from ..report import Report
    from ..runtime import Device, Signature, Timing
    from ..runtime.host_program import HostProgram
    from ..runtime.timeline import Timeline

__all__ = ["Function", "LaunchConfig"]

_missing = attribute_of("Function", "'Function' object")


class _FirstCall:
    """What a function is called by until it is: who only builds one does not wait for the run time."""

    __slots__ = ("_function", "_program")

    def __init__(self, function: Function, program: Program) -> None:
        self._function, self._program = weakref.ref(function), program

    def __call__(self, *arrays: object, **options: object) -> Any:
        from ..runtime.caller import make_caller

        caller = make_caller(self._program)
        function = self._function()
        if function is not None:
            set_target(function, caller)
        return caller(*arrays, **options)


@shorten_calls
class Function(CallableBase, TvmModule):
    """A compiled program: `tw.build` makes one. Call it with an array for each argument; it writes the outputs.

    Arguments are arrays of NumPy, of `tw.nd` and of any library that speaks DLPack. They must be in the memory of the
    target: host memory for "cpu" and "sim", the GPU's memory for "cuda". A call on a GPU does not wait for the kernels.
    It runs on `stream`, or else on the current stream of the arrays' library.

    Called with the inputs alone, it allocates the outputs with the library of the first input, and returns them.

    It can be pickled, for workers in other processes. They compile its IR again, or take the kernels from the cache.

    Raises
    ------
    TypeError, ValueError
        By a call with arrays that do not fit, before anything runs.
    LaunchError
        Where there is no driver or GPU, or the launch fails.
    SimulationError
        On the simulator, for what it finds in the kernel.
    """

    # A call goes straight to compiled code: no frame of Python's, no tuple of the arguments.
    __slots__ = ("__weakref__", "lowering", "_program")

    lowering: Lowering

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self._program: Program = make_program(lowering)
        set_target(self, _FirstCall(self, self._program))

    @property
    def name(self) -> str:
        """The program's name."""
        return self.lowering.name

    @property
    def entry_name(self) -> str:
        """The name of the host function that a call enters."""
        return self._program.entry_name

    @property
    def target(self) -> Target:
        """What it was compiled for."""
        return self.lowering.target

    @property
    def is_managed(self) -> bool:
        """Whether it takes this machine's arrays for a GPU, as `tw.build(..., host="managed")` makes it."""
        return isinstance(self._program, ManagedCuda)

    @property
    def signature(self) -> Signature:
        """The arguments: names, dtypes, shapes, and which are outputs."""
        return self._program.signature

    @property
    def cache_hit(self) -> bool:
        """Whether the kernels were taken from the cache; `ir` then makes a stage when it is asked for."""
        return self.lowering.cache_hit

    @property
    def timings(self) -> Mapping[str, float]:
        """Seconds by what took them: each stage's passes, your own passes ("after loops"), "ptx", "cubin",
        "cache" (finding and storing), …"""
        return dict(self.lowering.timings)

    def __repr__(self) -> str:
        return f"<tilewright.Function {self.signature} for {self.target}>"

    def __reduce__(self) -> tuple[Callable[..., Function], tuple[Any, ...]]:
        return parts_of(self.lowering)

    def __copy__(self) -> Function:
        return self

    def __deepcopy__(self, memo: object) -> Function:
        return self

    @property
    def ffi(self) -> tvm_ffi.Function:
        """The compiled function for any user of tvm-ffi, from Python, C++ and Rust. It takes tensors of torch, NumPy,
        JAX and tvm-ffi, and runs on the stream of tvm-ffi's environment.

        >>> mmult.ffi(a, b, c)                                          # doctest: +SKIP
        >>> tvm_ffi.register_global_func("mmult", mmult.ffi)            # doctest: +SKIP
        """
        return self._program.host.ffi

    @property
    def release_gil(self) -> bool:
        """Whether calls release the interpreter's lock while they launch: True unless it is set to False.

        Keeping the lock saves a tenth of a microsecond for each call. But a launch waits when a thousand launches are
        under way, and other threads then wait too. They wait for ever if the GPU waits for one of them, for instance
        for a host callback in Python. `tvm_ffi.Function` has the same property; for `ffi`, set it there.

        >>> mmult.release_gil = False                                   # doctest: +SKIP
        """
        return not holds_lock(self)

    @release_gil.setter
    def release_gil(self, release: bool) -> None:
        hold_lock(self, not release)

    def load(self, device: Device | None = None) -> None:
        """Does the work of the first call in advance. It compiles the host function and, for target cuda, loads the
        kernels into `device`, by default the first GPU. Call it before capturing a graph.

        Raises LaunchError where there is no driver, no such GPU, or the kernels are for another one. For a device of
        another kind, raises ValueError.

        >>> mmult.load(tw.cuda(1))                                      # doctest: +SKIP
        """
        from ..runtime.caller import make_caller

        if device is not None and device.is_cuda != (self.target.kind == "cuda"):
            raise ValueError(f"expected a device of target {self.target.kind}, got {device!r}")
        self._program.load(device)
        set_target(self, make_caller(self._program))

    # ------------------------------------------------------------------ export

    def export_library(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes the function as a shared library: `tw.export_library([self], path)`, with its options.

        >>> mmult.export_library("mmult.so", architectures=["sm_80", "sm_90a"])     # doctest: +SKIP
        """
        from ..aot.library import export_library

        export_library([self], path, **options)

    def host_program(self, architectures: Sequence[str] = ()) -> HostProgram:
        """The compiled host function, with kernels for these architectures beside the target's own."""
        return self._program.for_architectures(architectures)

    # ------------------------------------------------------------------ inspection

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that `ir` shows, in order."""
        return self.lowering.stages

    def ir(self, stage: str, *, locations: bool = False) -> str:
        """The IR of a stage as text, which `tilewright-opt` and `tw.build(text, start=stage)` take again.

        "te" is the whole module, the schedule beside the function; "schedule" is the schedule alone. With `locations`
        each op says which line of the program it came from.
        """
        return self.lowering.ir(stage, locations=locations)

    @property
    def ptx(self) -> str:
        """The kernels in PTX. Raises TilewrightError for another target than "cuda"."""
        return self._device_code("ptx")

    @property
    def cubin(self) -> bytes:
        """The kernels in machine code. Raises TilewrightError for another target than "cuda"."""
        return self._device_code("cubin")

    def _device_code(self, what: str) -> Any:
        code = getattr(self._program, what, None)
        if code is None:
            raise TilewrightError(
                f"{self.name} is compiled for {self.target.kind}, and only target cuda makes a {what}: build it for "
                '"cuda", which needs no GPU'
            )
        return code

    def source(self, what: str = "cuda") -> str:
        """The program as C++ for people to read, or to take away; `what` is "cuda" or "host".

        "cuda" are the kernels in CUDA C++. nvcc and NVRTC compile them to kernels that are launched as these are. Loops
        have the names of their axes, and comments the program's lines. Functions of mathematics are CUDA's own, which
        may differ in the last places. TMA, mbarriers and wgmma are functions of inline PTX at the top (sm_90a).

        "host" is the host program in C++, complete with the kernels' machine code: it compiles with g++ against the
        CUDA driver's header and runs. Each number of a launch says which axis it came from. With
        ``tw.build(..., host="managed")`` it takes this machine's arrays.

        >>> print(mmult.source("cuda"))      # doctest: +SKIP

        Raises
        ------
        CompileError, TilewrightError, ValueError
            Where an op has no form in C++, as matmuls of warpgroups have for sm_90a alone; where the target has no
            kernels; for another `what`.
        """
        from ..backend.cpp_source import cuda_source, host_source

        if what not in ("cuda", "host"):
            raise ValueError(
                f"expected 'cuda' or 'host', got {what!r} (PTX is .ptx, machine code .sass(), a stage of the IR "
                ".ir(stage))"
            )
        if "gpu" not in self.stages:
            raise TilewrightError(f"{self.name} is compiled for {self.target.kind}, which has no kernels")
        arch = self.target.arch or ""
        if what == "cuda":
            return cuda_source(self.lowering.copy_of("gpu"), arch)
        return host_source(self.lowering.copy_of("gpu"), self.name, self.cubin, arch, managed=self.lowering.managed)

    def sass(self) -> str:
        """The kernels' machine code, disassembled by nvdisasm or cuobjdump where one is installed: the CUDA toolkit has
        both, `pip install nvidia-cuda-nvdisasm` brings the first.

        Raises TilewrightError where neither is.
        """
        return disassemble(self.cubin)

    def launch_config(self, *arrays: Any) -> LaunchConfig:
        """The grid, block, cluster and shared memory of each kernel that a call with these arrays launches. Each number
        has the axis and the line of the schedule that it came from, and with symbolic extents its formula. Nothing is
        launched, and no GPU is needed.

        Only the shapes of the arrays count, so anything with a `shape` will do. If all extents are constants and no
        argument is a number, no arrays are needed. Raises TypeError or ValueError for arrays that do not fit the
        signature.
        """
        launches = self._program.launches(extents_of(self.signature, arrays))
        is_symbolic = any(not isinstance(extent, int) for each in self.signature.arguments for extent in each.shape)
        return LaunchConfig(with_formulas(launches, self.lowering) if is_symbolic else launches)

    def report(self, *arrays: Any) -> Report:
        """What a call with these arrays takes of a GPU, and what bounds it. Nothing is launched.

        For each kernel: registers, spills, shared memory, pipeline stages, occupancy, and the expected instructions.
        With nvdisasm installed, also the instructions that the assembler made. For the program: operations, bytes and,
        if the GPU is present, the least time that they need, on tensor cores if the kernels use them. As for
        `launch_config`, only the shapes of the arrays count. Raises TilewrightError for another target than "cuda".

        >>> print(mmult.report(a, b, c))               # doctest: +SKIP
        mmult: 2.1 M operations, 49.2 kB at the least, 42.7 operations a byte
        mmult_kernel0: grid 4 x 4 = 16, block 16 x 16 = 256, 0 bytes of shared memory
          40 registers, 0 bytes spilled
          on an SM 6 blocks, 48 of 64 warps (limited by registers)
        """
        from ..report.make import make_report

        extents = iter(extents_of(self.signature, arrays))
        arguments = self.signature.arguments
        shapes = [[next(extents) for _ in range(argument.extent_count)] for argument in arguments]
        shapes = [
            shape if argument.strides is None else shape[: len(argument.shape)]
            for argument, shape in zip(arguments, shapes)
        ]
        sizes = [0 if argument.is_number else argument.itemsize for argument in arguments]
        flags = [[flag] for flag in extents]
        return make_report(
            self.name,
            self.ptx,
            self.target.arch or "",
            self.launch_config(*arrays).launches,
            str(self.ir("gpu")),
            self.lowering.copy_of("linalg"),
            shapes + flags,
            sizes + [0] * len(flags),
        )

    def timeline(self, *arrays: Any, most: int = 200_000) -> Timeline:
        """Runs a call with `arrays` on the simulator, and returns what each warp did and whom it waited for:
        `Timeline.events`.

        Up to `most` events are kept. `view` shows them. Raises TilewrightError for another target than "sim", and what
        a call raises.

        >>> timeline = mmult.timeline(a, b, c)                         # doctest: +SKIP
        >>> mmult.view("mmult.html", timeline=timeline)                # doctest: +SKIP
        """
        simulator = getattr(self._program, "simulator", None)
        if simulator is None:
            raise TilewrightError(f"{self.name} is compiled for {self.target.kind}, and only target sim has a timeline")
        if type(most) is not int or most < 1:
            raise ValueError(f"expected most to be a number of events of at least 1, got {most!r}")
        launches = tuple(launch.kernel for launch in self.launch_config(*arrays))
        with simulator.recording(most) as made:
            self(*arrays)
        return replace(made[0], kernels=launches)

    def view(self, path: str | os.PathLike[str], *arrays: Any, timeline: Timeline | None = None) -> None:
        """Writes one HTML file, `path`, that shows the program at every stage side by side. The stages are the user's
        source, the loop nest, the IR, PTX, SASS and C++. A click on a line shows where it came from and what it became.

        The page also has the launches with the formula of each number, registers, shared memory, occupancy and
        roofline. With `timeline`, it shows a simulated call. As for `launch_config`, only the shapes of the arrays
        count. `tw.view` compares several functions. Raises CompileError as the build does, and TilewrightError if the
        file cannot be written.

        >>> mmult.view("mmult.html")                     # doctest: +SKIP
        """
        from .. import view

        view(self, path, *arrays, timeline=timeline)

    def view_data(self, *arrays: Any, timeline: Timeline | None = None) -> dict[str, Any]:
        """What `view` shows, with the call of `timeline` if given, as data that `json.dumps` takes.

        `tw.view_data` says what is in it. Of `arrays`, only the shapes count.

        >>> panes = mmult.view_data()["programs"][0]["panes"]      # doctest: +SKIP
        """
        from .. import view_data

        return view_data(self, *arrays, timeline=timeline)

    def _repr_html_(self) -> str:
        from .function_html import function_html

        return function_html(self)

    def time_evaluator(self, device: Any = None, dev: Any = None, **options: Any) -> Callable[..., Timing]:
        """A function that times calls of this function: `f.time_evaluator(repeat=20)(a, b, c).median`, in seconds.

        The options are those of `tilewright.runtime.time_evaluator`. For target cuda, the default device is GPU 0.

        TVM's form is `f.time_evaluator(f.entry_name, dev, number=10, repeat=1)(a, b, c).mean`. It works as in TVM:
        calls follow each other, and caches are flushed only if `cache_flush_bytes` or `f_preproc` says so. With
        `min_repeat_ms`, each repeat has more calls. Raises TypeError or ValueError for other options.
        """
        from ..runtime import cpu, cuda, time_evaluator
        from .tvm_module import tvm_time_evaluator

        on_gpu = self.target.kind == "cuda"
        if isinstance(device, str):
            if device not in (self.entry_name, self.name):
                raise ValueError(f"expected the name of this function, {self.entry_name!r}, got {device!r}")
            if getattr(dev, "is_cuda", None) is not on_gpu:
                raise ValueError(f"expected a device of target {self.target.kind}, got {dev!r}")
            return tvm_time_evaluator(self, dev, **options)
        if dev is not None:
            raise TypeError("expected one device, got two")
        if device is None:
            device = cuda(0) if on_gpu else cpu()
        return time_evaluator(self, device, **options)

    def __getattr__(self, name: str) -> object:
        return _missing(name)

    def module(self, stage: str) -> ir.Module:
        """A copy of a stage's module, for your own passes."""
        return self.lowering.copy_of("te" if stage == "schedule" else stage)
