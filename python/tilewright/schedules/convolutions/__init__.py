"""Schedules of convolutions: without tensor cores, by Winograd's transform, by mma.sync and by wgmma."""

from .mma import conv2d_mma
from .simt import conv2d
from .wgmma import conv2d_wgmma
from .winograd import conv2d_winograd

__all__ = ["conv2d", "conv2d_mma", "conv2d_wgmma", "conv2d_winograd"]
