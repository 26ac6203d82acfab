"""Functions as libraries that need nothing of this project: from Python, from C and from C++."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from fake_arrays import WITHOUT_TORCH
from tilewright import te
from tilewright.ir import library as tilewright_library
from tilewright.runtime.ffi import libtvm_ffi_path

tvm_ffi = pytest.importorskip("tvm_ffi")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler to link with")


def elementwise(name: str, what, target: str, *, arch: str | None = None) -> tw.Function:
    n = te.var("n")
    a, b = (te.placeholder((n,), name=each) for each in "AB")
    c = te.compute((n,), lambda i: what(a[i], b[i]), name="C")
    s = te.create_schedule(c.op)
    if target != "cpu":
        outer, inner = s[c].split(c.op.axis[0], 128)
        s[c].bind(outer, te.thread_axis("blockIdx.x"))
        s[c].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, [a, b, c], tw.Target(target, arch=arch) if arch else target, name=name)


@pytest.fixture(scope="module")
def functions() -> list[tw.Function]:
    return [elementwise("add", lambda a, b: a + b, "cpu"), elementwise("mul", lambda a, b: te.exp(a) * b, "cpu")]


@pytest.fixture(scope="module")
def library(functions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "kernels.so"
    tw.export_library(functions, path, header=True)
    return path


def test_no_link_beside_it_is_followed(functions, tmp_path: Path) -> None:
    """Who can write the target's folder foresees no name that is written on the way."""
    (tmp_path / "mine").write_bytes(b"mine")
    for name in ("kernels.so.new", "kernels.so", "kernels.h"):
        (tmp_path / name).symlink_to(tmp_path / "mine")
    tw.export_library(functions[0], tmp_path / "kernels.so", header=True)
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert (tmp_path / "kernels.so").read_bytes()[:4] == b"\x7fELF"
    assert os.access(tmp_path / "kernels.so", os.X_OK)
    assert not (tmp_path / "kernels.so").is_symlink() and not (tmp_path / "kernels.h").is_symlink()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kernels.h", "kernels.so", "kernels.so.new", "mine"]


def dynamic(path: Path, *options: str) -> str:
    return subprocess.run(["nm", "-D", *options, path], capture_output=True, text=True, check=True).stdout


def test_what_it_shows_and_what_it_needs(library: Path) -> None:
    shown = [line.split()[-1] for line in dynamic(library, "--defined-only").splitlines()]
    assert sorted(shown) == sorted(
        f"__tvm_ffi_{prefix}{name}" for name in ("add", "mul") for prefix in ("", "_metadata_", "_doc_")
    )
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    libraries = {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line}
    assert libraries <= {
        "libtvm_ffi.so",
        "libc.so.6",
        "libm.so.6",
        "libdl.so.2",
        "libpthread.so.0",
        "ld-linux-x86-64.so.2",
    }
    assert "TEXTREL" not in needed


def test_names_that_mean_something_else_to_c(tmp_path: Path) -> None:
    with pytest.raises(ValueError) as caught:
        tw.export_header(elementwise("double", lambda a, b: a + b, "cpu"), tmp_path / "kernels.h")
    assert str(caught.value) == "expected functions with names that C and C++ can have, got 'double'"
    assert not (tmp_path / "kernels.h").exists()
    a = te.placeholder((4,), name="int")
    b = te.compute((4,), lambda i: a[i] + 1, name="new")
    tw.export_header(tw.build(te.create_schedule(b.op), [a, b], "cpu", "more"), tmp_path / "kernels.h")
    assert "more(DLTensor *arg_int, DLTensor *arg_new)" in (tmp_path / "kernels.h").read_text()


CHECK = (
    WITHOUT_TORCH
    + """
import sys
import numpy as np
import tvm_ffi

module = tvm_ffi.load_module(sys.argv[1])
a, b, c = np.arange(1000, dtype="float32") / 1000, np.ones(1000, "float32"), np.zeros(1000, "float32")
module.add(a, b, c)
np.testing.assert_array_equal(c, a + b)
module.mul(tvm_ffi.from_dlpack(a), tvm_ffi.from_dlpack(b), tvm_ffi.from_dlpack(c))
np.testing.assert_allclose(c, np.exp(a), rtol=1e-6)
try:
    module.add(a, b[:3], c)
except ValueError as error:
    print(error)
print(module.get_function_doc("mul").splitlines()[0])
print(module.get_function_metadata("add")["signature"])
assert not [name for name in sys.modules if name.split(".")[0] in ("tilewright", "mlir")]
"""
)


def test_loads_where_this_project_is_not(library: Path) -> None:
    packages = {str(Path(package.__file__).parents[1]) for package in (np, tvm_ffi)}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(packages)}
    result = subprocess.run(
        [sys.executable, "-c", CHECK, library], capture_output=True, text=True, check=True, env=environment
    )
    assert result.stdout.splitlines() == [
        "add(A: float32[n], B: float32[n], C: float32[n]): argument 1 (B): expected extent n = 1000, as in dimension 0 "
        "of A, in dimension 0, got shape (3,)",
        "mul(A: float32[n], B: float32[n], C: float32[n])",
        "add(A: float32[n], B: float32[n], C: float32[n])",
    ]


C_PROGRAM = """
#include "kernels.h"
#include <stdio.h>
#include <string.h>

_Alignas(16) static float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8], c[8];

static DLTensor tensor(float *data, int64_t *shape) {
  DLTensor made;
  memset(&made, 0, sizeof(made)); /* strides NULL: row-major */
  made.data = data, made.device.device_type = kDLCPU, made.ndim = 1, made.shape = shape;
  made.dtype.code = kDLFloat, made.dtype.bits = 32, made.dtype.lanes = 1;
  return made;
}

int main(void) {
  int64_t shape[1] = {8}, less[1] = {7};
  DLTensor x = tensor(a, shape), y = tensor(a, shape), z = tensor(c, shape), short_one = tensor(b, less);
  if (add(&x, &y, &z))
    return 1;
  printf("%g %g\\n", c[0], c[7]);
  x.byte_offset = 16;
  x.shape = y.shape = z.shape = less;
  less[0] = 4;
  if (add(&x, &y, &z))
    return 2;
  printf("%g %g\\n", c[0], c[3]);
  short_one.ndim = 2;
  if (add(&x, &short_one, &z) != -1 || add(&x, NULL, &z) != -1)
    return 3;
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((char *)error + sizeof(TVMFFIObject));
  printf("%.*s: %.*s\\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size, cell->message.data);
  TVMFFIObjectDecRef(error);
  return 0;
}
"""


def compiled(library: Path, tmp_path: Path, compiler: str, suffix: str) -> Path:
    source, program = tmp_path / f"main.{suffix}", tmp_path / "main"
    source.write_text(C_PROGRAM.replace("_Alignas", "alignas") if suffix == "cpp" else C_PROGRAM)
    folder = libtvm_ffi_path().parent
    command = [
        compiler, str(source), "-o", str(program), f"-I{folder.parent / 'include'}", f"-I{library.parent}",
        *(f"-I{path}" for path in folder.parent.rglob("dlpack/include")), str(library), f"-L{folder}", "-ltvm_ffi",
        f"-Wl,-rpath,{folder}:{library.parent}",
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return program


@pytest.mark.parametrize(("compiler", "suffix"), [("cc", "c"), ("c++", "cpp")])
def test_from_c(library: Path, tmp_path: Path, compiler: str, suffix: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    result = subprocess.run([compiled(library, tmp_path, compiler, suffix)], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == [
        "2 16",
        "6 12",
        "TypeError: add(A: float32[n], B: float32[n], C: float32[n]): argument 1 (B): expected a tensor, got a null pointer",
    ]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_no_leak_and_no_bad_access(functions, tmp_path: Path) -> None:
    # valgrind does not know every instruction that this machine's processor may have.
    cpu = "x86-64-v3" if os.uname().machine == "x86_64" else ""
    tw.export_library(functions, tmp_path / "kernels.so", header=True, mcpu=cpu)
    program = compiled(tmp_path / "kernels.so", tmp_path, "cc", "c")
    options = ("--leak-check=full", "--show-leak-kinds=definite,indirect", "--error-exitcode=9", "-q")
    result = subprocess.run(["valgrind", *options, program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("2 16\n")


def test_object_files(functions, tmp_path: Path) -> None:
    tw.export_object(functions[0], tmp_path / "add.o", mcpu="x86-64" if os.uname().machine == "x86_64" else None)
    symbols = subprocess.run(["nm", tmp_path / "add.o"], capture_output=True, text=True, check=True).stdout
    assert "T __tvm_ffi_add" in symbols and "U tilewrightHostBind" in symbols
    assert " T add\n" not in symbols


def disassembled(path: Path) -> dict[str, str]:
    """The instructions of each function of a library or an object."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True)
    return dict(re.findall(r"^[0-9a-f]+ <(.+)>:\n((?:.+\n)*)", text.stdout, re.MULTILINE))


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="levels of x86-64")
def test_code_for_the_cpu_is_portable_unless_said_otherwise(functions, tmp_path: Path) -> None:
    tw.export_object(functions[0], tmp_path / "any.o")
    tw.export_object(functions[0], tmp_path / "avx2.o", mcpu="x86-64-v3")
    vex = re.compile(r"\tv[a-z]+")  # what AVX brought
    assert not any(vex.search(code) for code in disassembled(tmp_path / "any.o").values())
    assert any(vex.search(code) for code in disassembled(tmp_path / "avx2.o").values())


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="levels of x86-64")
def test_several_levels_in_one_library(functions, tmp_path: Path) -> None:
    path = tmp_path / "levels.so"
    tw.export_object(functions[0], tmp_path / "add.o", mcpu=("x86-64-v4", "x86-64-v2", "x86-64-v3"))
    tw.export_library(functions, path, mcpu=("x86-64-v2", "x86-64-v3"))
    symbols = subprocess.run(["nm", tmp_path / "add.o"], capture_output=True, text=True, check=True).stdout
    assert "U tilewrightHostCpuLevel" in symbols
    code = disassembled(tmp_path / "add.o")
    assert "%zmm" in code["add.x86-64-v4"] or "%ymm" in code["add.x86-64-v4"]
    assert "%ymm" in code["add.x86-64-v3"] and "%zmm" not in code["add.x86-64-v3"]
    assert not any("%ymm" in text for name, text in code.items() if ".x86-64-v" not in name)
    module = tvm_ffi.load_module(str(path))
    a, b, c = np.arange(9, dtype="float32"), np.full(9, 2, "float32"), np.empty(9, "float32")
    module.add(a, b, c)
    np.testing.assert_array_equal(c, a + b)


@pytest.mark.sweep
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="levels of x86-64")
def test_functions_of_math_without_an_instruction_for_fma(tmp_path: Path) -> None:
    """Steps that have to be exact are computed in float64, in vectors, where a call would compute one element."""
    functions = {"exp": te.exp, "log": te.log, "tanh": te.tanh, "sin": te.sin}
    made = [elementwise(f"{name}_of", lambda a, b, f=f: f(a) + 0 * b, "cpu") for name, f in functions.items()]
    tw.export_library(made, tmp_path / "math.so", mcpu="x86-64-v2")
    assert "fma" not in dynamic(tmp_path / "math.so", "--undefined-only")
    module = tvm_ffi.load_module(str(tmp_path / "math.so"))
    a = np.random.default_rng(0).uniform(0.1, 40, 10_001).astype("float32")
    for name in functions:
        module[f"{name}_of"](a, a, c := np.empty_like(a))
        exact = getattr(np, name)(a.astype("float64"))
        np.testing.assert_allclose(c, exact, rtol=4 * 2.0**-24, atol=0)


def test_the_level_of_this_processor() -> None:
    flags = Path("/proc/cpuinfo").read_text()
    expected = 1
    for level, flag in ((2, " sse4_2 "), (3, " avx2 "), (4, " avx512vl ")):
        expected = level if flag in flags and expected == level - 1 else expected
    assert tilewright_library().tilewrightHostCpuLevel() == expected


def test_a_library_without_the_run_time_does_not_load(functions, tmp_path: Path) -> None:
    tw.export_object(functions[0], tmp_path / "add.o")
    folder = libtvm_ffi_path().parent
    command = ["cc", "-shared", "-o", tmp_path / "add.so", tmp_path / "add.o", f"-L{folder}", "-ltvm_ffi", "-lm"]
    subprocess.run([*command, "-Wl,--gc-sections"], check=True)
    with pytest.raises(OSError, match="undefined symbol: tilewrightHost"):
        ctypes.CDLL(str(tmp_path / "add.so"), mode=os.RTLD_LAZY)
    refused = subprocess.run([*command, "-Wl,--no-undefined"], capture_output=True, text=True)
    assert refused.returncode != 0 and "tilewrightHostBind" in refused.stderr


def test_kernels_for_several_architectures(tmp_path: Path) -> None:
    """Without a GPU or its driver a library for one loads, tells of itself, and says what is missing."""
    if tw.cuda(0).exist:
        pytest.skip("there is a GPU here")
    add = elementwise("add", lambda a, b: a + b, "cuda", arch="sm_90a")
    path = tmp_path / "add.so"
    add.export_library(path, architectures=["sm_80", "sm_90a"])
    bytes_ = path.read_bytes()
    assert bytes_.count(b"\x7fELF") == 3 and b"sm_80\0" in bytes_ and b"sm_90a\0" in bytes_
    shown = [line.split()[-1] for line in dynamic(path, "--defined-only").splitlines()]
    assert "__tvm_ffi_add_load" in shown and "libcuda" not in dynamic(path)
    module = tvm_ffi.load_module(str(path))
    array = np.zeros(8, "float32")
    with pytest.raises(ValueError) as caught:
        module.add(array, array, array)
    assert str(caught.value) == (
        "add(A: float32[n], B: float32[n], C: float32[n]): argument 0 (A): expected an array on cuda, got one on cpu"
    )
    for call in (module.add_load, lambda: module.add_load(0)):
        with pytest.raises(RuntimeError, match="^no CUDA driver|^cuInit failed with "):
            call()
    with pytest.raises(TypeError, match="^add_load: expected the number of a GPU, or no argument$"):
        module.add_load("first")


ON_FAKE = (
    WITHOUT_TORCH
    + """
import ctypes, sys
import tvm_ffi

class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("dtype", ctypes.c_uint8 * 4), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("offset", ctypes.c_uint64)]

class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
shape, keep = (ctypes.c_int64 * 1)(1000), []

class OnGPU:
    def __init__(self, address):
        tensor = DLTensor(address, (2, 0), 1, (2, 32, 1, 0), ctypes.addressof(shape), None, 0)
        self.managed = Managed(tensor, None, None)
        keep.append(self)
    def __dlpack_device__(self):
        return 2, 0
    def __dlpack__(self, **options):
        return new(ctypes.addressof(self.managed), b"dltensor", None)

module = tvm_ffi.load_module(sys.argv[1])
given = [tvm_ffi.from_dlpack(OnGPU(address)) for address in (0x10000, 0x20000, 0x30000)]
module.add(*given)
try:
    module.add(*given)
except RuntimeError as error:
    ctypes.CDLL(None).fflush(None)
    print(error, flush=True)
module.add_load(0)
"""
)


@pytest.mark.sweep
def test_an_exported_library_on_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    fake = ["cc", "-shared", "-fPIC", "-w", "-DTELLS", "-DMAJOR=8", "-DMINOR=9", "-o", str(tmp_path / "libcuda.so.1")]
    subprocess.run([*fake, str(Path(__file__).with_name("fake_cuda.c"))], check=True)
    add = elementwise("add", lambda a, b: a + b, "cuda", arch="sm_90a")
    add.export_library(tmp_path / "add.so", architectures=["sm_80", "sm_86"])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["LD_LIBRARY_PATH"] = str(tmp_path)
    result = subprocess.run(
        [sys.executable, "-c", ON_FAKE, tmp_path / "add.so"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert result.stdout.splitlines() == [
        "load ELF",
        "find add_kernel0",
        "launch 8 x 128 with n = 1000",
        "launch 8 x 128 with n = 1000",
        "cuLaunchKernelEx failed with CUDA_ERROR_INVALID_VALUE (1): add_kernel0 with grid (8, 1, 1), block (128, 1, 1) and "
        "0 bytes of shared memory on cuda:0",
    ], result.stderr
    assert result.returncode == 0, result.stderr


# ---------------------------------------------------------------------------- what is refused


def test_no_compiler(functions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    instead = "export_object writes the object file that a linker elsewhere takes"
    with pytest.raises(tw.TilewrightError) as caught:
        tw.export_library(functions, tmp_path / "a.so")
    assert str(caught.value) == (
        "no compiler to link with: expected cc, gcc or clang on the PATH, or linker=, or CC to name one; " + instead
    )
    with pytest.raises(tw.TilewrightError) as caught:
        tw.export_library(functions, tmp_path / "a.so", linker="nowhere -m64")
    assert str(caught.value) == (f"expected a compiler to link with, got 'nowhere -m64', which is not there; {instead}")


def test_a_linker_that_fails(functions, tmp_path: Path) -> None:
    with pytest.raises(tw.TilewrightError, match=r"^linking a.so failed: cc --no-such-option returned 1\n"):
        tw.export_library(functions[0], tmp_path / "a.so", linker="cc --no-such-option")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_exported(functions, tmp_path: Path) -> None:
    simulated = elementwise("add", lambda a, b: a + b, "sim")
    for given, kind, message in (
        ([], ValueError, "expected one function or more to export, got none"),
        ([len], TypeError, "expected functions that tw.build has made, got builtin_function_or_method"),
        (
            [functions[0], functions[0]],
            ValueError,
            "expected functions of different names in one library, got two called 'add': tw.build takes a name",
        ),
        (
            simulated,
            tw.TilewrightError,
            "add is built for target sim, which runs in this process alone: build it for cuda or cpu",
        ),
    ):
        with pytest.raises(kind) as caught:
            tw.export_library(given, tmp_path / "a.so")
        assert str(caught.value) == message
    with pytest.raises(ValueError, match="^expected no GPU architectures for target cpu, got sm_80$"):
        tw.export_object(functions[0], tmp_path / "a.o", architectures=["sm_80"])
    for given, message in (
        ("x86 64", "expected LLVM's name of a processor, or 'native', as mcpu, got 'x86 64'"),
        (
            ("x86-64-v3", "znver4"),
            "expected one processor, or different levels of x86-64, x86-64-v2, x86-64-v3, x86-64-v4, as mcpu, "
            "got ('x86-64-v3', 'znver4')",
        ),
        (
            ("x86-64-v3", "x86-64-v3"),
            "expected one processor, or different levels of x86-64, x86-64-v2, x86-64-v3, x86-64-v4, as mcpu, "
            "got ('x86-64-v3', 'x86-64-v3')",
        ),
    ):
        with pytest.raises(ValueError) as caught:
            tw.export_object(functions[0], tmp_path / "a.o", mcpu=given)
        assert str(caught.value) == message
    with pytest.raises(tw.CompileError, match="mcpu: expected a processor that LLVM knows for .*, got 'foo'"):
        tw.export_object(functions[0], tmp_path / "a.o", mcpu="foo")
