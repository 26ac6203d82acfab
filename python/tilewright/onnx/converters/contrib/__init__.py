"""ONNX Runtime's operators, which its optimiser and its quantisation tools put into models: domain com.microsoft."""

from . import attention as attention
from . import caches as caches
from . import experts as experts
from . import fused as fused
from . import linear as linear
from . import normalization as normalization
from . import weights as weights
