"""PyTorch's encoder layers in inference, where its modules call one operator for a whole layer."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("norm_first", "activation", "batch_first", "padded"),
    [(False, "relu", True, False), (True, "gelu", True, True), (False, "gelu", False, True)],
)
def test_an_encoder(norm_first: bool, activation: str, batch_first: bool, padded: bool) -> None:
    torch.manual_seed(0)
    torch.compiler.reset()
    layer = nn.TransformerEncoderLayer(32, 4, 64, norm_first=norm_first, activation=activation, batch_first=batch_first)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x = torch.randn(2, 11, 32)
    mask = torch.arange(11)[None] >= torch.tensor([[11], [7]]) if padded else None
    x = x if batch_first else x.transpose(0, 1)
    with torch.no_grad():
        wanted = model(x, src_key_padding_mask=mask)
        made = torch.compile(model, backend="tilewright", fullgraph=True)(x, src_key_padding_mask=mask)
    torch.testing.assert_close(made, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.sweep
def test_a_layer_with_a_causal_mask() -> None:
    torch.manual_seed(0)
    torch.compiler.reset()
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()
    x, mask = torch.randn(2, 11, 32), nn.Transformer.generate_square_subsequent_mask(11)
    with torch.no_grad():
        wanted = layer(x, src_mask=mask)
        made = torch.compile(layer, backend="tilewright", fullgraph=True)(x, src_mask=mask)
    torch.testing.assert_close(made, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.sample(1)
@pytest.mark.parametrize("weights", [None, "mean", "all"])
def test_attention_with_its_weights(weights: str | None) -> None:
    torch.manual_seed(0)
    torch.compiler.reset()
    model, x = nn.MultiheadAttention(32, 4, batch_first=True).eval(), torch.randn(2, 7, 32)
    given = {"need_weights": weights is not None, "average_attn_weights": weights == "mean"}
    with torch.no_grad():
        wanted = model(x, x, x, **given)
        made = torch.compile(model, backend="tilewright", fullgraph=True)(x, x, x, **given)
    assert (made[1] is None) == (weights is None)
    for ours, theirs in zip(made, wanted):
        if theirs is not None:
            torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
