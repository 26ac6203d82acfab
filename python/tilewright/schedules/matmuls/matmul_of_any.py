"""Matmuls by whatever multiplies fastest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...errors import TilewrightValueError as ValueError
from ...instructions import MMA_SYNC, WGMMA
from ...target import Target
from ...te import Expr, Tensor
from ...te.schedule import Schedule
from ...te.tensor import Extent
from ..sizes import sizes
from .mma import matmul_mma
from .selection import choose_for_any
from .simt import sgemm
from .wgmma import matmul_wgmma

__all__ = ["matmul"]

_READY = {"matmul_mma": matmul_mma, "matmul_wgmma": matmul_wgmma}


@sizes(M=1, N=1, K=1)
def matmul(
    M: Extent,
    N: Extent,
    K: Extent,
    in_dtype: str = "float16",
    out_dtype: str | None = None,
    *,
    acc_dtype: str | None = None,
    batch: Extent | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    epilogue: Callable[..., Expr] | None = None,
    operands: Sequence[Tensor] = (),
    arch: str | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """C = A B by the schedule that `tilewright.schedules.matmuls.selection` expects to be the fastest on a GPU.

    The GPU is `target.current_gpu`, or the one that stands for the architecture `arch`.

    It is `matmul_wgmma` or `matmul_mma`, which have the same parameters: `M`, `N`, `K`, `in_dtype`, `out_dtype`,
    `acc_dtype`, `batch`, `transpose_a`, `transpose_b`, `epilogue` and `operands`. For float32 it is `sgemm`, because
    tensor cores do not multiply float32 exactly; ``"tf32"`` asks for them. A symbolic extent gets the choice for its
    greatest value.

    Raises
    ------
    ValueError
        Where there is no instruction of these types; for float32 with anything but two matrices of constant extents as
        they are; for a symbolic extent without a greatest value.

    >>> s, (A, B, C) = matmul(4096, 4096, 4096, "bfloat16", transpose_b=True)
    >>> "wgmma" in s.ir(), "wgmma" in matmul(4096, 4096, 4096, "bfloat16", arch="sm_80")[0].ir()
    (True, False)

    One kernel for a layer of a model, of any number of tokens up to 8192:

    >>> from tilewright import te
    >>> s, (X, W, Y) = matmul(te.var("tokens", max=8192), 4096, 4096, "bfloat16", "bfloat16", transpose_b=True)
    >>> Y.shape, "persistent" in s.ir()
    ((tokens, 4096), True)
    """
    if in_dtype == "float32":
        if not isinstance(M, int) or not isinstance(N, int) or not isinstance(K, int):
            raise ValueError("expected numbers for the extents of a float32 matmul, which is by sgemm")
        if batch is not None or transpose_a or transpose_b or epilogue or out_dtype not in (None, "float32"):
            raise ValueError(
                "expected two matrices as they are for a float32 matmul, which is by sgemm; 'tf32' is by "
                "tensor cores and takes the rest"
            )
        return sgemm(M, N, K)
    known = sorted({one for one, _ in (*MMA_SYNC, *WGMMA)})
    if in_dtype not in known:
        raise ValueError(f"expected operands of {', '.join(known)} or float32, got {in_dtype}")
    layout = "NT"[transpose_a] + "NT"[transpose_b]
    extents = {"M": M, "N": N, "K": K, "batch": 1 if batch is None else batch}
    choice = choose_for_any(extents, in_dtype, layout, Target("cuda", arch=arch).device if arch else None)
    return _READY[choice.schedule](
        M,
        N,
        K,
        in_dtype,
        out_dtype,
        acc_dtype=acc_dtype,
        batch=batch,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        epilogue=epilogue,
        operands=operands,
        **choice.options,
    )
