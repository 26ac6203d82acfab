"""Ready schedules: te expressions with schedules in the public language, to call in a line and to learn from.

Each raises TypeError for an extent that is no integer, ValueError for one that is too small.
"""

from .attention import attention_wgmma
from .chains import cross_entropy_wgmma, gated_matmul_wgmma
from .convolutions.mma import conv2d_mma
from .convolutions.simt import conv2d
from .convolutions.wgmma import conv2d_wgmma
from .convolutions.winograd import conv2d_winograd
from .elementwise import add, elementwise, gelu
from .matmuls.matmul_of_any import matmul
from .matmuls.mma import matmul_mma
from .matmuls.simt import sgemm
from .matmuls.wgmma import matmul_wgmma
from .rows import layer_norm, rms_norm, row_sum, softmax
from .transposition import transpose
from .vectors import column_sum, matvec, vecmat

__all__ = [
    "add",
    "attention_wgmma",
    "column_sum",
    "conv2d",
    "conv2d_mma",
    "conv2d_wgmma",
    "conv2d_winograd",
    "cross_entropy_wgmma",
    "elementwise",
    "gated_matmul_wgmma",
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
