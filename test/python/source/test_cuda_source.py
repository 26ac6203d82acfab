"""Printed kernels compile, and compute what the simulator computes of the same program."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from fuzz.choices import Choices, Seeded
from fuzz.program import Program
from fuzz.programs import random_program
from fuzz.schedules import Scheduler
from sample import selected
from source.kernels import PROGRAMS, SUMS_OF_PRODUCTS
from source.nvrtc import compile_cuda
from source.on_cpu import arrays_for, compile_on_cpu, run_printed
from tilewright import schedules, te

TARGET = tw.Target("cuda", arch="sm_90a")
# Random programs and schedules: a few for each run of the tests, and more where one asks for slow ones.
SEEDS, MANY_SEEDS = 10, 400


@pytest.fixture(scope="module")
def simulated(request: pytest.FixtureRequest) -> dict[str, tw.Function]:
    target = tw.Target("sim", arch="sm_90a")
    names = selected(request, "test_printed_kernels_compute_the_same", "name")
    return {name: tw.build(*PROGRAMS[name](), target, name) for name in names}


@pytest.fixture(scope="module")
def printed(
    simulated: dict[str, tw.Function], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Callable[..., int]]:
    return compile_on_cpu(simulated, tmp_path_factory.mktemp("printed"))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_printed_kernels_compute_the_same(
    name: str, simulated: dict[str, tw.Function], printed: dict[str, Callable[..., int]]
) -> None:
    function = simulated[name]
    is_exact = name in SUMS_OF_PRODUCTS
    expected = arrays_for(function.signature, step=0.25 if is_exact else 0)
    got = [array.copy() for array in expected]
    function(*expected)
    run_printed(function, printed[name], got)
    for argument, one, other in zip(function.signature.arguments, got, expected):
        if not argument.output:
            continue
        if np.dtype(argument.dtype).kind == "f" and not is_exact:
            eps = float(np.finfo(argument.dtype).eps)
            np.testing.assert_allclose(one, other, rtol=16 * eps, atol=16 * eps, err_msg=argument.name)
        else:
            np.testing.assert_array_equal(one, other, err_msg=argument.name)


def test_arguments_with_strides(tmp_path: Path) -> None:
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), strides=(te.var("lda"), 1), name="A")
    B = te.placeholder((n, m), strides=(None, None), name="B")
    C = te.placeholder((n, m), strides=(0, 2), name="C")
    D = te.compute((n, m), lambda i, j: A[i, j] + B[i, j] * C[i, j], name="D")
    s = te.create_schedule(D.op)
    s[D].bind(D.op.axis[0], te.thread_axis("blockIdx.x"))
    function = tw.build(s, [A, B, C, te.strided(D, (1, te.var("ldd")))], "sim", name="f")
    source = function.source("cuda")
    assert (
        "const float *__restrict__ A,\n    long long A_extent0,\n    long long A_extent1,\n    long long A_stride0"
        in source
    )
    assert re.search(
        r"D\[bx \+ j \* D_stride1\] = A\[bx \* A_stride0 \+ j\] \+ B\[bx \* B_stride0 \+ j \* B_stride1\] \* C\[j \* 2\]",
        source,
    )
    printed = compile_on_cpu({"f": function}, tmp_path)
    choose = np.random.default_rng(2)
    a, b = choose.random((5, 12)).astype("float32")[:, :9], choose.random((40, 10)).astype("float32").T[::2, :18:2]
    row, held = choose.random(18).astype("float32"), np.full((9, 8), -1, "float32")
    c, d = np.broadcast_to(row[::2], (5, 9)), held.T[:5]
    run_printed(function, printed["f"], [a, b, c, d])
    assert np.allclose(d, a + b * c) and (held[:, 5:] == -1).all()


def check_seeds(seeds: range, folder: Path) -> None:
    """Printed kernels of random programs are exact."""
    programs: dict[str, Program] = {}
    functions: dict[str, tw.Function] = {}
    for seed in seeds:
        choices = Choices(Seeded(seed))
        program = random_program(choices)
        try:
            schedule = Scheduler(choices, program).run()
            functions[f"seed{seed}"] = tw.build(schedule, program.args, "sim", f"seed{seed}")
        except tw.ScheduleError:
            continue
        if "fp8" in functions[f"seed{seed}"].source("cuda"):  # whose header is CUDA's own
            del functions[f"seed{seed}"]
            continue
        programs[f"seed{seed}"] = program
    runs = compile_on_cpu(functions, folder)
    for name, program in programs.items():
        arrays = program.arrays()
        arrays += [np.full([int(n) for n in value.shape], 77, value.dtype) for value in program.outputs]
        run_printed(functions[name], runs[name], arrays)
        for value, got in zip(program.outputs, arrays[len(program.inputs) :]):
            np.testing.assert_array_equal(got.astype(np.float64), value.exact, err_msg=f"{value.name} of {name}")
    assert len(programs) > 0.5 * len(seeds)


@pytest.mark.sweep
def test_random_programs(tmp_path: Path) -> None:
    check_seeds(range(SEEDS), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SEEDS, MANY_SEEDS, SEEDS))
def test_many_random_programs(first: int, tmp_path: Path) -> None:
    check_seeds(range(first, first + SEEDS), tmp_path)


@pytest.mark.sweep
@pytest.mark.parametrize("name", PROGRAMS)
def test_printed_kernels_compile_for_a_gpu(name: str) -> None:
    s, args = PROGRAMS[name]()
    function = tw.build(s, args, TARGET, name)
    image = compile_cuda(function.source("cuda"))
    assert image.startswith(b"\x7fELF")
    for launch in function.launch_config(*arrays_for(function.signature)):
        assert launch.kernel.encode() in image


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_floats_compile_for_a_gpu(dtype: str) -> None:
    A = te.placeholder((40,), dtype=dtype, name="A")
    B = te.placeholder((40,), name="B")
    C = te.compute((40,), lambda i: (A[i].astype("float32") + B[i]).astype(dtype), name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))
    compile_cuda(tw.build(s, [A, B, C], TARGET, "narrow").source("cuda"))


@pytest.mark.parametrize(("dtype", "kind"), [("float8_e4m3fn", "e4m3"), ("float8_e5m2", "e5m2")])
def test_products_of_8_bit_floats_compile_for_a_gpu(dtype: str, kind: str) -> None:
    s, args = schedules.matmul_mma(32, 32, 64, dtype, tile=(32, 32), warps=(1, 2), transpose_b=True)
    source = tw.build(s, args, TARGET, "products").source("cuda")
    assert f" = mma_m16n8k32_{kind}(" in source
    compile_cuda(source)


def test_a_cast_of_a_cast_is_no_type_of_a_function() -> None:
    A = te.placeholder((16,), "int64", name="A")
    C = te.compute(
        (16,), lambda i: A[i] + (te.max(A[i], 0).astype("int32").astype("uint32").astype("int64") & 3), name="C"
    )
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    text = tw.build(s, [A, C], target="cuda -arch=sm_90a", name="casts").source("cuda")
    assert "(long long)(unsigned(int(" not in text
    compile_cuda(text)


def test_the_source_reads_like_the_program() -> None:
    s, args = PROGRAMS["tiled_gemm"]()
    assert tw.build(s, args, TARGET, "mmult").source("cuda") == (Path(__file__).parent / "tiled_gemm.cu").read_text()


def test_what_has_no_source() -> None:
    s, args = PROGRAMS["vector_add"]()
    with pytest.raises(tw.TilewrightError, match="^add is compiled for cpu, which has no kernels$"):
        tw.build(s, args, "cpu", "add").source("cuda")
    hint = r" \(PTX is \.ptx, machine code \.sass\(\), a stage of the IR \.ir\(stage\)\)"
    with pytest.raises(ValueError, match=f"^expected 'cuda' or 'host', got 'metal'{hint}$"):
        tw.build(s, args, "sim", "add").source("metal")
