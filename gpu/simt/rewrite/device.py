# Variables and functions of the device: __device__, __constant__ and __managed__, which the shim leaves as markers. Without -rdc=true
# nvcc keeps them to their file: here they become static. Each variable is made known to the executor, with its name and its size.
import re

from text import CLOSE, OPEN, end_of, flat, in_own_code, matching, no_markers

MARKERS = ('__plumb_device__', '__plumb_constant__', '__plumb_managed__')
NAMESPACE = re.compile(r'(?:\bnamespace\b[\w\s:]*(?:__attribute__\s*\(\(.*?\)\)\s*)?|\bextern\s*"C(?:\+\+)?"\s*)$', re.S)
NUMBERS = re.compile(r'(?:\b(?:volatile|unsigned|signed|static|int|long|short|char|float|double|bool|(?:u?int(?:8|16|32|64)_t)|size_t|'
                     r'(?:u?(?:char|short|int|long|longlong)|float|double)[1-4])\b|\s)+')
REFERENCE = re.compile(r'(?<![\w.:>~])(texture|surface)(?=\s*<\s*[A-Za-z_:][^;{}()<>&|?]*>\s*[&*]?\s*[A-Za-z_]\w*\s*[;,=()\[])')
OWN_TEMPLATE = re.compile(r'\b(?:class|struct|using)\s+(texture|surface)\b')
OPERATOR = re.compile(r'(?<!\w)operator\s*(?:\(\s*\)|\[\s*\]|[^\w\s(]+)(?=\s*\()')


class File:
    """What is known of a file: its text, whether others see what it has, friends of classes (seen before their definition, and not as
    static), and which braces are open."""

    def __init__(self, text, rdc):
        self.text, self.rdc, self.open = text, rdc, []
        self.friends = set(re.findall(r'\bfriend\b[^;{}()]*?\b(\w+)\s*\(', text))

    def brace(self, at):
        if self.text[at] == '{':
            self.open.append(bool(NAMESPACE.search(no_markers(self.text[max(0, at - 200):at]))))
        elif self.open:
            self.open.pop()

    def in_namespace(self):
        return all(self.open)


def statement_start(text, at):
    i = at
    while i > 0 and text[i - 1] not in ';{}':
        i -= 1
    return i


def first_mark(text, i):
    """Offset of what tells a function from a variable: the first of ( ; = { [ behind the declaration's type and name."""
    depth = 0
    while i < len(text):
        c = text[i]
        if c == '#':
            i = text.index('\n', i)
        elif c == 'o' and OPERATOR.match(text, i):  # its sign may be one that ends a declaration
            i = OPERATOR.match(text, i).end() - 1
        elif c == '(':
            word = re.search(r'(\w+)\s*$', text[max(0, i - 80):i])
            if depth > 0 or (word and word.group(1) in ('__attribute__', 'alignas', 'decltype', '__plumb_launch_bounds__')):
                i = matching(text, i)
            else:
                return i
        elif c == '<':
            depth += 1
        elif c == '>' and text[i - 1] != '-':
            depth -= 1
        elif depth <= 0 and (c in ')}' or (c in ';={[' and text[i:i + 2] != '[[')):
            return i
        i += 1
    return i


def declarators(statement):
    """[(name, dimensions, has an initialiser)] of 'int a[3] = {1, 2}, *b'; those it cannot read are left out."""
    out = []
    rest = statement
    kind = re.match(r'(?:[\w\s]|::)*\b(?:struct|union|class|enum)\b[^;{=()]*\{', rest)
    if kind:  # the type is defined on the spot
        rest = 'x ' + rest[matching(rest, kind.end() - 1) + 1:]
    depth = i = last = 0
    initial = -1
    rest += ','
    while i < len(rest):
        c = rest[i]
        if c in OPEN and (c != '[' or initial >= 0):
            if c == '{' and initial < 0:
                initial = i
            i = matching(rest, i)
        elif c == '=' and initial < 0:
            initial = i
        elif initial < 0 and c in '<>':
            depth += 1 if c == '<' else -1
        elif c == ',' and depth <= 0:
            part = rest[last:initial if initial >= 0 else i]
            named = re.search(r'(?<![\w:])([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$', part.rstrip())
            if named and (last > 0 or part[:named.start()].strip()):
                out.append((named.group(1), named.group(2).strip(), initial >= 0))
            last, initial, depth = i + 1, -1, 0
        i += 1
    return out


def variable(file, at, mark, head, number):
    """Edits for the variable whose marker is at `at`."""
    text, rdc = file.text, file.rdc
    end = end_of(text, mark, [';'])
    whole = flat(head + ' ' + text[at:end])
    words = whole.split('=')[0]
    constant = '__plumb_constant__' in words
    for marker in MARKERS + ('__plumb_host__',):
        whole = whole.replace(marker, ' ')
    if re.search(r'\bextern\b', words) or re.search(r'\(\s*\*', words):
        return []
    names = declarators(flat(whole))
    if not names:
        return []
    edits = []
    if not rdc and not re.search(r'\b(?:static|inline|constexpr)\b', words):
        edits.append((at, at, 'static '))
    new = ''
    for k, (name, dims, initial) in enumerate(names):
        # An array of numbers without values stands between gaps: an access just behind it is then known to have left it.
        kind = re.sub(r'__attribute__\s*\(\(.*?\)\)|\balignas\s*\(.*?\)', ' ', whole[:re.search(r'\b%s\b' % name, whole).start()])
        gap = bool(dims) and not initial and len(names) == 1 and not rdc and NUMBERS.fullmatch(kind) is not None
        tag = 'plumb_variable_%d_%d' % (number, k)
        if gap:
            place = '__attribute__((%ssection(".bss.plumb_device")))'
            edits.append((at, at, place % '' + ' '))
            new += ' static char %s_gap[::plumb::simt::kVariableGap] %s;' % (tag, place % 'used, ')
        new += ' static const ::plumb::simt::DeviceVariable %s("%s", &reinterpret_cast<const volatile char&>(%s), sizeof(%s), %s, %s);' % (
            tag, name, name, name, 'true' if constant else 'false', 'true' if gap else 'false')
    return edits + [(end + 1, end + 1, new)]


def function(file, at, mark, head):
    """Edits for the function whose marker is at `at`: static, where nvcc would not let another file call it."""
    before = file.text[at:mark]
    name = re.search(r'(?P<scope>::\s*)?([A-Za-z_]\w*|operator\s*\S+)\s*$', no_markers(before))
    if file.rdc or name is None or name.group('scope') or name.group(2) in file.friends:
        return []
    if re.search(r'\b(?:template|static|inline|constexpr|extern|friend|typedef|using|__plumb_host__|__plumb_global__)\b', head + before):
        return []
    return [(at, at, 'static ')]


def rewritten(file, at, token, number):
    """Edits for the marker `token` at `at`: it goes, and what it stands for is kept to its file and made known."""
    text = file.text
    gone = [(at, at + len(token), '')]
    if token == '__plumb_host__' or not file.in_namespace():
        return gone
    head = no_markers(text[statement_start(text, at):at])
    if any(marker in head for marker in MARKERS) or re.search(r'[(=]', re.sub(r'__attribute__\s*\(\(.*?\)\)|\balignas\s*\(.*?\)', '', head)):
        return gone
    if re.search(r'\b(?:template|typedef|using|friend)\b', head):  # whose types may compare with <, which first_mark takes for a bracket
        return gone
    mark = first_mark(text, at + len(token))
    if mark >= len(text):
        return gone
    if text[mark] == '(' and not re.match(r'\(\s*\*', text[mark:mark + 20]):
        return gone + function(file, at, mark, head)
    if text[mark] in CLOSE:
        return gone
    return gone + variable(file, at, mark, head, number)


def rewrite_references(text):
    """Edits for texture and surface references, whose templates are in no namespace of the program's, as CUDA 12 has none either."""
    def of_program(m):
        return not in_own_code(text, m.start())
    found = [m for m in REFERENCE.finditer(text) if of_program(m)]
    own = {m.group(1) for m in OWN_TEMPLATE.finditer(text) if of_program(m)} if found else ()
    return [(m.start(1), m.start(1), '::plumb::simt::') for m in found if m.group(1) not in own]
