"""Weights between what training started from and what it led to: new tasks learned, sentence vectors not forgotten.

    python -m umpire_training.average --model runs/final.pt --share 0.3 --out runs/averaged.pt
    python -m umpire_training.average --model runs/kev/last.pt --averaged --share 0 --out runs/final.pt   # the run's own average

`--share` is the start's part of the encoder and of the projections, which start as the identity or zero. The head stays as
trained.
"""

from __future__ import annotations

import argparse

from .base import base_folder
from .model import KevModel, from_minilm, load, save

OWN = ("head_module", "window_indexes", "sharpness")


def average(model: KevModel, base: KevModel, share: float) -> KevModel:
    """Changes and returns `model`."""
    start = base.state_dict()
    mixed = {name: value if name.startswith(OWN) else value.lerp(start[name], share) for name, value in model.state_dict().items()}
    model.load_state_dict(mixed)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="runs/final.pt")
    parser.add_argument("--averaged", action="store_true", help="of a checkpoint: its weights averaged over the last steps")
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--out", default="runs/averaged.pt")
    args = parser.parse_args()
    save(average(load(args.model, args.averaged), from_minilm(base_folder()), args.share), args.out)


if __name__ == "__main__":
    main()
