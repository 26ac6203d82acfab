"""Schedules of matmuls: without tensor cores, by mma.sync, by wgmma, and the choice between them."""

from .matmul_of_any import matmul
from .mma import matmul_mma
from .simt import sgemm
from .wgmma import matmul_wgmma

__all__ = ["matmul", "matmul_mma", "matmul_wgmma", "sgemm"]
