"""What a convolution computes."""

from __future__ import annotations

from dataclasses import dataclass

from ...te import Tensor, placeholder

__all__ = ["Convolution", "Windows"]


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of images with channels last, which filters are multiplied with: rows and columns of each pair."""

    batch: int
    size: tuple[int, int]
    channels: int
    filters: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    before: tuple[int, int]  # zeros above an image, and to the left of it
    out: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Convolution:
    """What is computed."""

    batch: int
    channels: int
    size: int
    filters: int
    kernel: int
    stride: int
    dilation: int = 1
    dtype: str = "float32"

    @property
    def margin(self) -> int:
        return self.kernel // 2 * self.dilation

    @property
    def out(self) -> int:
        """The rows and columns of a result."""
        return (self.size + 2 * self.margin - self.dilation * (self.kernel - 1) - 1) // self.stride + 1

    @property
    def pixels(self) -> int:
        """Of the results of all images."""
        return self.batch * self.out * self.out

    @property
    def windows(self) -> Windows:
        size, kernel, stride, dilation, margin, out = (
            (one, one) for one in (self.size, self.kernel, self.stride, self.dilation, self.margin, self.out)
        )
        return Windows(self.batch, size, self.channels, self.filters, kernel, stride, dilation, margin, out)

    def placeholders(self) -> tuple[Tensor, Tensor]:
        """X and W, channels last."""
        X = placeholder((self.batch, self.size, self.size, self.channels), self.dtype, name="X")
        return X, placeholder((self.filters, self.kernel, self.kernel, self.channels), self.dtype, name="W")
