#!/usr/bin/env python3
"""Runs every command of docs/start.md as it stands, in one shell, in the order of the page.

    tools/ci/road.py [--print]

A command is an indented line that begins with a program's name. It must exit with 0, or with the code that its line names:
`# exit code 1`. /tmp/try, the reader's own folder on the page, becomes a temporary folder. Exit 0: every command did as the
page says; 1: one did not, with the end of its output.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"^    ((?:PLUMB=|\$PLUMB |tools/plumb |cmake |sed |mkdir |cd |rm ).*)$", re.M)


def commands():
    """[(command line, exit code)] of the page."""
    out = []
    for line in COMMAND.findall((ROOT / "docs/start.md").read_text()):
        code = re.search(r"# exit code (\d+)", line)
        out.append((line, int(code[1]) if code else 0))
    return out


def script(lines, folder):
    """A bash script that runs each command, and stops at the first that does not end as expected."""
    out = ["cd '%s'" % ROOT]
    for line, code in lines:
        line = re.sub(r"\s+#.*$", "", line.replace("/tmp/try", folder))
        shown = line.replace("'", "'\\''")
        out.append(f"echo '>>> {shown}'; code=0; {{ {line}; }} || code=$?")
        out.append(f"[ $code = {code} ] || {{ echo \"exit code $code, and the page says {code}\"; exit 1; }}")
    return "\n".join(out)


def main():
    lines = commands()
    if "--print" in sys.argv:
        print(*[line for line, _ in lines], sep="\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["bash", "-c", script(lines, folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    for left in ROOT.glob("reference/cpu/spmv/*_my_idea.cpp"):  # where a command before its removal failed
        left.unlink()
    if done.returncode != 0:
        print(done.stdout[-4000:])
        return 1
    print(f"start.md: {len(lines)} commands did as the page says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
