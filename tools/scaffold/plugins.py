"""A folder outside of the tree with kernels as a shared library, for verify --plugin."""

import re
from pathlib import Path

from .tree import check_name

SIGNATURE = re.compile(r'kSignature =\s*"([^"]*)"')


def arrays(contract):
    """(name in a call, name in C, its shape) of every array of a contract, in the order of its signature."""
    sparse = set()
    for item in re.split(r",|->", SIGNATURE.search(contract).group(1)):
        name, _, extents = (part.strip() for part in item.partition(":"))
        extents = re.sub(r" (flag|>0|(in|to) \S+)$", "", extents).split()
        if extents[:1] == ["csr"]:
            sparse.add(name)
            yield f"{name}.row_ptr", f"{name}_row_ptr", f"({extents[1]} + 1)"
            yield from ((f"{name}.{part}", f"{name}_{part}", "(nnz)") for part in ("col", "val"))
        elif extents:
            yield name, name, f"({', '.join('nnz' if e in sparse else e for e in extents)})"


def fetched(contract, cuda):
    """The lines of a skeleton that fetch each array: of a C macro, or of a CUDA function."""
    lines = []
    for called, name, note in arrays(contract):
        find = f'const plumb_array* {name} = plumb_find_array(call, "{called}");'
        missing = f'if (!{name}) return "{called} is missing";'
        if cuda:
            lines += [f"  {find}  // {note}" if note else f"  {find}", f"  {missing}"]
        else:
            lines += [f"    {find}" + (f" /* {note} */" if note else "") + " \\", f"    {missing} \\"]
    return "\n".join(lines)


def new_plugin(tree, op, name, place="."):
    """The folder NAME in `place`: a C interface, host and CUDA kernels, and what builds them. Returns what to
    tell the user."""
    tree.check_operator(op)
    check_name(name, "mine")
    folder = Path(place).resolve() / name
    template = tree.root / "gpu/plugin/template"
    plumb = "plumb" if (tree.root / "version").exists() else "tools/plumb"  # where it is installed
    files = {folder / "plugin_abi.h": (tree.root / "gpu/plugin/plugin_abi.h").read_text()}
    for end in ("CMakeLists.txt", "README.md", "plugin.c"):
        text = (template / end).read_text().replace("spmv", op).replace("tools/plumb", plumb)
        files[folder / end] = re.sub(r"\btemplate\b", name, text).replace("libtemplate", f"lib{name}")
    for stem, end in (("host", "c"), ("cuda", "cu")):
        if op == "spmv":
            text = (template / f"{stem}.{end}").read_text()
        else:
            find = fetched(tree.contract(op), end == "cu")
            text = tree.template(f"plugin_{stem}.{end}", op=op, Op=tree.struct(op), find=find)
        files[folder / f"{stem}.{end}"] = text
    tree.write(files)
    ready = "; its kernels are correct as they are" if op == "spmv" else ""
    return (
        f"wrote {name}/: plugin.c (the list), host.c, cuda.cu, CMakeLists.txt, plugin_abi.h{ready}\n"
        f"now: cmake -S {name} -B {name}/build -G Ninja && cmake --build {name}/build && "
        f"{plumb} verify --plugin {name}/build/lib{name}.so"
    )
