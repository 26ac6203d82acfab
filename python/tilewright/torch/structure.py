"""Calls of a compiled model as of its module: with dicts and lists of tensors, and with numbers and None."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import keystr, tree_flatten_with_path

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_mapping

__all__ = ["Structure", "bound_to", "given_by", "structure_of"]


def given_by(example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments without names, and those with names."""
    return ((), dict(example_inputs)) if is_mapping(example_inputs) else (tuple(example_inputs), {})


def bound_to(
    module: torch.nn.Module, arrays: Sequence[Any], named: Mapping[str, Any], with_defaults: bool = False
) -> dict[str, Any]:
    """By name of a module's argument, what a call gives."""
    signature = inspect.signature(module.forward)
    bound = signature.bind(*arrays, **named)
    if with_defaults:
        bound.apply_defaults()
    found = dict(bound.arguments)
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found.update(found.pop(name, {}))
    return found


def _leaves(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """By its path, each tensor, number and other object among arguments."""
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        for path, leaf in tree_flatten_with_path(value)[0]:
            found[name + keystr(path)] = leaf
    return found


class Structure:
    """Which tensors of a call of a module are a model's inputs.

    >>> class Scaled(torch.nn.Module):
    ...     def forward(self, batch, factor): return batch["x"] * factor
    >>> x = torch.ones(3)
    >>> structure = Structure(Scaled(), ({"x": x}, 2))
    >>> structure([{"x": x}, 2], {})
    [tensor([1., 1., 1.])]
    """

    def __init__(self, module: torch.nn.Module, example_inputs: Any) -> None:
        self._module = module
        leaves = _leaves(bound_to(module, *given_by(example_inputs), with_defaults=True))
        # torch.export takes those with names in the order that they have there.
        order = _leaves(dict(example_inputs)) if is_mapping(example_inputs) else leaves
        self.paths: list[str] = [path for path in order if isinstance(leaves.get(path), torch.Tensor)]
        """Of each input, where it is in the arguments."""
        self._fixed = {path: one for path, one in leaves.items() if path not in self.paths}

    def __call__(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any] | None:
        """The inputs of a call, or None where the call has nothing but the inputs themselves.

        Raises TypeError where an input is missing, and ValueError for another number than that of the example.
        """
        if all(map(_is_array, (*arrays, *named.values()))):
            return None
        name = type(self._module).__name__
        try:
            leaves = _leaves(bound_to(self._module, arrays, named, with_defaults=True))
        except builtins.TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        missing = [path for path in self.paths if path not in leaves]
        if missing:
            raise TypeError(f"{name}: expected {', '.join(self.paths)}, got none for {', '.join(missing)}")
        for path, value in leaves.items():
            if path in self.paths:
                continue
            wanted = self._fixed.get(path)
            if type(value) is not type(wanted) or value != wanted:
                raise ValueError(f"{name}: {path}: expected {wanted!r}, for which it was compiled, got {value!r}")
        return [leaves[path] for path in self.paths]


def _is_array(given: Any) -> bool:
    return hasattr(given, "__dlpack__") or hasattr(given, "__array_interface__")


def structure_of(model: Any, example_inputs: Any, count: int) -> Structure | None:
    """The structure of the calls of a module, unless the model has another number of inputs, `count`."""
    if not isinstance(model, torch.nn.Module) or example_inputs is None:
        return None
    made = Structure(model, example_inputs)
    return made if len(made.paths) == count else None
