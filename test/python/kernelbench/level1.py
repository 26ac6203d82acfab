"""KernelBench, level 1: single operations. Each is the name, the shapes of what it takes, and the words for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Problem = tuple[str, tuple[tuple[int, ...], ...], Callable[..., Any]]

_IMAGE, _VOLUME, _SIGNAL = (2, 6, 9, 9), (2, 4, 5, 6, 7), (2, 6, 20)
_GATES = ((6,), (6,))


def _binary(f: str) -> Callable[..., Any]:
    return lambda m, x, y: getattr(m, f)(x, y)


def _unary(f: str) -> Callable[..., Any]:
    return lambda m, x: getattr(m, f)(x)


def _conv(**how: Any) -> Callable[..., Any]:
    return lambda m, x, w: m.conv(x, w, None, **how)


def _by_channel(m: Any, x: Any, w: Any) -> Any:
    return m.conv(x, w, None, groups=x.shape[1])


def _convt(**how: Any) -> Callable[..., Any]:
    return lambda m, x, w: m.convt(x, w, None, **how)


LEVEL1: tuple[Problem, ...] = (
    ("Square_matrix_multiplication", ((24, 24), (24, 24)), _binary("matmul")),
    ("Standard_matrix_multiplication", ((20, 40), (40, 24)), _binary("matmul")),
    ("Batched_matrix_multiplication", ((3, 12, 20), (3, 20, 16)), _binary("matmul")),
    ("Matrix_vector_multiplication", ((24, 90), (90, 1)), _binary("matmul")),
    ("Matrix_scalar_multiplication", ((24, 30),), lambda m, a: m.mul(a, 3.14)),
    ("Matmul_with_large_K_dimension", ((8, 600), (600, 8)), _binary("matmul")),
    ("Matmul_with_small_K_dimension", ((60, 4), (4, 60)), _binary("matmul")),
    ("Matmul_with_irregular_shapes", ((41, 29), (29, 59)), _binary("matmul")),
    ("Tall_skinny_matrix_multiplication", ((90, 4), (4, 90)), _binary("matmul")),
    ("3D_tensor_matrix_multiplication", ((2, 10, 12), (12, 9)), _binary("matmul")),
    ("4D_tensor_matrix_multiplication", ((2, 3, 5, 12), (12, 9)), _binary("matmul")),
    ("Matmul_with_diagonal_matrices", ((20, 1), (20, 24)), _binary("mul")),
    ("Matmul_for_symmetric_matrices", ((20, 20), (20, 20)),
     lambda m, a, b: m.matmul(m.add(a, m.transpose(a)), m.add(b, m.transpose(b)))),
    ("Matmul_for_upper_triangular_matrices", ((18, 18), (18, 18)),
     lambda m, a, b: m.triangle(m.matmul(m.triangle(a, upper=True), m.triangle(b, upper=True)), upper=True)),
    ("Matmul_for_lower_triangular_matrices", ((18, 18), (18, 18)),
     lambda m, a, b: m.triangle(m.matmul(m.triangle(a, upper=False), m.triangle(b, upper=False)), upper=False)),
    ("Matmul_with_transposed_A", ((40, 20), (40, 24)), lambda m, a, b: m.matmul(m.transpose(a), b)),
    ("Matmul_with_transposed_B", ((20, 40), (24, 40)), lambda m, a, b: m.matmul(a, m.transpose(b))),
    ("Matmul_with_transposed_both", ((40, 20), (24, 40)),
     lambda m, a, b: m.matmul(m.transpose(a), m.transpose(b))),
    ("ReLU", ((16, 70),), _unary("relu")),
    ("LeakyReLU", ((16, 70),), _unary("leaky")),
    ("Sigmoid", ((16, 70),), _unary("sigmoid")),
    ("Tanh", ((16, 70),), _unary("tanh")),
    ("Softmax", ((16, 70),), lambda m, x: m.softmax(x, 1)),
    ("LogSoftmax", ((16, 70),), lambda m, x: m.log_softmax(x, 1)),
    ("Swish", ((16, 70),), _unary("swish")),
    ("GELU", ((16, 70),), _unary("gelu")),
    ("SELU", ((16, 70),), _unary("selu")),
    ("HardSigmoid", ((16, 70),), _unary("hardsigmoid")),
    ("Softplus", ((16, 70),), _unary("softplus")),
    ("Softsign", ((16, 70),), _unary("softsign")),
    ("ELU", ((16, 70),), _unary("elu")),
    ("HardTanh", ((16, 70),), lambda m, x: m.clamp(x, -1.0, 1.0)),
    ("BatchNorm", (_IMAGE, *_GATES), lambda m, x, g, b: m.bn(x, g, b)),
    ("InstanceNorm", (_IMAGE,), _unary("inorm")),
    ("GroupNorm", (_IMAGE, *_GATES), lambda m, x, g, b: m.gn(x, 3, g, b)),
    ("RMSNorm", (_IMAGE,), _unary("rms")),
    ("FrobeniusNorm", (_IMAGE,), lambda m, x: m.div(x, m.sqrt(m.sum(m.mul(x, x), None, True)))),
    ("L1Norm", ((16, 70),), lambda m, x: m.div(x, m.mean(m.abs(x), 1, True))),
    ("L2Norm", ((16, 70),), lambda m, x: m.div(x, m.sqrt(m.sum(m.mul(x, x), 1, True)))),
    ("LayerNorm", ((3, 4, 5, 6), (4, 5, 6), (4, 5, 6)), lambda m, x, g, b: m.ln(x, g, b)),
    ("Max_Pooling_1D", (_SIGNAL,), lambda m, x: m.maxpool(x, 4, 2, 1, 3)),
    ("Max_Pooling_2D", (_IMAGE,), lambda m, x: m.maxpool(x, 4, 1, 1, 1)),
    ("Max_Pooling_3D", (_VOLUME,), lambda m, x: m.maxpool(x, 3, 2, 1, 1)),
    ("Average_Pooling_1D", (_SIGNAL,), lambda m, x: m.avgpool(x, 4, 1, 2)),
    ("Average_Pooling_2D", (_IMAGE,), lambda m, x: m.avgpool(x, 3)),
    ("Average_Pooling_3D", (_VOLUME,), lambda m, x: m.avgpool(x, 3, 2, 1)),
    ("Sum_reduction_over_a_dimension", ((5, 20, 9),), lambda m, x: m.sum(x, 1, True)),
    ("Mean_reduction_over_a_dimension", ((5, 20, 9),), lambda m, x: m.mean(x, 1)),
    ("Max_reduction_over_a_dimension", ((5, 20, 9),), lambda m, x: m.max(x, 1)),
    ("conv_standard_2D_AlexNet", ((1, 3, 23, 23), (8, 3, 11, 11)), _conv(stride=4, padding=2)),
    ("Argmax_over_a_dimension", ((5, 20, 9),), lambda m, x: m.argmax(x, 1)),
    ("Argmin_over_a_dimension", ((5, 20, 9),), lambda m, x: m.argmin(x, 1)),
    ("Min_reduction_over_a_dimension", ((5, 20, 9),), lambda m, x: m.min(x, 1)),
    ("conv_standard_3D_square_input_square_kernel", ((2, 3, 7, 7, 7), (5, 3, 3, 3, 3)), _conv()),
    ("conv_standard_2D_asymmetric_input_square_kernel", ((2, 6, 8, 13), (5, 6, 3, 3)), _conv()),
    ("conv_standard_2D_asymmetric_input_asymmetric_kernel", ((2, 6, 8, 13), (5, 6, 3, 5)), _conv()),
    ("conv_transposed_2D_square_input_square_kernel", ((2, 6, 7, 7), (6, 5, 3, 3)), _convt()),
    ("conv_transposed_3D_asymmetric_input_asymmetric_kernel", (_VOLUME, (4, 3, 3, 2, 2)), _convt()),
    ("conv_standard_3D_asymmetric_input_square_kernel", (_VOLUME, (5, 4, 3, 3, 1)), _conv()),
    ("conv_standard_3D_square_input_asymmetric_kernel", ((2, 3, 7, 7, 7), (5, 3, 3, 2, 4)), _conv()),
    ("conv_transposed_3D_square_input_square_kernel", ((2, 3, 5, 5, 5), (3, 4, 3, 3, 3)), _convt()),
    ("conv_standard_2D_square_input_asymmetric_kernel", ((2, 6, 9, 9), (5, 6, 5, 3)), _conv()),
    ("conv_standard_2D_square_input_square_kernel", ((2, 6, 9, 9), (5, 6, 3, 3)), _conv()),
    ("conv_transposed_1D", ((2, 6, 12), (6, 5, 3)), _convt()),
    ("conv_transposed_2D_square_input_asymmetric_kernel", ((2, 6, 7, 7), (6, 5, 3, 5)), _convt()),
    ("conv_standard_3D_asymmetric_input_asymmetric_kernel", (_VOLUME, (5, 4, 2, 3, 3)), _conv()),
    ("conv_standard_1D", (_SIGNAL, (5, 6, 3)), _conv()),
    ("conv_transposed_3D_square_input_asymmetric_kernel", ((2, 3, 5, 5, 5), (3, 4, 3, 2, 2)), _convt()),
    ("conv_transposed_2D_asymmetric_input_asymmetric_kernel", ((2, 6, 5, 8), (6, 5, 3, 5)), _convt()),
    ("conv_transposed_3D_asymmetric_input_square_kernel", (_VOLUME, (4, 3, 3, 3, 3)), _convt()),
    ("conv_transposed_2D_asymmetric_input_square_kernel", ((2, 6, 5, 8), (6, 5, 3, 3)), _convt()),
    ("conv_transposed_3D_grouped_strided_padded", (_VOLUME, (4, 2, 3, 3, 3)),
     _convt(stride=2, padding=1, output_padding=1, groups=2)),
    ("conv_transposed_3D_strided_padded_grouped", ((2, 4, 5, 5, 5), (4, 2, 3, 3, 3)),
     _convt(stride=2, padding=1, groups=4)),
    ("conv_transposed_1D_dilated", ((2, 6, 12), (6, 5, 5)), _convt(dilation=3)),
    ("conv_transposed_2D_strided_grouped_padded_dilated", ((2, 6, 5, 8), (6, 2, 3, 5)),
     _convt(stride=(2, 3), padding=(1, 2), dilation=(2, 1), groups=2)),
    ("conv_standard_1D_dilated_strided", (_SIGNAL, (5, 6, 3)), _conv(stride=3, dilation=4)),
    ("conv_transposed_3D_padded_dilated_strided", ((1, 3, 4, 5, 4), (3, 4, 3, 3, 3)),
     _convt(stride=2, padding=1, dilation=2)),
    ("conv_transposed_2D_padded", ((2, 6, 5, 8), (6, 5, 3, 5)), _convt(padding=(1, 2))),
    ("conv_transposed_1D_padded_strided_dilated", ((2, 6, 12), (6, 5, 3)), _convt(stride=2, padding=1, dilation=2)),
    ("conv_standard_2D_dilated_padded", ((2, 6, 12, 12), (5, 6, 3, 5)), _conv(padding=(2, 4), dilation=(2, 3))),
    ("conv_transposed_2D_dilated_padded_strided", ((1, 6, 5, 5), (6, 5, 3, 3)),
     _convt(stride=5, padding=1, dilation=2)),
    ("conv_depthwise_2D_square_input_square_kernel", ((2, 6, 9, 9), (6, 1, 3, 3)), _by_channel),
    ("conv_depthwise_2D_square_input_asymmetric_kernel", ((2, 6, 9, 9), (6, 1, 3, 1)), _by_channel),
    ("conv_depthwise_2D_asymmetric_input_square_kernel", ((2, 6, 7, 12), (12, 1, 3, 3)), _by_channel),
    ("conv_depthwise_2D_asymmetric_input_asymmetric_kernel", ((2, 6, 7, 12), (6, 1, 3, 5)), _by_channel),
    ("conv_depthwise_separable_2D", ((2, 6, 9, 9), (6, 1, 3, 3), (8, 6, 1, 1)),
     lambda m, x, d, p: m.conv(m.conv(x, d, None, padding=1, groups=x.shape[1]), p)),
    ("conv_pointwise_2D", ((2, 16, 9, 9), (12, 16, 1, 1)), _conv()),
    ("MinGPTNewGelu", ((20, 60),), _unary("gelu_tanh")),
    ("cumsum", ((7, 90),), lambda m, x: m.cumsum(x, 1)),
    ("cumprod", ((7, 30),), lambda m, x: m.cumprod(x, 1)),
    ("cumsum_reverse", ((7, 90),), lambda m, x: m.cumsum(x, 1, reverse=True)),
    ("cumsum_exclusive", ((7, 90),), lambda m, x: m.cumsum(x, 1, exclusive=True)),
    ("masked_cumsum", ((7, 90), (7, 90)), lambda m, x, mask: m.cumsum(m.mul(x, mask), 1)),
    ("MSELoss", ((12, 50), (12, 50)), lambda m, x, y: m.mean(m.mul(m.sub(x, y), m.sub(x, y)))),
    ("CrossEntropyLoss", ((12, 10), (12,)),
     lambda m, x, labels: m.mul(m.mean(m.at_labels(m.log_softmax(x, 1), labels)), -1.0)),
    ("HuberLoss", ((12, 50), (12, 50)), lambda m, x, y: m.mean(_huber(m, m.abs(m.sub(x, y))))),
    ("CosineSimilarityLoss", ((12, 50), (12, 50)), lambda m, x, y: m.mean(m.add(m.mul(_cosine(m, x, y), -1.0), 1.0))),
    ("KLDivLoss", ((12, 50), (12, 50)),
     lambda m, x, y: m.mul(m.sum(m.mul(m.softmax(y, 1), m.sub(m.log_softmax(y, 1), m.log_softmax(x, 1)))), 1 / 12)),
    ("TripletMarginLoss", ((12, 50), (12, 50), (12, 50)),
     lambda m, a, p, n: m.mean(m.relu(m.add(m.sub(_distance(m, a, p), _distance(m, a, n)), 1.0)))),
    ("HingeLoss", ((12, 50), (12, 50)), lambda m, x, y: m.mean(m.relu(m.add(m.mul(m.mul(x, y), -1.0), 1.0)))),
)  # fmt: skip


def _huber(m: Any, distance: Any) -> Any:
    near = m.clamp(distance, 0.0, 1.0)
    return m.add(m.mul(m.mul(near, near), 0.5), m.sub(distance, near))


def _cosine(m: Any, x: Any, y: Any) -> Any:
    both = m.sqrt(m.mul(m.sum(m.mul(x, x), 1), m.sum(m.mul(y, y), 1)))
    return m.div(m.sum(m.mul(x, y), 1), both)


def _distance(m: Any, x: Any, y: Any) -> Any:
    return m.sqrt(m.sum(m.mul(m.sub(x, y), m.sub(x, y)), 1))
