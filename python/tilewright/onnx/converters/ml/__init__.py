"""Operators of classical machine learning on numbers, which scikit-learn's models have: domain ai.onnx.ml."""

from . import encoders as encoders
from . import features as features
from . import linear as linear
from . import trees as trees
from . import vectors as vectors
