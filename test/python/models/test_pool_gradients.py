"""Gradients of the largest element of windows, which overlap or are apart, against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tilewright.torch import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

# The images, the kernel, the distance, the padding, the dilation, and whether the last windows may end outside.
CASES = {
    "overlapping": ((2, 3, 11, 13), 3, 2, 1, 1, False),
    "past the end": ((2, 3, 11, 13), 3, 2, 1, 1, True),
    "side by side": ((1, 2, 9, 9), 2, 2, 0, 1, False),
    "apart": ((2, 3, 7, 7), 2, 3, 0, 1, False),
    "each dimension its own": ((1, 2, 10, 9), (3, 2), (2, 3), (1, 0), 1, True),
    "dilated": ((1, 2, 12, 12), 3, 2, 1, 2, False),
    "many of each element": ((3, 8, 8), 5, 1, 2, 1, False),
    "one element": ((1, 1, 1, 1), 1, 1, 0, 1, False),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str) -> None:
    torch.compiler.reset()
    shape, *window = CASES[name]

    def pooled(x: Any) -> Any:
        return torch.nn.functional.max_pool2d(x, *window)

    draws = torch.Generator().manual_seed(len(name))
    x = torch.randn(*shape, generator=draws)
    ours, theirs = (x.clone().requires_grad_() for _ in range(2))
    wanted = pooled(theirs)
    grad = torch.randn(*wanted.shape, generator=draws)
    torch.compile(pooled, backend=compile_fx)(ours).backward(grad)
    wanted.backward(grad)
    torch.testing.assert_close(ours.grad, theirs.grad)
