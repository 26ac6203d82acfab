"""Models that write to parts of tensors, of which PyTorch's functionalization does not make functions."""

from __future__ import annotations

import pytest

import tilewright as tw

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")


class Shifted(torch.nn.Module):
    """Scores of attention relative to positions, masked in place: a view of what einsum returns is written to."""

    def forward(self, query, position, mask):
        scores = torch.einsum("binh,tnh->bnit", query, position)
        batch, heads, rows, columns = scores.shape
        shifted = scores.reshape(batch, heads, columns, rows)[:, :, 1:, :].reshape(batch, heads, rows, columns - 1)
        shifted = shifted[..., :rows]
        shifted *= mask
        return shifted + 1


@pytest.mark.sweep
def test_a_write_to_a_view_of_a_result_of_einsum():
    torch.manual_seed(0)
    inputs = torch.randn(2, 4, 2, 3), torch.randn(8, 2, 3), torch.rand(4, 4)
    model = tw.compile(Shifted(), inputs, target="cpu")
    torch.testing.assert_close(model(*inputs), Shifted()(*inputs))


class Kept(Shifted):
    """The same, where what is written to is read as another view afterwards."""

    def forward(self, query, position, mask):
        scores = torch.einsum("binh,tnh->bnit", query, position)
        shifted = scores.reshape(2, 2, 8, 4)[:, :, 1:, :].reshape(2, 2, 4, 7)[..., :4]
        shifted *= mask
        return scores.sum()


def test_a_write_that_others_read_stays():
    from tilewright.torch.in_place import without_writes

    inputs = torch.randn(2, 4, 2, 3), torch.randn(8, 2, 3), torch.rand(4, 4)
    program = torch.export.export(Kept(), inputs, strict=False)
    assert without_writes(program) is None
    program = torch.export.export(Shifted(), inputs, strict=False)
    before = str(program)
    made = without_writes(program)
    assert made is not None and "mul_.Tensor" in before and "mul_.Tensor" not in str(made)
    assert str(program) == before, "the user's program is left as it is"
