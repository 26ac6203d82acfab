"""The convolutions of four networks in bfloat16, channels last, beside cuDNN: all shapes, each once, batch 1 and 32.

`python bench/model_convolutions.py [--budget 200] [--batches 1,32] [--networks ResNet-50,...] [--out FILE.json]`

The networks are ResNet-50, ConvNeXt-T and EfficientNet-B0 on images of 224 x 224, and the UNet of Stable Diffusion 1.5
on latents of 64 x 64. Square convolutions with a margin of half the kernel are `ops.conv2d`. Those by channel, and
those of patches, are `ops.conv` with `layout="last"`. They are measured as `random_shapes.py` measures. The peer is
cuDNN with its benchmark, on tensors with channels last. No schedule was tuned on these shapes.
"""

from __future__ import annotations

from collections.abc import Iterator

from measuring import parser_of, run_cases
from random_cases import Array, Case
from random_shapes import prepare, serve

# Of each network: size, channels, filters, kernel, stride; filters 0 for a filter of each channel.
_NETWORKS = {
    "ResNet-50": (
        (224, 3, 64, 7, 2),
        *((56, 64, 64, 1, 1), (56, 64, 64, 3, 1), (56, 64, 256, 1, 1), (56, 256, 64, 1, 1)),
        *(
            one
            for size, width in ((56, 128), (28, 256), (14, 512))
            for one in (
                (size, 2 * width, width, 1, 1), (size, width, width, 3, 2), (size // 2, width, 4 * width, 1, 1),
                (size, 2 * width, 4 * width, 1, 2), (size // 2, 4 * width, width, 1, 1),
                (size // 2, width, width, 3, 1),
            )
        ),
    ),
    "ConvNeXt-T": (
        *((224, 3, 96, 4, 4), (56, 96, 0, 7, 1), (28, 192, 0, 7, 1), (14, 384, 0, 7, 1), (7, 768, 0, 7, 1)),
        *((56, 96, 192, 2, 2), (28, 192, 384, 2, 2), (14, 384, 768, 2, 2)),
    ),
    "EfficientNet-B0": (
        *((224, 3, 32, 3, 2), (112, 32, 0, 3, 1), (112, 96, 0, 3, 2), (56, 144, 0, 3, 1), (56, 144, 0, 5, 2)),
        *((28, 240, 0, 5, 1), (28, 240, 0, 3, 2), (14, 480, 0, 3, 1), (14, 480, 0, 5, 1), (14, 672, 0, 5, 1)),
        *((14, 672, 0, 5, 2), (7, 1152, 0, 5, 1), (7, 1152, 0, 3, 1)),
        *((112, 32, 16, 1, 1), (112, 16, 96, 1, 1), (56, 96, 24, 1, 1), (56, 24, 144, 1, 1), (28, 144, 40, 1, 1)),
        *((28, 40, 240, 1, 1), (14, 240, 80, 1, 1), (14, 80, 480, 1, 1), (14, 480, 112, 1, 1), (14, 112, 672, 1, 1)),
        *((7, 672, 192, 1, 1), (7, 192, 1152, 1, 1), (7, 1152, 320, 1, 1), (7, 320, 1280, 1, 1)),
    ),
    "UNet": (
        *((64, 4, 320, 3, 1), (64, 320, 320, 3, 1), (64, 320, 320, 3, 2), (32, 320, 640, 3, 1), (32, 640, 640, 3, 1)),
        *((32, 640, 640, 3, 2), (16, 640, 1280, 3, 1), (16, 1280, 1280, 3, 1), (16, 1280, 1280, 3, 2)),
        *((8, 1280, 1280, 3, 1), (8, 2560, 1280, 3, 1), (16, 2560, 1280, 3, 1), (16, 1920, 1280, 3, 1)),
        *((32, 1920, 640, 3, 1), (32, 1280, 640, 3, 1), (32, 960, 640, 3, 1), (64, 960, 320, 3, 1)),
        *((64, 640, 320, 3, 1), (64, 320, 4, 3, 1), (32, 320, 640, 1, 1), (16, 640, 1280, 1, 1)),
        *((64, 960, 320, 1, 1), (32, 1920, 640, 1, 1)),
    ),
}  # fmt: skip


def cases_of(network: str, batch: int) -> Iterator[Case]:
    """
    >>> print(*map(str, list(cases_of("ConvNeXt-T", 1))[:2]), sep="\\n")
    conv bfloat16 1x224x224x3, 96x3x4x4 stride=4 padding=0 groups=1 layout=last
    conv bfloat16 1x56x56x96, 96x1x7x7 stride=1 padding=3 groups=96 layout=last
    """
    for size, channels, filters, kernel, stride in _NETWORKS[network]:
        group, x = f"{network} {batch}", Array((batch, size, size, channels), "bfloat16")
        if filters and kernel % 2:
            w = Array((filters, kernel, kernel, channels), "bfloat16")
            yield Case(group, "conv2d", (x, w), (("stride", stride),))
            continue
        w = Array((filters or channels, channels if filters else 1, kernel, kernel), "bfloat16")
        padding, groups = 0 if filters else kernel // 2, 1 if filters else channels
        options = (("stride", stride), ("padding", padding), ("groups", groups), ("layout", "last"))
        yield Case(group, "conv", (x, w), options)


def main() -> None:
    parser = parser_of(__doc__, "model-convolutions.json", budget=200, repeat=40)
    parser.add_argument("--batches", default="1,32")
    parser.add_argument("--networks", default=",".join(_NETWORKS))
    given = parser.parse_args()
    batches = [int(one) for one in given.batches.split(",")]
    cases = [case for batch in batches for name in given.networks.split(",") for case in cases_of(name, batch)]
    run_cases(cases, given, prepare, serve, (given.target, "none", given.repeat), share=0.4)


if __name__ == "__main__":
    main()
