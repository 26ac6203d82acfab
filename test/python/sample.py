"""`@pytest.mark.sample(COUNT)`: a sample of a test's cases is in the fast suite, all others are in the sweep.

The sample has every value of every parameter that several cases share: each target, each dtype, each flag. Numbers are
not such values, nor are those of a parameter that has more than six. What is left of COUNT is spread evenly over the
cases in their order. The other cases get the marker `sweep`, which CI runs after the suite.
A session that selects fewer cases than COUNT, such as one case by its name, runs them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

Values = frozenset[tuple[str, str]]

# A parameter of more values has names of cases, and no kinds.
_KINDS = 6


def chosen(cases: Sequence[Values], count: int) -> set[int]:
    """The numbers of the cases in the sample. `cases` are their parameters' values."""
    total = len(cases)
    if total <= count:
        return set(range(total))
    uses = Counter(value for case in cases for value in case)
    kinds = Counter(name for name, _ in uses)
    missing = {value for value, used in uses.items() if used > 1 and kinds[value[0]] <= _KINDS}
    spread = [number * total // count for number in range(count)]
    sample: set[int] = set()
    order = [*spread, *(number for number in range(total) if number not in set(spread))]
    while missing:
        best = max(order, key=lambda number: len(cases[number] & missing))
        sample.add(best)
        missing -= cases[best]
    for number in spread:
        if len(sample) >= count:
            break
        sample.add(number)
    return sample


def _values(item: pytest.Item) -> Values:
    """Values without a text that is the same in all processes are told apart by their number."""
    if not hasattr(item, "callspec"):
        return frozenset()
    call = item.callspec
    return frozenset(
        (name, repr(value) if isinstance(value, str | bool | None) else str(call.indices[name]))
        for name, value in call.params.items()
        if isinstance(value, bool) or not isinstance(value, int | float)
    )


def mark_sweep(items: Sequence[pytest.Item]) -> None:
    """Marks the cases that are in no sample."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample") and not any(map(item.get_closest_marker, ("gpu", "slow", "sweep"))):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        marker = cases[0].get_closest_marker("sample")
        assert marker is not None
        sample = chosen([_values(item) for item in cases], *marker.args)
        for number, item in enumerate(cases):
            if number not in sample:
                item.add_marker(pytest.mark.sweep)


def selected(request: pytest.FixtureRequest, test: str, parameter: str) -> list[Any]:
    """The values of a parameter for which this session runs a test that is in the fixture's file."""
    return [
        item.callspec.params[parameter]
        for item in request.session.items
        if isinstance(item, pytest.Function) and (item.path, item.originalname) == (request.path, test)
    ]
