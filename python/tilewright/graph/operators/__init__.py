"""What each operator of the graph dialect means: one function of tensor expressions an operator."""

from __future__ import annotations

from . import attention as attention
from . import attention_gradients as attention_gradients
from . import contractions as contractions
from . import elementwise as elementwise
from . import factors as factors
from . import images as images
from . import movement as movement
from . import pooling as pooling
from . import quantization as quantization
from . import reductions as reductions
from . import regions as regions
from . import rotations as rotations
from . import scatter as scatter
from . import sorting as sorting
from . import suppression as suppression
from . import symmetric as symmetric
from . import transposed as transposed
from .common import OPERATORS, Operator

__all__ = ["OPERATORS", "Operator"]
