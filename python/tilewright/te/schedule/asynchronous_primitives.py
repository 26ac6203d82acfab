"""The primitives on who copies what while others compute: engines, roles of warps, clusters, blocks that stay."""

from __future__ import annotations

from ...errors import TilewrightValueError as ValueError
from ...messages.location import user_source
from ...target import current_gpu
from ..expr import IterVar
from .checks import boolean, integer
from .stage_handles import StageHandles

__all__ = ["AsynchronousPrimitives"]

_COPIERS, _RASTERS = ("tma", "threads"), ("row", "grouped", "hilbert")


class AsynchronousPrimitives(StageHandles):
    """Each leaves the loops as they are; with `wgmma` they become kernels of asynchronous tiles (sm_90a)."""

    __slots__ = ()

    def copy_by(self, copier: str, swizzle: int = 128, columns: int | None = None, deferred: bool = False) -> None:
        """The stage is copied a tile at a time, by TMA (``"tma"``) or, if it is an output, by ``"threads"``.

        A stage in shared memory is a box of a tensor in global memory, with zeros outside of the tensor. Each dimension
        of the box goes along a dimension of the tensor, with steps of up to 8 elements. The dimensions may have any
        order, but the last one stays last. It has the columns of the tile, and the others have its rows. Elements
        around an image are zero too, so such a stage can be the padded image of a convolution. Dimensions that hold the
        quotient and the remainder of one number, as ``X[p // 14, p % 14]`` has it, count as one dimension.

        An output is a copy of a stage in shared memory, which each warpgroup writes. It may be the transpose of the
        accumulator, whose columns then are rows of the tile. The shared buffer is swizzled, so that all banks are used.
        Chunks of 16 bytes are permuted within `swizzle` bytes (32, 64 or 128) of a row. With `columns`, an output goes
        through a buffer of this many columns of the accumulator, one part after the other.

        Threads keep a `deferred` output in registers, with its final values. They store it when the first matmuls of
        their block's next tile are in flight, so the tensor cores need not wait for the store. If several warpgroups
        multiply, they begin each step one after the other. One rounds its part while the tensor cores work for another.

        With ``"threads"``, neighbouring threads of a warp store neighbouring elements of a row of an output. The rows
        of the tensor may then begin at any element.

        Requires: rows of the tile that are a multiple of `swizzle` bytes. TMA also requires rows of the tensor that are
        a multiple of 16 bytes. A box has at most 5 dimensions of at most 256 elements. The kernel multiplies by
        `wgmma`. A `deferred` output needs a kernel that is `persistent`, with one set of consumer warpgroups and an
        accumulator that is not promoted.

        >>> from tilewright import te
        >>> A = te.placeholder((16, 64), "float16", name="A")
        >>> B = te.compute((16, 64), lambda i, j: A[i, j] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> AS = s.cache_read(A, "shared", [B])
        >>> io, ii = s[B].split(B.op.axis[0], factor=8)
        >>> s[AS].compute_at(s[B], io)
        >>> print(s)
        for i.outer in range(2):  # B
          A.shared: shared float16[8, 64]
          for ax0 in range(8):  # A.shared
            for ax1 in range(64):
              A.shared[ax0, ax1] = A[i.outer*8 + ax0, ax1]
          for i.inner in range(8):
            for j in range(64):
              B[i.outer*8 + i.inner, j] = A.shared[i.inner, j] + 1.0
        >>> s[AS].copy_by("tma")
        >>> print(s)
        for i.outer in range(2):  # B
          A.shared: shared float16[8, 64]
          for ax0 in range(8):  # A.shared
            for ax1 in range(64):
              A.shared[ax0, ax1] = A[i.outer*8 + ax0, ax1]  # by tma
          for i.inner in range(8):
            for j in range(64):
              B[i.outer*8 + i.inner, j] = A.shared[i.inner, j] + 1.0

        TVM: ``T.tma_copy`` of tilelang; CUTLASS: ``SM90_TMA_LOAD``; Exo: instructions of ``sm_90``; Halide: none; MLIR:
        ``nvgpu.tma.async.load``.
        """
        from . import handles

        source = user_source()
        if copier not in _COPIERS:
            raise ValueError(f"{source}: copy_by: expected {' or '.join(map(repr, _COPIERS))}, got {copier!r}")
        span = integer(swizzle, "copy_by", "swizzle", source, 128)
        part = integer(columns, "copy_by", "columns", source)
        is_deferred = boolean(deferred, "copy_by", "deferred", source)
        self.schedule.apply(handles.copy_by, source, self.handle, self.name, copier, span, part, is_deferred)

    def specialize(
        self, axis: IterVar, producer_registers: int = 40, consumer_registers: int = 232, consumers: int = 1
    ) -> None:
        """A producer warpgroup issues the TMA loads of a pipelined loop, and consumer warpgroups compute.

        A producer thread has `producer_registers`, and a consumer thread has `consumer_registers`. If the registers of
        an SM suffice for several such blocks, each is launched with its share. `consumers` is the number of sets
        of warpgroups that compute a tile. Each set takes the next tile of a `persistent` block in turn. While one set
        computes its epilogue and stores, the other keeps the tensor cores busy (ping-pong).

        Requires: a loop that is a `software_pipeline`; multiples of 8 registers from 24 to 240. A block's threads must
        fit the register file. Several consumers, up to 7, need a kernel that is `persistent`.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> k = te.reduce_axis((0, 64), name="k")
        >>> B = te.compute((8,), lambda i: te.sum(A[k], axis=k), name="B")
        >>> s = te.create_schedule(B.op)
        >>> AS = s.cache_read(A, "shared", [B])
        >>> ko, ki = s[B].split(B.op.reduce_axis[0], factor=8)
        >>> s[AS].compute_at(s[B], ko)
        >>> s[B].software_pipeline(ko, 3)
        >>> print(s)
        for i in range(8):  # B
          B.acc: local float32
          B.acc = 0.0
          for k.outer in range(8):  # filled 2 ahead
            A.shared: shared float32[8]  # 3 places
            for ax0 in range(8):  # A.shared
              A.shared[ax0] = A[k.outer*8 + ax0]
            for k.inner in range(8):
              B.acc += A.shared[k.inner]
          B[i] = B.acc
        >>> s[B].specialize(ko, producer_registers=24, consumer_registers=240)
        >>> print(s)
        for i in range(8):  # B
          B.acc: local float32
          B.acc = 0.0
          for k.outer in range(8):  # filled 2 ahead, by a warpgroup with 24 registers a thread, the others with 240
            A.shared: shared float32[8]  # 3 places
            for ax0 in range(8):  # A.shared
              A.shared[ax0] = A[k.outer*8 + ax0]
            for k.inner in range(8):
              B.acc += A.shared[k.inner]
          B[i] = B.acc

        CUTLASS: ``KernelTmaWarpSpecialized``, with two consumers ``KernelTmaWarpSpecializedPingpong``; tilelang:
        ``T.annotate_ws_schedule``; Exo: ``CudaWarpConfig``; TVM, Halide, MLIR: none.
        """
        from . import handles

        source = user_source()
        axis_handle = self.axis_handle(axis, "specialize", source)
        producer = integer(producer_registers, "specialize", "producer_registers", source, 40)
        consumer = integer(consumer_registers, "specialize", "consumer_registers", source, 232)
        sets = integer(consumers, "specialize", "consumers", source, 2)
        self.schedule.apply(handles.specialize, source, axis_handle, axis.name, producer, consumer, sets)

    def cluster(self, axis: IterVar, blocks: int = 2) -> None:
        """Blocks that are neighbours along `axis` are a cluster: what all of them need each copies in part, to all.

        Requires: a loop bound to blockIdx.x or blockIdx.y whose extent `blocks`, of 1 to 8, divides.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
        >>> print(s)
        for i in range(64):  # B, blockIdx.x
          B[i] = A[i] + 1.0
        >>> s[B].cluster(B.op.axis[0], 2)
        >>> print(s)
        for i in range(64):  # B, blockIdx.x, clusters of 2
          B[i] = A[i] + 1.0

        CUTLASS: ``ClusterShape``; tilelang: ``cluster_dims``; Exo: ``cuda_cta_in_cluster``; TVM, Halide: none; MLIR:
        operands of ``gpu.launch``.
        """
        from . import handles

        source = user_source()
        axis_handle = self.axis_handle(axis, "cluster", source)
        size = integer(blocks, "cluster", "blocks", source, 2)
        self.schedule.apply(handles.cluster, source, axis_handle, axis.name, size)

    def persistent(
        self,
        blocks: int | None = None,
        raster: str = "row",
        group: int = 8,
        *,
        stream_k: bool = False,
        narrower: int = 0,
        serpentine_k: bool = False,
    ) -> None:
        """The kernel gets as many blocks as run at once, which go through all tiles. A block loads its next tile while
        it stores the last one.

        `raster` is the order of the tiles. ``"row"`` goes along blockIdx.x first. ``"grouped"`` goes down `group` tiles
        along blockIdx.y and then to the next tile along x. ``"hilbert"`` follows Hilbert's curve through squares of
        `group` by `group` tiles, one square beside the other. In the last two, the tiles of a wave read few rows and
        columns. On the curve, so do the tiles of any shorter time. A square is at most as wide as the grid of tiles.
        The tiles beside and below the squares are grouped. Seven by five tiles in rows, in groups of 2 and on a curve
        through squares of 4::

             0  1  2  3  4  5  6      0  2  4  6  8 10 12      0  1 14 15 16 20 24
             7  8  9 10 11 12 13      1  3  5  7  9 11 13      3  2 13 12 17 21 25
            14 15 16 17 18 19 20     14 16 18 20 22 24 26      4  7  8 11 18 22 26
            21 22 23 24 25 26 27     15 17 19 21 23 25 27      5  6  9 10 19 23 27
            28 29 30 31 32 33 34     28 29 30 31 32 33 34     34 33 32 31 30 29 28

        With `stream_k`, blocks compute whole tiles as long as there is a tile for each block. The K tiles of the last
        wave are distributed equally over the blocks, at least one for each block if there are enough. If several blocks
        share a tile, the last one to finish adds their parts. The order of the additions does not depend on which block
        that is, so each run gives the same bits. No block waits. Parts go through a workspace.

        With `narrower`, tiles of several widths fill the last wave. Without it, some blocks have no tile in that wave.
        As many rows of tiles, the last ones, get one more tile each. For this, as many of their tiles as needed are
        `narrower` columns narrower. Wide tiles come first, so that each block has about as many of either. Two rows of
        four tiles, for nine blocks::

            0       1       2       3
            7   8   4       5       6

        A wide and a narrower tile at the end of a row may become two tiles that are narrower by half as much. This is
        done if the block with the most columns then has fewer, and if the epilogue reads no other arrays. Columns are
        those of the accumulator, which lie along blockIdx.x. They are rows of a result that is its transpose.

        With `serpentine_k`, each block computes every second tile from its last K tile to its first. It begins with the
        K tile that it read last for the previous tile, which is still in the cache. The sums of such a tile are added
        in another order.

        Requires: a stage that is computed at the root; `blocks` of at least 1, by default the SMs of the device
        (`target.current_gpu`). For a curve: loops bound to blockIdx.x and y, and a `group` that is a power of
        two. For `stream_k`: `specialize`. For `narrower`: a result that TMA stores, a multiple of 8 columns, constant
        extents, one set of consumer warpgroups, and rows that such tiles fill.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
        >>> print(s)
        for i in range(64):  # B, blockIdx.x
          B[i] = A[i] + 1.0
        >>> s[B].persistent(raster="grouped")
        >>> print(s)
        for i in range(64):  # B, blockIdx.x, 132 blocks go through the tiles in groups of 8
          B[i] = A[i] + 1.0

        CUTLASS: ``PersistentScheduler``; tilelang: ``T.Persistent``; Triton: a loop by hand; TVM, Halide, Exo, MLIR:
        none.
        """
        from . import handles

        source = user_source()
        if raster not in _RASTERS:
            raise ValueError(
                f"{source}: persistent: expected {', '.join(map(repr, _RASTERS[:-1]))} or {_RASTERS[-1]!r} as raster, "
                f"got {raster!r}"
            )
        count = current_gpu().sms if blocks is None else integer(blocks, "persistent", "blocks", source, 132)
        tiles = integer(group, "persistent", "group", source, 8)
        boolean(stream_k, "persistent", "stream_k", source)
        boolean(serpentine_k, "persistent", "serpentine_k", source)
        less = integer(narrower, "persistent", "narrower", source, 0)
        options = count, raster, tiles, stream_k, less, serpentine_k
        self.schedule.apply(handles.persistent, source, self.handle, self.name, *options)
