"""Short training runs that differ in one thing, all measured on the same rows.

    python -m umpire_training.trials --pack runs/kev.pack --tokens 3e5 --seeds 11 12 13 --out runs/trials [--only all none …]

Every trial starts from the base model with the configuration of `configs/kev.json`, sees as many tokens as the others and
ends annealed. `trials.jsonl` gets a line a run. A difference is only worth something beyond that of the seeds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

# Of the configuration; "shape" of the model.
TRIALS: dict[str, dict] = {
    "all": {},
    "none": {"match_dropout": 0.0, "shape": {"pair": False, "rivals": 0, "long_scale": False, "gate": 0.0}},
    "no match dropout": {"match_dropout": 0.0},
    "no pair": {"shape": {"pair": False}},
    "no rivals": {"shape": {"rivals": 0, "gate": 0.0}},
    "no long scale": {"shape": {"long_scale": False}},
    "no window index": {"freeze": ["words", "positions", "window_indexes"]},
    "encoder rate 2e-4": {"backbone_lr": 2e-4},
    "encoder rate 5e-5": {"backbone_lr": 5e-5},
}
# The whole mixture from the start: a lesson has values of its own, which would hide what a trial changes.
SHORT = {"lessons": [], "pool_examples": 256, "warmup": 0.05, "decay_from": 0.6}


def run(name: str, seed: int, args: argparse.Namespace) -> dict:
    """One run of train.py in a process of its own; -> its last measurement"""
    folder = args.out / f"{name.replace(' ', '-')}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    config = {**json.loads(args.config.read_text()), **SHORT, **TRIALS[name], "seed": seed}
    (folder / "config.json").write_text(json.dumps(config))
    if not (folder / "final.pt").exists():
        subprocess.run([sys.executable, "-m", "umpire_training.train", "--config", folder / "config.json", "--pack", args.pack, "--out", folder,
                        "--tokens", str(args.tokens), "--threads", "1", "--dev-rows", str(args.rows), "--eval-every", "1e12"], check=True)
    return json.loads((folder / "log.jsonl").read_text().splitlines()[-1])["dev"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=Path("configs/kev.json"))
    parser.add_argument("--pack", type=Path, default=Path("runs/kev.pack"))
    parser.add_argument("--tokens", type=float, default=3e5)
    parser.add_argument("--rows", type=int, default=60, help="of every task that is measured on")
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    parser.add_argument("--only", nargs="*", default=list(TRIALS), choices=list(TRIALS))
    parser.add_argument("--out", type=Path, default=Path("runs/trials"))
    args = parser.parse_args()
    for seed in args.seeds:
        for name in args.only:
            line = {"trial": name, "seed": seed, "tokens": args.tokens, **run(name, seed, args)}
            with open(args.out / "trials.jsonl", "a") as file:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
