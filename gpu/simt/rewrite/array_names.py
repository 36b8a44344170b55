# Allocations, each of which first says what variable its array is stored in: findings name arrays so.
import re

from text import TOKEN, flat, in_device_code, in_own_code, matching, pieces

CALL = re.compile(
    r'(?<![\w.>])(?:::\s*)?(?:cudaMalloc(?:Managed|Host|Async|FromPoolAsync|Pitch|Array|3DArray)?|cudaHostAlloc|cuMemAlloc(?:_v2)?)'
    r'\s*\(')
CAST = re.compile(r'\(\s*(?:const\s+)?[\w:<> ]+\*+\s*(?:const\s*)?\)|(?:reinterpret|static|const)_cast\s*<[^;()]*>')
VARIABLE = re.compile(r'[A-Za-z_][\w]*(?:(?:::|\.|->)\w+|\[[^\[\]]*\])*\Z')


def without_brackets(word):
    while word.startswith('(') and matching(word, 0) == len(word) - 1:
        word = word[1:-1].strip()
    return word


def variable(argument):
    """The variable that an argument is the address of ("d_x"), or that it points to ("*out"); None: another expression, or a
    declaration's parameter."""
    word = flat(argument).strip()
    cast = CAST.match(word)
    while cast:
        word = without_brackets(word[cast.end():].strip())
        cast = CAST.match(word)
    word = without_brackets(word)
    address = word.startswith('&')
    word = without_brackets(word[1:].strip()) if address else word
    if not VARIABLE.match(word):
        return None
    return word if address else '*' + word


def in_literal(text, at):
    """Whether the offset lies in a string, as a macro makes one of its argument."""
    start, end = text.rfind('\n', 0, at) + 1, text.find('\n', at)
    tokens = TOKEN.finditer(text, start, end if end >= 0 else len(text))
    return any(m.start() < at < m.end() and '"' in m.group(0) for m in tokens)


def rewritten(text):
    """A pair of insertions for each such call."""
    pairs = []
    for call in CALL.finditer(text):
        if in_own_code(text, call.start()):
            continue
        close = matching(text, call.end() - 1)
        arguments = pieces(text[call.end():close])
        name = variable(arguments[0]) if len(arguments) > 1 else None
        if name is None or in_literal(text, call.start()) or in_device_code(text, call.start()):
            continue
        said = name.replace('\\', '\\\\').replace('"', '\\"')
        pairs.append([(call.start(), call.start(), '(::plumb::simt::name_array("%s"), ' % said), (close + 1, close + 1, ')')])
    return pairs
