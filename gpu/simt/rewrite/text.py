# Preprocessed text: tokens, brackets, lines. What cannot be read is Unreadable, with its place.
import re

TOKEN = re.compile(
    r'(?=["\'#<{}_auULR])(?:'  # what a token begins with: most places are passed over by this alone
    r'R"(?P<delim>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=delim)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])(?:u8|u|U|L)?'(?:\\.|[^'\\\n])+'"
    r'|^\#[^\n]*'
    r'|\b__plumb_(?:shared|global|device|constant|managed|host|launch_bounds|cluster_dims)__\b|\b__noinline__\b|\b(?:__asm__|__asm|asm)\b'
    r'|\b__builtin_mem(?:cpy|move|set|cmp)\b|<<\s*<|[{}])', re.M)
MARKER = re.compile(r'^#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"', re.M)
OPEN, CLOSE = '([{', ')]}'


class Unreadable(Exception):
    def __init__(self, at, what):
        super().__init__(what)
        self.at = at


def place(text, at):
    """File and line of an offset, from the last line marker before it."""
    name, line, start = '<input>', 1, 0
    for m in MARKER.finditer(text, 0, at):
        name, line, start = m.group(2), int(m.group(1)), text.find('\n', m.start()) + 1
    return name, line + text.count('\n', start, at) if at > start else line


def marker_before(text, at):
    i = text.rfind('\n# ', 0, at) + 1
    return text[i:text.find('\n', i)]


def in_system_header(text, at):
    """Whether the line marker before `at` says so."""
    line = marker_before(text, at)
    return line.startswith('# ') and '3' in line[line.rfind('"') + 1:].split()


def file_at(text, at):
    """The file of an offset, sooner than place() finds its line; None: not said."""
    marker = MARKER.match(marker_before(text, at))
    return marker.group(2) if marker else None


def in_own_code(text, at, room='gpu/simt/'):
    """Whether what stands at `at` is no code of a program: it is the executor's, or the conversions of formats that it shares with the judge."""
    file = '/' + (file_at(text, at) or '')
    return '/' + room in file or file.endswith(('/reference/core/small_floats.hpp', '/reference/core/format.hpp'))


def in_header(text, at):
    """Whether what stands at `at` was included: the text begins with a marker of the file that was compiled."""
    source, here = MARKER.match(text), file_at(text, at)
    return source is not None and here is not None and here != source.group(2)


def literal_end(text, i):
    """End of the string or character literal at i, or i where there is none."""
    if text[i] == 'R' and text.startswith('R"', i) or text[i] in '"\'':
        m = TOKEN.match(text, i)
        if m and m.group(0)[0] in 'R"\'uUL':
            return m.end()
    return i


def matching(text, i):
    """Offset of the bracket that closes the one at i."""
    stack, start = [], i
    while i < len(text):
        c = text[i]
        if c in '"\'' or text.startswith('R"', i):
            # a digit separator (1'000) is no literal
            if not (c == "'" and i > 0 and text[i - 1].isalnum()):
                end = literal_end(text, i)
                if end > i:
                    i = end
                    continue
        if c in OPEN:
            stack.append(CLOSE[OPEN.index(c)])
        elif c in CLOSE:
            if not stack or stack.pop() != c:
                raise Unreadable(start, 'unbalanced brackets')
            if not stack:
                return i
        i += 1
    raise Unreadable(start, 'unbalanced brackets')


def end_of(text, i, stop):
    """First offset from i of one of the strings in `stop` outside of all brackets."""
    start = i
    while i < len(text):
        for s in stop:
            if text.startswith(s, i):
                return i
        c = text[i]
        if c in OPEN:
            i = matching(text, i)
        elif c in CLOSE:
            raise Unreadable(start, 'unbalanced brackets')
        elif c == '"':
            i = max(literal_end(text, i) - 1, i)
        i += 1
    raise Unreadable(start, "expected '%s'" % stop[0])


def in_literal(text, at):
    """Whether `at` lies in a string or character literal that begins on its line."""
    m = TOKEN.search(text, text.rfind('\n', 0, at) + 1)
    while m and m.start() < at:
        end = literal_end(text, m.start())
        if end > at:
            return True
        m = TOKEN.search(text, max(end, m.start() + 1))
    return False


def no_markers(s):
    return re.sub(r'^#[^\n]*$', '', s, flags=re.M)


def lines_of(s):
    """The line breaks and markers of a stretch of text: put after its replacement, they keep all later lines in place."""
    return ''.join(re.findall(r'\n(?:#[^\n]*(?=\n))?', s))


def enclosing(text, at):
    """What stands before each brace that is open at `at`, the innermost first."""
    depth = 0
    first, last = text.rfind('{', 0, at), text.rfind('}', 0, at)
    while first >= 0:
        if last > first:
            depth += 1
            last = text.rfind('}', 0, last)
            continue
        if depth == 0:
            yield no_markers(text[max(0, first - 4000):first]).rstrip()
        else:
            depth -= 1
        first = text.rfind('{', 0, first)


def in_function(text, at):
    """Whether `at` lies in a function body: some enclosing brace follows a parameter list and its qualifiers."""
    for before in enclosing(text, at):
        if re.search(r'\)\s*(?:const|noexcept|override|final|mutable|->\s*[\w:<>,\s*&]+|\s)*$', before):
            return True
        if re.search(r'\b(do|else|try)$', before):
            return True
    return False


def in_device_code(text, at, or_in='__plumb_global__'):
    """Whether a function of the device, a kernel, or one whose head has the word `or_in` encloses `at`."""
    for before in enclosing(text, at):
        head = before[max(before.rfind(c) for c in ';{}') + 1:]
        if '__plumb_device__' in head or '__plumb_global__' in head or or_in in head:
            return True
    return False


def flat(s):
    return ' '.join(no_markers(s).split())


def opening(text, i):
    """Offset of the bracket that the one at i closes, going backwards."""
    depth = 0
    while i >= 0:
        if text[i] in CLOSE:
            depth += 1
        elif text[i] in OPEN:
            depth -= 1
            if depth == 0:
                return i
        i -= 1
    raise Unreadable(0, 'unbalanced brackets')


def pieces(s):
    """Splits at commas outside of all brackets, template arguments included."""
    out, depth, last = [], 0, 0
    for i, c in enumerate(s):
        if c in '([{<':
            depth += 1
        elif c in ')]}>' and not (c == '>' and s[i - 1] == '-'):
            depth -= 1
        elif c == ',' and depth == 0:
            out.append(s[last:i])
            last = i + 1
    return out + [s[last:]]
