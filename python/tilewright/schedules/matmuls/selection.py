"""Schedule selection for a matmul: the result of a tuning run, or else the fastest by a model of the time.

The table is `tuned.json`, which `python bench/tune_matmul.py` writes. A matmul that is not in the table gets the
schedule of the nearest one, if that is near. Any other matmul gets the fastest of `candidates` by `estimates`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

from ...devices import GPU
from ...errors import TilewrightValueError as ValueError
from ...guards import is_list
from ...target import current_gpu
from ...te.expr import Var
from ...te.tensor import Extent
from .candidates import candidates
from .cost_model import estimates
from .problem import Choice, Problem
from .warpgroup_candidates import equal_shares, narrower_by

__all__ = ["choose", "choose_for_any", "table"]

TABLE = Path(__file__).with_name("tuned.json")
# How far from a matmul of the table another may be to get the same: so many factors of two, all extents together.
NEAR = 1.0


def choose(problem: Problem, device: GPU | None = None) -> Choice:
    """What the table says for a GPU, by default that of `target.current_gpu`, or the model."""
    device = device or current_gpu()
    alike = [entry for entry in table(device) if entry[0].kind == problem.kind]
    near = min(alike, key=lambda entry: problem.distance(entry[0]), default=None)
    if near is not None and problem.distance(near[0]) <= NEAR:
        return near[1] if near[0] == problem else _for_other_tiles(problem, near[1], device)
    return _fastest(problem, list(candidates(problem, device)), device)


def choose_for_any(extents: Mapping[str, Extent], dtype: str, layout: str, device: GPU | None = None) -> Choice:
    """The choice for a matmul of `extents` M, N, K and batch, some of which may be symbolic.

    It is the choice for the greatest values, without options that need constant extents.

    Raises
    ------
    ValueError
        Where a symbolic extent has no greatest value.

    >>> from tilewright import te
    >>> from tilewright.devices import find
    >>> extents = {"M": te.var("tokens", max=8192), "N": 4096, "K": 4096, "batch": 1}
    >>> choose_for_any(extents, "bfloat16", "NT", find("H200")).schedule
    'matmul_wgmma'
    """
    M, N, K, batch = (_greatest(extents[name], name) for name in ("M", "N", "K", "batch"))
    choice = choose(Problem(M, N, K, dtype, layout, batch), device)
    if all(isinstance(extent, int) for extent in extents.values()):
        return choice
    needs_numbers = {"stream_k", "narrower", "raster"} | (
        set[str]() if isinstance(extents["K"], int) else {"split_k", "consumers"}
    )
    options = {name: value for name, value in choice.options.items() if name not in needs_numbers}
    if max(options.get("cluster", (1, 1))) > 2:
        # Of few rows most of a larger cluster would have nothing to do.
        options |= {"cluster": (2, 1) if options["cluster"][0] > 1 else (1, 2)}
        options.pop("blocks", None)
    return Choice(choice.schedule, options)


def _greatest(extent: Extent, name: str) -> int:
    if isinstance(extent, int):
        return extent
    if isinstance(extent, Var) and extent.maximum is not None:
        return extent.maximum
    raise ValueError(
        f"expected a greatest value of {name} to choose a schedule for, as te.var(..., max=4096) has, got {extent}"
    )


def _for_other_tiles(problem: Problem, choice: Choice, device: GPU) -> Choice:
    """The choice of a matmul that is near: how its last tiles are shared depends on how many there are."""
    options = {name: value for name, value in choice.options.items() if name not in ("stream_k", "narrower", "blocks")}
    shares = choice.schedule == "matmul_wgmma" and options.get("consumers", 1) == 1 and options.get("split_k", 1) == 1
    if not shares or choice.options.get("blocks", 0) is None:
        return choice
    tiles, steps = problem.tiles(options["tile"]), ceil(problem.K * problem.item_bytes / 128)
    sharing = {name: value for name, value in options.items() if name != "serpentine_k"} | {"stream_k": True}
    variants = [Choice(choice.schedule, options), Choice(choice.schedule, sharing)]
    is_alone = options.get("cluster", (1, 1)) == (1, 1)
    if is_alone and (less := next(narrower_by(problem, options, device), None)):
        variants.append(Choice(choice.schedule, options | {"narrower": less}))
    if is_alone and (equal := equal_shares(tiles, steps, device)):
        variants.append(Choice(choice.schedule, sharing | {"blocks": equal * tiles}))
    return _fastest(problem, variants, device)


def _fastest(problem: Problem, choices: Sequence[Choice], device: GPU) -> Choice:
    """By the model; of two that take the same, the first."""
    times = estimates(problem, choices, device)
    return choices[times.index(min(times))]


@cache
def table(device: GPU) -> tuple[tuple[Problem, Choice], ...]:
    """What a tuning run on this very GPU found: what was measured on another says nothing of it."""
    if not TABLE.exists():
        return ()
    run = json.loads(TABLE.read_text())["runs"].get(device.name, {})
    entries: list[Any] = run["entries"] if run.get("arch") == device.arch else []
    return tuple((Problem(**entry["problem"]), _choice(entry)) for entry in entries)


def _choice(entry: Mapping[str, Any]) -> Choice:
    options = {name: tuple(value) if is_list(value) else value for name, value in entry["options"].items()}
    return Choice(entry["schedule"], options)
