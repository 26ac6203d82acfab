"""Ready schedules: te expressions with schedules in the public language, to call in a line and to learn from."""

from .gemm import sgemm

__all__ = ["sgemm"]
