"""Weights: where they come from, how they are stored, averages of them."""

import torch

from umpire_training.model import KevModel, Shape, load, save


def test_saved_and_loaded(tiny, tmp_path):
    save(tiny, tmp_path / "model.pt", tokens=12)
    loaded = load(tmp_path / "model.pt")
    assert loaded.shape == tiny.shape and not loaded.training
    assert all(torch.equal(value, tiny.state_dict()[name]) for name, value in loaded.state_dict().items())


def test_the_match_starts_as_the_plain_cosine():
    """`match_state` undoes `state_value`: the partial sums add up to the cosine of the mean vectors."""
    torch.manual_seed(2)
    model = KevModel(Shape(hidden=36, layers=1, heads=6, inner=64))
    piece, state = torch.randn(4, 36), torch.randn(1, 36)
    match = model.piece_vectors(piece, model.state_value(state))[:, -6:].sum(1)
    assert torch.allclose(match, torch.cosine_similarity(piece, state), atol=1e-4)


def test_average_of_base_and_trained(base):
    from umpire_training.average import average
    from umpire_training.model import from_minilm

    start, trained = from_minilm(base), from_minilm(base)
    with torch.no_grad():
        trained.layers[0].query.bias.add_(1.0)
        trained.head_module.outer.bias.add_(1.0)
    mixed = average(trained, start, 0.25)
    assert torch.allclose(mixed.layers[0].query.bias - start.layers[0].query.bias, torch.tensor(0.75), atol=1e-5)
    assert torch.allclose(mixed.head_module.outer.bias - start.head_module.outer.bias, torch.tensor(1.0))
