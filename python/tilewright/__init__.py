"""Tilewright: tensor expressions and schedules, compiled through MLIR to GPU kernels."""
