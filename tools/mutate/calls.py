"""Calls: barriers, shuffles, atomics and the like have mutants of their own; of every call the arguments."""

import re

from . import operators as ops
from .place import FIXED, M, Mutant, wrapped

WORD = re.compile(r"[A-Za-z_]\w*")
BINARIES = ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR")


class Calls:
    """The part of Finder (places.py) that knows calls."""

    def callee(self, node):
        """The name that is called, where its text begins, where the bracket opens; ("", 0, 0): none does."""
        start, end = self.span(node)
        if end == start or self.text[end - 1] != ")":
            return "", 0, 0
        depth, at = 0, end - 1
        while at > start:
            depth += self.text[at] in ")]}"
            depth -= self.text[at] in "([{"
            if depth == 0:
                break
            at -= 1
        head = self.text[start:at]
        plain = re.sub(r"<[^()]*>\s*$", "", head)
        words = WORD.findall(plain)
        return (words[-1] if words and plain.rstrip().endswith(words[-1]) else ""), start, at

    def on_call_expr(self, node):
        children = [c for c in node.get_children() if c.kind.is_expression()]
        if node.spelling.startswith("operator") and self.operator_call(node, children):
            return
        name, start, opened = self.callee(node)
        if not opened:
            self.each(node)
            return
        arguments = [c for c in children if c.extent.start.offset > opened]
        self.rewritten_call(node, name, start, opened, arguments)
        for child in children:
            if child.extent.start.offset <= opened:
                if child.kind.name == "MEMBER_REF_EXPR":
                    self.on_member_ref_expr(child)
                elif child.kind.name not in ("DECL_REF_EXPR", "UNEXPOSED_EXPR"):
                    self.expression(child)
        for place, argument in enumerate(arguments):
            self.argument(name, place, argument)

    def operator_call(self, node, children):
        sign = node.spelling[len("operator") :]
        if sign == "[]" and len(children) == 3:
            self.expression(children[0])
            for child in children[1:]:
                if self.text[: child.extent.start.offset].rstrip().endswith("["):
                    self.expression(child, off=ops.INDEX, narrow=True)
            return True
        operands = [c for c in children if self.of(c).strip() not in (sign, "")]
        if len(operands) != 2 or self.between(*operands)[2] != sign:
            return False
        if sign in ops.FUNCTORS:
            start, end, _ = self.between(*operands)
            self.operator(node, operands, sign, [(start, end, ", ")])
        else:
            for operand in operands:
                self.expression(operand)
        return True

    def rewritten_call(self, node, name, start, opened, arguments):
        """Calls that have another of the same shape; the arguments are evaluated once for both."""
        span = self.span(node)
        again = f"[&](const auto&... x) {{ return {self.text[start:opened]}(x...); }}"
        head, rest = self.text[start:opened], self.text[opened : span[1]]
        if name == "__syncthreads":
            before = f"({M}at({{first}}, 1) == 0 ? __syncwarp() : "
            self.add(span, (before, ")"), [Mutant(ops.NARROWED_BARRIER, *span, "__syncwarp()")])
        elif name in ops.SCOPES:
            before = f"({M}at({{first}}, 1) == 0 ? {ops.SCOPES[name]}() : "
            self.add(span, (before, ")"), [Mutant(ops.SCOPE, *span, ops.SCOPES[name] + "()")])
        elif name in ops.EXTREMES and len(arguments) == 2:
            place = head.rindex(name)
            other = head[:place] + ops.EXTREMES[name] + head[place + len(name) :]
            swapped = f"[&](const auto&... x) {{ return {other}(x...); }}"
            self.call(opened, again, swapped, Mutant(ops.EXTREME, *span, other + rest))
        elif name in ops.FMAS and len(arguments) == 3:
            product = f"{self.of(arguments[0])} * {self.of(arguments[1])}"
            shape = "[](const auto& a, const auto& b, const auto&) { return a * b; }"
            self.call(opened, again, shape, Mutant(ops.FUSED, *span, product))
        elif name in ops.ATOMICS and len(arguments) == 2:
            plain = f"[](auto* p, const auto& v) {{ const auto old = *p; {ops.ATOMICS[name]}; return old; }}"
            self.call(opened, again, plain, Mutant(ops.ATOMIC, *span, f"plain_{name}{rest}"))

    def call(self, opened, original, other, mutant):
        before = f"{M}call({{first}}, {original}, {other}, "
        self.add((mutant.start, mutant.end), ("", ""), [mutant], [(mutant.start, opened + 1, before)])

    def argument(self, name, place, node):
        if name in ops.SHUFFLES and place in (0, 2, 3):
            self.shuffled(place, node)
        elif name in ops.VOTES and place == 0:
            self.masked(node)
        elif re.search(ops.WAITS, name, re.I) and name not in ops.SHUFFLES | ops.VOTES and self.staged(node):
            self.expression(node, off=ops.STAGE)
        elif self.core(node).kind.name in BINARIES:
            self.expression(node, narrow=True)
        else:
            self.expression(node)

    def staged(self, node):
        return self.core(node).type.get_canonical().kind.name not in FIXED and re.search(
            ops.STAGES, self.of(node), re.I
        )

    def masked(self, node):
        if not self.in_macro(node):
            text = self.of(node)
            self.wrap(node, "mask", [(ops.MASK, f"({text} & 0x7fffffffu)"), (ops.MASK, f"({text} & ~1u)")])

    def shuffled(self, place, node):
        text = self.of(node)
        if place == 0:
            self.masked(node)
        elif place == 3:
            self.wrap(node, "halved", [(ops.SHUFFLE, f"{wrapped(text)} / 2")])
        else:
            self.expression(node, off=ops.SHUFFLE, plain=True)
