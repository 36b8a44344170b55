"""What is known of a value before the program runs: a constant, how large it may be, that it is not negative.

A type narrowed to one that holds every such value is no fault, and neither is == 0 where it was <= 0."""

import re

from . import operators as ops

LITERALS = ("INTEGER_LITERAL", "FLOATING_LITERAL", "CHARACTER_LITERAL", "CXX_BOOL_LITERAL_EXPR")
CASTS = (
    "CXX_STATIC_CAST_EXPR",
    "CSTYLE_CAST_EXPR",
    "CXX_FUNCTIONAL_CAST_EXPR",
    "CXX_REINTERPRET_CAST_EXPR",
    "CXX_CONST_CAST_EXPR",
)
UNSIGNED = {"UINT", "ULONG", "ULONGLONG", "USHORT", "UCHAR", "BOOL"}
WHOLE = UNSIGNED | {"INT", "LONG", "LONGLONG", "SHORT"}
OR_EQUAL = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
LAUNCHED = {"threadIdx": "1023", "blockDim": "1024"}  # CUDA's most
THREADS = {f"omp_get_{name}": "4096" for name in ("thread_num", "num_threads", "max_threads")}
BITS = {f"__{name}{wide}": "64" for name in ("popc", "ffs", "clz") for wide in ("", "ll")}
COUNTED = THREADS | BITS
NUMBERS = re.compile(r"(?:std::)?numeric_limits<")


class Ranges:
    """The part of Finder (places.py) that knows values."""

    def parts(self, node):
        """The operands of a binary operator with its sign, or None."""
        if node.kind.name != "BINARY_OPERATOR":
            return None
        left, right = node.get_children()
        return left, self.between(left, right)[2], right

    def inner(self, node):
        """Without brackets and casts."""
        node = self.core(node)
        while node.kind.name in (*CASTS, "PAREN_EXPR", "UNEXPOSED_EXPR"):
            children = [c for c in node.get_children() if c.kind.is_expression()]
            if not children:
                break
            node = self.core(children[-1])
        return node

    def definition(self, node):
        """What initialises the variable that is named, where it can have no other value."""
        named = node.referenced if node.kind.name == "DECL_REF_EXPR" else None
        if named is None or named.kind.name != "VAR_DECL":
            return None
        words = [t.spelling for t in named.get_tokens()]
        if named.spelling in words:
            words = words[: words.index(named.spelling)]
        if not {"const", "constexpr"} & set(words) or "&" in words or "*" in words:
            return None
        inits = [c for c in named.get_children() if c.kind.is_expression()]
        return inits[-1] if inits else None

    def same_file(self, node):
        return node.location.file is not None and self.is_own(node.location.file.name)

    def constant(self, node):
        """Whether it is known when compiled. Where this is wrong, narrow_constant() finds it at run time."""
        node = self.inner(node)
        kind, text = node.kind.name, self.of(node)
        if kind in LITERALS or kind == "CXX_UNARY_EXPR" or NUMBERS.match(text):
            return True
        if kind == "DECL_REF_EXPR":
            named = node.referenced
            if named is not None and named.kind.name in ("TEMPLATE_NON_TYPE_PARAMETER", "ENUM_CONSTANT_DECL"):
                return True
            if re.fullmatch(r"(?:\w+::)*k[A-Z]\w*(?:<[\w, ]*>)?", text):
                return True
            init = self.definition(node)
            return init is not None and self.same_file(init) and self.constant(init)
        children = [c for c in node.get_children() if c.kind.is_expression()]
        if kind == "CONDITIONAL_OPERATOR":  # a choice of two constants
            return all(self.constant(c) for c in children[1:])
        if kind in ("UNARY_OPERATOR", "BINARY_OPERATOR"):
            return "=" not in re.sub(r"[=!<>]=", "", text) and all(self.constant(c) for c in children)
        return (
            kind == "CALL_EXPR"
            and re.match(r"(?:T|float|double|int)\b", text) is not None
            and (all(self.constant(c) for c in children))
        )

    def size(self, node):
        """Text of a constant expression that the value's size never exceeds; None where there is none."""
        node = self.inner(node)
        kind, text = node.kind.name, self.of(node)
        if kind == "DECL_REF_EXPR" and text in self.counters:
            return self.counters[text]
        if kind in ("INTEGER_LITERAL", "DECL_REF_EXPR", "CXX_UNARY_EXPR") and self.constant(node):
            return text
        launched = re.fullmatch(r"(threadIdx|blockDim)\s*\.\s*[xyz]", text)
        if launched:
            return LAUNCHED[launched.group(1)]
        if kind == "CALL_EXPR":
            return self.size_of_call(node)
        init = self.definition(node)
        if init is not None and self.same_file(init):
            return self.size(init)
        return self.size_of_operation(node)

    def size_of_call(self, node):
        """min(a, b) of values that are not negative is no larger than the smaller of them."""
        name, _, opened = self.callee(node)
        if name != "min":
            return COUNTED.get(name)
        arguments = [
            c for c in node.get_children() if c.kind.is_expression() and c.extent.start.offset > opened
        ]
        return next((size for size in map(self.size, arguments) if size is not None), None)

    def size_of_operation(self, node):
        operands = self.parts(node)
        if not operands:
            return None
        left, sign, right = operands
        a, b = self.size(left), self.size(right)
        if sign == "%":
            return a or (b if self.constant(right) else None)
        if sign == "&":
            return (a if self.constant(left) else None) or (b if self.constant(right) else None)
        if sign in ("/", ">>"):
            return a
        if sign in ("+", "-", "*") and a and b:
            return f"(({a}) {'*' if sign == '*' else '+'} ({b}))"
        return None

    def not_negative(self, node):
        node = self.inner(node)
        if self.core(node).type.get_canonical().kind.name in UNSIGNED:
            return True
        kind, text = node.kind.name, self.of(node)
        if kind == "INTEGER_LITERAL" or text in self.counters or re.match(r"(?:thread|block)Idx\s*\.", text):
            return True
        init = self.definition(node)
        if init is not None and self.same_file(init):
            return self.not_negative(init)
        operands = self.parts(node)
        return bool(
            operands
            and operands[1] in ("%", "/", "*", "+", ">>", "&")
            and self.not_negative(operands[0])
            and self.not_negative(operands[2])
        )

    def relations(self, left, sign, right):
        """The relations that are another than `sign` for the values at hand."""
        others = ops.RELATIONS[sign]
        if re.fullmatch(r"0[uUlL]*", self.of(self.inner(right))) and self.not_negative(left):
            alike = {"==": "<=", "!=": ">", "<=": "==", ">": "!="}
            others = [other for other in others if alike.get(sign) != other]
        if self.chooses_between(left, right):
            others = [other for other in others if OR_EQUAL.get(sign) != other]
        return others

    def chooses_between(self, left, right):
        """Whether left < right ? left : right, or the other way round, is of whole numbers: of equal ones
        either is taken."""
        kinds = {self.core(n).type.get_canonical().kind.name for n in (left, right)}
        one, other = (re.escape(self.of(n).strip()) for n in (left, right))
        chosen = rf"\s*\)?\s*\?\s*(?:{one}\s*:\s*{other}|{other}\s*:\s*{one})\s*[;,)]"
        return kinds <= WHOLE and re.match(chosen, self.text[self.span(right)[1] :]) is not None

    def counter(self, declared, test, step, body):
        """(name, size) of a loop's counter that stays between constants: for (int i = 0; i < 8; ++i)."""
        operands = self.parts(self.core(test)) if test is not None else None
        if declared is None or not operands or step is None:
            return None
        left, sign, right = operands
        name, begins = self.of(left).strip(), None
        for variable in declared.get_children():
            if variable.kind.name == "VAR_DECL" and variable.spelling == name:
                inits = [c for c in variable.get_children() if c.kind.is_expression()]
                begins = inits[-1] if inits else None
        if begins is None or re.search(rf"(?:\+\+|--)\s*{name}\b|\b{name}\s*(?:\+\+|--|[-+*/%]?=[^=])", body):
            return None
        up = re.search(r"\+\+|\+=|\*=|<<=", self.of(step)) is not None
        if not self.not_negative(begins):
            return None
        if up and sign in ("<", "<=") and (end := self.size(right)):
            return name, end
        if not up and sign in (">", ">=") and (begin := self.size(begins)) and self.not_negative(right):
            return name, begin
        return None
