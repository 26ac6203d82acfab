"""The candidates of a matmul with their times by the model, kept: a tuning run asks for them with each point."""

from __future__ import annotations

from functools import lru_cache

from ...devices import GPU
from .candidates import candidates
from .cost_model import estimates
from .problem import Choice, Problem

__all__ = ["timed_candidates"]


@lru_cache(maxsize=64)
def timed_candidates(problem: Problem, device: GPU, schedule: str) -> tuple[tuple[Choice, float], ...]:
    """The choices of `schedule` for a matmul, each with the seconds that it may take."""
    taken = [one for one in candidates(problem, device) if one.schedule == schedule]
    return tuple(zip(taken, estimates(problem, taken, device), strict=True))
