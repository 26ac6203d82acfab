"""What a GPU is, described once: `Target.device` of the GPU that is compiled for.

>>> import tilewright as tw
>>> tw.Target("cuda -device=a100").device.sms
108
"""

from .architectures import architectures
from .capabilities import Capability, capability_of, number_of
from .gpu import GPU, MOST_BLOCKS_YZ
from .present import present
from .table import KNOWN, default_for, find, known_as

__all__ = [
    "GPU",
    "KNOWN",
    "MOST_BLOCKS_YZ",
    "Capability",
    "architectures",
    "capability_of",
    "default_for",
    "find",
    "known_as",
    "number_of",
    "present",
]
