"""The process that a trial runs in. It reads trials as lines of JSON and answers each with one, until its input ends.

Nothing of it has to survive: a candidate that hangs or crashes takes this process with it, and the next trial gets a
new one. Programs come as IR, which is data.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import json
import math
import os
import random
import signal
import statistics
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Places = tuple[Array, ...]

_SANE = 0.05
"""The first schedule is wrong itself where its error, relative to the result's root mean square, is beyond this."""
_BLOCK = 1_000_003
"""Random numbers are repeated after so many: a prime, so that no row is another."""


class _Wrong(Exception):
    """A candidate computes something else."""


def _dtype(name: str) -> np.dtype[Any]:
    from ..dtypes import as_dtype

    return np.dtype(as_dtype(name))


class Trials:
    """Trials of one program: its inputs and its result in double precision are made once."""

    def __init__(self) -> None:
        self._functions: dict[str, Any] = {}
        self._inputs: tuple[str, list[Any]] | None = None
        self._expected: tuple[str, list[_Known]] | None = None

    def run(self, task: Mapping[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
        from ..errors import TilewrightError

        for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT):
            signal.signal(number, signal.SIG_DFL)  # LLVM's own handlers tell where, which takes long
        try:
            say("compiling")
            function = self._built(task["text"], task["target"])
            incumbent = self._built(task["incumbent"], task["target"]) if task["incumbent"] else None
            if task.get("only") == "compiling":
                return {"status": "ok", "cause": ""}
            say("checking")
            arrays = self._arrays(task, function)
            error = self._check(task, function, arrays)
            say("measuring")
            with _alone(task["device"]):
                return {"status": "ok", "cause": "", "error": error, **_measure(task, function, incumbent, arrays)}
        except _Wrong as wrong:
            return {"status": "wrong", "cause": str(wrong)}
        except MemoryError as error:
            return {"status": "failed", "cause": f"out of memory: {error}"}
        except (TilewrightError, TypeError, ValueError, RuntimeError, OSError) as error:
            return {"status": "failed", "cause": f"{type(error).__name__}: {error}"}

    def _built(self, text: str, target: str) -> Any:
        import tilewright as tw

        key = hashlib.sha256(f"{target}\n{text}".encode()).hexdigest()
        if key not in self._functions:
            while len(self._functions) >= 8:
                self._functions.pop(next(iter(self._functions)))
            self._functions[key] = tw.build(text, target=target, start="te")
        return self._functions[key]

    def _arrays(self, task: Mapping[str, Any], function: Any) -> list[Any]:
        """An array or number an argument, on the device that the program runs on."""
        import tilewright as tw

        key = json.dumps([task["program"], task["seed"], task["target"]])
        if self._inputs is None or self._inputs[0] != key:
            rng = np.random.default_rng(task["seed"])
            device = tw.device(task["target"], task["device"])
            made: list[Any] = []
            for argument, known in zip(function.signature.arguments, task["arguments"], strict=True):
                if argument.is_number:
                    made.append(known["value"])
                    continue
                shape = tuple(known["shape"])
                host = _random(shape, argument.dtype, known["range"], rng)
                made.append(tw.nd.array(host, device) if device.is_cuda else host)
            self._inputs = (key, made)
        return self._inputs[1]

    def _check(self, task: Mapping[str, Any], function: Any, arrays: Sequence[Any]) -> float:
        """The largest error of the outputs against the program in double precision."""
        from ..testing import poisoned, unit_roundoff

        outputs = [at for at, argument in enumerate(function.signature.arguments) if argument.output]
        for at in outputs:
            poison = poisoned(tuple(task["arguments"][at]["shape"]), _dtype(function.signature.arguments[at].dtype))
            arrays[at].copyfrom(poison) if hasattr(arrays[at], "copyfrom") else np.copyto(arrays[at], poison)
        function(*arrays)
        worst = 0.0
        for at, known in zip(outputs, self._reference(task, arrays), strict=True):
            got = arrays[at].numpy() if hasattr(arrays[at], "numpy") else arrays[at]
            error, dtype = known.error_of(got), _dtype(function.signature.arguments[at].dtype)
            rounding = 0.0 if dtype.kind in "biu" else unit_roundoff(dtype)
            tolerance = task["policy"]["tolerance"]
            limit = _SANE if task["first_error"] is None else tolerance * task["first_error"]
            limit = max(limit, tolerance * rounding)
            if not error <= limit:
                name = function.signature.arguments[at].name
                raise _Wrong(
                    f"{name}: expected an error of at most {limit:.3g} of the root mean square, got {error:.3g}"
                )
            worst = max(worst, error)
        return worst

    def _reference(self, task: Mapping[str, Any], arrays: Sequence[Any]) -> list[_Known]:
        """The outputs in double precision, or their elements at some places."""
        key = json.dumps([task["program"], task["seed"]])
        if self._expected is None or self._expected[0] != key:
            reference = task["reference"]
            function = self._built(reference["text"], "cpu")
            given: list[Any] = []
            for at, argument in zip(reference["inputs"], function.signature.arguments):
                array = arrays[at].numpy() if hasattr(arrays[at], "numpy") else arrays[at]
                if not argument.is_number:
                    array = np.array(array, _dtype(argument.dtype), order="C")
                given.append(array)
            rng = np.random.default_rng(task["seed"])
            places: list[Places | None] = []
            for extents in reference["samples"]:
                chosen: Places | None = None if extents is None else tuple(  # pyright: ignore[reportUnknownVariableType]
                    rng.integers(0, extent, reference["count"], dtype=np.int64) for extent in extents  # pyright: ignore[reportUnknownArgumentType]
                )  # fmt: skip
                given.extend(chosen or ())
                places.append(chosen)
            made = [
                np.empty((reference["count"],) if chosen else tuple(shape), _dtype(dtype))
                for chosen, shape, dtype in zip(places, reference["shapes"], reference["dtypes"])
            ]
            function(*given, *made)
            self._expected = (key, [_Known(values, chosen) for values, chosen in zip(made, places)])
        return self._expected[1]


def _random(shape: tuple[int, ...], dtype: str, range_: Sequence[int] | None, rng: np.random.Generator) -> Array:
    kind, size = _dtype(dtype), math.prod(shape)
    count = min(size, _BLOCK)
    if dtype == "bool":
        block: Array = rng.integers(0, 2, count).astype(bool)
    elif kind.kind in "iu":
        low, high = range_ or ((0, 8) if kind.kind == "u" else (-8, 8))
        block = rng.integers(low, max(high, low + 1), count).astype(kind)
    else:
        block = rng.standard_normal(count).astype(kind)
    return np.resize(block, shape) if size else np.empty(shape, kind)


_CHUNK = 1 << 16
"""Elements that are compared at once: they stay in the processor's cache."""


class _Known:
    """An output in double precision, or its elements at some places."""

    def __init__(self, values: Array, places: Places | None) -> None:
        self._places = places
        self._is_exact = values.dtype.kind in "biu"
        self._values = (values if self._is_exact else values.astype(np.float64, copy=False)).reshape(-1)
        if self._is_exact or not values.size:
            return
        finite = np.isfinite(self._values)
        self._special = None if finite.all() else ~finite
        some = self._values if self._special is None else self._values[finite]
        self._scale = (float(np.sqrt(np.mean(np.square(some)))) if some.size else 0.0) or 1.0

    def error_of(self, output: Array) -> float:
        """The largest difference, as a fraction of the root mean square; of integers the share of those that differ."""
        got = (output if self._places is None else output[self._places]).reshape(-1)
        if got.size == 0:
            return 0.0
        if self._is_exact:
            return float(np.mean(got != self._values))  # pyright: ignore[reportUnknownArgumentType]
        worst = 0.0
        with np.errstate(all="ignore"):
            for begin in range(0, got.size, _CHUNK):
                part = slice(begin, begin + _CHUNK)
                difference = got[part].astype(np.float64)
                if self._special is not None and (special := self._special[part]).any():
                    # A value past the range of a narrow type is infinite there.
                    if not np.array_equal(difference[special], self._values[part][special], equal_nan=True):
                        return math.inf
                    difference[special] = 0
                    difference -= np.where(special, 0, self._values[part])
                else:
                    difference -= self._values[part]
                largest = float(np.abs(difference, out=difference).max())
                if math.isnan(largest):
                    return math.inf
                worst = max(worst, largest)
        return worst / self._scale


@contextmanager
def _alone(device: int) -> Generator[None]:
    """Measuring of this user on one device of this machine is done by one process at a time."""
    from ..storage.private_files import state_folder

    path = state_folder() / f"measuring-{device}.lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _measure(task: Mapping[str, Any], function: Any, incumbent: Any, arrays: Sequence[Any]) -> dict[str, Any]:
    """The times of both, called in random order, until their ratio is known well enough."""
    import tilewright as tw

    policy, device = task["policy"], tw.device(task["target"], task["device"])
    least, most = policy["repeats"]
    calls = (function, incumbent or function)

    def call(which: int, *given: Any) -> None:
        calls[which](*given)

    timer = tw.time_evaluator(call, device, repeat=1, warmup=0, flush_l2=policy["cold"])
    for _ in range(policy["warmup"]):
        for one in calls:
            one(*arrays)
    rng, begun = random.Random(task["seed"]), time.monotonic()
    seconds: tuple[list[float], list[float]] = ([], [])
    logarithms: list[float] = []
    alone = incumbent is None
    while len(seconds[0]) < most:
        order = [0] if alone else rng.sample([0, 1], 2)
        for which in order:
            seconds[which].append(timer(which, *arrays).results[0])
        if not alone:
            logarithms.append(math.log(seconds[0][-1] / seconds[1][-1]))
        if len(seconds[0]) < least:
            continue
        if time.monotonic() - begun > policy["seconds"]:
            break
        of = logarithms if not alone else [math.log(one) for one in seconds[0]]
        # The standard error of a median, of times that are nearly normal in their middle.
        middle = statistics.median(of)
        spread = 1.4826 * statistics.median(abs(one - middle) for one in of)
        doubt = 2 * 1.2533 * spread / math.sqrt(len(of))
        if doubt < policy["precision"] or (not alone and middle - doubt > math.log(policy["hopeless"])):
            break
    ratio = 1.0 if alone else math.exp(statistics.median(logarithms))
    return {"seconds": seconds[0], "against": seconds[1], "ratio": ratio}


def main() -> None:
    # A worker does not outlive whoever asks: the kernel ends it with its parent.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a program prints is no answer

    def say(phase: str) -> None:
        print(json.dumps({"phase": phase}), file=answers)

    import tilewright as tilewright  # before LLVM's handlers of signals are taken away

    trials = Trials()
    for line in sys.stdin:
        print(json.dumps(trials.run(json.loads(line), say)), file=answers)


if __name__ == "__main__":
    main()
