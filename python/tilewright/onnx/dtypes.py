"""Element types, ONNX's numbers and NumPy's names."""

from __future__ import annotations

import onnx

from ..errors import CompileError

__all__ = ["dtype_name", "onnx_type"]

_NAMES: dict[int, str] = {
    onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.UINT8: "uint8", onnx.TensorProto.INT8: "int8",
    onnx.TensorProto.UINT16: "uint16", onnx.TensorProto.INT16: "int16", onnx.TensorProto.INT32: "int32",
    onnx.TensorProto.INT64: "int64", onnx.TensorProto.BOOL: "bool", onnx.TensorProto.FLOAT16: "float16",
    onnx.TensorProto.DOUBLE: "float64", onnx.TensorProto.UINT32: "uint32", onnx.TensorProto.UINT64: "uint64",
    onnx.TensorProto.BFLOAT16: "bfloat16", onnx.TensorProto.FLOAT8E4M3FN: "float8_e4m3fn",
    onnx.TensorProto.FLOAT8E5M2: "float8_e5m2", onnx.TensorProto.UINT4: "uint4", onnx.TensorProto.INT4: "int4",
    onnx.TensorProto.FLOAT8E4M3FNUZ: "float8_e4m3fnuz", onnx.TensorProto.FLOAT8E5M2FNUZ: "float8_e5m2fnuz",
}  # fmt: skip
# Those that older versions of onnx do not have.
for _name, _own in {
    "FLOAT4E2M1": "float4_e2m1fn", "FLOAT8E8M0": "float8_e8m0fnu", "INT2": "int2", "UINT2": "uint2",
}.items():  # fmt: skip
    if hasattr(onnx.TensorProto, _name):
        _NAMES[getattr(onnx.TensorProto, _name)] = _own


def dtype_name(number: int) -> str:
    """NumPy's name of an element type of ONNX's."""
    if number not in _NAMES:
        try:
            told = onnx.TensorProto.DataType.Name(number)  # type: ignore[arg-type]
        except ValueError:
            told = str(number)
        raise CompileError(f"expected an element type that can be computed with, got {told}", stage="graph")
    return _NAMES[number]


def onnx_type(name: str) -> int:
    """The number of an element type."""
    return next(number for number, each in _NAMES.items() if each == name)
