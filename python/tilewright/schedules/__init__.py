"""Ready schedules: each is a te expression with a schedule in the public language, to call in a line and to learn from."""

from .gemm import sgemm

__all__ = ["sgemm"]
