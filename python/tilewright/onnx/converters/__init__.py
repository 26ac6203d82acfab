"""What makes operators of the graph of ONNX's nodes. Operators that are not here are their function bodies."""

from . import contractions as contractions
from . import contrib as contrib
from . import counted as counted
from . import determinants as determinants
from . import elementwise as elementwise
from . import images as images
from . import indexing as indexing
from . import ml as ml
from . import movement as movement
from . import normalization as normalization
from . import pooling as pooling
from . import quantization as quantization
from . import random as random
from . import recurrent as recurrent
from . import reductions as reductions
from . import signals as signals
from . import texts as texts
