"""Convolutions as matmuls of rows of pixels: results, layouts that meet, and kernels without epilogues of their own."""

from __future__ import annotations

import pytest

import tilewright as tw

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")


def _bottleneck(stride: int) -> torch.nn.Module:
    class Bottleneck(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layers: list[torch.nn.Module] = []
            for given, made, size, step in ((16, 16, 1, 1), (16, 24, 3, stride), (24, 16, 1, 1)):
                layers += [torch.nn.Conv2d(given, made, size, step, size // 2, bias=False), torch.nn.BatchNorm2d(made)]
                layers += [torch.nn.ReLU()]
            self.body = torch.nn.Sequential(*layers[:-1])
            self.skip = torch.nn.Conv2d(16, 16, 1, stride) if stride > 1 else torch.nn.Identity()

        def forward(self, x):
            return torch.relu(self.body(x) + self.skip(x)).mean((2, 3))

    torch.manual_seed(stride)
    module = Bottleneck().eval()
    for one in module.modules():
        if isinstance(one, torch.nn.BatchNorm2d):
            one.running_var.uniform_(0.5, 1.5)
    return module.to(torch.bfloat16)


@pytest.mark.sweep
@pytest.mark.parametrize("stride", [1, 2])
def test_a_bottleneck(stride: int) -> None:
    module, x = _bottleneck(stride), torch.randn(2, 16, 6, 7).to(torch.bfloat16)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="sim -arch=sm_90a")
        without = tw.compile(module, (x,), target="sim -arch=sm_90a", without=["channels-last"])
        expected = module.float()(x.float())
        for one in (model, without):
            torch.testing.assert_close(one(x).float(), expected, rtol=0.02, atol=0.02)
        assert model.verify(x)
    text = model.ir("graph")
    # One on the way in; the images of a wider stride are read twice.
    assert text.count("graph.transpose %arg0") == 1 and "graph.conv" not in text, text
    assert text.count("permutation = array<i64: 0, 3, 1, 2>") == 0, text
    assert "graph.conv" in without.ir("graph")
    kernels = [len(group.function.launch_config()) for group in model.groups if "matmul" in group.operators]
    assert kernels == [1] * (3 + (stride > 1)), kernels


@pytest.mark.sweep
def test_a_processor_keeps_images_as_they_come() -> None:
    x = torch.randn(1, 16, 4, 4).to(torch.bfloat16)
    with torch.no_grad():
        model = tw.compile(_bottleneck(1), (x,), target="cpu")
    assert "graph.windows" not in model.ir("graph") and "graph.conv" in model.ir("graph")


class Images(torch.nn.Module):
    """Windows at the edges, of 3, 16 and 24 channels, strides, a pool, and a mean behind a gate."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = torch.nn.Conv2d(3, 16, 7, 2, 3), torch.nn.Conv2d(16, 24, 3, padding=1)
        self.third, self.fourth = torch.nn.Conv2d(24, 32, 3, 2, 1), torch.nn.Conv2d(32, 32, 1, 2)

    def forward(self, x):
        x = torch.nn.functional.max_pool2d(torch.relu(self.first(x)), 3, 2, 1)
        x = torch.nn.functional.avg_pool2d(torch.relu(self.second(x)), 3, 1, 1)
        return (self.fourth(torch.relu(self.third(x)))).mean((2, 3))


@pytest.mark.sweep
@pytest.mark.parametrize("batch", [1, 2])
def test_a_processor_multiplies_rows_of_pixels(batch: int) -> None:
    module, x = Images().eval(), torch.randn(batch, 3, 35, 30)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="cpu")
        torch.testing.assert_close(model(x), module(x), rtol=1e-5, atol=1e-5)
    assert model.verify(x)
    text = model.ir("graph")
    assert text.count("graph.transpose %arg0") == 1 and "graph.conv" not in text, text
    assert text.count("permutation = array<i64: 0, 3, 1, 2>") == 0, text
    plans = [group.schedule.plan for group in model.groups if "matmul" in group.operators]
    # The last one has fewer iterations than a schedule is worth.
    assert [plan is not None and plan.decisions[0].rule for plan in plans] == ["packed tiles"] * 3 + [False]


@pytest.mark.sweep
def test_windows_are_loaded_in_whole_vectors() -> None:
    """Of 64 channels, eight that lie together are in one pixel of the window, inside of the image or not."""
    module = torch.nn.Conv2d(64, 64, 3, padding=1).to(torch.bfloat16)
    x = torch.randn(1, 64, 16, 16).to(torch.bfloat16)

    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = module

        def forward(self, x):
            return self.one(self.one(x))

    with torch.no_grad():
        model = tw.compile(Twice(), (x,), target="cuda -arch=sm_80")
    (*_, ptx) = (group.function.ptx for group in model.groups if "windows" in group.operators)
    loads = [line.split()[0].rstrip(";") for line in ptx.splitlines() if "ld.global" in line]
    narrow = [load for load in loads if ".v4" not in load]
    assert len(loads) - len(narrow) >= 4 and len(narrow) <= 8, loads  # the bias is narrow


class Residual(torch.nn.Module):
    """A block whose second convolution adds what came in, and one of stride 2 beside one of 1 x 1."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.first, self.second = torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.Conv2d(64, 64, 3, padding=1)
        self.third, self.fourth = torch.nn.Conv2d(64, 128, 3, 2, 1), torch.nn.Conv2d(64, 128, 1, 2)
        self.norm = torch.nn.BatchNorm2d(64)

    def forward(self, x):
        y = torch.relu(x + self.norm(self.second(torch.relu(self.first(x)))))
        return torch.relu(self.third(y) + self.fourth(y)) * 2


@pytest.mark.sweep
@pytest.mark.parametrize("batch", [1, 2])
def test_warpgroups_have_convolutions_of_four_dimensions(batch: int) -> None:
    """The matrices of filters and of residuals are views; the results have a row for each pixel as they had."""
    module, x = Residual().eval().to(torch.bfloat16), torch.randn(batch, 64, 9, 10).to(torch.bfloat16)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="sim -arch=sm_90a")
        expected = module.float()(x.float())
    torch.testing.assert_close(model(x).float(), expected, rtol=0.02, atol=0.02)
    assert model.verify(x)
    groups = [group for group in model.groups if "windows" in group.operators]
    plans = [group.schedule.plan for group in groups]
    assert len(plans) == 4
    assert all(plan is not None and plan.decisions[-1].rule == "convolutions by warpgroups" for plan in plans), plans
    shapes = [[tuple(one.shape) for one in group.tensors] for group in groups]
    assert shapes[0] == [(batch, 9, 10, 64), (3, 3, 64, 64), (64, 1, 1), (batch, 9, 10, 64)]
    assert shapes[1][0] == shapes[1][-2] == shapes[1][-1] == (batch, 9, 10, 64)


@pytest.mark.sweep
def test_warpgroups_have_convolutions_whose_filters_are_inputs() -> None:
    """torch.compile gives weights as inputs: each call stores filters in the order in which they are copied."""

    class Convolution(torch.nn.Module):
        def forward(self, x, filters):
            return torch.relu(torch.conv2d(x, filters, padding=1))

    torch.manual_seed(1)
    x, filters = torch.randn(1, 64, 9, 10).to(torch.bfloat16), torch.randn(64, 64, 3, 3).to(torch.bfloat16) / 8
    model = tw.compile(Convolution(), (x, filters), target="sim -arch=sm_90a")
    expected = Convolution()(x.float(), filters.float())
    torch.testing.assert_close(model(x, filters).float(), expected, rtol=0.02, atol=0.02)
    (plan,) = [group.schedule.plan for group in model.groups if "windows" in group.operators]
    assert plan is not None
    assert plan.decisions[-1].rule == "convolutions by warpgroups"


class Narrow(torch.nn.Module):
    """Convolutions one behind the other, between which images have 8 bits."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.first, self.second = torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.Conv2d(64, 64, 3, padding=1)
        self.third = torch.nn.Conv2d(64, 128, 3, 2, 1)

    def forward(self, x):
        return torch.relu(self.third(torch.relu(self.second(torch.relu(self.first(x))) + x)))


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["int8", "float8_e4m3fn"])
def test_warpgroups_have_convolutions_of_eight_bits(dtype: str) -> None:
    module, x = Narrow().eval().to(torch.bfloat16), torch.randn(2, 64, 9, 10).to(torch.bfloat16)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="sim -arch=sm_90a", calibration=[(x,)], quantized=dtype)
        expected = module(x).float()
    torch.testing.assert_close(model(x).float(), expected, rtol=0.1, atol=0.1)
    assert model.verify(x)
    groups = [group for group in model.groups if "windows" in group.operators]
    plans = [group.schedule.plan for group in groups]
    assert all(plan is not None and plan.decisions[-1].rule == "convolutions by warpgroups" for plan in plans), plans
    filters = [next(one for one in group.tensors if tuple(one.shape[1:3]) == (3, 3)) for group in groups]
    assert [one.dtype for one in filters] == [dtype] * 3


@pytest.mark.sweep
@pytest.mark.parametrize("batch", [1, 2])
def test_warpgroups_have_the_patches_of_images(batch: int) -> None:
    """The images come with channels first, and are copied with channels last and a margin, in the group."""
    module = Images().eval()
    module.second, module.third = torch.nn.Conv2d(16, 24, 3, padding=1), torch.nn.Conv2d(24, 32, 3, 2, 1)
    module, x = module.to(torch.bfloat16), torch.randn(batch, 3, 37, 30).to(torch.bfloat16)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="sim -arch=sm_90a")
        expected = module.float()(x.float())
    torch.testing.assert_close(model(x).float(), expected, rtol=0.03, atol=0.03)
    assert model.verify(x)
    text = model.ir("graph")
    assert text.count("graph.transpose %arg0") == 1 and "graph.conv" not in text, text
    assert text.count("permutation = array<i64: 0, 3, 1, 2>") == 0, text
    first = model.groups[0]
    assert first.schedule.plan is not None
    assert [one.rule for one in first.schedule.plan] == ["copied pixels"] * 2 + ["convolutions by warpgroups"]
    assert {"transpose", "windows", "matmul", "relu"} <= set(first.operators)
