"""The primitives on who copies what while others compute: engines, roles of warps, clusters, blocks that stay."""

from __future__ import annotations

from ...errors import TilewrightValueError as ValueError
from ...messages.location import user_source
from ..expr import IterVar
from .checks import boolean, integer
from .stage_handles import StageHandles

__all__ = ["AsynchronousPrimitives"]

_COPIERS, _RASTERS = ("tma",), ("row", "grouped", "hilbert")


class AsynchronousPrimitives(StageHandles):
    """Each leaves the loops as they are; with `wgmma` they become kernels of asynchronous tiles (sm_90a)."""

    __slots__ = ()

    def copy_by(self, copier: str, swizzle: int = 128, columns: int | None = None, deferred: bool = False) -> None:
        """The stage is copied by the hardware's copy engine, a tile at a time: ``"tma"``, the only one.

        A stage in shared memory is a part of a tensor in global memory, or zero where that ends: a box, of which each
        dimension goes along one of the tensor, in any order but for the last, with steps of up to 8 elements. Its last
        dimension has the columns of the tile, all others its rows: what is around an image too is zero, so a
        convolution's margin is a stage that is copied. An output is a copy of a stage in shared memory, to which it is
        written by each warpgroup; it may be the transpose of the sums, whose columns then are rows of the tile. The
        chunks of 16 bytes of a row of the shared buffer are exchanged within `swizzle` bytes (32, 64 or 128), so that
        all banks are reached. With `columns` an output goes by way of a buffer of so many columns of the sums, one part
        after the other. Threads hold one that
        is `deferred`, as it will be stored, in registers until the first products of their block's next tile are under
        way, and store it behind these: the tensor cores need not wait for it. Where several warpgroups multiply they
        begin each step one after the other: one rounds its part while the tensor cores do what another began.

        Requires: rows of the tile that are a multiple of `swizzle` bytes, rows of the tensor that are one of 16; boxes
        across at most 256 elements of each of up to 5 dimensions; a kernel that multiplies by `wgmma`; for a `deferred`
        output one that is `persistent`, with one set of consumers and with sums that are not promoted.

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
        self._schedule.apply(handles.copy_by, source, self.handle, self.name, copier, span, part, is_deferred)

    def specialize(
        self, axis: IterVar, producer_registers: int = 40, consumer_registers: int = 232, consumers: int = 1
    ) -> None:
        """Beside the warpgroups that compute, another issues the copies to the buffers of a pipelined loop.

        A thread of it has `producer_registers`, one that computes `consumer_registers`. There are so many `consumers`,
        sets of the warpgroups that compute a tile, and each takes the next tile of a `persistent` block in turn: while
        one computes what becomes of its sums and stores it, the other keeps the tensor cores busy (ping-pong).

        Requires: a loop that is a `software_pipeline`; multiples of 8 registers from 24 to 240, which all threads of a
        block together have; with several consumers, up to 7, a kernel that is `persistent`.

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
        axis_handle = self._axis(axis, "specialize", source)
        producer = integer(producer_registers, "specialize", "producer_registers", source, 40)
        consumer = integer(consumer_registers, "specialize", "consumer_registers", source, 232)
        sets = integer(consumers, "specialize", "consumers", source, 2)
        self._schedule.apply(handles.specialize, source, axis_handle, axis.name, producer, consumer, sets)

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
        axis_handle = self._axis(axis, "cluster", source)
        size = integer(blocks, "cluster", "blocks", source, 2)
        self._schedule.apply(handles.cluster, source, axis_handle, axis.name, size)

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
        """As many blocks as run at once go through all tiles, so that one begins to copy while it stores the last.

        They take them in the order `raster`: ``"row"``, along blockIdx.x first; ``"grouped"``, down `group` tiles along
        blockIdx.y and then to the next along x; or ``"hilbert"``, on Hilbert's curve through squares of `group` by
        `group` tiles, one beside the other. In the last two the tiles that are computed at once read few rows and
        columns; on the curve, so do those of any shorter time. Squares are at most as wide as there are tiles along x
        and along y; what is left beside and below them is done as in groups. Seven by five tiles in rows, in groups of
        2 and on a curve through squares of 4::

             0  1  2  3  4  5  6      0  2  4  6  8 10 12      0  1 14 15 16 20 24
             7  8  9 10 11 12 13      1  3  5  7  9 11 13      3  2 13 12 17 21 25
            14 15 16 17 18 19 20     14 16 18 20 22 24 26      4  7  8 11 18 22 26
            21 22 23 24 25 26 27     15 17 19 21 23 25 27      5  6  9 10 19 23 27
            28 29 30 31 32 33 34     28 29 30 31 32 33 34     34 33 32 31 30 29 28

        With `stream_k` each block computes whole tiles only as long as there are some for all. The iterations of the
        reductions of the last, of at least one for each block where there are as many, are shared out equally, and what
        of a tile several blocks have is added up by the last of them that is done, in an order that does not depend on
        which that is: each run gives the same bits. Nobody waits. Parts go by way of a workspace.

        With `narrower` tiles of several widths fill the last turn: as many rows of tiles as there are blocks without a
        tile in it, the last, have one tile more each, and as many of their tiles as it takes are so many columns
        `narrower`. Wide tiles come first, so that each block has about as many of either. Two rows of four tiles, for
        nine blocks::

            0       1       2       3
            7   8   4       5       6

        In place of a wide tile and such a one there are two that are narrower by half as much, the last of their row,
        where the block with the most columns then has fewer, and nothing that is computed of the sums reads other
        arrays. Columns are those of the sums, which lie along blockIdx.x: rows of a result that is their transpose.

        With `serpentine_k` each block goes through the reduction of every second of its tiles from the end: it begins
        with what it read last for the tile before, which is still in the cache. Such a tile is added up in another
        order than it would be elsewhere.

        Requires: a stage that is computed at the root; `blocks`, by default the SMs of the device that schedules are
        made for (`tilewright.devices.current`), of at least 1; for a curve, loops bound to blockIdx.x and y and a
        `group` that is a power of two; for `stream_k`, roles (`specialize`); for `narrower` tiles, a matrix that the
        copy engine stores, a multiple of 8 columns less, constant extents, one set of consumers, and rows that such
        tiles fill.

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
        from ...devices import current
        from . import handles

        source = user_source()
        if raster not in _RASTERS:
            raise ValueError(
                f"{source}: persistent: expected {', '.join(map(repr, _RASTERS[:-1]))} or {_RASTERS[-1]!r} as raster, "
                f"got {raster!r}"
            )
        count = current().sms if blocks is None else integer(blocks, "persistent", "blocks", source, 132)
        tiles = integer(group, "persistent", "group", source, 8)
        boolean(stream_k, "persistent", "stream_k", source)
        boolean(serpentine_k, "persistent", "serpentine_k", source)
        less = integer(narrower, "persistent", "narrower", source, 0)
        options = count, raster, tiles, stream_k, less, serpentine_k
        self._schedule.apply(handles.persistent, source, self.handle, self.name, *options)
