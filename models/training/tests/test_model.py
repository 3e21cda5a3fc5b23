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
    piece, lead, state = torch.randn(4, 36), torch.randn(1, 36), torch.randn(1, 36)
    values = model.state_value(state)
    vectors = model.piece_vectors(piece, lead, values, (values.expand(4, -1), values))
    for first, vector in ((-24, piece), (-18, piece), (-12, lead), (-6, lead)):
        found = vectors[:, first:][:, :6].sum(1)
        assert torch.allclose(found, torch.cosine_similarity(vector, state).expand(4), atol=1e-4)


def test_the_likest_place_is_found_among_many():
    torch.manual_seed(3)
    model = KevModel(Shape(hidden=36, layers=1, heads=6, inner=64))
    state = torch.randn(1, 50, 36)
    with torch.no_grad():
        model.sharpness.fill_(60.0)
    place = model.likest_places(model.sought(state[0, 17:18], 0)[None], model.state_value(state))
    assert torch.allclose(place[0, 0], model.state_value(state[0, 17]), atol=0.05)


def test_an_untrained_yes_follows_the_likeness_of_instructions_and_state():
    head = KevModel(Shape(hidden=36, layers=1, heads=6, inner=64)).head_module
    torch.nn.init.zeros_(head.outer.weight)
    alike, unlike = torch.zeros(1, 2, 36), torch.zeros(1, 2, 36)
    alike[..., -12:], unlike[..., -12:] = 0.6 / 6, 0.1 / 6
    no, yes = head(alike, torch.tensor([1]), torch.tensor([[0, 0]]))[0].tolist()
    assert yes > no
    no, yes = head(unlike, torch.tensor([1]), torch.tensor([[0, 0]]))[0].tolist()
    assert yes < no


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
