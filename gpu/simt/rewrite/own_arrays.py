# Arrays that a thread has of its own, in registers or on its stack, lie in no memory that is watched. Where one is subscripted, its index
# goes through ::plumb::simt::own_index (language/own_arrays.hpp), which compares it with the array's extent:
#
#   sum[i]            an array that is declared in the function as 'T sum[N]'
#   held[p].lane[i]   an array in a structure: in such an array's element, or in a variable by itself
#
# Only what certainly is a subscript is changed. own_index leaves alone what is no array, and what begins with a reference or a pointer: that
# may be memory of the block or of the device, which has a shadow.
import re
from contextlib import suppress

from device import declarators
from text import (
    Unreadable,
    end_of,
    flat,
    in_device_code,
    in_function,
    in_literal,
    in_own_code,
    in_system_header,
    literal_end,
    matching,
)

DECLARATION = re.compile(
    r'(?<=[;{}])(?:\s|^#[^\n]*\n)*(?P<kind>(?:alignas\s*\([^();]*\)\s*)?(?:[A-Za-z_][\w:]*\s+)*[A-Za-z_][\w:]*'
    r'(?:\s*<[^;{}()]*>(?:::\w+)?)?)\s+[A-Za-z_]\w*\s*\[', re.M)
NO_TYPES = {'return', 'else', 'case', 'delete', 'new', 'using', 'typedef', 'goto', 'throw', 'extern', 'operator', 'do', 'template',
            'co_return', 'co_yield', 'friend', '__plumb_shared__'}
EXPRESSION = {'return', 'else', 'case', 'throw', 'do', 'and', 'or', 'not', 'co_return', 'co_yield'}  # may stand before one
IN_VARIABLE = re.compile(r'(?<![\w.:>\])])(?P<name>[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)+\s*\[')
MEMBER = re.compile(r'\s*(?:\.\s*[A-Za-z_]\w*\s*)+(?=\[)')
BRACE_OR_LITERAL = re.compile(r'[{}"]|(?<![0-9A-Za-z_])\'')
CALL_OR_CHANGE = re.compile(r'[\w>)\]]\s*\(|\+\+|--|[^=!<>]=[^=]|[{}"\';]')


def scope_end(text, at):
    """Offset of the brace that closes the innermost scope open at `at`, or the end of the text."""
    depth = 0
    m = BRACE_OR_LITERAL.search(text, at)
    while m:
        c, end = m.group(0), m.end()
        if c == '{':
            depth += 1
        elif c == '}':
            if depth == 0:
                return m.start()
            depth -= 1
        else:
            end = max(end, literal_end(text, m.start()))
        m = BRACE_OR_LITERAL.search(text, end)
    return len(text)


def declared(text):
    """(name, first offset, last offset) for each array of a function that a kernel may call: where its name means it. The host's own
    functions may have arrays whose length is a variable, a type that no template takes."""
    for m in DECLARATION.finditer(text):
        at = m.start('kind')
        if NO_TYPES & set(re.findall(r'\w+', m.group('kind'))) or not in_function(text, at):
            continue
        if not in_device_code(text, at, or_in='constexpr'):
            continue
        try:
            end = end_of(text, at, [';'])
        except Unreadable:
            continue
        until = scope_end(text, end)
        for name, dimensions, _ in declarators(flat(text[at:end])):
            if dimensions:
                yield name, end, until


def is_expression(text, at):
    """Whether the name at `at` begins an operand; not, as far as what stands before it tells, a declarator."""
    before = text[max(0, at - 400):at]
    statement = flat(before[max(before.rfind(c) for c in ';{}') + 1:])
    word = re.search(r'[A-Za-z_]\w*$', statement)
    if word:
        return word.group(0) in EXPRESSION
    return not re.fullmatch(r'[\w:\s<>,]*\w[\w:\s<>,]*[*&>]+', statement)


def index_edits(text, at, first):
    """Edits for the subscripts of the operand at `at`, the first of whose brackets is at `first`; pairs of insertions."""
    pairs, indices, object_end, i = [], [], first, first
    past = 'true' if re.search(r'(?<!&)&\s*$', text[max(0, at - 40):at]) else 'false'  # the address of what follows the last is none of it
    while text.startswith('[', i):
        close = matching(text, i)
        index, operand = text[i + 1:close], flat(text[at:object_end])
        if '#' in text[at:close] or re.search(r'[{"]', operand) or not index.strip():
            break
        known = not any(CALL_OR_CHANGE.search(e) for e in indices)
        if index.strip() != '0':
            head = '::plumb::simt::own_index<decltype(%s), decltype(%s), %s, %d>(::plumb::simt::Here::at(), "%s", ' % (
                re.match(r'\w+', operand).group(0), operand, past, 0 if known else len(indices), operand)
            head += ''.join('(%s), ' % flat(e) for e in indices) if known else ''
            pairs.append(((i + 1, i + 1, head + '('), (close, close, '))')))
        indices.append(index)
        i = close + 1
        behind = re.compile(r'\s*').match(text, i).end()
        member = MEMBER.match(text, i)
        if member:
            indices, object_end, i = [], len(text[:member.end()].rstrip()), member.end()
        elif text.startswith('[', behind):
            i = behind
    return pairs


def rewritten(text):
    """Pairs of insertions, round each index."""
    found = {}
    for name, first, last in declared(text):
        for m in re.compile(r'(?<![\w.:>"])%s\s*\[' % name).finditer(text, first, last):
            if m.start() not in found and is_expression(text, m.start()):
                found[m.start()] = m.end() - 1
    for m in IN_VARIABLE.finditer(text):
        found.setdefault(m.start(), m.end() - 1)
    pairs = []
    for at, first in found.items():
        if in_system_header(text, at) or in_own_code(text, at) or in_literal(text, at):
            continue
        with suppress(Unreadable):
            pairs += index_edits(text, at, first)
    return pairs
