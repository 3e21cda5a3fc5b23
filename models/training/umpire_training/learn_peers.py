"""What others make of the labelled rows that `npm run bench:quality -- --learn` drew: the same rows to learn from, the same to judge by.

scikit-learn's logistic regression on the embedder's vectors, and SetFit on the embedder's own base model (all-MiniLM-L6-v2).
Writes peers.json beside the frozen rows; the bench takes it from there.

    python -m umpire_training.learn_peers --rows DIR
    python -m umpire_training.learn_peers --rows DIR --data $UMPIRE_DATA --setfit trec,snips --sizes 8,16 --seeds 2
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from umpire_training.base import base_folder

STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
FOLDS = 5
BINS = 15
LEAST_PROBABILITY = 1e-12


@dataclass(frozen=True)
class FrozenRows:
    """Rows of one task: `[rows]` hashes of documents, `[rows, dimensions]` vectors, `[rows]` places of the right options."""

    states: list[str]
    options: int
    vectors: np.ndarray
    labels: np.ndarray


def read_rows(path: Path) -> FrozenRows:
    """A file of src/learning/rows-file.ts, its checksum checked."""
    body, digest = path.read_bytes()[:-32], path.read_bytes()[-32:]
    if body[:8] != b"umprows1" or hashlib.sha256(body).digest() != digest:
        raise SystemExit(f"{path} is no file of frozen rows, or is broken.")
    (length,) = struct.unpack_from("<I", body, 8)
    header = json.loads(body[12 : 12 + length])
    (question,) = header["questions"]
    dimensions, options, states = header["dimensions"], len(question["options"]), question["states"]
    row = np.dtype([("vector", "<f4", dimensions), ("zero_shot", "<f8", options), ("target", "<f8", options)])
    rows = np.frombuffer(body, row, len(states), 12 + length)
    return FrozenRows(states, options, rows["vector"].astype(np.float64), rows["target"].argmax(1))


def judge(probabilities: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Accuracy, mean negative log-likelihood in nats, and calibration error in 15 bins, as src/quality/figures.ts has them."""
    confidence, right = probabilities.max(1), probabilities.argmax(1) == labels
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [(bins == b).sum() * abs(confidence[bins == b].mean() - right[bins == b].mean()) for b in set(bins)]
    of_label = probabilities[np.arange(len(labels)), labels]
    return {
        "accuracy": float(right.mean()),
        "nll": float(-np.log(np.maximum(of_label, LEAST_PROBABILITY)).mean()),
        "ece": float(sum(gaps) / len(labels)),
    }


def regress(x: np.ndarray, y: np.ndarray, options: int, test: np.ndarray, strength: float) -> np.ndarray:
    """`[test, options]`: an option without rows has probability 0."""
    from sklearn.linear_model import LogisticRegression

    probabilities = np.zeros((len(test), options))
    known = np.unique(y)
    if len(known) == 1:
        probabilities[:, known] = 1
        return probabilities
    model = LogisticRegression(C=strength, max_iter=1000, tol=1e-3).fit(x, y)
    probabilities[:, model.classes_] = model.predict_proba(test)
    return probabilities


def choose_strength(x: np.ndarray, y: np.ndarray, options: int) -> float:
    """By the log-loss of held-out folds; rows are dealt to them option by option."""
    fold = np.empty(len(y), int)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % FOLDS
    losses = []
    for strength in STRENGTHS:
        loss = 0.0
        for held in range(FOLDS):
            rest = fold != held
            found = regress(x[rest], y[rest], options, x[~rest], strength)
            loss -= np.log(np.maximum(found[np.arange((~rest).sum()), y[~rest]], 1e-6)).sum()
        losses.append(loss)
    return STRENGTHS[int(np.argmin(losses))]


def measure_regression(task: dict, rows: FrozenRows, chosen: bool) -> list[dict]:
    vectors = rows.vectors[:, -task["parts"][-1] :]
    found = []
    for draw in task["draws"]:
        training, test = np.array(draw["training"]), np.array(draw["test"])
        x, y = vectors[training], rows.labels[training]
        strength = choose_strength(x, y, rows.options) if chosen else 1.0
        figures = judge(regress(x, y, rows.options, vectors[test], strength), rows.labels[test])
        found.append({"task": task["task"], "rowsPerOption": draw["rowsPerOption"], "seed": draw["seed"], **figures})
    return found


def read_texts(data: Path, task: str, states: list[str]) -> list[str]:
    """The documents of frozen rows, found by their hashes."""
    with gzip.open(data / "heldout" / f"{task}.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["state"] for line in lines]
    hashed = {hash_of_state(text): text for text in texts}
    return [hashed[state] for state in states]


def hash_of_state(text: str) -> str:
    """As `hashOfState` of src/learning/frozen-rows.ts."""
    return hashlib.sha256(json.dumps(["state", text], ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def measure_setfit(task: dict, rows: FrozenRows, texts: list[str], draws: list[dict]) -> list[dict]:
    """One epoch over its pairs, else SetFit's own settings; a logistic regression is its head."""
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments

    found = []
    for draw in draws:
        began = time.perf_counter()
        model = SetFitModel.from_pretrained(str(base_folder()))
        arguments = TrainingArguments(batch_size=16, num_epochs=1, max_steps=-1, seed=draw["seed"], report_to="none", save_strategy="no")
        training = draw["training"]
        dataset = Dataset.from_dict({"text": [texts[i] for i in training], "label": [int(rows.labels[i]) for i in training]})
        Trainer(model=model, args=arguments, train_dataset=dataset).train()
        head = model.model_head
        probabilities = np.zeros((len(draw["test"]), rows.options))
        probabilities[:, head.classes_] = np.asarray(model.predict_proba([texts[i] for i in draw["test"]]))
        figures = judge(probabilities, rows.labels[np.array(draw["test"])])
        found.append({"task": task["task"], "rowsPerOption": draw["rowsPerOption"], "seed": draw["seed"], **figures})
        print(f"{task['task']} {draw['rowsPerOption']} {draw['seed']}: {figures['accuracy']:.3f}, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return found


def keep(path: Path, name: str, version: str, draws: list[dict]) -> None:
    """Replaces one peer in peers.json."""
    known = json.loads(path.read_text())["peers"] if path.exists() else []
    peers = [peer for peer in known if peer["name"] != name] + [{"name": name, "version": version, "draws": draws}]
    path.write_text(json.dumps({"format": 1, "peers": sorted(peers, key=lambda peer: peer["name"])}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True, help="folder of frozen rows and draws that the bench names")
    parser.add_argument("--data", type=Path, help="folder of tasks.json, for SetFit")
    parser.add_argument("--setfit", default="", help="tasks for SetFit, by commas, in place of scikit-learn")
    parser.add_argument("--sizes", default="8,16,32,64", help="rows per option, for SetFit")
    parser.add_argument("--seeds", type=int, default=2, help="draws of each size, for SetFit")
    arguments = parser.parse_args()
    tasks = json.loads((arguments.rows / "draws.json").read_text())["tasks"]
    out = arguments.rows / "peers.json"
    if not arguments.setfit:
        import sklearn

        for name, chosen in (("scikit-learn, C = 1", False), ("scikit-learn, C chosen", True)):
            draws = []
            for task in tasks:
                draws += measure_regression(task, read_rows(arguments.rows / task["file"]), chosen)
                print(f"{name}: {task['task']}", file=sys.stderr)
            keep(out, name, sklearn.__version__, draws)
        return
    import setfit

    sizes = {int(size) for size in arguments.sizes.split(",")}
    draws = []
    for task in tasks:
        if task["task"] not in arguments.setfit.split(","):
            continue
        rows = read_rows(arguments.rows / task["file"])
        wanted = [draw for draw in task["draws"] if draw["rowsPerOption"] in sizes and draw["seed"] <= arguments.seeds]
        draws += measure_setfit(task, rows, read_texts(arguments.data, task["task"], rows.states), wanted)
        keep(out, "SetFit", setfit.__version__, draws)


if __name__ == "__main__":
    main()
