"""Finds what can be mutated in a file, and how each place is written so that a number chooses at run time."""

import re

from . import operators as ops
from .calls import Calls
from .openmp import OpenMp
from .place import FIXED, M, Mutant, Place, wrapped
from .ptx import InlinePtx
from .ranges import CASTS, Ranges

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
ZERO = re.compile(r"(?:\w+\s*[({]\s*)?0(?:\.0*)?[fFuUlL]*\s*[)}]?$")
SHORT = {"SHORT", "USHORT", "CHAR_S", "CHAR_U", "SCHAR", "UCHAR"}
BINARIES = ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR")
COUNTED = ("INTEGER_LITERAL", "FLOATING_LITERAL", *BINARIES)


class Finder(Calls, OpenMp, InlinePtx, Ranges):
    """Walks a file of a unit: `places` is what it found; `unswitchable`: so much is used at compile time."""

    def __init__(self, unit, file):
        self.file, self.text = file, unit.files[file].text
        self.macros = unit.macros[file]
        self.places, self.namespaces, self.unswitchable = [], [], 0
        self.functions = []  # (name, start, end) of each body
        self.written = None  # what the expression at hand assigns to
        self.canonical = 0  # loops further in keep the form that OpenMP asks for
        self.capacity = False  # within a call that asks for memory
        self.counters = {}  # of the loops around: what they stay below
        self.own = set(unit.files)
        for node in unit.top(file):
            self.declaration(node)

    def is_own(self, file):
        return file in self.own

    # ---- text ----
    def span(self, node):
        return node.extent.start.offset, node.extent.end.offset

    def of(self, node):
        start, end = self.span(node)
        return self.text[start:end]

    def in_macro(self, node):
        start, end = self.span(node)
        return any(a <= start and end <= b for a, b in self.macros)

    def cuts_macro(self, start, end):
        return any(a < end and start < b and not (start <= a and b <= end) for a, b in self.macros)

    def between(self, left, right):
        start, end = left.extent.end.offset, right.extent.start.offset
        return start, end, COMMENT.sub(" ", self.text[start:end]).strip()

    def closing(self, start):
        """The offset behind the bracket that closes the one at start."""
        depth = 0
        for at in range(start, len(self.text)):
            if self.text[at] in "([{":
                depth += 1
            elif self.text[at] in ")]}":
                depth -= 1
                if depth == 0:
                    return at + 1
        return len(self.text)

    def pragma_above(self, start):
        """The OpenMP directive directly above, with its continued lines; "" where there is none."""
        lines = self.text[:start].rstrip().split("\n")
        found = []
        while lines and (not found or lines[-1].rstrip().endswith("\\")):
            found.insert(0, lines.pop())
            if found[0].lstrip().startswith("#"):
                break
        text = " ".join(found)
        return text if text.lstrip().startswith("#") else ""

    # ---- places ----
    def add(self, span, around, mutants, cuts=()):
        (start, end), (before, after) = span, around
        if self.cuts_macro(start, end):
            return
        self.places.append(Place(self.file, start, end, before, after, mutants, list(cuts)))

    def wrap(self, node, function, mutants, more=""):
        """function(first, node): mutants are (family, text in place of the node)."""
        start, end = self.span(node)
        made = [Mutant(family, start, end, text) for family, text in mutants]
        self.add((start, end), (f"{M}{function}({{first}}, ", f"{more})"), made)

    def narrowed(self, node):
        """Through a narrower type; not where the value is known to be one of that type."""
        text, size = self.of(node), self.size(node)
        function = "narrow_constant" if self.constant(node) else "narrow"
        mutants = [(ops.NARROWED, f"narrower({text})"), (ops.NARROWED_TO_32, f"int32({text})")]
        if function == "narrow" and size is not None:
            if re.fullmatch(r"\d+", size) and int(size) <= 1 << 15:
                return
            self.wrap(node, "narrow_within", mutants, more=f", {size}")
        else:
            self.wrap(node, function, mutants)

    def alternative(self, span, text, mutant):
        """`text` instead of a statement, chosen by a number."""
        self.add(span, (f"if ({M}at({{first}}, 1) == 0) {{ {text} }} else {{ ", " }"), [mutant])

    def skip(self, node):
        """Used at compile time: counted, not made."""
        self.unswitchable += node.kind.name in COUNTED
        for child in node.get_children():
            self.skip(child)

    # ---- declarations ----
    def declaration(self, node):
        kind = node.kind.name
        if kind in ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL"):
            children = list(node.get_children())
            if kind == "NAMESPACE" and node.spelling and any(c.kind.name != "NAMESPACE" for c in children):
                opened = self.text.index("{", node.location.offset)
                self.namespaces.append((opened + 1, node.extent.end.offset - 1))
            for child in children:
                self.declaration(child)
        elif kind in (
            "FUNCTION_DECL",
            "FUNCTION_TEMPLATE",
            "CXX_METHOD",
            "CONSTRUCTOR",
            "DESTRUCTOR",
            "CONVERSION_FUNCTION",
        ):
            for child in node.get_children():
                if child.kind.name == "COMPOUND_STMT" and not self.in_macro(child):
                    self.body = self.of(child)
                    self.functions.append((node.spelling, *self.span(child)))
                    self.statement(child)
                    self.alone(*self.span(child))
                    self.asm_statements(*self.span(child))
        elif kind in (
            "CLASS_DECL",
            "STRUCT_DECL",
            "CLASS_TEMPLATE",
            "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION",
            "UNION_DECL",
        ):
            for child in node.get_children():
                self.declaration(child)
        elif kind == "VAR_DECL":
            self.skip(node)

    def variable(self, node):
        name = node.location.offset
        begin = max(self.text.rfind(mark, 0, name) for mark in ";{}") + 1
        head = self.text[begin:name]  # of the first name of several, too
        children = [
            c
            for c in node.get_children()
            if c.extent.start.offset > name and self.text[: c.extent.start.offset].rstrip()[-1:] != "["
        ]
        inits = [c for c in children if c.kind.is_expression()]
        if not inits:
            return
        init = self.core(inits[-1])
        literal = init.kind.name in ("INTEGER_LITERAL", "FLOATING_LITERAL")
        if re.search(r"\b(constexpr|static)\b", head) or (re.search(r"\bconst\b", head) and literal):
            self.skip(init)
            return
        reference = (
            node.type.get_canonical().kind.name in ("LVALUEREFERENCE", "RVALUEREFERENCE") or "&" in head
        )
        braced = init.kind.name == "INIT_LIST_EXPR"
        if (
            ZERO.match(self.of(init))
            and self.accumulates(node.spelling)
            and not reference
            and not self.in_macro(init)
        ):
            start, end = self.span(init)
            self.wrap(init, "uncleared", [(ops.UNCLEARED, self.of(init).replace("0", "1", 1))])
            return
        self.expression(init, narrow=not reference and not braced)

    def accumulates(self, name):
        n = re.escape(name)
        return re.search(rf"\b{n}\s*(?:\+=|\|=)|\b{n}\s*=[^=;]*\b{n}\b|\+\+{n}\b", self.body) is not None

    # ---- statements ----
    def statement(self, node, deletable=True, last=False):
        """last: nothing follows it in the statement around it."""
        kind = node.kind.name
        if self.in_macro(node) or kind == "UNEXPOSED_STMT" and not list(node.get_children()):
            return
        if self.pragma_above(node.extent.start.offset):
            self.shared_out(node, last)
        if kind in ("BREAK_STMT", "CONTINUE_STMT") or (
            kind == "RETURN_STMT" and not list(node.get_children())
        ):
            self.delete(node, ops.STATEMENT)
            return
        if node.kind.is_expression():
            if deletable:
                self.deletable(node)
            self.expression(node, top=True)
            return
        how = getattr(self, "on_" + kind.lower(), None)
        if how:
            how(node)
        else:
            self.each(node)

    def each(self, node):
        for child in node.get_children():
            if child.kind.is_expression():
                self.expression(child)
            elif child.kind.is_statement():
                self.statement(child)
            elif child.kind.name == "VAR_DECL":
                self.variable(child)
            elif child.kind.is_declaration():
                self.declaration(child)

    def deletable(self, node):
        inner = self.core(node)
        callee = self.callee(inner)[0] if inner.kind.name == "CALL_EXPR" else ""
        if callee in ops.REMARKS or self.of(node).startswith("(void)"):
            return
        self.delete(node, ops.BARRIER if re.search(ops.WAITS, callee, re.I) else ops.STATEMENT)

    def delete(self, node, family):
        start, end = self.span(node)
        after = re.match(r"\s*;", self.text[end:])
        if not after or self.pragma_above(start):
            return
        end += after.end()
        self.add((start, end), (f"{{ if (!{M}deleted({{first}})) ", " }"), [Mutant(family, start, end, ";")])

    def on_compound_stmt(self, node):
        children = list(node.get_children())
        for n, child in enumerate(children):
            for beside in (children[max(n - 1, 0) : n], children[n + 1 : n + 2]):
                self.moved(child, *beside)
            self.statement(child, last=n + 1 == len(children))

    def moved(self, node, beside=None):
        """A barrier into the branch beside it, whose condition is read once more and must change nothing."""
        if (
            beside is None
            or beside.kind.name != "IF_STMT"
            or node.kind.name != "CALL_EXPR"
            or self.in_macro(node)
        ):
            return
        test = next(iter(beside.get_children()))
        text = self.of(test)
        calls = re.sub(r"\b(?:static_cast<[^<>]*>|T|int|float|double)\s*\(", "", text)
        if not re.search(r"sync|barrier", self.callee(node)[0], re.I) or not test.kind.is_expression():
            return
        if re.search(r"\w\s*\(|\+\+|--|(?<![=!<>])=(?!=)", calls) or "constexpr" in self.of(beside)[:16]:
            return
        start, end = self.span(node)
        if after := re.match(r"\s*;", self.text[end:]):
            end += after.end()
            mutant = Mutant(ops.MOVED_BARRIER, start, end, f"if ({text}) {self.text[start:end]}")
            self.add((start, end), (f"{{ if ({M}at({{first}}, 1) != 0 || ({text})) ", " }"), [mutant])

    def on_decl_stmt(self, node):
        self.each(node)

    def on_if_stmt(self, node):
        children = list(node.get_children())
        if re.match(r"if\s+constexpr\b", self.of(node)):
            self.skip(children[0])
        elif children[0].kind.is_expression():
            self.condition(children[0])
        else:
            self.statement(children[0])
        for child in children[1:]:
            # a second expression is the condition behind an initialiser, unless it stands behind the bracket
            self.statement(child)

    def on_while_stmt(self, node):
        children = list(node.get_children())
        if children[0].kind.is_expression():
            self.condition(children[0], loop=True)
        for child in children[1:]:
            self.statement(child)

    def on_do_stmt(self, node):
        children = list(node.get_children())
        self.statement(children[0])
        if len(children) > 1 and children[1].kind.is_expression():
            self.condition(children[1], loop=True)

    def on_switch_stmt(self, node):
        children = list(node.get_children())
        for child in children[:-1]:
            if child.kind.is_expression():
                self.expression(child)
        self.statement(children[-1])

    def on_case_stmt(self, node):
        children = list(node.get_children())
        self.skip(children[0])
        for child in children[1:]:
            self.statement(child)

    def on_cxx_for_range_stmt(self, node):
        self.statement(list(node.get_children())[-1])

    def on_for_stmt(self, node):
        """The parts of for (A; B; C) D, by the semicolons: libclang lists only those that are there."""
        start = self.text.index("(", node.extent.start.offset)
        close = self.closing(start)
        marks, depth = [], 0
        for at in range(start, close):
            depth += self.text[at] in "([{"
            depth -= self.text[at] in ")]}"
            if self.text[at] == ";" and depth == 1:
                marks.append(at)
        pragma = self.pragma_above(node.extent.start.offset)
        shared = re.search(r"\bomp\b.*\b(for|simd|distribute|taskloop)\b", pragma) is not None
        collapse = re.search(r"collapse\s*\(\s*(\d+)", pragma)
        depth_left = int(collapse.group(1)) if collapse else 1 if shared else self.canonical
        children = list(node.get_children())
        parts = self.parts_of_loop(children, marks, close)
        for child in children:
            at = child.extent.start.offset
            if at >= close:
                kept, self.canonical = self.canonical, max(depth_left - 1, 0)
                known = self.counters
                if counter := self.counter(*parts, self.of(child)):
                    self.counters = known | dict([counter])
                self.statement(child)
                self.canonical, self.counters = kept, known
            elif len(marks) == 2 and marks[0] < at < marks[1]:
                self.loop_bound(child, depth_left > 0, parts[2])
            elif child.kind.is_expression() and not depth_left:
                self.expression(child, top=True)
            elif child.kind.name == "DECL_STMT":
                self.each(child)

    def parts_of_loop(self, children, marks, close):
        """A, B, C of for (A; B; C); None for what is not there."""
        parts = [None, None, None]
        for child in children:
            at = child.extent.start.offset
            if at < close and len(marks) == 2:
                parts[(at > marks[0]) + (at > marks[1])] = child
        return parts

    def further(self, bound, step):
        """Once too often, where the counter moves by more than one: the bound a step further."""
        step = self.core(step) if step is not None else None
        if step is None or step.kind.name != "COMPOUND_ASSIGNMENT_OPERATOR":
            return
        left, right = step.get_children()
        sign, by = self.between(left, right)[2], self.of(right)
        if sign in ("+=", "-=") and self.numeric(bound) and not self.in_macro(bound):
            given = by if sign == "+=" else f"-{wrapped(by)}"
            text = f"{wrapped(self.of(bound))} {sign[0]} {wrapped(by)}"
            self.wrap(bound, "by", [(ops.FURTHER, text)], more=f", {given}, 1")

    def loop_bound(self, node, canonical, step=None):
        """Off by one on the bound's side; the comparison itself stays, as OpenMP wants it."""
        inner = self.core(node)
        if inner.kind.name == "BINARY_OPERATOR":
            left, right = inner.get_children()
            sign = self.between(left, right)[2]
            if sign in ops.RELATIONS and not self.in_macro(right):
                if not canonical:
                    self.expression(left)
                self.further(right, step)
                self.expression(right, off=ops.BOUND, narrow=True)
                return
        if not canonical:
            self.condition(node, loop=True)

    # ---- expressions ----
    def core(self, node):
        while node.kind.name == "UNEXPOSED_EXPR":
            children = list(node.get_children())
            if len(children) != 1 or self.span(children[0]) != self.span(node):
                break
            node = children[0]
        return node

    def numeric(self, node, short=True):
        """Whether it may be a number; what depends on a template's parameters is decided at compile time."""
        kind = self.core(node).type.get_canonical().kind.name
        return kind not in FIXED and (short or kind not in SHORT)

    def condition(self, node, loop=False):
        """A condition of a branch or a loop: negated; of a branch also dropped."""
        inner = self.core(node)
        if self.in_macro(inner):
            return
        text = self.of(inner)
        mutants = [(ops.NEGATED, f"!({text})")]
        if not loop:
            mutants.append((ops.DROPPED, "true"))
        self.wrap(inner, "condition", mutants, more=f", {len(mutants)}")
        self.expression(inner)

    def expression(self, node, off=None, narrow=False, top=False, plain=False):
        """off: the family under which it is wrong by one; narrow: its type too; top: its value is not used;
        plain: a literal is left alone, because what it is added to is mutated as a whole."""
        node = self.core(node)
        if self.in_macro(node):
            return
        kind, text = node.kind.name, self.of(node)
        if (
            narrow
            and not top
            and self.numeric(node, short=False)
            and kind not in ("INTEGER_LITERAL", "INIT_LIST_EXPR", "LAMBDA_EXPR")
        ):
            self.narrowed(node)
        if off and self.numeric(node):
            self.wrap(node, "off", [(off, f"{wrapped(text)} + 1"), (off, f"{wrapped(text)} - 1")])
            plain = True
        if kind in ("INTEGER_LITERAL", "FLOATING_LITERAL"):
            if not plain and self.capacity:
                self.wrap(node, "by", [(ops.CONSTANT, f"({text} - 1)")], more=", -1, 1")
            elif not plain:
                self.wrap(node, "off", [(ops.CONSTANT, f"({text} + 1)"), (ops.CONSTANT, f"({text} - 1)")])
            return
        read = self.written is None or node != self.written
        if read and self.is_volatile(node) and self.numeric(node):
            self.wrap(node, "plainly", [(ops.VOLATILE, f"plain({text})")])
        how = getattr(self, "on_" + kind.lower(), None)
        if kind in BINARIES:
            left, right = node.get_children()
            self.binary(node, left, right, top, plain)
        elif how:
            how(node)
        elif kind in CASTS:
            for child in list(node.get_children())[-1:]:
                self.expression(child, plain=plain)
        elif kind == "PAREN_EXPR":
            for child in node.get_children():
                self.expression(child, plain=plain)
        elif kind not in ("DECL_REF_EXPR", "CXX_UNARY_EXPR", "UNEXPOSED_DECL"):
            self.each(node)

    def binary(self, node, left, right, top=False, plain=False):
        start, end, sign = self.between(left, right)
        span = self.span(node)
        cut = [(start, end, ", ")]
        if sign == "=":
            self.assignment(node, left, right, cut)
        elif sign in ops.UPDATES:
            if self.numeric(left) and not self.pragma_above(span[0]):
                swapped = Mutant(ops.ASSIGNMENT, *span, f"{self.of(left)} = {self.of(right)}")
                around = (f"{M}update<{M}{ops.UPDATES[sign]}>({{first}}, ", ")")
                self.add(span, around, [swapped], cut)
            self.changed(left)
            self.expression(right, narrow=True)
        elif sign in ("&&", "||"):
            other = "||" if sign == "&&" else "&&"
            swapped = Mutant(ops.LOGICAL, *span, f"{self.of(left)} {other} {self.of(right)}")
            alone = [Mutant(ops.DROPPED, *span, self.of(side)) for side in (left, right)]
            function = "both" if sign == "&&" else "either"
            around = (f"{M}{function}({{first}}, static_cast<bool>(", "); })")
            lazily = "), [&]() -> bool { return static_cast<bool>("
            self.add(span, around, [swapped, *alone], [(start, end, lazily)])
            self.expression(left)
            self.expression(right)
        elif sign in ops.FUNCTORS:
            self.operator(node, (left, right), sign, cut, plain)
        else:
            self.expression(left, top=top)
            self.expression(right, top=top)

    def operator(self, node, operands, sign, cut, plain=False):
        left, right = operands
        span = self.span(node)
        family = ops.RELATIONAL if sign in ops.RELATIONS else ops.ARITHMETIC
        others = self.relations(left, sign, right) if sign in ops.RELATIONS else ops.ARITHMETICS[sign]
        mutants = [Mutant(family, *span, f"{self.of(left)} {other} {self.of(right)}") for other in others]
        names = ", ".join(M + ops.FUNCTORS[s] for s in [sign, *others])
        if mutants:
            self.add(span, (f"{M}binary<{names}>({{first}}, ", ")"), mutants, cut)
        turning = sign == "%" or (sign in "&^" and re.fullmatch(r"1u?", self.of(right)))
        for child in (left, right):
            if child is left and turning and self.numeric(child):
                self.expression(child, off=ops.STAGE, plain=True)
                continue
            self.scalar(child)
            self.expression(child, plain=plain and sign in "+-")

    def assignment(self, node, left, right, cut):
        span, inner = self.span(node), self.core(right)
        braced = inner.kind.name == "INIT_LIST_EXPR"
        if not braced and self.numeric(left) and self.numeric(right) and not self.pragma_above(span[0]):
            mutants = [Mutant(ops.ASSIGNMENT, *span, f"{self.of(left)} += {self.of(right)}")]
            volatile = self.is_volatile(left)
            if volatile:
                mutants.append(Mutant(ops.VOLATILE, *span, f"plain({self.of(left)}) = {self.of(right)}"))
            function = "assign_volatile" if volatile else "assign"
            self.add(span, (f"{M}{function}({{first}}, ", ")"), mutants, cut)
        self.changed(left)
        self.expression(right, narrow=not braced)

    def changed(self, node):
        """An expression that is written to: its value is not read."""
        kept, self.written = self.written, self.core(node)
        self.expression(node)
        self.written = kept

    def is_volatile(self, node):
        node = self.core(node)
        return node.kind.name in ("ARRAY_SUBSCRIPT_EXPR", "UNARY_OPERATOR") and (
            node.type.is_volatile_qualified()
        )

    def scalar(self, node):
        """A factor of the contract: alpha, p.beta."""
        inner = self.core(node)
        if inner.kind.name not in ("DECL_REF_EXPR", "MEMBER_REF_EXPR") or self.in_macro(inner):
            return
        text = self.of(inner)
        words = re.findall(r"\w+", text)
        if words and words[-1] in ops.SCALARS:
            self.wrap(inner, "scalar", [(ops.SCALAR, "1"), (ops.SCALAR, f"({text} * {text})")])
            self.narrowed(inner)

    def on_unary_operator(self, node):
        child = next(iter(node.get_children()))
        sign = self.text[node.extent.start.offset]
        literal = self.core(child).kind.name in ("INTEGER_LITERAL", "FLOATING_LITERAL")
        if (
            sign == "-"
            and self.text[node.extent.start.offset + 1] != "-"
            and not literal
            and self.numeric(child)
        ):
            span = self.span(node)
            begin = child.extent.start.offset
            around = (f"{M}negative({{first}}, ", ")")
            self.add(span, around, [Mutant(ops.SIGN, *span, self.of(child))], [(span[0], begin, "")])
        if sign in "&+" or self.text[node.extent.end.offset - 2 : node.extent.end.offset] in ("++", "--"):
            self.changed(child)
        elif not (sign == "-" and literal):
            self.expression(child)

    def on_array_subscript_expr(self, node):
        base, index = node.get_children()
        self.expression(base)
        self.expression(index, off=ops.INDEX, narrow=True)

    def on_member_ref_expr(self, node):
        for child in node.get_children():
            if child.kind.is_expression() and child.extent.end.offset <= node.location.offset:
                self.expression(child)

    def on_conditional_operator(self, node):
        test, yes, no = node.get_children()
        self.condition(test)
        self.expression(yes)
        self.expression(no)

    def on_lambda_expr(self, node):
        for child in node.get_children():
            if child.kind.name == "COMPOUND_STMT":
                self.statement(child)

    def on_cxx_new_expr(self, node):
        pass

    def on_init_list_expr(self, node):
        self.each(node)
