# Launches, kernel<<<...>>>(...), and casts of kernels to void*.
import re

from text import (
    OPEN,
    Unreadable,
    end_of,
    flat,
    in_own_code,
    in_system_header,
    lines_of,
    matching,
    no_markers,
    opening,
    pieces,
)

KERNEL_NAME = re.compile(r'(?:__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|[^()])*?\b(?!__attribute__)([A-Za-z_]\w*)\s*\(')
CAST = (r'(?:\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)\s*(?P<open>\(\s*)?|'
        r'\breinterpret_cast\s*<\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*>\s*\(\s*)(?P<name>&?\s*(?:[A-Za-z_]\w*\s*::\s*)*(?:%s)\b)')
# A variable that holds a kernel; what else has its name is cast as it was.
POINTER = re.compile(r'\b([A-Za-z_]\w*)\s*=\s*&?\s*(?:[A-Za-z_]\w*\s*::\s*)*([A-Za-z_]\w*)')
MARKED = re.compile(r'[^();{}]*?__plumb_(?:launch_bounds|cluster_dims)__\s*(?=\()', re.S)


def behind_markers(text, at):
    """Where a kernel's declaration goes on behind its __launch_bounds__ and __cluster_dims__."""
    marked = MARKED.match(text, at)
    while marked:
        at = matching(text, marked.end()) + 1
        marked = MARKED.match(text, at)
    return at


class Kernel:
    """What the text says of a kernel's name: how often it has a body, and its template's parameters where it is one."""

    def __init__(self):
        self.bodies = 0
        self.templates = set()  # numbers of their parameters; 0: no template; None: any number
        self.optional = False  # some parameter has a default
        self.counts = set()  # numbers of its own parameters

    def is_one_function(self, arguments):
        """Whether its name with so many template arguments is one function, whose address has a type."""
        return self.bodies <= 1 and len(self.counts) == 1 and not self.optional and self.templates == {arguments}


def template_parameters(head):
    """Number of the parameters of the template that a declaration begins with; 0: none; None: any number."""
    m = re.match(r'\s*(?:#[^\n]*\n\s*)*template\s*<', head)
    if not m:
        return 0
    depth, i = 1, m.end()
    while i < len(head) and depth > 0:
        depth += (head[i] in '<([{') - (head[i] in '>)]}' and head[i - 1] != '-')
        i += 1
    inner = head[m.end():i - 1]
    return None if '...' in inner else len(pieces(inner)) if inner.strip() else -1


def kernels_of(text):
    """All kernels by name."""
    kernels = {}
    for m in re.finditer(r'\b__plumb_global__\b', text):
        named = KERNEL_NAME.match(text, behind_markers(text, m.end()))
        if not named:
            continue
        last = matching(text, named.end() - 1)
        k = kernels.setdefault(named.group(1), Kernel())
        start = m.start()
        while start > 0 and text[start - 1] not in ';{}':
            start -= 1
        parameters = flat(text[named.end():last])
        k.templates.add(template_parameters(text[start:m.start()]))
        k.counts.add(len(pieces(parameters)) if parameters not in ('', 'void') else 0)
        k.optional = k.optional or '=' in parameters or '...' in parameters
        k.bodies += bool(re.compile(r'(?:\s|^#[^\n]*\n)*\{', re.M).match(text, last + 1))
    for name in host_functions(text, kernels):
        kernels[name].bodies += 2
    return kernels


def host_functions(text, names):
    """Those of the names that functions of the host have too."""
    if not names:
        return set()
    declared = re.compile(r'([\w>&*])\s+(?:[*&]\s*)*(%s)\s*\(' % '|'.join(sorted(map(re.escape, names))))
    out = set()
    for m in declared.finditer(text):
        if in_system_header(text, m.start()) or in_own_code(text, m.start()):  # std::copy
            continue
        head = re.split(r'[;{}]', text[max(0, m.start() - 1000):m.start(2)])[-1]
        if '__plumb_global__' not in head and not re.search(r'[=(]|\b(?:return|else|do|throw)\b', no_markers(head)):
            out.add(m.group(2))
    return out


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


def is_one_function(kernel, kernels):
    """Whether the kernel of a launch is a name that the text declares as one function."""
    m = re.fullmatch(r'(?:(?:\w+\s*)?::\s*)*(\w+)\s*(<.*>)?', kernel)
    known = kernels.get(m.group(1)) if m else None
    return known is not None and known.is_one_function(len(pieces(m.group(2)[1:-1])) if m.group(2) else 0)


def rewrite_launch(text, at, length, kernels):
    """Edits for the launch whose <<< is at `at`; its argument list stays as it is."""
    start = kernel_start(text, at)
    close = at + length
    while True:
        close = end_of(text, close, ['>>'])
        call = re.compile(r'>>\s*>(?:\s|^#[^\n]*\n)*', re.M).match(text, close)
        if call and text[call.end():call.end() + 1] == '(':
            break
        if call and not re.match(r'>>>>', text[close:]):
            raise Unreadable(at, "expected '(' after >>>")
        close += 1 if call else 2
    call = call.end()
    kernel, config = flat(text[start:at]), flat(text[at + length:close])
    name = kernel.replace('\\', '\\\\').replace('"', '\\"')
    written = '::plumb::simt::Written("%s", ::plumb::simt::Here::at(), %s)' % (name, config)
    if is_one_function(kernel, kernels):  # what is passed becomes what its parameters are: NULL, 0, {1, 2}
        return [(start, call, '%s.of(%s)' % (written, kernel) + lines_of(text[start:call]))]
    new = '[&](auto&&... plumb_a) { %s([=] { (%s)(plumb_a...); }); }' % (written, kernel)
    if re.fullmatch(r'[\w:\s]+', kernel):  # a plain name may be a template whose arguments are deduced
        new = new.replace('(%s)(plumb_a' % kernel, '%s(plumb_a' % kernel)
    edits = [(start, call, new + lines_of(text[start:call]))]
    last = matching(text, call)
    for m in re.finditer(r'(?<=[(,])\s*__null\s*(?=[,)])', text[call:last + 1]):
        edits.append((call + m.start(), call + m.end(), 'nullptr'))
    return edits


def rewrite_casts(text, kernels):
    """Casts of kernels to void*, as cudaLaunchCooperativeKernel asks for, or of a variable that holds one: known_kernel() remembers
    what they take."""
    edits = []
    if not kernels:
        return edits
    names = set(kernels).union(m.group(1) for m in POINTER.finditer(text) if m.group(2) in kernels)
    for m in re.finditer(CAST % '|'.join(sorted(map(re.escape, names))), text):
        if in_own_code(text, m.start()):  # a kernel's name may be that of a parameter of the executor's own
            continue
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
