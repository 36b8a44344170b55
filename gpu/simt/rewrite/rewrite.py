#!/usr/bin/env python3
# Turns CUDA that no host compiler parses into C++ that one does: kernel<<<...>>>(...), __shared__ variables, inline PTX (ptx.py),
# __noinline__, casts of kernels to void*.
#
#   g++ -E -DPLUMB_SIMT ... file.cu -o file.ii; rewrite.py file.ii file.simt.cpp    (or as a filter, with no arguments)
#
# Works on preprocessed text: headers and macros are expanded, comments are gone, and line markers keep every file and line.
# No parser: __shared__ (which the shim leaves as __plumb_shared__) and <<< are found as tokens outside of literals, then the
# statement around them is read with balanced brackets. What it cannot read is an error with the line, never a guess.
import re
import sys

sys.dont_write_bytecode = True
import ptx  # noqa: E402

TOKEN = re.compile(
    r'R"(?P<delim>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=delim)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])(?:u8|u|U|L)?'(?:\\.|[^'\\\n])+'"
    r'|^\#[^\n]*'
    r'|\b__plumb_shared__\b|\b__plumb_global__\b|\b__plumb_launch_bounds__\b|\b__noinline__\b|\b(?:__asm__|__asm|asm)\b|<<<|[{}]', re.M)
MARKER = re.compile(r'^#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"', re.M)
ALIGN = re.compile(r'\balignas\s*\(|__attribute__\s*\(\s*\(\s*(?:aligned|__aligned__)\s*\(')
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


def no_markers(s):
    return re.sub(r'^#[^\n]*$', '', s, flags=re.M)


def lines_of(s):
    """The line breaks and markers of a stretch of text: put after its replacement, they keep all later lines in place."""
    return ''.join(re.findall(r'\n(?:#[^\n]*(?=\n))?', s))


def flat(s):
    return ' '.join(no_markers(s).split())


def kernel_start(text, end):
    """Start of the postfix expression that ends just before `end`: a::b<c>, (*p), s.member[0]."""
    i = end
    need_name = True
    while True:
        while i > 0 and text[i - 1].isspace():
            i -= 1
        if need_name and text[i - 1] == '>':  # template arguments: back to their '<'
            depth = 0
            while i > 0:
                i -= 1
                c = text[i]
                if c in ')]}':
                    i = opening(text, i)
                elif c == '>' and text[i - 1] != '-':
                    depth += 1
                elif c == '<':
                    depth -= 1
                    if depth == 0:
                        break
            continue
        if need_name and text[i - 1] in ')]':
            closer = text[i - 1]
            i = opening(text, i - 1)
            if closer == ']':
                continue
            return i
        m = re.search(r'(?:\btemplate\s+)?[A-Za-z_]\w*\s*$', text[:i][-200:])
        if not m:
            raise Unreadable(end, 'no kernel name before <<<')
        i -= len(m.group(0))
        before = text[:i][-40:].rstrip()
        if before.endswith('::'):
            i = text.rindex('::', 0, i)
            tail = text[:i].rstrip()
            if tail and (tail[-1].isalnum() or tail[-1] in '_>') and not re.search(r'\b(return|else|do)$', tail):
                i = len(tail)
                continue
            return i
        if before.endswith('.') or before.endswith('->'):
            i = len(text[:i].rstrip()) - (1 if before.endswith('.') else 2)
            continue
        return i


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


def rewrite_launch(text, at):
    """(start, end, replacement) for the launch whose <<< is at `at`; its argument list stays as it is."""
    start = kernel_start(text, at)
    close = end_of(text, at + 3, ['>>>'])
    call = close + 3
    while call < len(text) and (text[call].isspace() or text[call] == '#'):
        call = text.index('\n', call) if text[call] == '#' else call + 1
    if call >= len(text) or text[call] != '(':
        raise Unreadable(at, "expected '(' after >>>")
    kernel, config = flat(text[start:at]), flat(text[at + 3:close])
    name = kernel.replace('\\', '\\\\').replace('"', '\\"')
    new = ('[&](auto&&... plumb_a) { ::plumb::simt::Written("%s", ::plumb::simt::Here::at(), %s)'
           '([=] { (%s)(plumb_a...); }); }' % (name, config, kernel))
    if re.fullmatch(r'[\w:\s]+', kernel):  # a plain name may be a template whose arguments are deduced
        new = new.replace('(%s)(plumb_a' % kernel, '%s(plumb_a' % kernel)
    return start, call, new + lines_of(text[start:call])


def split_declarators(s, at):
    """'float a[2][3], b' -> type text and [(name, dimensions)]."""
    m = re.search(r'([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$', s_first(s, at))
    if not m:
        raise Unreadable(at, 'cannot read the __shared__ declaration')
    kind = s_first(s, at)[:m.start()].strip()
    if not kind or kind.endswith(('*', '&')) and not m.group(1):
        raise Unreadable(at, 'cannot read the __shared__ declaration')
    out = [(m.group(1), m.group(2).strip())]
    for part in pieces(s)[1:]:
        m = re.fullmatch(r'\s*([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)', part)
        if not m:
            raise Unreadable(at, 'cannot read the __shared__ declaration')
        out.append((m.group(1), m.group(2).strip()))
    return kind, out


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


def s_first(s, _at):
    return pieces(s)[0].rstrip()


def rewrite_shared(text, at, number, in_function):
    """(start, end, replacement) for the declaration statement around the marker at `at`."""
    start = at
    depth = 0
    while start > 0:
        c = text[start - 1]
        if c in ')]':
            depth += 1
        elif c in '([':
            depth -= 1
        elif depth == 0 and c in ';{}':
            break
        elif depth == 0 and c == ':' and text[start - 2] != ':' and text[start] != ':':
            break  # a label or case
        start -= 1
    # markers and blank lines before the statement stay where they are
    head = re.match(r'(?:\s+|#[^\n]*\n)*', text[start:at])
    start += head.end()
    end = end_of(text, at, [';'])
    body = flat(text[start:end].replace('__plumb_shared__', ' '))
    alignment = None
    while True:
        m = ALIGN.search(body)
        if not m:
            break
        first = body.index('(', m.start())
        last = matching(body, first)
        alignment = body[m.end():matching(body, m.end() - 1)]
        body = body[:m.start()] + ' ' + body[last + 1:]
    body, extern = re.subn(r'\bextern\b', ' ', body)
    body = flat(re.sub(r'\b(static|constexpr|inline)\b', ' ', body))
    kind, names = split_declarators(body, at)
    out = []
    macros = []
    for k, (name, dims) in enumerate(names):
        if extern:
            first = re.match(r'\[\s*\]', dims)
            if not first:
                raise Unreadable(at, 'extern __shared__ must be an array without a first size')
            tag = 'plumb_%s_%d_%d' % (name, number, k)
            element = kind
            if dims[first.end():].strip():  # rows of so many elements
                element = tag + '_t'
                out.append('using %s = %s%s;' % (element, kind, dims[first.end():].strip()))
            if in_function:
                out.append('%s* const %s = static_cast<%s*>(::plumb::simt::dynamic_shared());' %
                           (element, name, element))
            else:
                out.append('static inline %s* %s() { return static_cast<%s*>(::plumb::simt::dynamic_shared()); }' %
                           (element, tag, element))
                macros.append((name, tag))
            continue
        tag = 'plumb_%s_%d_%d' % (name, number, k)
        align = 'alignof(%s_t)' % tag
        slot = 'static ::plumb::simt::SharedSlot %s("%s");' % (tag, name)
        if alignment:  # a number or a type: alignas takes either
            slot = 'struct %s_a { alignas(%s) alignas(%s_t) char c; }; ' % (tag, alignment, tag) + slot
            align = 'alignof(%s_a)' % tag
        value = '*static_cast<%s_t*>(%s.address(sizeof(%s_t), %s));' % (tag, tag, tag, align)
        if in_function:
            out.append('using %s_t = %s%s; %s %s_t& %s = %s' % (tag, kind, dims, slot, tag, name, value))
        else:
            out.append('using %s_t = %s%s; static inline %s_t& %s_f() { %s return %s }' %
                       (tag, kind, dims, tag, tag, slot, value))
            macros.append((name, tag + '_f'))
    new = ' '.join(out) + lines_of(text[start:end])
    if macros:  # the text is preprocessed once more when it is compiled: the variable's name becomes a call
        file, line = place(text, end)
        new += ''.join('\n#undef %s\n#define %s (%s())' % (name, name, call) for name, call in macros)
        new += '\n# %d "%s"\n' % (line, file)
    return start, end + 1, new


def in_function(text, at):
    """Whether `at` lies in a function body: some enclosing brace follows a parameter list and its qualifiers."""
    depth = 0
    i = at
    while i > 0:
        i -= 1
        c = text[i]
        if c == '}':
            depth += 1
        elif c == '{':
            if depth > 0:
                depth -= 1
                continue
            before = no_markers(text[max(0, i - 4000):i]).rstrip()
            if re.search(r'\)\s*(?:const|noexcept|override|final|mutable|->\s*[\w:<>,\s*&]+|\s)*$', before):
                return True
            if re.search(r'\b(do|else|try)$', before):
                return True
    return False


def rewrite_asm(text, at):
    """(start, end, replacement) for the asm statement at `at`, without its semicolon."""
    m = ptx.STATEMENT.match(text, at)
    if m.end() >= len(text) or text[m.end()] != '(':
        raise Unreadable(at, "expected '(' after asm")
    close = matching(text, m.end())
    try:
        new = ptx.Asm(no_markers(text[m.end() + 1:close])).rewritten()
    except ptx.NotOffered as e:
        raise Unreadable(at, 'inline PTX that the CPU executor does not offer: %s (guard it with #if !defined(PLUMB_SIMT))' % e) from e
    return at, close + 1, flat(new) + lines_of(text[at:close + 1])


KERNEL_NAME = re.compile(r'(?:__attribute__\s*\(\(.*?\)\)|[^()])*?\b(?!__attribute__)([A-Za-z_]\w*)\s*\(', re.S)
CAST = (r'(?:\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)\s*(?P<open>\(\s*)?|'
        r'\breinterpret_cast\s*<\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*>\s*\(\s*)(?P<name>&?\s*(?:[A-Za-z_]\w*\s*::\s*)*(?:%s)\b)')


def rewrite_casts(text, kernels):
    """Casts of kernels to void*, as cudaLaunchCooperativeKernel asks for: known_kernel() remembers what they take."""
    edits = []
    if not kernels:
        return edits
    for m in re.finditer(CAST % '|'.join(sorted(map(re.escape, kernels))), text):
        end = m.end()
        rest = re.match(r'\s*<', text[end:])
        if rest:  # template arguments, to the > that closes them
            depth, i = 0, end
            while i < len(text):
                c = text[i]
                if c in OPEN:
                    i = matching(text, i)
                depth += (c == '<') - (c == '>')
                i += 1
                if c == '>' and depth == 0:
                    break
            end = i
        edits.append((m.start('name'), end, '::plumb::simt::known_kernel(%s)' % text[m.start('name'):end]))
    return edits


def rewrite_bounds(text, at):
    """The marker of __launch_bounds__ at `at` goes; a kernel with a body begins with a check of its block's size."""
    first = text.index('(', at)
    last = matching(text, first)
    most = flat(pieces(text[first + 1:last])[0])
    edits = [(at, last + 1, lines_of(text[at:last + 1]))]
    named = KERNEL_NAME.match(text, last + 1)
    if not named or not most:
        return edits
    body = re.compile(r'(?:\s+|^#[^\n]*\n)*', re.M).match(text, matching(text, named.end() - 1) + 1).end()
    if text[body:body + 1] == '{':
        edits.append((body + 1, body + 1, ' ::plumb::simt::launch_bounds(static_cast<unsigned>(%s));' % most))
    return edits


def in_system_header(text, at):
    """Whether the line marker before `at` says so: the C library's own asm is the host's."""
    i = text.rfind('\n# ', 0, at) + 1
    line = text[i:text.find('\n', i)]
    return line.startswith('# ') and '3' in line[line.rfind('"') + 1:].split()


def rewrite(text):
    edits = []
    kernels = set()
    number = 0
    done = 0
    for m in TOKEN.finditer(text):
        token = m.group(0)
        if m.start() < done:
            continue
        if token == '__noinline__':
            before = text[:m.start()][-40:].rstrip()
            if not before.endswith(('(', ',')):
                edits.append((m.start(), m.end(), '__attribute__((noinline))'))
        elif token == '__plumb_global__':
            edits.append((m.start(), m.end(), ''))
            named = KERNEL_NAME.match(text, m.end())
            if named:
                kernels.add(named.group(1))
        elif token == '__plumb_launch_bounds__':
            edits += rewrite_bounds(text, m.start())
        elif token in ('asm', '__asm__', '__asm'):
            if not in_system_header(text, m.start()):
                edits.append(rewrite_asm(text, m.start()))
                done = edits[-1][1]
        elif token == '<<<':
            edits.append(rewrite_launch(text, m.start()))
        elif token == '__plumb_shared__':
            number += 1
            edits.append(rewrite_shared(text, m.start(), number, in_function(text, m.start())))
            done = edits[-1][1]
    edits += rewrite_casts(text, kernels)
    out, last = [], 0
    for start, end, new in sorted(edits):
        if start < last:
            raise Unreadable(start, 'launches and __shared__ declarations overlap')
        out += [text[last:start], new]
        last = end
    return ''.join(out) + text[last:]


# The compiler turns copies of large structures into calls of memcpy, past its own instrumentation: in instrumented builds the
# assembler is told another name for it. Likewise malloc and new, which in a kernel are the device's.
PROLOGUE = r"""#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLUMB_SIMT_RENAME
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(PLUMB_SIMT_RENAME)
asm(".set memcpy, __tsan_memcpy\n.set memmove, __tsan_memmove\n.set memset, __tsan_memset");
asm(".set malloc, plumb_simt_malloc\n.set free, plumb_simt_free\n.set _Znwm, plumb_simt_new\n.set _Znam, plumb_simt_new\n"
    ".set _ZdlPv, plumb_simt_delete\n.set _ZdlPvm, plumb_simt_delete\n.set _ZdaPv, plumb_simt_delete\n"
    ".set _ZdaPvm, plumb_simt_delete");
#endif
"""


def main():
    source = open(sys.argv[1], encoding='utf-8', errors='surrogateescape') if len(sys.argv) > 2 else sys.stdin
    text = source.read()
    try:
        new = PROLOGUE + rewrite(text)
    except Unreadable as e:
        name, line = place(text, e.at)
        sys.exit('%s:%d: error: %s' % (name, line, e))
    if len(sys.argv) > 2:
        with open(sys.argv[2], 'w', encoding='utf-8', errors='surrogateescape') as out:
            out.write(new)
    else:
        sys.stdout.write(new)


if __name__ == '__main__':
    main()
