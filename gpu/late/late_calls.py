#!/usr/bin/env python3
"""late_calls.py NM OUT LIBRARY...: assembly with a function for each that these shared libraries offer.

The first call of one loads its library (load.cpp). A program that is linked with it starts without them:
cuBLAS and cuSPARSE take a tenth of a second of processor time in every process, and verify starts one for
each variant. For x86-64, as the GNU assembler reads it."""
import pathlib
import re
import subprocess
import sys

# A call's arguments lie in registers, and on the stack where the callee finds them: all stay as they are
# while the library is loaded.
LOAD = """\
load:
  .irp r, rax, rdi, rsi, rdx, rcx, r8, r9
  push %\\r
  .endr
  sub $136, %rsp
  .irp x, 0, 1, 2, 3, 4, 5, 6, 7
  movaps %xmm\\x, 16*\\x(%rsp)
  .endr
  mov 192(%rsp), %rdi
  call plumb_late_function
  mov %rax, %r11
  .irp x, 0, 1, 2, 3, 4, 5, 6, 7
  movaps 16*\\x(%rsp), %xmm\\x
  .endr
  add $136, %rsp
  .irp r, r9, r8, rcx, rdx, rsi, rdi, rax
  pop %\\r
  .endr
  add $8, %rsp
  jmp *%r11
"""


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def functions_of(nm: str, library: str) -> list[str]:
    """Names of the functions that a shared library offers, without their versions."""
    lines = output_of(nm, "-D", "--defined-only", library).splitlines()
    return sorted({words[2].split("@")[0] for words in map(str.split, lines)
                   if len(words) == 3 and words[1] == "T" and re.fullmatch(r"[A-Za-z]\w*@*[\w.]*", words[2])})


def assembly(libraries: list[tuple[str, list[str]]]) -> str:
    """Of libraries with their functions: a function for each, and the tables that load.cpp reads."""
    text, slots, names, of = [".text", LOAD], [], [], []
    for number, (_, functions) in enumerate(libraries):
        for name in functions:
            n = len(names)
            text.append(f".globl {name}\n.type {name}, @function\n"
                        f"{name}: jmp *plumb_late_slots+{8 * n}(%rip)\n"
                        f"first_{n}: push ${n}\n  jmp load")
            slots.append(f"  .quad first_{n}")
            names.append(f'  .asciz "{name}"')
            of.append(f"  .long {number}")

    def table(name: str, lines: list[str]) -> list[str]:
        return [f".globl {name}", ".balign 8", f"{name}:", *lines]

    paths = [f'  .asciz "{path}"' for path, _ in libraries]
    return "\n".join([*text, ".data", *table("plumb_late_slots", slots), ".section .rodata",
                      *table("plumb_late_names", names), *table("plumb_late_library_of", of),
                      *table("plumb_late_libraries", paths), '.section .note.GNU-stack,"",@progbits', ""])


def main() -> None:
    nm, out, *libraries = sys.argv[1:]
    pathlib.Path(out).write_text(assembly([(path, functions_of(nm, path)) for path in libraries]))


if __name__ == "__main__":
    main()
