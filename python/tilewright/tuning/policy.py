"""How a candidate is measured."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError

__all__ = ["Policy"]


@dataclass(frozen=True, slots=True)
class Policy:
    """How a candidate is measured, always beside the incumbent: the best schedule so far.

    Parameters
    ----------
    cold
        Whether the caches are flushed before each call.
    warmup
        Calls of each that do not count.
    repeats
        The least and the largest number of timed calls of each; the two take turns in random order.
    precision
        Measuring ends when the ratio of the two times is known to this fraction (twice its standard error).
    hopeless
        Measuring ends, too, when the candidate takes more than this many times the incumbent's time for certain.
    seconds
        Measuring ends after so many seconds at the latest.
    timeout
        Seconds until the process of a trial is killed, compiling included. The trial is then a hang.
    tolerance
        A candidate is wrong where its largest error against double precision is more than this many times the first
        schedule's, or than `tolerance` roundings of the result's type, whichever is larger.

    >>> Policy(repeats=(3, 10)).key() == Policy(repeats=(3, 10)).key() != Policy().key()
    True
    """

    cold: bool = True
    warmup: int = 2
    repeats: tuple[int, int] = (5, 60)
    precision: float = 0.01
    hopeless: float = 1.2
    seconds: float = 5.0
    timeout: float = 60.0
    tolerance: float = 8.0

    def __post_init__(self) -> None:
        least, most = self.repeats
        if not all(isinstance(one, int) for one in (least, most, self.warmup)):
            raise TypeError(f"expected integers as warmup and repeats, got {self.warmup} and {self.repeats}")
        if not 2 <= least <= most:
            raise ValueError(f"expected repeats (least, largest) with 2 <= least <= largest, got {self.repeats}")
        for name, low in (
            ("warmup", 0), ("precision", 1e-6), ("hopeless", 1), ("seconds", 1e-3), ("timeout", 0.1), ("tolerance", 1)
        ):  # fmt: skip
            if getattr(self, name) < low:
                raise ValueError(f"expected {name} to be {low} or more, got {getattr(self, name)}")

    def key(self) -> str:
        """What tells the records of one policy from those of another. The time limit of the process is no part."""
        return json.dumps({name: value for name, value in asdict(self).items() if name != "timeout"})
