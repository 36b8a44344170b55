"""Mutants of a module of PTX: fences, barriers, waits, arrivals and orders left out or weakened. All mutants of a module are one module, which is
compiled once: a variable of it says which of them is in force. Lines stay what they were."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../simt/ptx"))
from module_text import without_comments  # noqa: E402

VARIABLE = "plumb_mutant"  # 0: the module as it was


def one_more(m):
    return f"{m[1]} {int(m[2]) + 1}"


def parity_flipped(m):
    return f"xor.b32 %{VARIABLE}_other, {m[4]}, 1; {m[1]} {m[2]}, {m[3]}, %{VARIABLE}_other"


def more(by):
    return lambda m: f"{m[1]}, {int(m[2], 0) + by}"


OF_NUMBER = r"(\d+|0x[0-9a-f]+)"


ORDERED = r"(?:ld|st|atom|red)\.(?:\w+(?:::\w+)?\.)*"
WAIT = r"mbarrier\.(?:try|test)_wait"
# what happens; the instruction as it stands (one blank between its parts), without its predicate; what stands there instead, as re.sub() takes it; what it
# needs: more than a warp in a block, more than a block in the launch
TABLE = [
    ("barrier left out", r"(?:bar|barrier)\.(?:sync|arrive|cta)\b.*", "", None),
    ("barrier left out", r"bar\.warp\.sync .*", "", None),
    ("barrier left out", r"barrier\.cluster\.wait.*", "", None),
    ("barrier narrowed", r"(?:bar|barrier)\.sync(?:\.aligned)? 0(?:, \w+)?", "bar.warp.sync -1", "warps"),
    ("barrier narrowed", r"barrier\.cluster\.arrive(?:\.release)?(\.aligned)?", r"barrier.cluster.arrive.relaxed\1", None),
    ("barrier of other threads", r"((?:bar|barrier)\.(?:sync|arrive)\S* \w+), " + OF_NUMBER, more(32), None),
    ("barrier of other threads", r"(mbarrier\.init\S* \[.*?\]), " + OF_NUMBER, more(1), None),
    ("barrier of other threads", r"(mbarrier\.init\S* \[.*?\]), " + OF_NUMBER, more(-1), None),
    ("fence left out", r"membar\..*|fence\.(?!proxy|mbarrier).*", "", None),
    ("fence narrowed", r"membar\.(?:gl|sys)", "membar.cta", "blocks"),
    ("fence narrowed", r"(fence\.(?:sc|acq_rel)\.)(?:gpu|sys|cluster)", r"\1cta", "blocks"),
    ("fence's order weakened", r"fence\.sc(\.\w+)", r"fence.acq_rel\1", None),
    ("fence's order weakened", r"membar\.(?:gl|sys)", "fence.acq_rel.gpu", None),
    ("proxy's fence left out", r"fence\.(?:proxy|mbarrier_init)\..*", "", None),
    ("proxy's fence left out", r"wgmma\.fence.*", "", None),
    ("wait left out", WAIT + r"\S* (\S+), .*", r"setp.eq.u32 \1, 0, 0", None),
    ("wait left out", r"cp\.async\.(?:bulk\.)?wait_(?:group|all).*|wgmma\.wait_group.*|griddepcontrol\.wait", "", None),
    ("wait for one group less", r"((?:cp\.async|cp\.async\.bulk|wgmma)\.wait_group\S*) (\d+)", one_more, None),
    ("wait for one group less", r"cp\.async\.wait_all", "cp.async.wait_group 1", None),
    ("wait for reads alone", r"cp\.async\.bulk\.wait_group (\d+)", r"cp.async.bulk.wait_group.read \1", None),
    ("wait for the other parity", rf"({WAIT}\.parity\S*) (\S+), (\[.*?\]), (\S+)", parity_flipped, None),
    ("arrival left out", r"mbarrier\.arrive\.(?!expect_tx).*|cp\.async\.mbarrier\.arrive.*", "", None),
    ("bytes not announced", r"mbarrier\.arrive\.expect_tx(\S*) (\S+), (\[.*?\]), .*", r"mbarrier.arrive\1 \2, \3", None),
    ("bytes not announced", r"mbarrier\.expect_tx.*", "", None),
    ("more bytes announced", r"(mbarrier\.(?:arrive\.)?expect_tx\S* .*), " + OF_NUMBER, more(16), None),
    ("fewer bytes announced", r"(mbarrier\.(?:arrive\.)?expect_tx\S* .*), " + OF_NUMBER, more(-16), None),
    ("commit left out", r"(?:cp\.async|cp\.async\.bulk|wgmma)\.commit_group.*", "", None),
    ("order weakened", rf"({ORDERED})(?:acquire|release|acq_rel)\b(.*)", r"\1relaxed\2", None),
    ("order weakened", rf"({ORDERED})acq_rel\b(.*)", r"\1acquire\2", None),
    ("order weakened", rf"({ORDERED})acq_rel\b(.*)", r"\1release\2", None),
    ("scope narrowed", rf"({ORDERED}(?:acquire|release|acq_rel)\.)(?:gpu|sys|cluster)\b(.*)", r"\1cta\2", "blocks"),
    ("scope narrowed", rf"({ORDERED})(?:gpu|sys|cluster)\.(acquire|release|acq_rel)\b(.*)", r"\1cta.\2\3", "blocks"),
]  # fmt: skip
ROWS = [(kind, re.compile(pattern), by, needs) for kind, pattern, by, needs in TABLE]
INSTRUCTION = re.compile(r"(?P<guard>@!?%?[\w$]+\s+)?\b(?P<text>(?:bar|barrier|membar|fence|mbarrier|cp|wgmma|griddepcontrol|ld|st|atom|red)\.[^;]*);")
FUNCTION = re.compile(r"(?:\.visible\s+|\.weak\s+|\.extern\s+)*\.(?:entry|func)\b")


class Mutant:
    """A fault: its number, its kind, the instruction, and which of the same opcode in the module that is; the line, and what stands there instead."""

    def __init__(self, number, kind, site, by):
        self.number, self.kind, self.by = number, kind, by
        self.line, self.opcode, self.which, self.text = site.line, site.text.split()[0], site.which, site.text

    @property
    def change(self):
        return self.kind + (f", {self.by.split()[0]}" if self.by else "")


class Site:
    """An instruction that mutants change."""

    def __init__(self, m, line):
        self.span, self.line, self.guard, self.text = m.span(), line, (m["guard"] or "").strip(), " ".join(m["text"].split())
        self.lines, self.which, self.mutants = m[0].count("\n"), 0, []

    def code(self):
        """The instruction where no mutant of it is in force, and what stands there instead where one is."""
        condition, before = self.guard[1:], ""
        if condition.startswith("!"):
            before, condition = f"not.pred %{VARIABLE}_not, {condition[1:]}; ", f"%{VARIABLE}_not"
        of = [(f"%{VARIABLE}_no{self.mutants[0].number}", self.text)] + [(f"%{VARIABLE}_{m.number}", m.by) for m in self.mutants if m.by]
        code = f"{{ .reg .pred %{VARIABLE}_not, %{VARIABLE}_now; .reg .b32 %{VARIABLE}_other; {before}"
        for now, text in of:
            if condition:
                code += f"and.pred %{VARIABLE}_now, {condition}, {now}; "
                now = f"%{VARIABLE}_now"
            code += "".join(f"@{now} {one.strip()}; " for one in text.split(";"))
        return code + "}" + "\n" * self.lines

    def decided(self):
        """At the function's begin: which of its mutants is in force."""
        first, last = self.mutants[0].number, self.mutants[-1].number
        code = f".reg .pred %{VARIABLE}_no{first}, %{VARIABLE}_past{first}; setp.lt.u32 %{VARIABLE}_no{first}, %{VARIABLE}, {first}; "
        code += f"setp.gt.u32 %{VARIABLE}_past{first}, %{VARIABLE}, {last}; or.pred %{VARIABLE}_no{first}, %{VARIABLE}_no{first}, %{VARIABLE}_past{first}; "
        return code + "".join(f".reg .pred %{VARIABLE}_{m.number}; setp.eq.u32 %{VARIABLE}_{m.number}, %{VARIABLE}, {m.number}; "
                              for m in self.mutants if m.by)


def sites_of(text, kinds, warps, blocks):
    """The instructions of a text without comments that have mutants, with these."""
    found, seen, count = [], {}, 0
    for m in INSTRUCTION.finditer(text):
        site = Site(m, text.count("\n", 0, m.start("text")) + 1)
        opcode = site.text.split()[0]
        rows = [(kind, pattern.fullmatch(site.text), by) for kind, pattern, by, needs in ROWS
                if (not kinds or kind in kinds) and (needs != "warps" or warps > 1) and (needs != "blocks" or blocks > 1)]
        seen[opcode] = site.which = seen.get(opcode, 0) + 1
        for kind, match, by in rows:
            if match:
                count += 1
                site.mutants.append(Mutant(count, kind, site, by(match) if callable(by) else match.expand(by)))
        if site.mutants:
            found.append(site)
    return found


def bodies(text):
    """Offsets behind the braces that open what is outermost."""
    depth = 0
    for m in re.finditer(r"[{}]", text):
        depth += 1 if m[0] == "{" else -1
        if depth == 1 and m[0] == "{":
            yield m.end()


def schema(text, kinds=(), warps=32, blocks=2):
    """(the module with all its mutants, which are chosen by the variable; the mutants). `kinds`: those that are asked for; none: all.
    `warps` of a block and `blocks` of the launch that it is for: without several, some changes are none."""
    bare = without_comments(text)
    sites = sites_of(bare, kinds, warps, blocks)
    if not sites:
        return text, []
    changes = [(*site.span, site.code()) for site in sites]
    first = FUNCTION.search(bare).start()
    changes.append((first, first, f".const .align 4 .u32 {VARIABLE} = 0; "))
    begins = list(bodies(bare))
    for at, end in zip(begins, [*begins[1:], len(bare)]):
        inside = [site for site in sites if at <= site.span[0] < end]
        if inside:
            begin = f" .reg .b32 %{VARIABLE}; ld.const.u32 %{VARIABLE}, [{VARIABLE}]; " + "".join(site.decided() for site in inside)
            changes.append((at, at, begin))
    for at, end, by in sorted(changes, reverse=True):
        text = text[:at] + by + text[end:]
    return text, [m for site in sites for m in site.mutants]
