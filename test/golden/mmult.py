"""The golden story's kernel: a GEMM in tiles of 16 x 16, the tiles of A and B fetched by all threads of a block."""

from tilewright import te

M = N = K = 64
A = te.placeholder((M, K), name="A")
B = te.placeholder((K, N), name="B")
k = te.reduce_axis((0, K), name="k")
C = te.compute((M, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")

s = te.create_schedule(C.op)
AS = s.cache_read(A, "shared", [C])
BS = s.cache_read(B, "shared", [C])
io, jo, ii, ji = s[C].tile(*C.op.axis, 16, 16)
ko, ki = s[C].split(k, factor=16)
s[C].reorder(io, jo, ii, ji, ko, ki)

s[C].bind(io, te.thread_axis("blockIdx.y"))
s[C].bind(jo, te.thread_axis("blockIdx.x"))
s[C].bind(ii, te.thread_axis("threadIdx.y"))
s[C].bind(ji, te.thread_axis("threadIdx.x"))
for shared in (AS, BS):
    s[shared].compute_at(s[C], ko)
    y, x = s[shared].op.axis
    s[shared].bind(y, te.thread_axis("threadIdx.y"))
    s[shared].bind(x, te.thread_axis("threadIdx.x"))

schedule, args, name = s, [A, B, C], "mmult"
