"""What can be tuned, read from the environment. Every default is what the libraries do when nobody says anything."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    model_folder: Path
    # Runs inside one session: 0 leaves it to onnxruntime, which takes one thread for each core.
    intra_threads: int
    # Threads of onnxruntime wait for their next work without sleeping.
    spinning: bool
    # onnxruntime keeps freed tensors for the next run.
    arena: bool
    # Tensors go from graph to graph as they are, without a copy to numpy.
    ort_values: bool
    # Decisions at a time in one process: 0 leaves it to FastAPI's thread pool (40 threads); -1 runs them in the event loop.
    executor_threads: int
    # Replies by orjson, past FastAPI's check of its own reply.
    orjson: bool
    # How long a thread may hold the interpreter while another waits for it; Python's own 5 ms when 0.
    switch_ms: float
    # Each process of `uvicorn --workers` takes a core of its own.
    pin: bool

    @staticmethod
    def from_environment() -> Settings:
        return Settings(
            model_folder=Path(os.environ["PEER_MODEL_FOLDER"]),
            intra_threads=int(os.environ.get("PEER_INTRA_THREADS", "0")),
            spinning=flag("PEER_SPINNING", True),
            arena=flag("PEER_ARENA", True),
            ort_values=flag("PEER_ORT_VALUES", False),
            executor_threads=int(os.environ.get("PEER_EXECUTOR_THREADS", "0")),
            orjson=flag("PEER_ORJSON", False),
            switch_ms=float(os.environ.get("PEER_SWITCH_MS", "0")),
            pin=flag("PEER_PIN", False),
        )


def flag(name: str, default: bool) -> bool:
    return os.environ.get(name, str(int(default))) == "1"
