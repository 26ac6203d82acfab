"""Scripts for TVM's te run as they are, on every target."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tvm
from compat import scripts, tutorials

SCRIPTS = [*scripts.SCRIPTS, *tutorials.SCRIPTS]


@pytest.mark.sample(18)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_script(script, target: str) -> None:
    s, args, inputs, output, reference = script()
    print(tvm.lower(s, args, simple_mode=True))
    tgt = tvm.target.Target(target=target, host="llvm")
    func = tvm.build(s, args, tgt, name=script.__name__)
    dev = tvm.device(tgt.kind.name, 0)
    given = [np.random.uniform(-1, 1, size=shape) for shape in inputs]
    arrays = [tvm.nd.array(each.astype("float32"), dev) for each in given]
    out = tvm.nd.array(np.full(output, np.nan, "float32"), dev)
    func(*arrays, out)
    expected = reference(*(each.numpy().astype("float64") for each in arrays))
    tvm.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-5)
    evaluator = func.time_evaluator(func.entry_name, dev, number=2)
    assert evaluator(*arrays, out).mean > 0


@pytest.mark.sample(6)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_scripts_compile_for_cuda(script) -> None:
    s, args, *_ = script()
    func = tvm.build(s, args, tvm.target.Target("cuda -arch=sm_90a"), name=script.__name__)
    source = func.imported_modules[0].get_source()
    assert f".visible .entry {script.__name__}_kernel0(" in source
    assert func.imported_modules[0].type_key == "cuda"
