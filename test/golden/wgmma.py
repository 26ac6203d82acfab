"""The golden story's second kernel: a GEMM by wgmma, whose tiles of A and B a producer warp loads by TMA."""

from tilewright import te
from tilewright.instructions import wgmma

M, N, K = 256, 256, 256
A = te.placeholder((M, K), "bfloat16", name="A")
B = te.placeholder((K, N), "bfloat16", name="B")
k = te.reduce_axis((0, K), name="k")
P = te.compute((M, N), lambda i, j: te.sum(A[i, k].astype("float32") * B[k, j].astype("float32"), axis=k), name="P")
C = te.compute((M, N), lambda i, j: P[i, j].astype("bfloat16"), name="C")

s = te.create_schedule(C.op)
loads = [s.cache_read(operand, "shared", [P]) for operand in (A, B)]

# A thread block computes a tile of 128 x 64 elements of C, each of its two warpgroups 64 rows.
by, bx, i, j = s[C].tile(*C.op.axis, 128, 64)
s[C].bind(by, te.thread_axis("blockIdx.y"))
s[C].bind(bx, te.thread_axis("blockIdx.x"))
s[C].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
warpgroup, i = s[C].split(i, factor=64)
s[C].bind(warpgroup, te.thread_axis("threadIdx.y"))

# The accumulator is in registers; each iteration of ko multiplies one K tile of 64 elements.
s[P].set_scope("local")
s[P].compute_at(s[C], warpgroup)
i, j = s[P].op.axis
ko, ki = s[P].split(s[P].op.reduce_axis[0], factor=64)
s[P].reorder(ko, i, j, ki)
s[P].tensorize(i, wgmma("bfloat16", "float32", n=64))
for load in loads:
    s[load].compute_at(s[P], ko)
    s[load].copy_by("tma")
s[P].software_pipeline(ko, 2)
s[P].specialize(ko)

schedule, args, name = s, [A, B, C], "hgemm"
