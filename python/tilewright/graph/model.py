"""A compiled model: one function, and everything that can be asked about it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir

from ..errors import DriverError, TilewrightError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.printable import printable
from ..messages.progress import progress
from ..runtime.device import cpu, cuda
from ..runtime.libraries import as_libraries
from ..runtime.stream import Stream
from ..target import Target
from ..te import Var
from .call_by_groups import CallByGroups
from .checks import Profile, Verification
from .extent_values import evaluate
from .groups import Group, compile_groups
from .memory import memory_of
from .memory_needs import OUT_OF_MEMORY, explained
from .plan import Plan
from .tensor_calls import TensorCalls
from .types import TensorType
from .views import Parts

if TYPE_CHECKING:
    from .host_function import HostFunction
    from .library_times import LibraryTimes

__all__ = ["Model"]


class Model:
    """A model compiled to one function by `tw.compile`. Call it with its inputs, in their order or by name.

    NumPy's arrays and any that speak DLPack are taken. One output is returned as it is, several as a tuple: as tensors
    of PyTorch where an input is one, otherwise as arrays of NumPy. For target cuda, inputs in the processor's memory
    are copied to the GPU; where no input is NumPy's or PyTorch's, outputs are `tw.nd` arrays there.

    A model of a module of PyTorch is called as the module is, also with dicts and lists of tensors. Numbers and other
    objects have to be those of the example inputs.

    Making one compiles the groups, and raises CompileError where a group cannot be compiled.
    """

    name: str
    target: Target
    inputs: tuple[tuple[str, TensorType], ...]
    groups: tuple[Group, ...]
    plan: Plan
    outputs: tuple[tuple[str, TensorType], ...]
    cuda_graph: bool
    """Whether the launches of a call form a CUDA graph."""
    orders: dict[int, tuple[int, ...]]
    """By output that the caller transposes, the permutation. Of a model of `tw.compile` there are none."""

    def __init__(
        self, name: str, target: Target, inputs: Sequence[tuple[str, TensorType]],
        outputs: Sequence[tuple[str, ir.Value, TensorType]], arguments: Sequence[ir.Value], groups: Sequence[Group],
        constants: Mapping[ir.Value, np.ndarray], weights: Mapping[ir.Value, str], parts: Parts,
        plan: Plan, texts: Mapping[str, str], stored: Mapping[str, str], counts: Sequence[str] = (),
        cuda_graph: bool = False, orders: Mapping[int, tuple[int, ...]] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.target = name, target
        self.inputs, self.groups, self.plan = tuple(inputs), tuple(groups), plan
        self.cuda_graph = cuda_graph
        self.orders = dict(orders or {})
        # The last outputs are the numbers that data decide, each with the symbol that stands for it.
        outputs, last = outputs[: len(outputs) - len(counts)], outputs[len(outputs) - len(counts) :]
        self.counts: dict[str, ir.Value] = {symbol: value for symbol, (_, value, _) in zip(counts, last)}
        self.outputs = tuple((each, kind) for each, _, kind in outputs)
        # The values in the IR: of the inputs, the outputs, and what has a value when the model is compiled.
        self.arguments: list[ir.Value] = list(arguments)
        self.results: list[ir.Value] = [value for _, value, _ in outputs]
        self.constants: dict[ir.Value, np.ndarray] = dict(constants)
        self.stored: dict[str, str] = dict(stored)
        self.weight_names: dict[ir.Value, str] = dict(weights)
        self.parts = parts
        self._texts = dict(texts)
        self._memory = memory_of(target)
        self._placed: dict[ir.Value, Any] | None = None
        self._compiled: HostFunction | None = None
        self._of_tensors = TensorCalls(self)
        self.structure: Callable[[Sequence[Any], Mapping[str, Any]], list[Any] | None] | None = None
        """What takes the inputs from a call with dicts and lists of them, as of a module of PyTorch."""
        self._lock = threading.Lock()
        with progress(f"compiling {name}") as line:
            compile_groups(
                self.groups, target, lambda number, group: line.show(number, len(self.groups), "groups", group.name)
            )

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that `ir` shows: the model as it was imported, and its groups."""
        return tuple(self._texts)

    def ir(self, stage: str) -> str:
        """The IR of a stage as text, which `tilewright-opt` reads again. Raises ValueError for another `stage`."""
        if stage not in self._texts:
            raise ValueError(f"expected a stage of a model ({', '.join(self._texts)}), got {stage!r}")
        return self._texts[stage]

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {kind}" for name, kind in self.inputs)
        outputs = ", ".join(f"{name}: {kind}" for name, kind in self.outputs)
        return printable(f"<tilewright.Model {self.name}({inputs}) -> ({outputs}) for {self.target}>")

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs the model: the host function that `export` writes, which runs all groups in one call.

        Raises TypeError and ValueError for inputs that do not fit, before anything runs, and DriverError where the
        GPU's memory is not enough.
        """
        results = None if named else self._of_tensors(arrays)
        if results is None:
            results, _ = self._called(arrays, named)
        return results[0] if len(results) == 1 else results

    def results_and_extents(self, *arrays: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, int]]:
        """What a call with `arrays` and `named` returns, as a tuple, and what the numbers are that data decide.

        Raises what a call raises: TypeError, ValueError and DriverError.
        """
        results = None if named or self.counts else self._of_tensors(arrays)
        return self._called(arrays, named) if results is None else (results, {})

    def _called(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, int]]:
        """What `results_and_extents` returns, by arrays of the target's memory."""
        memory, arranged = self._memory, self._arranged(arrays, named)
        with memory.in_stream(arranged):
            try:
                given, extents = self._bound(arranged)
                outputs, decided = memory.run(self.host_function(), given, partial(self._output, arranged))
                extents |= decided
            except DriverError as error:
                if error.code != OUT_OF_MEMORY or self.counts:
                    raise
                raise explained(error, self, arranged) from None
            for position, (name, _) in enumerate(self.outputs):
                if name in self.stored:
                    outputs[position] = memory.viewed(outputs[position], self.stored[name])
            return tuple(memory.returned(one, arranged) for one in outputs), extents

    def export(
        self, path: str | os.PathLike[str], name: str = "model", *, mcpu: str | Sequence[str] | None = None,
        architectures: Sequence[str] = (), linker: str | None = None,
    ) -> None:  # fmt: skip
        """Writes the model as a shared library, which `tvm_ffi.load_module` and `tw.load_model` load in any process.

        The library has one function of tvm-ffi's ABI. It takes the inputs, and returns the outputs, or takes both and
        writes the outputs. The weights are in a file of safetensors beside it, of the same name
        (``model.safetensors``), which the library maps into memory when it is loaded. A GPU gets them with the first
        call, or by ``model_load(0)``. Both files are moved together: a call without the file that was written with the
        library is an error.

        Parameters
        ----------
        path
            Where the library goes.
        name
            The function's name.
        mcpu, architectures, linker
            As `tw.export_library` takes them.

        Raises
        ------
        TilewrightError
            Where the model is compiled for target sim, an input or output is of a type that te does not have, or there
            is no compiler to link with.

        >>> model.export("model.so")                                # doctest: +SKIP
        >>> tvm_ffi.load_module("./model.so").model(x)              # doctest: +SKIP
        """
        from .export import export_model

        export_model(self, path, name, mcpu=mcpu, architectures=architectures, linker=linker)

    def verify(self, *arrays: Any, **named: Any) -> Verification:
        """Runs the model, and compares each group with its tensor expressions in float64, computed by NumPy. `arrays`
        and `named` are the inputs, as of a call.

        A group gets the inputs that it has in the call, so that one that is wrong makes no other wrong. NumPy computes
        a reduction's elements all at once: a large matmul takes much memory.

        >>> import onnx
        >>> from tilewright.onnx import compile_onnx
        >>> x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (3,))
        >>> y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (3,))
        >>> node = onnx.helper.make_node("Exp", ["x"], ["y"], name="e")
        >>> model = compile_onnx(onnx.helper.make_model(onnx.helper.make_graph([node], "small", [x], [y])))
        >>> bool(model.verify(np.ones(3, np.float32)))
        True
        """
        with progress(f"verifying {self.name}") as line:
            return self._by_groups(arrays, named).verify(line)

    def profile(self, *arrays: Any, repeat: int = 10, **named: Any) -> Profile:
        """The time that each group takes in a call with `arrays` and `named`, as the median of `repeat` calls.

        On a GPU, the groups are launched one after the other as one CUDA graph, with an event between any two. What an
        event takes by itself is subtracted. For other targets, each group runs `repeat` times with what it gets in the
        call. For target sim the times are those of the simulator, and say nothing of a GPU. On a GPU, raises
        DriverError where a call of the driver fails.
        """
        device = cuda(0) if self.target.kind == "cuda" else cpu()
        stream = Stream(device)
        with stream, progress(f"timing {self.name}") as line:
            device.sync()  # the inputs may come from other streams
            return self._by_groups(arrays, named).profile(line, self.target, stream, repeat)

    def tune_libraries(
        self, *arrays: Any, database: str | os.PathLike[str],
        libraries: Sequence[str] | Mapping[str, str | os.PathLike[str]] = ("cublaslt",), repeat: int = 20, **named: Any,
    ) -> LibraryTimes:  # fmt: skip
        """Measures the groups that libraries can compute, in a call with `arrays` and `named`, and records the times.

        All groups run as they do in a call, with an event between any two. A round is by their own kernels or by the
        libraries, in random order. `tw.compile` with the same `libraries` and `database` then lets a library compute
        the groups for which it took at most 98% of the time. A record counts for the same GPU, driver, compiler and
        version of the library. A group of symbolic extents has to be faster with all extents that were measured.
        Before, results of a library are compared with double precision.

        Parameters
        ----------
        database
            The file of the records, which is created if it does not exist. `tw.tune` may use the same one.
        libraries
            As of `tw.compile`.
        repeat
            In how many rounds each is timed.

        Raises
        ------
        TilewrightError
            Where the model is for another target than cuda, or a library is not found.
        TypeError, ValueError
            Where an argument is wrong.
        DriverError
            Where a call of the driver fails.
        JournalError
            Where the file cannot be written, or another process writes into it.

        >>> print(model.tune_libraries(x, database="tuning.db"))             # doctest: +SKIP
        >>> options = {"libraries": ["cublaslt"], "database": "tuning.db"}   # doctest: +SKIP
        >>> model = tw.compile(module, (x,), target="cuda", **options)       # doctest: +SKIP
        """
        from .library_times import tune_libraries

        chosen = as_libraries(libraries)
        if self.target.kind != "cuda":
            raise TilewrightError(f"{self.name} is compiled for target {self.target.kind}: libraries are for cuda")
        if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"expected repeat to be 1 or more, got {repeat!r}")
        device = cuda(0)
        with Stream(device), progress(f"timing {self.name}") as line:
            device.sync()  # the inputs may come from other streams
            call = self._by_groups(arrays, named)
            arguments = [given for _, given, _ in call.run(line)]
            device.sync()
        return tune_libraries(self, arguments, call.extents, chosen, database, repeat)

    def view_data(self, profile: Profile | None = None) -> dict[str, Any]:
        """What `view` shows, as data that `json.dumps` takes.

        Parameters
        ----------
        profile
            What `profile` of this model gave, for the time of each group.

        Returns
        -------
        dict
            ``"format"`` is the number of this layout, ``"kind"`` is "model". ``"groups"`` has for each group its nodes,
            its inputs with the group that makes each, its results with the reason why the group ends there, and in
            ``"program"`` a place in ``"programs"``: groups that compute the same share one. A program has its te, its
            loop nest and its launches, each number with its formula. ``"plan"`` has the arena, in bytes, and
            ``"profile"`` the seconds, bytes and operations of each group, and the rates of the GPU.

        Raises
        ------
        TypeError, ValueError
            Where `profile` is no profile, or that of another model.

        >>> data = model.view_data()                                   # doctest: +SKIP
        >>> [group["name"] for group in data["groups"]]                # doctest: +SKIP
        ['conv_add_relu', 'max_pool', …]
        """
        from ..viewer.model_data import model_data

        if profile is not None and not isinstance(profile, Profile):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"expected profile to be what model.profile returns, got {type(profile).__name__}")
        return model_data(self, profile)

    def view(self, path: str | os.PathLike[str], *, profile: Profile | None = None) -> None:
        """Writes a page that shows the groups, the arena's plan and, where it is given, the profile of a call.

        The page is one file, `path`, which needs no network. `profile` is that of `view_data`. Raises what `view_data`
        raises, and TilewrightError where the file cannot be written.

        >>> model.view("model.html", profile=model.profile(x))         # doctest: +SKIP
        """
        from ..viewer import write_page

        write_page(self.view_data(profile), path)

    def _by_groups(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> CallByGroups:
        """A call that runs one group at a time."""
        given, extents = self._bound(self._arranged(arrays, named))
        values = {**self._constants(), **dict(zip(self.arguments, given))}
        return CallByGroups(self.groups, self._memory, self.plan, self.parts, self.counts, values, extents)

    def _bound(self, arranged: Sequence[Any]) -> tuple[list[Any], dict[str, int]]:
        """The inputs in the target's memory, and what the symbols are in the call."""
        given = [self._array(name, kind, one) for (name, kind), one in zip(self.inputs, arranged)]
        extents: dict[str, int] = {}
        for (name, kind), array in zip(self.inputs, given):
            self._bind(name, kind, array.shape, extents)
        return given, extents

    def _constants(self) -> dict[ir.Value, Any]:
        """The weights and constants in the target's memory, by their values in the IR."""
        with self._lock:
            if self._placed is None:
                self._placed = {value: self._memory.constant(array) for value, array in self.constants.items()}
            return self._placed

    def host_function(self) -> HostFunction:
        """The function that runs all groups, compiled at the first call."""
        if self._compiled is None:
            from .host_function import HostFunction

            placed = self._constants()
            with self._lock:
                if self._compiled is None:
                    self._compiled = HostFunction(self, placed)
        return self._compiled

    def _output(self, arranged: Sequence[Any], number: int, shape: tuple[int, ...]) -> Any:
        """Memory for an output of that number, in a call with these inputs."""
        return self._memory.output(shape, self.outputs[number][1].dtype, arranged)

    def _arranged(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """What a call gives, in the order of the inputs."""
        if self.structure is not None and (found := self.structure(arrays, named)) is not None:
            return found
        names = [name for name, _ in self.inputs]
        given = dict(zip(names, arrays))
        if len(arrays) > len(names) or (set(named) - set(names)) or (set(named) & set(given)):
            told = f"{len(arrays)} and {', '.join(map(repr, named))}" if named else str(len(arrays))
            raise TypeError(
                printable(f"{self.name}: expected {len(names)} inputs ({', '.join(names) or 'none'}), got {told}")
            )
        given.update(named)
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{self.name}: expected {len(names)} inputs, got none for {', '.join(map(repr, missing))}")
        return [given[name] for name in names]

    def _array(self, name: str, kind: TensorType, given: Any) -> Any:
        array = self._memory.given(f"{self.name}: input {name!r}", given)
        if array.dtype.name != (expected := self.stored.get(name, kind.dtype)):
            raise TypeError(f"{self.name}: input {name!r}: expected {expected}, got {array.dtype.name}")
        return self._memory.viewed(array, "uint8") if name in self.stored else array

    def _bind(self, name: str, kind: TensorType, shape: Sequence[int], extents: dict[str, int]) -> None:
        """Checks the shape of an input; a symbol is what its first extent says."""
        if len(shape) != kind.rank:
            raise ValueError(f"{self.name}: input {name!r}: expected {kind.rank} dimensions, got shape {tuple(shape)}")
        for d, (extent, got) in enumerate(zip(kind.shape, shape)):
            if isinstance(extent, Var):
                extents.setdefault(extent.name, got)
            wanted = extent if isinstance(extent, int) else evaluate(extent, extents)
            if wanted != got:
                symbol = "" if isinstance(extent, int) else f" ({extent})"
                raise ValueError(
                    f"{self.name}: input {name!r}, dimension {d}: expected {wanted}{symbol}, got shape {tuple(shape)}"
                )
