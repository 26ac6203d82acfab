"""The primitives by the names of the calls that make them."""

from __future__ import annotations

__all__ = ["CALLS_OF_SCHEDULE", "CALLS_OF_STAGE"]

CALLS_OF_SCHEDULE = ("cache_read", "cache_write", "rfactor", "launch")
CALLS_OF_STAGE = (
    "axis", "reduce_axis", "split", "tile", "fuse", "reorder", "bind", "vectorize", "unroll", "set_scope", "compute_at",
    "compute_inline", "compute_root", "reverse_compute_at", "reverse_compute_inline", "rolling_update",
    "decompose_reduction", "set_store_predicate", "parallel", "loop_partition", "pragma",
    "storage_align", "launch_bounds", "double_buffer", "software_pipeline",
    "tensorize", "transform_layout", "swizzle", "rolling_buffer", "prefetch", "env_threads", "pad_einsum",
    "copy_by", "specialize", "cluster", "persistent",
)  # fmt: skip
