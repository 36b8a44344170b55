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
        if name in ops.REMARKS:
            return
        arguments = [c for c in children if c.extent.start.offset > opened]
        self.rewritten_call(node, name, start, opened, arguments)
        for child in children:
            if child.extent.start.offset <= opened:
                if child.kind.name == "MEMBER_REF_EXPR":
                    self.on_member_ref_expr(child)
                elif child.kind.name not in ("DECL_REF_EXPR", "UNEXPOSED_EXPR"):
                    self.expression(child)
        kept, places = self.capacity, ops.CAPACITIES.get(name, set())
        for place, argument in enumerate(arguments):
            self.capacity = kept or places is None or place in places
            self.argument(name, place, argument)
        self.capacity = kept

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

        def renamed(other):
            place = head.rindex(name)
            return head[:place] + other + head[place + len(name) :]

        def lambda_of(other):
            return f"[&](const auto&... x) {{ return {other}(x...); }}"

        if name == "__syncthreads":
            self.instead(span, ops.NARROWED_BARRIER, "__syncwarp()")
        elif name in ops.SCOPES and not arguments:
            self.instead(span, ops.SCOPE, ops.SCOPES[name] + "()")
        elif name in ops.EXTREMES and len(arguments) == 2:
            other = renamed(ops.EXTREMES[name])
            self.call(opened, again, lambda_of(other), Mutant(ops.EXTREME, *span, other + rest), "pure")
        elif name in ops.FMAS and len(arguments) == 3:
            product = f"{self.of(arguments[0])} * {self.of(arguments[1])}"
            shape = "[](const auto& a, const auto& b, const auto&) { return a * b; }"
            self.call(opened, again, shape, Mutant(ops.FUSED, *span, product), "pure")
        elif name in ops.LOADS and len(arguments) == 1:
            other = renamed(ops.LOADS[name])
            self.call(opened, again, lambda_of(other), Mutant(ops.LOAD, *span, other + rest))
        elif name in ops.ATOMICS and len(arguments) == 2:
            plain = f"[](auto* p, const auto& v) {{ const auto old = *p; {ops.ATOMICS[name]}; return old; }}"
            lesser = renamed(ops.SCOPES[name])
            mutants = [
                Mutant(ops.ATOMIC, *span, f"plain_{name}{rest}"),
                Mutant(ops.SCOPE, *span, lesser + rest),
            ]
            before = f"{M}call2({{first}}, {again}, {plain}, {lambda_of(lesser)}, "
            self.add(span, ("", ""), mutants, [(span[0], opened + 1, before)])
        elif name in ops.SCOPES:
            lesser = renamed(ops.SCOPES[name])
            self.call(opened, again, lambda_of(lesser), Mutant(ops.SCOPE, *span, lesser + rest))
        elif name in ops.LESSER:
            other, count = ops.LESSER[name]
            given = ", ".join(self.of(a) for a in arguments[:count])
            self.instead(span, ops.COPY, f"{renamed(other)}({given})")
        elif name in ops.GROUP_WAITS and head.endswith(">"):
            left = head.index("<", head.rindex(name))
            self.instead(span, ops.COPY, f"{head[:left]}<{head[left + 1 : -1]} + 1>{rest}")
        elif name in ops.ORDERED and len(arguments) == ops.ORDERED[name]:
            self.unnamed_order(node, name, span)

    def instead(self, span, family, text):
        """A call without a value, or the text of another."""
        before = f"({M}at({{first}}, 1) == 0 ? {text} : "
        self.add(span, (before, ")"), [Mutant(family, *span, text)])

    def unnamed_order(self, node, name, span):
        """The seq_cst that a method of an atomic has where no order is named."""
        held = next((c for c in node.get_children() if c.kind.name == "MEMBER_REF_EXPR"), None)
        owner = next(iter(held.get_children()), None) if held else None
        kind = owner.type.get_canonical().spelling if owner else ""
        if "atomic" not in kind:
            return
        space = "cuda::" if "cuda" in kind else "std::"
        comma = ", " if ops.ORDERED[name] else ""
        relaxed, strong = f"{space}memory_order_relaxed", f"{space}memory_order_seq_cst"
        end = span[1] - 1
        mutant = Mutant(ops.ORDER, *span, f"{self.text[span[0] : end]}{comma}{relaxed})")
        self.add(span, ("", ""), [mutant], [(end, end, f"{comma}{M}order({{first}}, {strong}, {relaxed})")])

    def call(self, opened, original, other, mutant, function="call"):
        before = f"{M}{function}({{first}}, {original}, {other}, "
        self.add((mutant.start, mutant.end), ("", ""), [mutant], [(mutant.start, opened + 1, before)])

    def argument(self, name, place, node):
        if self.ordered(node):
            return
        if place in ops.COUNTS.get(name, {}):
            self.counted(ops.COUNTS[name][place], node)
        elif name in ops.GROUP_WAITS and "int" in node.type.get_canonical().spelling:
            self.wrap(node, "by", [(ops.COPY, f"{wrapped(self.of(node))} + 1")], more=", 1, 1")
        elif name in ops.SHUFFLES and place in (0, 2, 3):
            self.shuffled(place, node)
        elif name in ops.VOTES and place == 0:
            self.masked(node)
        elif re.search(ops.WAITS, name, re.I) and name not in ops.SHUFFLES | ops.VOTES and self.staged(node):
            self.expression(node, off=ops.STAGE)
        elif self.core(node).kind.name in BINARIES:
            self.expression(node, narrow=True)
        else:
            self.expression(node)

    def counted(self, step, node):
        text = wrapped(self.of(node))
        if step == "flip":
            self.wrap(node, "flipped", [(ops.STAGE, f"{text} ^ 1")])
        else:
            mutants = [(ops.COPY, f"{text} + {step}"), (ops.COPY, f"{text} - {step}")]
            self.wrap(node, "by", mutants, more=f", {step}")
        self.expression(node, plain=True)

    def ordered(self, node):
        """Whether it names an order of memory: then each weaker one is a mutant."""
        inner, text = self.core(node), self.of(self.core(node))
        named = re.fullmatch(r"((?:\w+::)*memory_order(?:_|::))(\w+)", text)
        if not named or self.in_macro(inner):
            return False
        for weaker in ops.ORDERS.get(named.group(2), []):
            other = named.group(1) + weaker
            self.wrap(inner, "order", [(ops.ORDER, other)], more=f", {other}")
        return True

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
