"""`plumb` and `python -m plumbline`: the program verify, with this interpreter for kernels in Python."""

from __future__ import annotations

import os
import sys

from plumbline import _check, _judge, _library
from plumbline._errors import PlumblineError

USAGE = """plumb verify ...        judge kernels: plumb verify --python my_kernels.py (plumb verify --help)
plumb check FILE.npz    judge again the arrays that pl.check() has kept of a failure
plumb --version         of the program verify
"""


def main() -> int:
    words = sys.argv[1:]
    if not words or words[0] in ("help", "-h", "--help"):
        print(USAGE, end="")
        return 0 if words else 2
    if words[0] == "--version":
        words.insert(0, "verify")
    if words[0] not in ("verify", "check"):
        print(f"error: unknown command {words[0]!r}; known: verify, check", file=sys.stderr)
        return 2
    try:
        if words[0] == "check":
            return _check.main(words[1:])
        program = _library.program("verify")
    except PlumblineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    sys.stdout.flush()
    os.execve(program, [program, *words[1:]], _judge.environment())
    return 2  # where that fails, which raises


if __name__ == "__main__":
    sys.exit(main())
