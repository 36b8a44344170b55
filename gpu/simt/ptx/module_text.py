# A PTX module as text: directives, variables, functions and their statements, each with its line. Source: PTX ISA, "Directives".
import re
from bisect import bisect_right

BITS = {'b8': 8, 'u8': 8, 's8': 8, 'b16': 16, 'u16': 16, 's16': 16, 'f16': 16, 'bf16': 16, 'b32': 32, 'u32': 32, 's32': 32, 'f32': 32,
        'f16x2': 32, 'bf16x2': 32, 'b64': 64, 'u64': 64, 's64': 64, 'f64': 64, 'b128': 128, 'pred': 8, 'texref': 64, 'samplerref': 64,
        'surfref': 64}
NAME = r'[A-Za-z_$%][\w$]*'
LABEL = re.compile(r'(%s)\s*:(?!:)' % NAME)
LINKAGE = re.compile(r'\.(?:visible|extern|weak|common)\b')
WHOLE_LINE = re.compile(r'\.(?:version|target|address_size|file|loc)\b[^\n]*')
INLINE_ASM = re.compile(r'// begin inline asm\b.*?// end inline asm\b', re.S)
LOC = re.compile(r'\.loc\s+(\d+)\s+(\d+)\s+\d+')
INLINED = re.compile(r'inlined_at\s+(\d+)\s+(\d+)')
LIMIT = re.compile(r'\.(maxntid|reqntid|maxnreg|minnctapersm|maxnctapersm|reqnctapercluster|maxclusterrank|explicitcluster|blocksareclusters|'
                   r'noreturn|abi_preserve|abi_preserve_control|pragma)\b([^.{;]*);?')


class BadModule(Exception):
    def __init__(self, line, what):
        super().__init__(what)
        self.line = line


class Variable:
    """.global, .const, .shared, .local or .param memory: `count` elements of `bytes` bytes; None: as many as there are."""

    def __init__(self, space, name, kind, bytes_each, count, alignment, line):  # noqa: PLR0917
        self.space, self.name, self.kind, self.bytes_each, self.count, self.alignment = space, name, kind, bytes_each, count, alignment
        self.line, self.initial, self.external, self.pointer = line, None, False, None

    @property
    def bytes(self):
        return self.bytes_each * (self.count or 0)


class Statement:
    """An instruction, a declaration or a label of a function's body. `scope`: the numbers of the braces around it, outermost first."""

    def __init__(self, text, line, scope):
        self.text, self.line, self.scope = text, line, scope


class Function:
    def __init__(self, name, is_entry, line):
        self.name, self.is_entry, self.line = name, is_entry, line
        self.returns, self.parameters, self.limits, self.statements = [], [], {}, None


class Place:
    """A place of the source language: (file's number, line), innermost first where functions were put in their callers' place."""

    def __init__(self, chain):
        self.chain = chain


def without_comments(text):
    """The text with blanks in place of comments; lines stay where they are."""
    def blank(m):
        return m.group(0) if m.group(0).startswith('"') else re.sub(r'[^\n]', ' ', m.group(0))
    return re.sub(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', blank, text, flags=re.S)


def line_at(text, at):
    return text.count('\n', 0, at) + 1


def closing_of(text, at):
    """Offset behind the bracket that closes the one at `at`, of a text without comments."""
    depth = 0
    for m in re.compile(r'"[^"\n]*"|[(){}\[\]]').finditer(text, at):
        c = m.group(0)
        depth += 1 if c in '({[' else -1 if c in ')}]' else 0
        if depth == 0 and c in ')}]':
            return m.end()
    raise BadModule(line_at(text, at), 'a bracket that nothing closes')


def number(word):
    """An integer constant of PTX."""
    word = word.strip().rstrip('uU')
    sign, word = (-1, word[1:]) if word.startswith('-') else (1, word)
    if re.fullmatch(r'0[0-7]+', word):
        return sign * int(word, 8)
    return sign * int(word, 0)


class Module:
    """`text` of a module; `name` as it is called in messages. Raises BadModule with the line of what cannot be read."""

    def __init__(self, text):
        self.text = without_comments(text)
        # compilers count the lines of an inline asm's text on from that of its statement: what a .loc in it says is no place
        self.inline = [m.span() for m in INLINE_ASM.finditer(text)]
        self.at, self.scopes = 0, 0
        self.ends = [m.start() for m in re.finditer('\n', self.text)]
        self.version = self.target = None
        self.files, self.variables, self.functions, self.places, self.callers = {}, [], [], {}, {}
        self.read()

    def line(self, at=None):
        return bisect_right(self.ends, (self.at if at is None else at) - 1) + 1

    def skip_blank(self):
        self.at = re.compile(r'[\s;]*').match(self.text, self.at).end()
        return self.at < len(self.text)

    def word(self, pattern):
        """The match of `pattern` here, which is passed; None where there is none."""
        m = re.compile(r'\s*(?:%s)' % pattern).match(self.text, self.at)
        if m:
            self.at = m.end()
        return m

    def need(self, pattern, what):
        m = self.word(pattern)
        if not m:
            near = ' '.join(self.text[self.at:self.at + 60].split())
            raise BadModule(self.line(), "expected %s: '%s'" % (what, near))
        return m

    def closing(self, at):
        return closing_of(self.text, at)

    def read(self):
        while self.skip_blank():
            m = WHOLE_LINE.match(self.text, self.at)
            if m:
                self.whole_line(m.group(0))
                self.at = m.end()
            elif self.word(r'\.section\b[^{]*'):
                self.at = self.closing(self.at)
            elif self.word(r'\.pragma[^;]*|\.alias[^;]*|@@[^\n]*'):
                continue
            else:
                self.declaration()
        if self.version is None or self.target is None:
            raise BadModule(1, 'a module of PTX begins with .version and .target')

    def whole_line(self, text):
        words = text.split(None, 1)
        rest = words[1].strip() if len(words) > 1 else ''
        if words[0] == '.version':
            self.version = rest
        elif words[0] == '.target':
            self.target = rest.split(',')[0].strip()
        elif words[0] == '.address_size' and rest != '64':
            raise BadModule(self.line(), "addresses of 64 bits alone are offered: .address_size %s" % rest)
        elif words[0] == '.file':
            m = re.match(r'(\d+)\s+"([^"]*)"', rest)
            if m:
                self.files[int(m.group(1))] = m.group(2)

    def declaration(self):
        external = False
        while True:
            m = LINKAGE.match(self.text, self.at)
            if not m:
                break
            external = external or m.group(0) == '.extern'
            self.at = m.end()
            self.skip_blank()
        if self.word(r'\.attribute\s*'):
            self.at = self.closing(self.at)
        m = self.need(r'\.(entry|func|global|const|shared|tex|local)\b', 'a declaration')
        if m.group(1) in ('entry', 'func'):
            self.function(m.group(1) == 'entry')
            return
        end = self.end_of_statement(self.at)
        for variable in self.variables_of(m.group(1), self.text[self.at:end], self.line()):
            variable.external = external
            self.variables.append(variable)
        self.at = end + 1

    def end_of_statement(self, at):
        """Offset of the semicolon that ends the statement at `at`."""
        m = re.compile(r'(?:"[^"\n]*"|[^;"])*').match(self.text, at)
        if m.end() >= len(self.text):
            raise BadModule(self.line(at), 'a statement that no semicolon ends')
        return m.end()

    def variables_of(self, space, text, line):
        """'.align 4 .b8 name[16] = {...}, other': its variables."""
        head = re.match(r'((?:\s*\.(?:attribute\s*\([^)]*\)|align\s+\d+|ptr|v[248]|global|shared|const|local|param|\w+))+)', text)
        if not head:
            raise BadModule(line, "cannot read the declaration '%s'" % ' '.join(text.split()))
        words = re.findall(r'\.align\s+\d+|\.\w+', head.group(1))
        alignments = [int(w.split()[1]) for w in words if w.startswith('.align')]
        kinds = [w[1:] for w in words if w[1:] in BITS]
        lanes = next((int(w[2]) for w in words if re.fullmatch(r'\.v[248]', w)), 1)
        if not kinds:
            raise BadModule(line, "a variable without a type: '%s'" % ' '.join(text.split()))
        bytes_each = BITS[kinds[0]] // 8 * lanes
        out = []
        for piece in re.findall(r'[^,={]+(?:=\s*(?:\{(?:[^{}]|\{[^{}]*\})*\}|[^,]+))?', text[head.end():]):
            m = re.match(r'\s*(%s)(?:<(\d+)>)?\s*((?:\[\s*\w*\s*\]\s*)*)\s*(?:=\s*(.*))?$' % NAME, piece, re.S)
            if not m:
                raise BadModule(line, "cannot read the declaration '%s'" % ' '.join(piece.split()))
            count = 1
            for extent in re.findall(r'\[\s*(\w*)\s*\]', m.group(3)):
                count = count * number(extent) if extent and count is not None else None
            initial = re.findall(r'[^\s,{}]+', m.group(4)) if m.group(4) else None
            if count is None and initial:
                count = len(initial)
            alignment = alignments[0] if alignments and '.ptr' not in words else bytes_each
            for k in range(int(m.group(2) or 0)) if m.group(2) else [None]:
                name = m.group(1) if k is None else '%s%d' % (m.group(1), k)
                variable = Variable(space, name, kinds[0], bytes_each, count, alignment, line)
                variable.initial, variable.pointer = initial, '.ptr' in words
                out.append(variable)
        return out

    def formals(self):
        """The variables of a bracketed list of parameters here; none where there is no list."""
        if not self.word(r'(?=\()'):
            return []
        end = self.closing(self.at)
        text, line = self.text[self.at + 1:end - 1], self.line()
        out = []
        for piece in text.split(','):
            line_of_piece = line
            m = re.match(r'\s*\.(param|reg)\b', piece)
            if m:
                out += self.variables_of(m.group(1), piece[m.end():], line_of_piece)
            line += piece.count('\n')
        self.at = end
        return out

    def function(self, is_entry):
        line = self.line()
        returns = [] if is_entry else self.formals()
        name = self.need(NAME, 'the name of a function').group(0).strip()
        f = Function(name, is_entry, line)
        f.returns, f.parameters = returns, self.formals()
        while True:
            self.skip_blank_lines()
            m = LIMIT.match(self.text, self.at)
            if not m:
                break
            self.at = m.end()
            f.limits[m.group(1)] = [number(n) for n in re.findall(r'\b\d+\b', m.group(2))]
        self.functions.append(f)
        if self.word(';'):
            return
        self.need(r'\{', "a function's body")
        f.statements = list(self.body())

    def skip_blank_lines(self):
        while True:
            self.at = re.compile(r'\s*').match(self.text, self.at).end()
            m = re.compile(r'\.loc\b[^\n]*').match(self.text, self.at)
            if not m:
                return
            self.at = m.end()

    def body(self):
        """Statements up to the brace that closes the function, and for each line of them its place in the source language."""
        self.scopes += 1
        scope, place = (self.scopes,), None
        while self.skip_blank():
            m = WHOLE_LINE.match(self.text, self.at)
            if m:
                if not self.in_inline_asm():
                    place = self.place(m.group(0)) or place
                self.at = m.end()
            elif self.text[self.at] == '{':
                self.scopes += 1
                scope += (self.scopes,)
                self.at += 1
            elif self.text[self.at] == '}':
                self.at += 1
                scope = scope[:-1]
                if not scope:
                    return
            else:
                statement = self.statement(scope)
                self.places[statement.line] = place
                yield statement
        raise BadModule(self.line(), 'a function that no brace closes')

    def in_inline_asm(self):
        last = bisect_right(self.inline, (self.at, len(self.text))) - 1
        return last >= 0 and self.at < self.inline[last][1]

    def statement(self, scope):
        line, m = self.line(), LABEL.match(self.text, self.at)
        if m:
            self.at = m.end()
            return Statement(m.group(1) + ':', line, scope)
        end = self.end_of_statement(self.at)
        text = ' '.join(self.text[self.at:end].split())
        self.at = end + 1
        return Statement(text, line, scope)

    def place(self, text):
        """What a .loc says; None where it is of no line. inlined_at names the caller's place, whose own caller another .loc has told."""
        m = LOC.match(text)
        if not m or int(m.group(2)) == 0:
            return None
        at, caller = (int(m.group(1)), int(m.group(2))), INLINED.search(text)
        self.callers[at] = (int(caller.group(1)), int(caller.group(2))) if caller else None
        chain = [at]
        while self.callers.get(chain[-1]) not in (None, *chain):
            chain.append(self.callers[chain[-1]])
        return Place(chain)
