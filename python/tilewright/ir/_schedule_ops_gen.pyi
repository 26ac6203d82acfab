"""The op classes that are generated for the dialect `schedule` have no types of their own."""

from typing import Any

def __getattr__(name: str) -> Any: ...  # pyright: ignore[reportIncompleteStub]
