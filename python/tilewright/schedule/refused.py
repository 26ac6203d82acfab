"""The methods of TVM's stages that are refused here, each with the reason and what to use in its place."""

from __future__ import annotations

from ..errors import Diagnostic, ScheduleError
from ..source import user_source

__all__ = ["REFUSED", "Refused"]

# docs/schedule-primitives.md lists them.
REFUSED = {
    "env_threads": (
        "threads need not be declared: a kernel has those that the loops in it are bound to",
        "bind an axis of each stage that is to run on them",
    ),
    "prefetch": (
        "a GPU fetches ahead into memory that the program names, not into a cache of its choice",
        "cache_read into shared memory and software_pipeline of the loop that the copy is computed at",
    ),
    "rolling_buffer": (
        "buffers do not keep rows from one iteration to the next yet",
        "compute_at of the stage at the loop over blocks of rows, which computes the rows that overlap again",
    ),
    "transform_layout": (
        "tensors are row-major in the order of their axes",
        "te.compute of a tensor with the axes of that layout, storage_align for padding",
    ),
    "tensorize": (
        "an instruction is a promise of what it computes, which nothing here would check",
        "vectorize for vectors of a thread's own",
    ),
}


def _refuse(name: str) -> ScheduleError:
    reason, instead = REFUSED[name]
    diagnostic = Diagnostic("error", f"{name}: {reason}: use {instead}", str(user_source()))
    return ScheduleError(str(diagnostic), "schedule", (diagnostic,))


class Refused:
    """Each of these raises ScheduleError."""

    __slots__ = ()

    def env_threads(self, threads: object) -> None:
        """Refused: bind the axes of the stages; see `REFUSED`. TVM: ``env_threads``."""
        raise _refuse("env_threads")

    def prefetch(self, tensor: object, var: object, offset: object) -> None:
        """Refused: use cache_read and software_pipeline; see `REFUSED`. TVM and Halide: ``prefetch``."""
        raise _refuse("prefetch")

    def rolling_buffer(self) -> None:
        """Refused: use compute_at; see `REFUSED`. TVM: ``rolling_buffer``, Halide: ``fold_storage``."""
        raise _refuse("rolling_buffer")

    def transform_layout(self, mapping_function: object) -> None:
        """Refused: declare the tensor so; see `REFUSED`. TVM: ``transform_layout``, MLIR transform: ``pack``."""
        raise _refuse("transform_layout")

    def tensorize(self, var: object, tensor_intrin: object) -> None:
        """Refused: use vectorize; see `REFUSED`. TVM: ``tensorize``, Exo: ``replace``."""
        raise _refuse("tensorize")
