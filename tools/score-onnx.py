"""Runs ONNX's backend tests on target cpu, and writes which ones pass: docs/onnx-coverage.json and .md.

python tools/score-onnx.py [--shards N] [--only REGEX] [--minutes N] [--target T --out FILE]
(needs onnx; a quarter of an hour on two cores)

Each shard is a process. Where a case ends its process, that is noted, and the shard goes on behind it. The sample that
the ordinary tests run comes first. What is not run keeps its result.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
from scoreboard import read_command, rows, told  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "onnx-coverage.json"
PAGE = ROOT / "docs" / "onnx-coverage.md"

SUITES = ("node", "pytorch-converted", "pytorch-operator", "simple", "light")
RESULTS = ("passes", "nearer", "refused", "wrong", "fails", "not run", "out of scope")

# What a compiler of tensors leaves out, by what a case's operators or types are.
OUT_OF_SCOPE = {
    "sequences and optional values": re.compile("^Optional"),
    "texts": re.compile("^String|^RegexFullMatch"),
    "image decoding": re.compile("^ImageDecoder$"),
    "training": re.compile("^(Adam|Adagrad|Momentum|Gradient)$"),
}


def scope_of(model: Any) -> str:
    """Why a model is out of scope; "" where it is in it."""
    import onnx

    for node in model.graph.node:
        for why, pattern in OUT_OF_SCOPE.items():
            if pattern.search(node.op_type):
                return why
    for one in (*model.graph.input, *model.graph.output):
        kind = one.type.WhichOneof("value")
        if kind in ("sequence_type", "optional_type"):
            return "sequences and optional values"
        if one.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            return "texts"
    return ""


def cases() -> list[Any]:
    """ONNX's tests of nodes and models: first the sample, then the others in an order that no family of names has."""
    warnings.filterwarnings("ignore")
    from onnx.backend.test.loader import load_model_tests

    found = [*load_model_tests(kind="node"), *model_cases()]
    return sorted(found, key=lambda case: rank(case.name))


class ModelCase(NamedTuple):
    """A test whose model lies in a file: its data is read when it is asked for."""

    name: str
    path: Path
    rtol: float = 1e-3
    atol: float = 1e-7

    @property
    def model(self) -> Any:
        """The model."""
        import onnx

        return onnx.load(self.path)

    @property
    def data_sets(self) -> list[tuple[list[Any], list[Any]]]:
        """Inputs and expected outputs; inputs of the light models are those of ONNX's runner."""
        import onnx
        from onnx.backend.test.runner import Runner

        def read(path: Path) -> Any:
            return onnx.TensorProto.FromString(path.read_bytes())

        if self.name.startswith("light "):
            known = {one.name for one in self.model.graph.initializer}
            inputs = [
                Runner.generate_dummy_data(one, seed=0, name=self.path.stem, random=False)
                for one in self.model.graph.input
                if one.name not in known
            ]
            return [(inputs, [read(self.path.with_name(f"{self.path.stem}_output_0.pb"))])]
        return [
            tuple(
                [read(folder / f"{kind}_{i}.pb") for i in range(len(list(folder.glob(f"{kind}_*.pb"))))]
                for kind in ("input", "output")
            )
            for folder in sorted(self.path.parent.glob("test_data_set_*"))
        ]  # fmt: skip


def model_cases() -> list[ModelCase]:
    """ONNX's tests of models that lie in its package, each name behind its suite's."""
    import onnx.backend.test

    data = Path(onnx.backend.test.__file__).parent / "data"
    found = [ModelCase(f"light {path.stem}", path) for path in (data / "light").glob("*.onnx")]
    for suite in SUITES[1:-1]:
        found += [ModelCase(f"{suite} {path.parent.name}", path) for path in (data / suite).glob("*/model.onnx")]
    return found


def suite_of(name: str) -> str:
    """The suite of a case."""
    return name.split()[0] if " " in name else SUITES[0]


def rank(name: str) -> tuple[int, int]:
    """The place of a case in the order; those of the sample begin with 0."""
    digest = zlib.crc32(name.encode())
    return 64 if suite_of(name) == "light" else digest % 64, digest


def is_random(model: Any) -> bool:
    """Whether a model's numbers are random: ONNX keeps those that its reference drew."""
    return any(node.op_type.startswith(("Bernoulli", "Random")) for node in model.graph.node)


def check_random(case: Any, inputs: list[Any], expected: list[Any], got: list[Any]) -> None:
    """Of a Bernoulli case: types and shapes, and the number of ones, within five standard deviations."""
    import numpy as np

    for one, other in zip(expected, got, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape, case.name
        assert np.isin(other, (0, 1)).all(), case.name
        chance = np.asarray(inputs[0], np.float64)
        assert abs(other.sum() - chance.sum()) <= 5 * np.sqrt((chance * (1 - chance)).sum()), case.name


def is_nearer(case: Any, inputs: list[Any], expected: list[Any], got: list[Any]) -> bool:
    """Whether each float that differs from the expected one is nearer to what ONNX's reference makes in float64."""
    import numpy as np
    from onnx.reference import ReferenceEvaluator

    wide = [one.astype(np.float64) if one.dtype.kind == "f" else one for one in inputs]
    names = [one.name for one in case.model.graph.input]
    try:
        exact = ReferenceEvaluator(case.model).run(None, dict(zip(names, wide, strict=True)))
    except Exception:  # a function body may convert to types of 16 bits
        return False
    for want, own, right in zip(expected, got, exact, strict=True):
        if want.dtype != own.dtype or want.shape != own.shape or want.dtype.kind != "f" or right.dtype != np.float64:
            return False
        differ = ~np.isclose(own, want, rtol=case.rtol, atol=case.atol)
        if (abs(own.astype(np.float64) - right) > abs(want.astype(np.float64) - right))[differ].any():
            return False
    return True


def result_of(case: Any, target: str = "cpu") -> str:
    """ "passes", or what goes wrong."""
    from onnx.backend.test.runner import Runner, _normalize_tensor

    from tilewright.onnx import backend

    try:
        prepared = backend.prepare(case.model, target.upper())
        for inputs, outputs in case.data_sets:
            given = [_normalize_tensor(one) for one in inputs]
            got = list(prepared.run(given))
            expected = [_normalize_tensor(one) for one in outputs]
            if is_random(case.model):
                check_random(case, given, expected, got)
                continue
            try:
                Runner.assert_similar_outputs(expected, got, case.rtol, case.atol)
            except AssertionError:
                if not is_nearer(case, given, expected, got):
                    raise
                return "nearer"
    except Exception as error:
        return told(error)
    return "passes"


def run_shard(number: int, shards: int, only: str, skip: int, target: str) -> None:
    """Prints a line of JSON a case, its name first, so that the one that ends the process is known."""
    chosen = [case for case in cases() if re.search(only, case.name)][number::shards]
    for position, case in enumerate(chosen[skip:], skip):
        print(json.dumps({"position": position, "name": case.name}), flush=True)
        result = scope_of(case.model)
        told = f"out of scope: {result}" if result else result_of(case, target)
        print(json.dumps({"name": case.name, "result": told}), flush=True)


def page(results: dict[str, str]) -> str:
    """docs/onnx-coverage.md."""
    kinds = {suite: Counter[str]() for suite in SUITES}
    for name, result in results.items():
        kinds[suite_of(name)][result.split(":")[0]] += 1

    def row(title: str, number: Callable[[Counter[str]], int]) -> str:
        return f"| {title} | {' | '.join(str(number(kinds[suite])) for suite in SUITES)} |"

    lines = [
        "<!-- Written by tools/score-onnx.py from docs/onnx-coverage.json. -->",
        "# ONNX's tests",
        "",
        "ONNX's backend tests of nodes and of models on target `cpu`, with ONNX's own tolerances. Where the shape",
        "of a result depends on the value of an input, the model is compiled for this value",
        "(`TilewrightRep.specialized`). A case is nearer if each number that differs from ONNX's is nearer to the",
        "result in float64. Of Bernoulli, type, shape and the number of ones are compared.",
        "",
        f"| | {' | '.join(SUITES)} |",
        f"| --- |{' --- |' * len(SUITES)}",
        row("in scope", lambda found: sum(found.values()) - found["out of scope"]),
        *(row(kind, lambda found, kind=kind: found[kind]) for kind in RESULTS),
        "",
        "## What does not pass",
        "| result | cases |",
        "| --- | --- |",
    ]
    unnamed = {name: re.sub(r"\bnode '[^']*' ", "", result) for name, result in results.items()}
    lines += rows(unnamed, ("passes", "out of scope", "not run"))
    lines += ["", "## What is out of scope", "| why | cases |", "| --- | --- |"]
    away = Counter(result.removeprefix("out of scope: ") for result in results.values() if result.startswith("out"))
    lines += [f"| {why} | {count} |" for why, count in away.most_common()]
    return "\n".join([*lines, *operators_of_other_domains()]) + "\n"


def operators_of_other_domains() -> list[str]:
    """What the page says of the domains com.microsoft and ai.onnx.ml."""
    from itertools import groupby

    from tilewright.onnx.node import CLASSICAL, CONTRIB

    def table(names: dict[str, Any]) -> list[str]:
        by_letter = groupby(sorted(names), lambda name: name[0])
        return ["", "| | operators |", "| --- | --- |", *(f"| {one} | {', '.join(some)} |" for one, some in by_letter)]

    return [
        "",
        "## Operators of ONNX Runtime",
        "Models may have these operators of the domain `com.microsoft`, and SimplifiedLayerNormalization of ONNX's.",
        *table(CONTRIB),
        "",
        "## Operators of classical machine learning",
        "Models may have these operators of the domain `ai.onnx.ml`, on numbers. Labels and categories that are texts",
        "are refused.",
        *table(CLASSICAL),
        "",
        "- ZipMap makes no maps. Its result is the matrix of scores. The columns are in the order of the labels.",
        "- OneHotEncoder writes zeros for a category that is not known, also if `zeros` is 0.",
        "- If all weights of a TreeEnsembleClassifier of two classes are those of one class, the scores are -s and s",
        "  before the transform. They are 1 - s and s if no weight is negative and `post_transform` is NONE.",
        "- Normalizer with `norm` MAX divides by the largest magnitude, as scikit-learn and ONNX's reference do. ONNX",
        "  Runtime divides by the largest number.",
        "- A tree takes at most 1024 comparisons. SVMClassifier has probabilities of at most 32 classes.",
    ]


def main() -> None:
    run = read_command(__file__, __doc__, run_shard)
    if run is None:
        return
    known = json.loads(DATA.read_text()) if DATA.exists() else {}
    results = {}
    for case in cases():
        why = scope_of(case.model)
        results[case.name] = f"out of scope: {why}" if why else known.get(case.name, "not run")
    results |= run()
    DATA.write_text(json.dumps(dict(sorted(results.items())), indent=0) + "\n")
    PAGE.write_text(page(results))
    print(PAGE)


if __name__ == "__main__":
    main()
