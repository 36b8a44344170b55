"""A CUDA program that a test has built by tools/simt-nvcc."""

import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 600  # seconds after which a test gives up; nothing is measured


def build(test_class, name, source):
    """The folder of `name`.cu with `source`, and of its program `name`; gone after the class's tests."""
    scratch = tempfile.TemporaryDirectory(prefix=f"simt {name} ")
    test_class.addClassCleanup(scratch.cleanup)
    folder = Path(scratch.name)
    (folder / f"{name}.cu").write_text(source)
    command = [str(ROOT / "tools/simt-nvcc"), f"{name}.cu", "-o", name]
    subprocess.run(command, cwd=folder, check=True, timeout=PATIENCE)
    return folder
