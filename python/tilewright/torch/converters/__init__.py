"""What makes operators of the graph of ATen's, a family a module."""

from __future__ import annotations

from . import attention as attention
from . import backward as backward
from . import complex_numbers as complex_numbers
from . import contractions as contractions
from . import counted as counted
from . import creation as creation
from . import elementwise as elementwise
from . import fourier as fourier
from . import indexing as indexing
from . import movement as movement
from . import normalization as normalization
from . import pooling as pooling
from . import prims as prims
from . import random as random
from . import reductions as reductions
