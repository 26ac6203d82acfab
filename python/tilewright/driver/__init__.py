"""From a schedule, a module or IR text to a function that runs: the pipeline, stage by stage."""

from .build import lower

__all__ = ["lower"]
