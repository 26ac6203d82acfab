"""Exported models, loaded into this process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.printable import printable

__all__ = ["LoadedModel", "load_model"]


class LoadedModel:
    """A model that `Model.export` wrote, as `load_model` loads it. Call it with its inputs, in their order or by name.

    Outputs are tensors of PyTorch where an input is one, otherwise arrays of NumPy; several are a tuple.
    """

    name: str
    signature: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __init__(self, module: Any, name: str) -> None:
        described = module.get_function_metadata(name)
        if described is None:
            raise ValueError(f"expected a library with a function {name!r} that Model.export wrote")
        self._module, self._function, self.name = module, getattr(module, name), name
        self.signature = described["signature"]
        arguments = described["arguments"]
        self.inputs = tuple(each["name"] for each in arguments if not each["output"])
        self.outputs = tuple(each["name"] for each in arguments if each["output"])

    def __repr__(self) -> str:
        return f"<tilewright.LoadedModel {self.signature}>"

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        given = dict(zip(self.inputs, arrays))
        if len(arrays) > len(self.inputs) or {*given, *named} != {*self.inputs} or set(given) & set(named):
            told = f"{len(arrays)} and {', '.join(map(repr, named))}" if named else str(len(arrays))
            raise TypeError(
                printable(
                    f"{self.name}: expected {len(self.inputs)} inputs ({', '.join(self.inputs) or 'none'}), got {told}"
                )
            )
        given.update(named)
        result = self._function(*(given[name] for name in self.inputs))
        results = (result,) if len(self.outputs) == 1 else tuple(result)
        if all(isinstance(each, (np.ndarray, np.generic)) for each in given.values()):
            from ..runtime.ndarray import from_dlpack

            results = tuple(from_dlpack(each).numpy() for each in results)
        return results[0] if len(self.outputs) == 1 else results


def load_model(path: str | os.PathLike[str], name: str = "model") -> LoadedModel:
    """Loads a model that `Model.export` wrote.

    Parameters
    ----------
    path
        The library. Its weights are beside it.
    name
        The function's name.

    Returns
    -------
    LoadedModel
        Call it with arrays or tensors: ``model(x)``.

    Raises
    ------
    ValueError
        Where there is no such file, it is no library that can be loaded, or it has no such function.

    >>> load_model("model.so")(x)                           # doctest: +SKIP
    """
    import tvm_ffi

    whole = Path(path).absolute()
    if not whole.is_file():
        raise ValueError(f"expected an exported model, got {str(path)!r}, which is no file")
    try:
        module = tvm_ffi.load_module(str(whole))
    except (RuntimeError, OSError) as error:
        # tvm_ffi's text repeats the path and its own check before the loader's words.
        reason = str(error).rpartition(f"{whole}: ")[2]
        raise ValueError(
            printable(f"expected an exported model, got {str(path)!r}, which cannot be loaded: {reason}")
        ) from None
    return LoadedModel(module, name)
