"""NVIDIA's bindings of the driver API have no types of their own."""

from typing import Any

def __getattr__(name: str) -> Any: ...
