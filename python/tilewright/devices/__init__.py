"""What a GPU is, described once: `Target.device` of the GPU that is compiled for.

>>> import tilewright as tw
>>> tw.Target("cuda -device=a100").device.sms
108
"""

from .capabilities import Capability, capability_of, number_of
from .gpu import GPU
from .present import present
from .table import KNOWN, default_for, find

__all__ = ["GPU", "KNOWN", "Capability", "capability_of", "current", "default_for", "find", "number_of", "present"]


def current() -> GPU:
    """The GPU that schedules are made for: of the target of the ``with`` block, of the GPU present, or an H200.

    >>> import tilewright as tw
    >>> with tw.Target("cuda", device="L4"):
    ...     current().sms
    58
    """
    from ..target import Target

    target = Target.of(None)
    return target.device or Target("cuda").device  # type: ignore[return-value]
