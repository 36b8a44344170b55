"""The commands of tools/plumb that write new files. Exit 0; 2: refused, with the reason on standard error,
and nothing written."""

import argparse
import os
import sys

from . import kernels, plugins
from .tree import Refused, Tree, nearest


class Parser(argparse.ArgumentParser):
    """Errors in Plumbline's words."""

    def error(self, message):
        raise Refused(f"{message} ({self.epilog})")


def parser():
    top = Parser(prog="tools/plumb", epilog="tools/plumb help")
    commands = top.add_subparsers(dest="command", required=True)

    def command(name, example, *words):
        p = commands.add_parser(name, epilog=f"example: tools/plumb {name} {example}")
        for word in words:
            p.add_argument(word)
        return p

    new_op = command("new-op", "axpy", "name")
    new_op.add_argument("--like", metavar="OP", help="begin with that operator's shapes and cases")
    new_op.add_argument("--formula", action="store_true", help="oracle, bound and cases from a formula")
    new_op.add_argument("--folder", metavar="DIR", help="with --formula: files for --extra DIR")
    command("new-variant", "spmv software_prefetch", "op", "idea").add_argument(
        "--cuda", action="store_true", help="a GPU rung"
    )
    command("new-mutant", "spmv last_row_dropped", "op", "idea")
    command("new-plugin", "spmv mine", "op", "name")
    command("nearest", "spvm spmv spmm", "word").add_argument("known", nargs="*")
    return top


def perform(arguments):
    tree = Tree()
    a = vars(parser().parse_args(arguments))
    name = a.pop("command")
    if name == "nearest":
        return nearest(a["word"], a["known"])
    if name == "new-plugin":
        return plugins.new_plugin(tree, **a, place=os.getcwd())
    return {"new-op": kernels.new_op, "new-variant": kernels.new_variant, "new-mutant": kernels.new_mutant}[
        name
    ](tree, **a)


def main():
    try:
        print(perform(sys.argv[1:]))
    except Refused as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
