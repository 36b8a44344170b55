#!/usr/bin/env python3
"""Mutants of the corpora's kernels (mutants.py) on the CPU executor: of those that are faults, nearly all are told.

    mutants_test.py LIBRARY [--language triton,numba,nvrtc] [--only NAME] [--kind KIND,...] [--seeds N] [--list]

Each mutant runs under seeds 0 to N - 1 (8) until there is a finding. A mutant that nothing tells is either named in redundant.txt, with the reason why it
is no fault, or missed. --list prints each mutant that nothing tells.

Exit 0; 1: fewer than 95 % of those that are not redundant are told, or a line of redundant.txt names none; 77, skipped: no language is installed here.
"""

import argparse
import collections
import fnmatch
import importlib
import itertools
import math
import os
import re
import sys
import time
import warnings

sys.dont_write_bytecode = True
warnings.simplefilter("ignore")
try:
    from corpus import attack
    from executor import Executor
except ImportError as e:
    print(f"skipped: {e}")
    sys.exit(77)
HERE = os.path.dirname(os.path.abspath(__file__))
LEAST = 95  # per cent


def kernels_of_triton(executor, library):
    """(name, text, (threads, blocks), is_told(module, seed)) of each kernel."""
    corpus = importlib.import_module("triton_corpus_test")
    corpus.keep_in(library)
    for case in itertools.chain(corpus.gluon_kernels.cases(), corpus.triton_kernels.cases()):
        for chip in case.chips if not case.finding else ():
            text, metadata = corpus.compiled(case, chip)
            yield (f"triton/{case.name}/{chip}", text, (metadata.num_warps * 32, math.prod(case.grid)),
                   lambda module, seed, case=case, metadata=metadata: corpus.run(executor, case, module, metadata, seed)[0])


def kernels_of_language(executor, language):
    """The same of Numba's and NVRTC's."""
    languages, cases = importlib.import_module("languages_test"), importlib.import_module(f"{language}_kernels").cases()
    for case in cases:
        yield (f"{language}/{case.name}", languages.kernel_alone(case.compiled(), case.name), (math.prod(case.block), math.prod(case.grid)),
               lambda module, seed, case=case: languages.run(executor, case, module, seed)[0])


def kernels_of(language, executor, library):
    return kernels_of_triton(executor, library) if language == "triton" else kernels_of_language(executor, language)


class Row:
    """A line of redundant.txt: KERNEL INSTRUCTION#NUMBERS [CHANGE]: REASON. KERNEL, INSTRUCTION and CHANGE are patterns; without a change, all of them."""

    TEXT = re.compile(r"(\S+) ([^\s#]+)#(\*|[\d,-]+)(?: ([^:]+))?: (.+)")

    def __init__(self, text, line):
        m = self.TEXT.fullmatch(text)
        if not m:
            raise ValueError(f"redundant.txt:{line}: not KERNEL INSTRUCTION#NUMBERS [CHANGE]: REASON: {text}")
        self.kernel, self.opcode, self.change, self.reason, self.line, self.used = m[1], m[2], m[4] or "*", m[5], line, False
        ranges = [] if m[3] == "*" else [part.partition("-") for part in m[3].split(",")]
        self.numbers = {n for first, dash, last in ranges for n in range(int(first), int(last if dash else first) + 1)}

    def is_of(self, kernel, m):
        pairs = ((kernel, self.kernel), (m.opcode, self.opcode), (m.change, self.change))
        return (not self.numbers or m.which in self.numbers) and all(fnmatch.fnmatchcase(*pair) for pair in pairs)


def redundant():
    """The rows of redundant.txt."""
    with open(os.path.join(HERE, "redundant.txt"), encoding="utf-8") as file:
        return [Row(line.strip(), k) for k, line in enumerate(file, 1) if line.strip() and not line.startswith("#")]


class Score:
    """What became of the mutants, by kind."""

    def __init__(self, known):
        self.known = known
        self.kinds = collections.defaultdict(collections.Counter)

    def add(self, kernel, made, missed):
        """Counts a kernel's mutants; returns those that nothing tells, each with the reason why it is no fault, or "" ."""
        others = []
        for m in made:
            of = self.kinds[m.kind]
            of["made"] += 1
            if m not in missed:
                of["told"] += 1
                continue
            rows = [row for row in self.known if row.is_of(kernel, m)]
            for row in rows:
                row.used = True
            of["redundant" if rows else "missed"] += 1
            others.append((m, rows[0].reason if rows else ""))
        return others

    def table(self):
        print(f"{'kind':32}    made    told  redundant  missed")
        for kind, of in sorted(self.kinds.items()):
            print(f"{kind:32}{of['made']:8}{of['told']:8}{of['redundant']:11}{of['missed']:8}")

    def percent(self):
        """(told, those that are not redundant, per cent)."""
        told, missed = (sum(of[word] for of in self.kinds.values()) for word in ("told", "missed"))
        return told, told + missed, 100 * told / max(told + missed, 1)


def judge(language, asked, executor, score):
    """Attacks the kernels of a language. Raises ImportError where it is not installed."""
    for kernel, text, shape, is_told in kernels_of(language, executor, asked.library):
        if asked.only not in kernel:
            continue
        begun = time.time()
        made, missed = attack(executor, text, shape, is_told, asked.kind and asked.kind.split(","), asked.seeds)
        others = score.add(kernel, made, missed)
        print(f"{kernel}: {len(made) - len(missed)} of {len(made)} told, {sum(why != '' for _, why in others)} redundant, {time.time() - begun:.1f} s", flush=True)
        for m, why in others:
            if asked.list or not why:
                print(f"  {why or 'MISSED'}: {kernel} {m.opcode}#{m.which} {m.change}: line {m.line}: {m.text}", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("library")
    options.add_argument("--language", default="triton,numba,nvrtc")
    options.add_argument("--only", default="")
    options.add_argument("--kind", default="")
    options.add_argument("--seeds", type=int, default=8)
    options.add_argument("--list", action="store_true")
    asked = options.parse_args()
    executor, score, skipped = Executor(asked.library), Score(redundant()), []
    for language in asked.language.split(","):
        try:
            judge(language, asked, executor, score)
        except (ImportError, SystemExit) as e:
            skipped.append(language)
            print(f"skipped: {language}: {e}")
    if not score.kinds:
        return 77 if skipped else 1
    score.table()
    told, faults, percent = score.percent()
    print(f"{told} of {faults} that are not redundant are told: {percent:.1f} %")
    whole = not asked.only and not asked.kind
    ran = set(asked.language.split(",")) - set(skipped)
    idle = [row for row in score.known if whole and not row.used and row.kernel.split("/")[0] in ran]
    for row in idle:
        print(f"redundant.txt:{row.line}: names no mutant that nothing tells")
    return 1 if percent < LEAST or idle else 0


if __name__ == "__main__":
    sys.exit(main())
