"""KernelBench, level 2: a convolution or a matmul with what follows. Written as level 1."""

from __future__ import annotations

import math
from typing import Any

from .level1 import Problem

# Images, filters, biases; of transposed convolutions; of three dimensions; of linear layers.
_C = ((2, 4, 9, 9), (6, 4, 3, 3), (6,))
_T = ((2, 4, 5, 5), (4, 6, 3, 3), (6,))
_C3 = ((1, 3, 6, 7, 7), (6, 3, 3, 3, 3), (6,))
_T3 = ((1, 3, 4, 4, 4), (3, 6, 3, 3, 3), (6,))
_L = ((6, 20), (12, 20), (12,))
_G, _G12, _ONE2, _ONE3 = ((6,), (6,)), ((12,), (12,)), (6, 1, 1), (6, 1, 1, 1)
_UP: dict[str, Any] = {"stride": 2, "padding": 1, "output_padding": 1}

LEVEL2: tuple[Problem, ...] = (
    ("Conv2D_ReLU_BiasAdd", (*_C, _ONE2), lambda m, x, w, b, c: m.add(m.relu(m.conv(x, w, b)), c)),
    ("ConvTranspose2d_BiasAdd_Clamp_Scaling_Clamp_Divide", (*_T, _ONE2), lambda m, x, w, b, c: m.div(
        m.clamp(m.mul(m.clamp(m.add(m.convt(x, w, b, **_UP), c), 0.0, 1.0), 2.0), 0.0, 1.0), 2.0)),
    ("ConvTranspose3d_Sum_LayerNorm_AvgPool_GELU", (*_T3, (8,), (8,)), lambda m, x, w, b, g, e: m.gelu(
        m.avgpool(m.ln(m.add(m.convt(x, w, b, **_UP), 1.0), g, e), 2))),
    ("Conv2d_Mish_Mish", _C, lambda m, x, w, b: m.mish(m.mish(m.conv(x, w, b)))),
    ("ConvTranspose2d_Subtract_Tanh", (*_T, _ONE2), lambda m, x, w, b, c: m.tanh(
        m.sub(m.convt(x, w, b, **_UP), c))),
    ("Conv3d_Softmax_MaxPool_MaxPool", _C3, lambda m, x, w, b: m.maxpool(m.maxpool(
        m.softmax(m.conv(x, w, b), 1), 2), 2)),
    ("Conv3d_ReLU_LeakyReLU_GELU_Sigmoid_BiasAdd", (*_C3, _ONE3), lambda m, x, w, b, c: m.add(
        m.sigmoid(m.gelu(m.leaky(m.relu(m.conv(x, w, b))))), c)),
    ("Conv3d_Divide_Max_GlobalAvgPool_BiasAdd_Sum", (*_C3, _ONE3), lambda m, x, w, b, c: m.sum(m.add(
        m.mean(m.maxpool(m.div(m.conv(x, w, b), 2.0), 2), (2, 3, 4), True), c), 1)),
    ("Matmul_Subtract_Multiply_ReLU", _L, lambda m, x, w, b: m.relu(m.mul(m.sub(m.linear(x, w, b), 2.0), 1.5))),
    ("ConvTranspose2d_MaxPool_Hardtanh_Mean_Tanh", _T, lambda m, x, w, b: m.tanh(m.mean(m.clamp(
        m.maxpool(m.convt(x, w, b, padding=1), 2), -1.0, 1.0), (2, 3), True))),
    ("ConvTranspose2d_BatchNorm_Tanh_MaxPool_GroupNorm", (*_T, *_G, *_G), lambda m, x, w, b, g, e, h, f: m.gn(
        m.maxpool(m.tanh(m.bn(m.convt(x, w, b, padding=1), g, e)), 2), 3, h, f)),
    ("Gemm_Multiply_LeakyReLU", _L, lambda m, x, w, b: m.leaky(m.mul(m.linear(x, w, b), 2.0), 0.1)),
    ("ConvTranspose3d_Mean_Add_Softmax_Tanh_Scaling", (*_T3, (1, 1, 1, 1)), lambda m, x, w, b, c: m.mul(
        m.tanh(m.softmax(m.add(m.mean(m.convt(x, w, b, **_UP), 2, True), c), 1)), 2.0)),
    ("Gemm_Divide_Sum_Scaling", ((6, 20), (12, 20)), lambda m, x, w: m.mul(
        m.sum(m.div(m.linear(x, w), 2.0), 1, True), 1.5)),
    ("ConvTranspose3d_BatchNorm_Subtract", (*_T3, *_G), lambda m, x, w, b, g, e: _centred(
        m, m.bn(m.convt(x, w, b, **_UP), g, e), (2, 3, 4))),
    ("ConvTranspose2d_Mish_Add_Hardtanh_Scaling", _T, lambda m, x, w, b: m.mul(m.clamp(m.add(
        m.mish(m.convt(x, w, b, **_UP)), 0.5), -1.0, 1.0), 2.0)),
    ("Conv2d_InstanceNorm_Divide", _C, lambda m, x, w, b: m.div(m.inorm(m.conv(x, w, b)), 2.0)),
    ("Matmul_Sum_Max_AvgPool_LogSumExp_LogSumExp", _L, lambda m, x, w, b: m.lse(m.lse(m.mean(m.max(m.sum(
        m.linear(x, w, b), 1, True), 1, True), 1, True), 1, True), 1, True)),
    ("ConvTranspose2d_GELU_GroupNorm", (*_T, *_G), lambda m, x, w, b, g, e: m.gn(
        m.gelu(m.convt(x, w, b)), 2, g, e)),
    ("ConvTranspose3d_Sum_ResidualAdd_Multiply_ResidualAdd", (*_T3, _ONE3), lambda m, x, w, b, c: _twice(
        m, m.convt(x, w, b, **_UP), c)),
    ("Conv2d_Add_Scale_Sigmoid_GroupNorm", (*_C, _ONE2, _ONE2, *_G), lambda m, x, w, b, c, s, g, e: m.gn(
        m.sigmoid(m.mul(m.add(m.conv(x, w, b), c), s)), 2, g, e)),
    ("Matmul_Scale_ResidualAdd_Clamp_LogSumExp_Mish", _L, lambda m, x, w, b: _times_mish(m, m.lse(m.clamp(m.mul(
        m.mul(m.linear(x, w, b), 2.0), 2.0), -10.0, 10.0), 1, True))),
    ("Conv3d_GroupNorm_Mean", (*_C3, *_G), lambda m, x, w, b, g, e: m.mean(
        m.gn(m.conv(x, w, b), 2, g, e), (1, 2, 3, 4))),
    ("Conv3d_Min_Softmax", _C3, lambda m, x, w, b: m.softmax(m.min(m.conv(x, w, b), 2), 1)),
    ("Conv2d_Min_Tanh_Tanh", _C, lambda m, x, w, b: m.tanh(m.tanh(m.min(m.conv(x, w, b), 1, True)))),
    ("ConvTranspose3d_Add_HardSwish", (*_T3, (1, 6, 8, 8, 8)), lambda m, x, w, b, y: _times(
        m, m.add(m.convt(x, w, b, **_UP), y), "hardswish")),
    ("Conv3d_HardSwish_ReLU_Softmax_Mean", _C3, lambda m, x, w, b: m.mean(m.softmax(m.relu(m.hardswish(
        m.conv(x, w, b))), 1), (2, 3, 4))),
    ("BMM_InstanceNorm_Sum_ResidualAdd_Multiply", (*_L, (6, 12)), lambda m, x, w, b, y: m.mul(m.add(m.view(
        m.inorm(m.view(m.linear(x, w, b), (x.shape[0], 1, 3, w.shape[0] // 3))), y.shape), y), y)),
    ("Matmul_Mish_Mish", _L, lambda m, x, w, b: m.mish(m.mish(m.linear(x, w, b)))),
    ("Gemm_GroupNorm_Hardtanh", (*_L, *_G12), lambda m, x, w, b, g, e: m.clamp(
        m.gn(m.linear(x, w, b), 3, g, e), -2.0, 2.0)),
    ("Conv2d_Min_Add_Multiply", (*_C, _ONE2), lambda m, x, w, b, c: m.mul(m.add(
        m.minimum(m.conv(x, w, b), 0.5), c), 2.0)),
    ("Conv2d_Scaling_Min", _C, lambda m, x, w, b: m.min(m.mul(m.conv(x, w, b), 2.0), 1, True)),
    ("Gemm_Scale_BatchNorm_33", (*_L, (12,), *_G12), lambda m, x, w, b, s, g, e: m.bn(
        m.mul(m.linear(x, w, b), s), g, e)),
    ("ConvTranspose3d_LayerNorm_GELU_Scaling", (*_T3, (8,), (8,)), lambda m, x, w, b, g, e: m.mul(m.gelu(
        m.ln(m.convt(x, w, b, **_UP), g, e)), 1.5)),
    ("Conv2d_Subtract_HardSwish_MaxPool_Mish", _C, lambda m, x, w, b: m.mish(m.maxpool(m.hardswish(
        m.sub(m.conv(x, w, b), 0.5)), 2))),
    ("ConvTranspose2d_Min_Sum_GELU_Add", (*_T, (1, 1, 1)), lambda m, x, w, b, c: m.add(m.gelu(m.sum(
        m.min(m.convt(x, w, b, **_UP), 1, True), 2, True)), c)),
    ("Matmul_Swish_Sum_GroupNorm", (*_L, (12,), *_G12), lambda m, x, w, b, c, g, e: m.gn(
        m.add(m.swish(m.linear(x, w, b)), c), 3, g, e)),
    ("ConvTranspose3d_AvgPool_Clamp_Softmax_Multiply", (*_T3, _ONE3), lambda m, x, w, b, s: m.mul(_softmax_of_images(
        m, m.clamp(m.convt(m.avgpool(x, 2), w, b, **_UP), 0.0, 1.0)), s)),
    ("Gemm_Scale_BatchNorm", (*_L, (12,), *_G12), lambda m, x, w, b, s, g, e: m.bn(
        m.mul(m.linear(x, w, b), s), g, e)),
    ("Matmul_Scaling_ResidualAdd", _L, lambda m, x, w, b: m.mul(m.linear(x, w, b), 1.5)),
    ("Gemm_BatchNorm_GELU_ReLU", (*_L, *_G12), lambda m, x, w, b, g, e: m.relu(m.gelu(
        m.bn(m.linear(x, w, b), g, e)))),
    ("ConvTranspose2d_GlobalAvgPool_BiasAdd_LogSumExp_Sum_Multiply", (*_T, _ONE2), lambda m, x, w, b, c: m.mul(
        m.sum(m.lse(m.add(m.mean(m.convt(x, w, b), (2, 3), True), c), 1, True), (2, 3)), 10.0)),
    ("Conv3d_Max_LogSumExp_ReLU", _C3, lambda m, x, w, b: m.relu(m.lse(m.maxpool(
        m.conv(x, w, b, padding=1), 2), 1, True))),
    ("ConvTranspose2d_Multiply_GlobalAvgPool_GlobalAvgPool_Mean", _T, lambda m, x, w, b: m.mean(m.mean(m.mul(
        m.convt(x, w, b, **_UP), 0.5), (2, 3), True), (2, 3), True)),
    ("Gemm_Sigmoid_Sum_LogSumExp", (*_L, (5, 12), (5,)), lambda m, x, w, b, v, c: m.lse(m.linear(m.sigmoid(
        m.linear(x, w, b)), v, c), 1)),
    ("Conv2d_Subtract_Tanh_Subtract_AvgPool", _C, lambda m, x, w, b: m.avgpool(m.sub(m.tanh(
        m.sub(m.conv(x, w, b), 0.5)), 0.2), 2)),
    ("Conv3d_Mish_Tanh", _C3, lambda m, x, w, b: m.tanh(m.mish(m.conv(x, w, b)))),
    ("Conv3d_Scaling_Tanh_Multiply_Sigmoid", (*_C3, _ONE3, _ONE3), lambda m, x, w, b, s, c: m.sigmoid(m.mul(
        m.tanh(m.mul(m.conv(x, w, b), s)), c))),
    ("ConvTranspose3d_Softmax_Sigmoid", _T3, lambda m, x, w, b: m.sigmoid(m.softmax(m.convt(x, w, b, **_UP), 1))),
    ("ConvTranspose3d_Scaling_AvgPool_BiasAdd_Scaling", (*_T3, _ONE3), lambda m, x, w, b, c: m.mul(m.add(m.avgpool(
        m.mul(m.convt(x, w, b, stride=2, padding=1), 0.5), 2), c), 1.5)),
    ("Gemm_Subtract_GlobalAvgPool_LogSumExp_GELU_ResidualAdd", ((6, 12), (12, 12), (12,), (12,)),
     lambda m, x, w, b, c: m.add(x, m.gelu(m.lse(m.mean(m.sub(m.linear(x, w, b), c), 1, True), 1, True)))),
    ("Conv2d_Activation_BatchNorm", (*_C, *_G), lambda m, x, w, b, g, e: m.bn(_softplus_tanh(
        m, m.conv(x, w, b)), g, e)),
    ("Gemm_Scaling_Hardtanh_GELU", _L, lambda m, x, w, b: m.gelu(m.clamp(m.mul(
        m.linear(x, w, b), 0.5), -2.0, 2.0))),
    ("Conv2d_Multiply_LeakyReLU_GELU", (*_C, _ONE2), lambda m, x, w, b, c: m.gelu(m.leaky(m.mul(
        m.conv(x, w, b), c)))),
    ("Matmul_MaxPool_Sum_Scale", _L, lambda m, x, w, b: m.mul(m.sum(m.maxpool(_signals(
        m, m.linear(x, w, b)), 2), (1, 2)), 0.5)),
    ("Matmul_Sigmoid_Sum", _L, lambda m, x, w, b: m.sum(m.sigmoid(m.linear(x, w, b)), 1, True)),
    ("Conv2d_ReLU_HardSwish", _C, lambda m, x, w, b: _times(m, m.relu(m.conv(x, w, b)), "hardsigmoid")),
    ("ConvTranspose3d_LogSumExp_HardSwish_Subtract_Clamp_Max", (*_T3, (1, 1, 1, 1)), lambda m, x, w, b, c: m.clamp(
        m.sub(_times(m, m.lse(m.convt(x, w, b, **_UP), 1, True), "hardsigmoid"), c), -1.0, 1.0)),
    ("Matmul_Swish_Scaling", _L, lambda m, x, w, b: m.mul(m.swish(m.linear(x, w, b)), 2.0)),
    ("ConvTranspose3d_Swish_GroupNorm_HardSwish", (*_T3, *_G), lambda m, x, w, b, g, e: m.hardswish(m.gn(
        m.swish(m.convt(x, w, b, stride=2, padding=1)), 2, g, e))),
    ("ConvTranspose3d_ReLU_GroupNorm", ((1, 3, 4, 4, 4), (3, 6, 3, 3, 3), *_G), lambda m, x, w, g, e: m.gn(
        m.relu(m.convt(x, w)), 2, g, e)),
    ("Matmul_GroupNorm_LeakyReLU_Sum", (*_L, *_G12), lambda m, x, w, b, g, e: m.mul(m.leaky(
        m.gn(m.linear(x, w, b), 3, g, e)), 2.0)),
    ("Gemm_ReLU_Divide", _L, lambda m, x, w, b: m.div(m.relu(m.linear(x, w, b)), 2.0)),
    ("Gemm_LogSumExp_LeakyReLU_LeakyReLU_GELU_GELU", _L, lambda m, x, w, b: m.gelu(m.gelu(m.leaky(m.leaky(
        m.lse(m.linear(x, w, b), 1, True)))))),
    ("Conv2d_AvgPool_Sigmoid_Sum", _C, lambda m, x, w, b: m.sum(m.sigmoid(m.avgpool(
        m.conv(x, w, b), 2)), (1, 2, 3))),
    ("Matmul_Dropout_Softmax", _L, lambda m, x, w, b: m.softmax(m.dropout(m.linear(x, w, b)), 1)),
    ("Conv2d_GELU_GlobalAvgPool", _C, lambda m, x, w, b: m.mean(m.gelu(m.conv(x, w, b)), (2, 3))),
    ("Matmul_Min_Subtract", (*_L, (1,)), lambda m, x, w, b, c: m.sub(m.minimum(m.linear(x, w, b), c), c)
     if not hasattr(m, "torch") else m.torch.minimum(m.linear(x, w, b), c) - c),
    ("Conv2d_HardSwish_ReLU", _C, lambda m, x, w, b: m.relu(m.hardswish(m.conv(x, w, b)))),
    ("Gemm_Sigmoid_Scaling_ResidualAdd", _L, lambda m, x, w, b: _plus(
        m, m.linear(x, w, b), lambda v: m.mul(m.sigmoid(v), 2.0))),
    ("Conv2d_Divide_LeakyReLU", _C, lambda m, x, w, b: m.leaky(m.div(m.conv(x, w, b), 2.0))),
    ("ConvTranspose3d_BatchNorm_AvgPool_AvgPool", (*_T3, *_G), lambda m, x, w, b, g, e: m.avgpool(m.avgpool(
        m.bn(m.convt(x, w, b, **_UP), g, e), 2), 2)),
    ("Conv2d_BatchNorm_Scaling", (*_C, *_G), lambda m, x, w, b, g, e: m.mul(m.bn(m.conv(x, w, b), g, e), 2.0)),
    ("ConvTranspose3d_LeakyReLU_Multiply_LeakyReLU_Max", (*_T3, _ONE3), lambda m, x, w, b, c: m.maxpool(m.leaky(
        m.mul(m.leaky(m.convt(x, w, b, **_UP), 0.2), c), 0.2), 2)),
    ("Gemm_GroupNorm_Min_BiasAdd", (*_L, *_G12, (1, 12, 1, 1)), lambda m, x, w, b, g, e, c: m.add(
        m.min(m.gn(m.linear(x, w, b), 3, g, e), 1, True), c)),
    ("Gemm_Add_ReLU", (*_L, (12,)), lambda m, x, w, b, c: m.relu(m.add(m.linear(x, w, b), c))),
    ("ConvTranspose3d_Scale_BatchNorm_GlobalAvgPool", (*_T3, *_G), lambda m, x, w, b, g, e: m.mean(m.bn(m.mul(
        m.convt(x, w, b), 2.0), g, e), (2, 3, 4), True)),
    ("ConvTranspose3d_Max_Max_Sum", _T3, lambda m, x, w, b: m.sum(m.maxpool(m.maxpool(
        m.convt(x, w, b, **_UP), 2), 3), 1, True)),
    ("Conv3d_Multiply_InstanceNorm_Clamp_Multiply_Max", (*_C3, _ONE3), lambda m, x, w, b, c: m.max(m.mul(m.clamp(
        m.inorm(m.mul(m.conv(x, w, b), c)), -1.0, 1.0), c), 1)),
    ("Gemm_Max_Subtract_GELU", _L, lambda m, x, w, b: m.gelu(_centred(m, m.max(m.linear(x, w, b), 1, True), 1))),
    ("Gemm_Swish_Divide_Clamp_Tanh_Clamp", _L, lambda m, x, w, b: m.clamp(m.tanh(m.clamp(m.div(m.swish(
        m.linear(x, w, b)), 2.0), -1.0, 1.0)), -1.0, 1.0)),
    ("Conv2d_Tanh_Scaling_BiasAdd_Max", (*_C, _ONE2), lambda m, x, w, b, c: m.maxpool(m.add(m.mul(m.tanh(
        m.conv(x, w, b)), 2.0), c), 4)),
    ("Conv3d_GroupNorm_Min_Clamp_Dropout", (*_C3, *_G), lambda m, x, w, b, g, e: m.dropout(m.clamp(m.minimum(
        m.gn(m.conv(x, w, b), 2, g, e), 0.5), 0.0, 1.0))),
    ("Gemm_BatchNorm_Scaling_Softmax", (*_L, *_G12, (1,)), lambda m, x, w, b, g, e, s: m.softmax(m.mul(
        m.bn(m.linear(x, w, b), g, e), s), 1)),
    ("Conv2d_GroupNorm_Scale_MaxPool_Clamp", (*_C, *_G, _ONE2), lambda m, x, w, b, g, e, s: m.clamp(m.maxpool(m.mul(
        m.gn(m.conv(x, w, b), 2, g, e), s), 4), 0.0, 1.0)),
    ("Matmul_Divide_GELU", _L, lambda m, x, w, b: m.gelu(m.div(m.linear(x, w, b), 10.0))),
    ("Conv2d_Subtract_Subtract_Mish", _C, lambda m, x, w, b: m.mish(m.sub(m.sub(m.conv(x, w, b), 0.5), 0.2))),
    ("Gemm_GroupNorm_Swish_Multiply_Swish", (*_L, *_G12, (12,)), lambda m, x, w, b, g, e, c: m.swish(m.mul(m.swish(
        m.gn(m.linear(x, w, b), 3, g, e)), c))),
    ("ConvTranspose3d_MaxPool_Softmax_Subtract_Swish_Max", (*_T3, _ONE3), lambda m, x, w, b, c: m.max(m.swish(m.sub(
        m.softmax(m.maxpool(m.convt(x, w, b, **_UP), 2), 1), c)), 1)),
    ("Conv3d_LeakyReLU_Sum_Clamp_GELU", (*_C3, _ONE3), lambda m, x, w, b, c: m.gelu(m.clamp(m.add(m.leaky(
        m.conv(x, w, b), 0.2), c), -1.0, 1.0))),
    ("ConvTranspose2d_Softmax_BiasAdd_Scaling_Sigmoid", (*_T, _ONE2), lambda m, x, w, b, c: m.sigmoid(m.mul(m.add(
        m.softmax(m.convt(x, w, b, **_UP), 1), c), 2.0))),
    ("Conv2d_GroupNorm_Tanh_HardSwish_ResidualAdd_LogSumExp", (*_C, *_G), lambda m, x, w, b, g, e: m.lse(_plus(
        m, m.conv(x, w, b), lambda v: m.hardswish(m.tanh(m.gn(v, 2, g, e)))), 1, True)),
    ("ConvTranspose2d_Add_Min_GELU_Multiply", _T, lambda m, x, w, b: m.mul(m.gelu(m.minimum(m.add(
        m.convt(x, w, b, stride=2), 0.5), 0.0)), 2.0)),
    ("Gemm_BiasAdd_Hardtanh_Mish_GroupNorm", (*_L, (12,), *_G12), lambda m, x, w, b, c, g, e: m.gn(m.mish(m.clamp(
        m.add(m.linear(x, w, b), c), -1.0, 1.0)), 3, g, e)),
    ("Matmul_Add_Swish_Tanh_GELU_Hardtanh", (*_L, (12,)), lambda m, x, w, b, c: m.clamp(m.gelu(m.tanh(m.swish(m.add(
        m.linear(x, w, b), c)))), -1.0, 1.0)),
    ("ConvTranspose3d_Multiply_Max_GlobalAvgPool_Clamp", _T3, lambda m, x, w, b: m.clamp(m.mean(m.maxpool(m.mul(
        m.convt(x, w, b, stride=2, padding=1), 0.5), 2), (2, 3, 4), True), 0.0, 1.0)),
    ("Matmul_BatchNorm_BiasAdd_Divide_Swish", (*_L, *_G12, (1,)), lambda m, x, w, b, g, e, c: m.swish(m.div(m.add(
        m.bn(m.linear(x, w, b), g, e), c), 2.0))),
    ("Matmul_AvgPool_GELU_Scale_Max", _L, lambda m, x, w, b: m.max(m.mul(m.gelu(m.avgpool(_signals(
        m, m.linear(x, w, b)), 4)), 2.0), 2)),
    ("Matmul_GELU_Softmax", _L, lambda m, x, w, b: m.softmax(m.gelu(m.linear(x, w, b)), 1)),
    ("ConvTranspose3d_Clamp_Min_Divide", _T3, lambda m, x, w, b: m.div(m.maximum(
        m.convt(x, w, b, stride=2, padding=1), -1.0), 2.0)),
)  # fmt: skip


def _centred(m: Any, x: Any, axes: Any) -> Any:
    return m.sub(x, m.mean(x, axes, True))


def _signals(m: Any, x: Any) -> Any:
    """Rows as signals of one channel."""
    return m.view(x, (x.shape[0], 1, x.shape[1]))


def _softmax_of_images(m: Any, x: Any) -> Any:
    return m.view(m.softmax(m.view(x, (*x.shape[:2], math.prod(x.shape[2:]))), 2), x.shape)


def _times(m: Any, x: Any, word: str) -> Any:
    return m.mul(x, getattr(m, word)(x))


def _times_mish(m: Any, x: Any) -> Any:
    return _times(m, x, "mish")


def _plus(m: Any, x: Any, f: Any) -> Any:
    return m.add(x, f(x))


def _twice(m: Any, x: Any, c: Any) -> Any:
    return m.add(m.mul(m.add(m.add(x, c), x), x), x)


def _softplus_tanh(m: Any, x: Any) -> Any:
    return m.mul(m.tanh(m.softplus(x)), x)
