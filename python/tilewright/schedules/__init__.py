"""Ready schedules: te expressions with schedules in the public language, to call in a line and to learn from."""

from .convolution import conv2d
from .convolution_mma import conv2d_mma
from .convolution_wgmma import conv2d_wgmma
from .elementwise import add, elementwise, gelu
from .gemm import sgemm
from .hopper import matmul_wgmma
from .moves import transpose
from .products import matmul
from .rows import layer_norm, rms_norm, row_sum, softmax
from .tensor_cores import matmul_mma
from .vectors import column_sum, matvec, vecmat
from .winograd import conv2d_winograd

__all__ = [
    "add",
    "column_sum",
    "conv2d",
    "conv2d_mma",
    "conv2d_wgmma",
    "conv2d_winograd",
    "elementwise",
    "gelu",
    "layer_norm",
    "matmul",
    "matmul_mma",
    "matmul_wgmma",
    "matvec",
    "rms_norm",
    "row_sum",
    "sgemm",
    "softmax",
    "transpose",
    "vecmat",
]
