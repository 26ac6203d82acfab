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

from .activations import relu, sigmoid, silu, tanh
from .attention import attention
from .attention_fp8 import attention_fp8
from .attention_gradients import attention_gradients
from .attention_with_logarithms import attention_with_logarithms
from .elementwise import add, gelu
from .gemm import matmul
from .images import conv2d
from .layout import transpose
from .linear import linear
from .movement import concatenate, embedding, gather, pad, permute
from .normalization import batch_norm, cross_entropy, group_norm, log_softmax
from .operator import Operand, Operator, operator
from .reductions import argmax, argmin, cumsum, max, mean, min, prod, sum
from .rows import layer_norm, rms_norm, row_sum, softmax
from .sequences import rope, scatter_add, top_k
from .vectors import column_sum, matvec, vecmat
from .windows import avg_pool, conv, conv_transpose, max_pool

__all__ = [
    "Operand", "Operator", "add", "argmax", "argmin", "attention", "attention_fp8", "attention_gradients",
    "attention_with_logarithms", "avg_pool", "batch_norm", "column_sum", "concatenate", "conv", "conv2d",
    "conv_transpose", "cross_entropy", "cumsum", "embedding", "gather", "gelu", "group_norm", "layer_norm", "linear",
    "log_softmax", "matmul", "matvec", "max", "max_pool", "mean", "min", "operator", "pad", "permute", "prod", "relu",
    "rms_norm", "rope", "row_sum", "scatter_add", "sigmoid", "silu", "softmax", "sum", "tanh", "top_k", "transpose",
    "vecmat",
]  # fmt: skip
