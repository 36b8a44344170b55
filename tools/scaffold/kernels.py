"""New operators, variants and mutants inside of the tree. Each function returns what to tell the user."""

import os
import re
import shutil

from .tree import Refused, check_name, type_of


def new_op(tree, name, like=None, formula=False, folder=None):
    """An operator that works as it stands: contract, oracle and cases, a first host variant, a mutant, and
    its line in the list.

    like: the operator whose shapes, cases and definition it begins with; without it, y = 2 x.
    formula: a header with a formula, from which oracle, bound and cases follow.
    folder: the header of the formula and a kernel go there, for --extra, and the tree stays as it is."""
    check_name(name, "axpy")
    if folder is not None and not formula:
        raise Refused("--folder is for operators by formula: add --formula")
    if like is not None and formula:
        raise Refused("--like copies a contract, --formula begins one: choose one of them")
    if folder is not None:
        return formula_of_users_own(tree, name, folder)
    words = {"op": name, "Op": type_of(name), "name": "01_serial"}
    files = {}
    if formula:
        files[f"reference/ops/{name}.hpp"] = tree.template("formula.hpp", **words)
        include = f"reference/ops/{name}.hpp"
        files[f"reference/cpu/{name}/01_serial.cpp"] = tree.template(
            "formula_variant.cpp", **words, include=include
        )
        files[f"verify/mutants/{name}.cpp"] = tree.template("formula_mutants.cpp", **words)
        computes = "y = w x / (1 + mean |x|)"
    elif like is None:
        for end in ("hpp", "cpp"):
            files[f"reference/ops/{name}.{end}"] = tree.template(f"operator.{end}", **words)
        files[f"reference/cpu/{name}/01_serial.cpp"] = tree.template("variant.cpp", **words)
        files[f"verify/mutants/{name}.cpp"] = tree.template("mutants.cpp", **words)
        computes = "y = 2 x"
    else:
        tree.check_operator(like)
        files = copied(tree, like, name)
        files[f"verify/mutants/{name}.cpp"] = tree.template("mutants_of.cpp", **words, idea="nothing_written")
        computes = f"what {like} computes,"
    listing = "verify/operators.hpp"
    tree.write(files | {listing: with_operator((tree.root / listing).read_text(), name)}, replaced=[listing])
    *first, last = files
    return (
        f"wrote {', '.join(first)} and {last}, and listed {type_of(name)} in {listing}.\n"
        f"They compute {computes} until you change them; now: tools/plumb verify --case '{name}.*'\n"
        f"and for the mutant: tools/plumb verify --mutants --device cpu --case '{name}.*'"
    )


def formula_of_users_own(tree, name, folder):
    """A header with a formula and a kernel in a folder of the user's own, for tools/plumb --extra."""
    words = {"op": name, "Op": type_of(name), "name": f"{name}_serial", "include": f"{name}.hpp"}
    place = os.path.abspath(folder)
    tree.write(
        {
            f"{place}/{name}.hpp": tree.template("formula.hpp", **words),
            f"{place}/{name}_serial.cpp": tree.template("formula_variant.cpp", **words),
        }
    )
    return (
        f"wrote {name}.hpp and {name}_serial.cpp to {place}.\n"
        f"They compute y = w x / (1 + mean |x|) until you change them; now: "
        f"tools/plumb --extra {folder} verify --case '{name}.*'"
    )


def copied(tree, like, name):
    """The contract, the oracle and the first host variant of operator `like` under the new name."""
    old = tree.struct(like)

    def renamed(path):
        text = (tree.root / path).read_text()
        text = re.sub(rf"\b{old}\b", type_of(name), text)
        # not in paths to that operator's own folder, whose files stay what they are
        return re.sub(rf"(?<!cpu/)\b{like}\b(?!/)", name, text)

    first = min((tree.root / f"reference/cpu/{like}").glob("01_*.cpp"))
    return {
        f"reference/ops/{name}.hpp": renamed(f"reference/ops/{like}.hpp"),
        f"reference/ops/{name}.cpp": renamed(f"reference/ops/{like}.cpp"),
        f"reference/cpu/{name}/{first.name}": renamed(first),
    }


def with_operator(text, name):
    """verify/operators.hpp with one operator more: its include in the sorted place, its line on top of the
    list."""
    line = f'#include "reference/ops/{name}.hpp"'
    includes = re.findall(r'^#include "reference/ops/.*"$', text, re.M)
    after = [i for i in includes if i < line]
    text = (
        text.replace(after[-1], f"{after[-1]}\n{line}")
        if after
        else text.replace(includes[0], f"{line}\n{includes[0]}")
    )
    return re.sub(
        r"^(using Operators = OperatorList<\n)", rf"\1    {type_of(name)},\n", text, count=1, flags=re.M
    )


def new_variant(tree, op, idea, cuda=False):
    """The next host variant of an operator, or the next rung of its GPU ladder."""
    tree.check_operator(op)
    check_name(idea, "software_prefetch")
    room, end = ("gpu", "cu") if cuda else ("reference/cpu", "cpp")
    number = tree.next_number(f"{room}/{op}")
    name = f"{number}_{idea}"
    common = f"gpu/{op}/common.hpp"
    include = common if (tree.root / common).exists() else "gpu/device/kernel.hpp"
    text = tree.template(
        f"variant_of.{end}",
        op=op,
        Op=tree.struct(op),
        name=name,
        idea=idea,
        number=str(int(number)),
        include=include,
    )
    path = f"{room}/{op}/{name}.{end}"
    tree.write({path: text})
    command = f"tools/plumb verify --case '{op}.*' --variant '*/{name}'"
    if cuda and not gpu_here():
        command += " --device simt --race"
    return f"wrote {path}; fill in run(), then: {command}"


def gpu_here():
    """Whether kernels can be compiled and run on a device of this machine."""
    built = os.environ.get("PLUMB_PRESET", "gpu").startswith("gpu")
    homes = [os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", ""), "/usr/local/cuda"]
    nvcc = shutil.which("nvcc") or any(h and os.access(f"{h}/bin/nvcc", os.X_OK) for h in homes)
    return bool(built and nvcc and os.path.exists("/dev/nvidiactl"))


def new_mutant(tree, op, idea):
    """One more mutant of a host operator, at the end of its file."""
    tree.check_operator(op)
    check_name(idea, "last_row_dropped")
    path = f"verify/mutants/{op}.cpp"
    whole = tree.template("mutants_of.cpp", op=op, Op=tree.struct(op), idea=idea)
    if not (tree.root / path).exists():
        tree.write({path: whole})
    else:
        text = (tree.root / path).read_text()
        if re.search(rf"\b{idea}\b", text):
            raise Refused(f"{path} holds '{idea}' already")
        end = re.search(r"\n}  // namespace\n}  // namespace plumb\n*$", text)
        if end is None:
            raise Refused(f"{path} does not end in '}}  // namespace' twice: add the mutant yourself")
        body = re.search(r"namespace \{\n(.*)\n}  // namespace\n}  // namespace plumb", whole, re.S).group(1)
        if f"PLUMB_FAULTS_OF({tree.struct(op)})" in text:
            body = re.sub(r"PLUMB_FAULTS_OF\(\w+\);\n\n", "", body)
        tree.write({path: text[: end.start()] + body + text[end.start() :]}, replaced=[path])
    return (
        f"wrote mutant/{idea} to {path}; it writes nothing until you change it, and must be killed:\n"
        f"tools/plumb verify --mutants --device cpu --case '{op}.*'"
    )
