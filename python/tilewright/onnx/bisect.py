"""`tilewright bisect model.onnx`: a model against ONNX's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from ..dtypes import as_dtype
from ..errors import CompileError
from ..graph import TensorType
from ..graph.bisect import ModelBisection, bisect_model
from ..target import Target
from .importer import import_onnx
from .load import load_model

__all__ = ["bisect_onnx"]

_EXTENT = 3
"""What an extent is that the model leaves open."""


def bisect_onnx(path: str, target: Target | str | None = "cpu", seed: int = 0) -> ModelBisection:
    """Runs a model on random inputs, and finds the pass and the group that make it differ from `onnx.reference`.

    Floats are of a normal distribution, integers from 0 to 3; an extent that the model leaves open is 3.

    Raises
    ------
    CompileError
        Where the model does not compile, or ONNX's reference does not run it.
    """
    from onnx.reference import ReferenceEvaluator

    model = load_model(path)
    held = {one.name for one in model.graph.initializer}
    names = [one.name for one in model.graph.input if one.name not in held]
    rng = np.random.default_rng(seed)
    inputs = [_random(kind, rng) for kind in _types(model, names)]
    try:
        expected: Any = ReferenceEvaluator(path).run(None, dict(zip(names, inputs)))
    except Exception as error:
        raise CompileError(f"{path}: onnx.reference does not run it: {error}", stage="graph") from error
    return bisect_model(lambda: import_onnx(path), inputs, [np.asarray(one) for one in expected], target)


def _types(model: onnx.ModelProto, names: list[str]) -> list[TensorType]:
    found: list[TensorType] = []
    for one in model.graph.input:
        if one.name in names:
            tensor = one.type.tensor_type
            shape = [dim.dim_value if dim.HasField("dim_value") else _EXTENT for dim in tensor.shape.dim]
            dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            found.append(TensorType(tuple(shape), dtype.name))  # pyright: ignore[reportUnknownArgumentType]
    return found


def _random(kind: TensorType, rng: np.random.Generator) -> np.ndarray:
    dtype = as_dtype(kind.dtype)
    shape = tuple(int(extent) for extent in kind.shape)  # pyright: ignore[reportArgumentType] - numbers alone
    if "float" in kind.dtype:
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, 2 if kind.dtype == "bool" else 4, shape).astype(dtype)
