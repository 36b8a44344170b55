"""The package from this tree, and its plug-in of pytest where the package is not installed."""

import pathlib
import sys

import pytest

here = pathlib.Path(__file__).resolve().parent
try:
    import plumbline  # noqa: F401
except ImportError:
    sys.path.insert(0, str(here.parent))
sys.path.insert(0, str(here))


@pytest.fixture
def kernels():
    return str(here / "kernels.py")


@pytest.fixture
def examples():
    return here.parent / "examples"
