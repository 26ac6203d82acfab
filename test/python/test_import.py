"""What `import tilewright` brings with it, and what it leaves for those who need it."""

import subprocess
import sys

import pytest


@pytest.mark.sweep
def test_import_is_lean():
    """Of other packages it takes the bindings and NumPy, which they import; the GPU's come with the first launch."""
    code = (
        "import sys; import tilewright; "
        "print(*sorted({name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)), sep=chr(10))"
    )
    isolated = [sys.executable, "-c", code]
    bare = [sys.executable, "-c", code.replace("import tilewright; ", "")]
    with_package, without = (set(subprocess.check_output(command, text=True).split()) for command in (isolated, bare))
    assert with_package - without == {"mlir", "numpy", "tilewright"}


def test_import_leaves_the_run_time_out():
    code = "import sys; import tilewright; print(*(n for n in sys.modules if n.startswith('tilewright.')))"
    modules = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert "tilewright.compiler" in modules
    assert not [name for name in modules if name.startswith("tilewright.runtime")]


@pytest.mark.sweep
def test_import_of_what_reads_pytorch_leaves_its_compiler_out():
    """TorchDynamo takes as long to load as PyTorch itself: flex_attention needs it, and torch.compile has it."""
    pytest.importorskip("torch")
    code = "import sys; import tilewright.torch; print('torch._dynamo' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-W", "ignore", "-c", code], text=True).split() == ["False"]
