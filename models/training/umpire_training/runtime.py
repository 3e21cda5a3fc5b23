"""ONNX Runtime sessions as the server opens them."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime as ort  # noqa: E402 (the variable above must be set before the library loads)


def open_session(path: Path, threads: int = 1, optimized: Path | None = None) -> ort.InferenceSession:
    """A CPU session; `optimized` writes the graph that the runtime made of it, to look at its operators."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    for pool in ("intra_op", "inter_op"):
        options.add_session_config_entry(f"session.{pool}.allow_spinning", "0")
    # Hosts without VNNI would otherwise saturate 16-bit sums and answer wrongly.
    options.add_session_config_entry("session.x64quantprecision", "1")
    if optimized:
        options.optimized_model_filepath = str(optimized)
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
