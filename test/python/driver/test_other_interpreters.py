"""Calls on the other versions of Python that are installed here, with and without GIL."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright

VERSIONS = ["3.10", "3.11", "3.12", "3.13", "3.14", "3.13t", "3.14t"]
COUNTER = r"""
#include <stdint.h>
typedef struct { int32_t type; uint32_t padding; void *pointer; } Any;
typedef struct { void *data; int32_t kind, id, ndim; uint8_t code, bits; uint16_t lanes;
                 int64_t *shape, *strides; uint64_t offset; } Tensor;
int64_t calls;
static int64_t shape[1] = {4}, strides[1] = {1};
int entry(void **stream, const Any *args, int count) {
  (void)stream;
  if (count != 2 || ((Tensor *)args[0].pointer)->data == ((Tensor *)args[1].pointer)->data)
    return -1;
  __sync_fetch_and_add(&calls, 1);
  return 0;
}
int read(void *object, Tensor *tensor) {
  Tensor made = {object, 1, 0, 1, 2, 32, 1, shape, strides, 0};
  *tensor = made;
  return 0;
}
"""


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("counter")
    (folder / "counter.c").write_text(COUNTER)
    made = folder / "counter.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-fno-builtin", "-o", made, folder / "counter.c"], check=True)
    return made


@pytest.mark.parametrize("version", VERSIONS)
def test_calls(version: str, counter: Path) -> None:
    own = f"{sys.version_info.major}.{sys.version_info.minor}" == version
    interpreter = sys.executable if own else shutil.which(f"python{version}")
    # One without GIL is installed under both names.
    asking = "import sysconfig; print(bool(sysconfig.get_config_var('Py_GIL_DISABLED')))"
    asked = interpreter and subprocess.run([interpreter, "-c", asking], capture_output=True, text=True, check=False)
    if not asked or asked.stdout.strip() != str(version.endswith("t")):
        pytest.skip(f"no Python {version} here")
    script = Path(__file__).with_name("other_interpreter.py")
    command = [interpreter, script, Path(tilewright.__file__).parent, counter]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "free-threaded" if version.endswith("t") else "with GIL"), (
        done.stderr
    )
