"""Operations in a line: on arrays of any library, compiled for arrays like them, or as schedules to read and to change.

>>> import numpy as np
>>> from tilewright import ops
>>> a, b = np.ones((3, 4), "float32"), np.ones((4, 5), "float32")
>>> ops.matmul(a, b, activation="relu").sum()
np.float32(60.0)
>>> func = ops.matmul.function(a, b, target="cuda -arch=sm_90a")
>>> s, tensors = ops.matmul.schedule(a, b, target="cuda -arch=sm_90a")
>>> [tensor.name for tensor in tensors]
['A', 'B', 'C']
"""

from .elementwise import add, gelu
from .gemm import matmul
from .images import conv2d
from .layout import transpose
from .operator import Operand, Operator, operator
from .rows import layer_norm, rms_norm, row_sum, softmax
from .vectors import column_sum, matvec, vecmat

__all__ = [
    "Operand",
    "Operator",
    "add",
    "column_sum",
    "conv2d",
    "gelu",
    "layer_norm",
    "matmul",
    "matvec",
    "operator",
    "rms_norm",
    "row_sum",
    "softmax",
    "transpose",
    "vecmat",
]
