"""Runs OpInfo's samples of core ATen's overloads on target cpu, and writes which pass: docs/aten-coverage.json and .md.

python tools/score-aten.py [--shards N] [--only REGEX] [--minutes N] [--target T --out FILE]
(needs torch and expecttest)

A case is an overload and an element type. Its samples are those calls of PyTorch's OpInfos that become, among others,
this overload: the first SAMPLES of them; where no OpInfo becomes it, or one whose result is not defined (the order of
equal elements), the call of aten_samples.py. Each is traced, imported as torch.compile imports it, and compared with
PyTorch. What is not run keeps its result.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from scoreboard import read_command, rows, told  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "aten-coverage.json"
PAGE = ROOT / "docs" / "aten-coverage.md"
SAMPLES = 3
DTYPES = ("float32", "bfloat16")
# Relative and absolute: of float32 ten times what PyTorch's assert_close takes, of bfloat16 as much relatively.
TOLERANCES = {"float32": (1.3e-5, 1e-5), "bfloat16": (1.6e-2, 1e-2)}
# How many samples of an OpInfo are traced in search of overloads.
_SEARCHED = 8

OUT_OF_SCOPE = {"complex numbers": re.compile(r"^_fft_")}


# Operators whose results are random, or are memory that nothing wrote: what is compared is what they promise.
RANDOM = re.compile(r"^(rand|randn|randperm|native_dropout)\.")
UNWRITTEN = re.compile(r"^empty(_strided)?\.")


def scope_of(overload: str) -> str:
    """Why an overload is out of scope; "" where it is in it."""
    return next((why for why, pattern in OUT_OF_SCOPE.items() if pattern.search(overload)), "")


@cache
def overloads() -> list[str]:
    """Core ATen's overloads, as `add.Tensor`."""
    import torch

    found = []
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in getattr(packet, "overloads", list)():
            if torch.Tag.core in getattr(packet, overload).tags:
                found.append(f"{name}.{overload}")
    return sorted(found)


def cases() -> list[str]:
    """The names of the cases, as `add.Tensor float32`."""
    return [f"{overload} {dtype}" for overload in overloads() for dtype in DTYPES]


@cache
def _op_infos() -> list[Any]:
    warnings.filterwarnings("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

    return list(op_db)


def _calls(op: Any, dtype: Any) -> Iterator[tuple[Callable[..., Any], list[Any]]]:
    """Samples of an OpInfo as functions of their tensors."""
    import torch
    from torch.utils._pytree import tree_flatten, tree_unflatten

    for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), _SEARCHED):
        flat, spec = tree_flatten(((sample.input, *sample.args), sample.kwargs))
        places = [i for i, one in enumerate(flat) if isinstance(one, torch.Tensor)]

        def function(*tensors: Any, flat: Any = flat, spec: Any = spec, places: Any = places) -> Any:
            whole = list(flat)
            for place, tensor in zip(places, tensors):
                whole[place] = tensor
            args, kwargs = tree_unflatten(whole, spec)
            return op.op(*args, **kwargs)

        yield function, [flat[i] for i in places]


def _traced(function: Callable[..., Any], tensors: list[Any], table: Any = None, mode: str = "fake") -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx

    return make_fx(function, decomposition_table=table, tracing_mode=mode)(*tensors)


def _found(module: Any) -> set[str]:
    return {
        f"{node.target._schema.name.removeprefix('aten::')}.{node.target._overloadname}"
        for node in module.graph.nodes
        if hasattr(node.target, "_schema")
    }


@cache
def _likely(overload: str) -> list[Any]:
    """OpInfos, those first whose name is in the overload's or the other way round."""
    name = overload.split(".")[0].strip("_").removeprefix("native_")

    def rank(op: Any) -> tuple[int, int]:
        own = op.aten_name or op.name
        close = own == overload.split(".")[0], name in (own, op.name.split(".")[-1])
        return (0 if any(close) else 1 if name in own or own.strip("_") in name else 2), len(own)

    ordered = sorted(_op_infos(), key=rank)
    return [op for op in ordered if rank(op)[0] < 2]


def samples(overload: str, dtype: str) -> list[tuple[Callable[..., Any], list[Any]]]:
    """The calls of a case."""
    import torch
    from aten_samples import calls_of

    torch.manual_seed(0)
    by_hand = calls_of(overload, dtype)
    if by_hand:
        return by_hand
    made: list[tuple[Callable[..., Any], list[Any]]] = []
    for op in _likely(overload):
        if getattr(torch, dtype) not in op.dtypes:
            continue
        try:
            for function, tensors in _calls(op, getattr(torch, dtype)):
                if tensors and overload in _found(_traced(function, tensors)):
                    made.append((function, tensors))
                if len(made) == SAMPLES:
                    return made
        except Exception as error:  # a sample that PyTorch itself does not trace
            print(f"{op.name}: {type(error).__name__}", file=sys.stderr)
    return made


def _clones(tensors: list[Any]) -> list[Any]:
    return [one.clone() for one in tensors]


def _tensors(result: Any) -> list[Any]:
    import torch
    from torch.utils._pytree import tree_leaves

    found = tree_leaves(list(result) if isinstance(result, tuple) else [result])
    return [
        one if torch.is_tensor(one)
        else torch.from_numpy(one.view("int16")).view(torch.bfloat16) if one.dtype.name == "bfloat16"
        else torch.from_numpy(one)
        for one in found
    ]  # fmt: skip


def _writes(overload: str) -> bool:
    """Whether an overload writes to its arguments."""
    import torch

    packet, name = overload.split(".")
    return getattr(getattr(torch.ops.aten, packet), name)._schema.is_mutable


def _expected(function: Callable[..., Any], tensors: list[Any]) -> list[Any] | None:
    """What PyTorch computes; where it has not bfloat16, what it computes in float32, rounded. None where neither."""
    import torch
    from torch.utils._pytree import tree_leaves

    try:
        return [one for one in tree_leaves(function(*_clones(tensors))) if torch.is_tensor(one)]
    except (NotImplementedError, RuntimeError):
        pass
    try:
        half = [one.dtype == torch.bfloat16 for one in tensors]
        wide = function(*(one.float() if narrow else one.clone() for one, narrow in zip(tensors, half)))
    except (NotImplementedError, RuntimeError):
        return None
    kinds = [one.meta["val"].dtype for one in _outputs(_traced(function, tensors))]
    return [one.to(kind) for one, kind in zip((one for one in tree_leaves(wide) if torch.is_tensor(one)), kinds)]


def _outputs(module: Any) -> list[Any]:
    from torch.utils._pytree import tree_leaves

    (last,) = (node for node in module.graph.nodes if node.op == "output")
    return [one for one in tree_leaves(last.args[0]) if one is not None]


def _check_random(overload: str, results: list[Any], tensors: list[Any]) -> None:
    """Whether numbers have the distribution that an operator promises, within five standard deviations."""
    import torch

    got = results[0]
    if overload.startswith("randperm"):
        assert torch.equal(got.sort()[0], torch.arange(got.numel()))
        return
    if overload.startswith("native_dropout"):  # the call of aten_samples.py: a quarter becomes 0
        kept = results[1]
        torch.testing.assert_close(got, torch.where(kept, tensors[0] / 0.75, 0), rtol=1e-2, atol=0)
        assert abs(kept.double().mean() - 0.75) < 5 * (0.25 * 0.75 / kept.numel()) ** 0.5
        return
    ordered = got.double().flatten().sort()[0]
    count = ordered.numel()
    wanted = ordered if overload.startswith("rand.") else torch.special.ndtr(ordered)
    # Kolmogorov's distance, with the half of a step of a narrow type.
    distance = (wanted - (torch.arange(count) + 0.5) / count).abs().max()
    assert distance < 2.5 / count**0.5 + torch.finfo(got.dtype).eps and float(ordered[0]) < 0.1


def result_of(case: str, target: str = "cpu") -> str:
    """ "passes", or what goes wrong."""
    import torch

    from tilewright.graph import compile_graph
    from tilewright.torch import import_fx
    from tilewright.torch.decompositions import aten_decompositions
    from tilewright.torch.importer import is_random

    overload, dtype = case.split()
    calls = samples(overload, dtype)
    if not calls:
        return "no sample"
    rtol, atol = TOLERANCES[dtype]
    try:
        for function, tensors in calls:
            expected = _expected(function, tensors)
            if expected is None:
                return "no sample"
            own = torch.func.functionalize(function) if _writes(overload) else function
            mode = "symbolic" if overload.startswith("sym_") else "fake"
            module = _traced(own, tensors, aten_decompositions(), mode)
            seeded = is_random(module)
            model = compile_graph(import_fx(module, "sample", {}, seeded=seeded), target)
            made = [_tensors(model(*_clones(tensors), *([torch.tensor(number)] * seeded))) for number in range(2)]
            for got, other, wanted in zip(*made, expected, strict=True):
                if RANDOM.search(overload):
                    _check_random(overload, made[0], tensors)
                    assert not torch.equal(got, other)
                if RANDOM.search(overload) or UNWRITTEN.search(overload):
                    assert got.shape == wanted.shape and got.dtype == wanted.dtype
                elif wanted.numel() or got.numel():
                    torch.testing.assert_close(got, wanted.contiguous(), rtol=rtol, atol=atol, equal_nan=True)
    except Exception as error:
        return told(error)
    return "passes"


def run_shard(number: int, shards: int, only: str, skip: int, target: str) -> None:
    """Prints a line of JSON a case, its name first, so that the one that ends the process is known."""
    chosen = [case for case in cases() if re.search(only, case)][number::shards]
    for position, case in enumerate(chosen[skip:], skip):
        print(json.dumps({"position": position, "name": case}), flush=True)
        why = scope_of(case.split()[0])
        print(
            json.dumps({"name": case, "result": f"out of scope: {why}" if why else result_of(case, target)}), flush=True
        )


def page(data: dict[str, Any]) -> str:
    """docs/aten-coverage.md."""
    results: dict[str, str] = data["results"]
    kinds = Counter(result.split(":")[0] for result in results.values())
    both = sum(all(results.get(f"{one} {dtype}") == "passes" for dtype in DTYPES) for one in _names(results))
    lines = [
        "<!-- Written by tools/score-aten.py from docs/aten-coverage.json. -->",
        "# Core ATen",
        "",
        f"The overloads that PyTorch {data['torch']} tags as core, compared with PyTorch on target `cpu`. Each",
        f"overload is called with up to {SAMPLES} samples of PyTorch's OpInfos that use it, or with the call of",
        "tools/aten_samples.py. The types are float32 and bfloat16; operators on integers run for both. Where PyTorch",
        "has no bfloat16, its float32 result is rounded. For random numbers, shape, type and distribution are",
        "compared; for uninitialised memory, shape and type. Tolerances, relative and absolute:",
        "; ".join(f"{rtol} and {atol} for {kind}" for kind, (rtol, atol) in TOLERANCES.items()) + ".",
        "",
        "| | cases |",
        "| --- | --- |",
        f"| overloads | {len(_names(results))} |",
        f"| overloads that pass in both types | {both} |",
        *(f"| {kind} | {kinds[kind]} |" for kind in ("passes", "refused", "wrong", "fails", "no sample", "not run")),
        f"| out of scope | {kinds['out of scope']} |",
        "",
        "## What does not pass",
        "| result | cases |",
        "| --- | --- |",
        *rows({name: re.sub(r"^refused: .*?\(", "refused: (", result) for name, result in results.items()},
              ("passes", "out of scope", "not run")),
        "",
        "## What is out of scope",
        "| why | cases |",
        "| --- | --- |",
    ]  # fmt: skip
    away = Counter(result.removeprefix("out of scope: ") for result in results.values() if result.startswith("out"))
    lines += [f"| {why} | {count} |" for why, count in away.most_common()]
    return "\n".join(lines) + "\n"


def _names(results: dict[str, str]) -> set[str]:
    return {case.split()[0] for case in results}


def main() -> None:
    run = read_command(__file__, __doc__, run_shard)
    if run is None:
        return
    import torch

    known = json.loads(DATA.read_text())["results"] if DATA.exists() else {}
    results = {case: known.get(case, "not run") for case in cases()}
    results |= run()
    data = {"torch": torch.__version__.split("+")[0], "results": dict(sorted(results.items()))}
    DATA.write_text(json.dumps(data, indent=0) + "\n")
    PAGE.write_text(page(data))
    print(PAGE)


if __name__ == "__main__":
    main()
