# A function of a PTX module as C++: its instructions by the tables of inline PTX (rewrite/ptx.py), over registers, parameters and memory that
# the module declares.
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'rewrite'))
import ptx  # noqa: E402
from module_text import NAME, BadModule, number  # noqa: E402
from ptx_tables import HALVES, SPECIAL, TYPES, NotOffered, P  # noqa: E402

REGISTERS = dict(TYPES, b128='unsigned __int128', **{name: kind for name, (_, kind) in HALVES.items()})
WIDTHS = {'unsigned char': 8, 'signed char': 8, 'unsigned short': 16, 'short': 16, 'unsigned': 32, 'int': 32, 'unsigned long long': 64,
          'long long': 64, 'float': 32, 'double': 64, 'bool': 1, 'unsigned __int128': 128}
FLOATS = ('float', 'double')
INTEGER = re.compile(r'-?(?:0[xX][0-9A-Fa-f]+|0[bB][01]+|\d+)[uU]?')
FLOAT_BITS = re.compile(r'0[fFdD]([0-9A-Fa-f]{8}(?:[0-9A-Fa-f]{8})?)')
ADDRESS = re.compile(r'\[\s*(?P<base>[^\s+\-\]]+|-?\d+)\s*(?:(?P<sign>\+\s*-|\+|-)\s*(?P<offset>\w+)\s*)?\]')


def word_of(name):
    """A name of PTX as one of C++."""
    return re.sub(r'\W', '_', name.replace('%', '').replace('$', 'D'))


class Body(ptx.Asm):
    """The body of `function`; `module` has what it may name."""

    def __init__(self, module, function):
        self.module, self.function, self.number = module, function, next(self.serial)
        self.parameters, self.operands, self.names = None, [], {}
        self.kinds = {}  # of registers, by scope and name
        self.register_names, self.has_vectors = set(), False
        self.memory = {}  # .local, .param and .shared variables of the body, by scope and name
        self.targets, self.prototypes, self.declared, self.used = {}, {}, [], set()
        self.braces, self.refused = (), []
        self.find_declarations()

    def find_declarations(self):
        for variable in self.function.parameters + self.function.returns:
            if variable.space == 'reg':
                self.add_register(0, variable.name, variable.kind, variable.line)
        self.labels = {}  # by scope and name: C++ names
        previous = None
        for s in self.function.statements:
            m = re.match(r'\.(reg|local|param|shared)\b', s.text)
            if s.text.endswith(':') and ' ' not in s.text:
                self.labels[s.scope[-1], s.text[:-1]] = 'L_%s_%d_%d' % (word_of(s.text[:-1]), self.number, s.scope[-1])
            elif m and m.group(1) == 'reg':
                self.add_registers(s)
            elif m:
                for v in self.module.text.variables_of(m.group(1), s.text[m.end():], s.line):
                    self.memory[s.scope[-1], v.name] = v
            elif s.text.startswith('.branchtargets'):
                self.targets[previous] = [t.strip() for t in s.text[len('.branchtargets'):].split(',')]
            elif s.text.startswith('.callprototype'):
                self.prototypes[previous] = s.text
            previous = s.text[:-1]

    def add_registers(self, statement):
        m = re.match(r'\.reg\s+(?:\.(v[24])\s+)?\.(\w+)\s+(.*)$', statement.text)
        if not m or m.group(2) not in REGISTERS:
            raise BadModule(statement.line, "registers that are not offered: '%s'" % statement.text)
        for piece in m.group(3).split(','):
            name = re.fullmatch(r'\s*(%s)(?:<(\d+)>)?\s*' % NAME, piece)
            if not name:
                raise BadModule(statement.line, "cannot read the registers '%s'" % statement.text)
            names = [name.group(1)] if name.group(2) is None else [name.group(1) + str(k) for k in range(int(name.group(2)))]
            if m.group(1):
                self.has_vectors = True
                names = [n + '.' + lane for n in names for lane in 'xyzw'[:int(m.group(1)[1])]]
            for n in names:
                self.add_register(statement.scope[-1], n, m.group(2), statement.line)

    def add_register(self, scope, name, kind, line):
        outermost = name not in self.register_names
        self.register_names.add(name)
        self.kinds[scope, name] = (REGISTERS[kind], 'v_%s%s' % (word_of(name), '' if outermost else '_s%d' % scope))

    def found(self, table, name):
        """What `name` means in the scope under way: of the innermost brace that declares it."""
        for scope in reversed((0,) + self.braces):
            if (scope, name) in table:
                return table[scope, name]
        return None

    # ---- operands ----
    def register(self, word):
        """(type, C++ name) of a register; None where it is none."""
        known = self.found(self.kinds, word.strip())
        if known:
            self.used.add(known)
        return known

    def operand(self, word):
        word = word.strip()
        known = self.register(word)
        if known:
            return known[1]
        if word.startswith('%') and word[1:] in SPECIAL:
            return SPECIAL[word[1:]]
        m = FLOAT_BITS.fullmatch(word)
        if m:
            return '::plumb::simt::from_bits(0x%s%s)' % (m.group(1), 'u' if len(m.group(1)) == 8 else 'ull')
        if INTEGER.fullmatch(word):
            return self.integer(word)
        if re.fullmatch(r'-?\d+\.\d*(?:[eE][+-]?\d+)?', word):
            return word
        if word == 'WARP_SZ':
            return '32u'
        return self.address_of(word)

    @staticmethod
    def integer(word):
        n = number(word)
        return '%d%s' % (n, 'ull' if n > 0x7fffffffffffffff else 'll' if not -0x80000000 < n <= 0x7fffffff else '')

    def address_of(self, word):
        """The address of a variable or function, and what is added to it: an offset of shared memory, or a pointer as a number."""
        m = re.fullmatch(r'(?:generic\s*\(\s*(?P<inner>%s)\s*\)|(?P<name>%s))\s*(?:\+\s*(?P<more>-?\w+))?' % (NAME, NAME), word)
        name = m and (m.group('inner') or m.group('name'))
        place = self.place_of_name(name) if m else None
        if place is None:
            raise NotOffered("the operand '%s'" % word)
        space, pointer = place
        more = ' + %s' % m.group('more') if m.group('more') else ''
        if space == 'shared' and m.group('inner') is None:
            return '(::plumb::simt::shared_offset(%s)%s)' % (pointer, more)
        return '(reinterpret_cast<unsigned long long>(%s)%s)' % (pointer, more)

    def place_of_name(self, name):
        """(state space, C++ pointer) of what a name means; None where it means nothing."""
        own = self.found(self.memory, name)
        if own is not None:
            return own.space, self.memory_name(own)
        for k, p in enumerate(self.function.returns + self.function.parameters):
            if p.name == name:
                return 'param', ('(plumb_parameters + %d)' % self.module.layout(self.function)[k] if self.function.is_entry
                                 else 'formal_%s' % word_of(name))
        return self.module.place_of_name(name, self)

    def memory_name(self, variable):
        return 'm_%s_%d' % (word_of(variable.name), variable.line)

    def value(self, word, kind):
        word = word.strip()
        if word.startswith('!'):
            return '!' + self.value(word[1:], 'bool')
        m = FLOAT_BITS.fullmatch(word)
        if m and kind not in FLOATS:
            return '%s(0x%s%s)' % (self.cast(kind), m.group(1), 'u' if len(m.group(1)) == 8 else 'ull')
        if INTEGER.fullmatch(word) and kind not in FLOATS:
            return '%s%s' % (self.cast(kind), self.integer(word))
        known = self.register(word)
        if known is None:
            return '%sin<%s>(%s)' % (P, kind, self.operand(word))
        return self.converted(known[1], known[0], kind)

    @staticmethod
    def cast(kind):
        return '(%s)' % kind

    def converted(self, expression, of, to):
        """The bits of an expression of the C++ type `of` as the type `to`."""
        if of == to:
            return expression
        if of in FLOATS or to in FLOATS:
            if WIDTHS[of] != WIDTHS[to]:
                raise NotOffered("'%s' as %s" % (expression, to))
            return '__builtin_bit_cast(%s, %s)' % (to, expression)
        return '(%s)%s' % (to, expression)

    def assign(self, word, expression, kind=None):
        if word.strip() == '_':
            return '(void)(%s);' % expression
        known = self.register(word)
        if known is None:
            raise NotOffered("the destination '%s'" % word)
        if kind is None:
            return '%sout(%s, %s);' % (P, known[1], expression)
        if kind != known[0] and (kind in FLOATS or known[0] in FLOATS):
            return '%s = %s;' % (known[1], self.converted('(%s)(%s)' % (kind, expression), kind, known[0]))
        return '%s = (%s)(%s);' % (known[1], kind, expression)

    def address(self, word, space, kind):
        m = ADDRESS.fullmatch(word.strip())
        if not m:
            raise NotOffered("the address '%s'" % word)
        base, more = m.group('base'), ''
        if m.group('offset'):
            more = ' %s %s' % ('-' if '-' in m.group('sign') else '+', self.operand(m.group('offset')))
        known = self.register(base)
        if known is None and not re.fullmatch(r'-?\d+', base):
            place = self.place_of_name(base)
            if place is None:
                raise NotOffered("the address '%s'" % word)
            if place[0] == 'param' and self.function.is_entry:
                self.module.note_read(self.function, base)
            return '((%s*)(%s%s))' % (kind, place[1], more)
        at = known[1] if known else base
        if space == 'shared':
            return '((%s*)::plumb::simt::shared_at((unsigned)(%s%s)))' % (kind, at, more)
        return '((%s*)((unsigned long long)%s%s))' % (kind, at, more)

    def carry(self):
        self.used.add(('bool', 'v_condition_code'))
        return 'v_condition_code'

    def label(self, name):
        known = self.found(self.labels, name)
        if known is None:
            raise NotOffered("a branch to '%s', which is no label of the function" % name)
        return known

    def place(self, word):
        known = self.register(word)
        return '&' + known[1] if known and WIDTHS[known[0]] == 32 else 'nullptr'

    def is_sum(self, name):
        known = self.register(name)
        return known is not None and WIDTHS[known[0]] == 32

    # ---- statements ----
    def code(self):
        """(line, C++) of each statement; declarations first, at the function's own line."""
        out = [(s.line, self.statement(s)) for s in self.function.statements]
        return [(self.function.line, self.declarations())] + out

    def statement(self, s):
        self.braces = s.scope
        if s.text.startswith('.'):
            return ''
        if s.text.endswith(':') and self.found(self.labels, s.text[:-1]):
            known = s.text[:-1] in self.targets or s.text[:-1] in self.prototypes
            return '' if known else self.label(s.text[:-1]) + ':;'
        try:
            return self.instruction(self.with_lanes(s.text))
        except NotOffered as e:
            self.refused.append((s.line, str(e)))
            said = 'PTX: ' + re.sub(r'[\\"]', ' ', s.text)
            return '::plumb::simt::not_offered("%s", ::plumb::simt::Here::at());' % said

    def with_lanes(self, text):
        """A register that is a vector, as the list of its lanes."""
        if not self.has_vectors:
            return text

        def lanes(m):
            names = [m.group(0) + '.' + lane for lane in 'xyzw']
            known = [n for n in names if self.found(self.kinds, n)]
            return '{%s}' % ', '.join(known) if known else m.group(0)
        return re.sub(r'%[\w$]+(?![\w$.])', lanes, text)

    def declarations(self):
        lines = ['%s %s;' % known for known in sorted(self.used)]
        for v in self.memory.values():
            name = self.memory_name(v)
            if v.space == 'shared':
                lines.append(self.module.shared_pointer(v, name))
            else:
                lines.append('alignas(%d) unsigned char %s[%d];' % (max(v.alignment, 1), name, max(v.bytes, 1)))
        lines += [self.module.shared_pointer(v, 'p_' + word_of(v.name)) for v in self.declared]
        for v in self.function.parameters + self.function.returns:
            if v.space == 'reg' and v in self.function.parameters:
                kind, name = self.kinds[0, v.name]
                lines.append('%s = *(const %s*)formal_%s;' % (name, kind, word_of(v.name)))
        return ' '.join(lines)

    def do_ret(self, _words, args):
        if args:
            return None
        back = ''
        for v in self.function.returns:
            if v.space == 'reg':
                kind, name = self.kinds[0, v.name]
                self.used.add((kind, name))
                back += '*(%s*)formal_%s = %s; ' % (kind, word_of(v.name), name)
        return back + 'return;'

    def do_brx(self, words, args):
        targets = self.targets.get(args[1])
        if words[1] != 'idx' or targets is None:
            return None
        cases = ' '.join('case %d: goto %s;' % (k, self.label(t)) for k, t in enumerate(targets))
        return 'switch (%s) { %s default: ::plumb::simt::trap("brx.idx beyond its targets", ::plumb::simt::Here::at()); }' % (
            self.value(args[0], 'unsigned'), cases)

    def do_call(self, _words, args):
        """call (results), function, (arguments), prototype: each argument and result is memory of the caller's."""
        results = self.listed(args.pop(0)) if args[0].startswith('(') else []
        given = results + (self.listed(args[1]) if len(args) > 1 else [])
        handed, before, after = [], '', ''
        for k, word in enumerate(given):
            known = self.register(word)
            if known is None and not INTEGER.fullmatch(word):
                handed.append('(unsigned char*)%s' % self.place_of_name(word)[1])
                continue
            kind = known[0] if known else 'unsigned long long'
            handed.append('(unsigned char*)&plumb_given%d' % k)
            before += '%s plumb_given%d = %s; ' % (kind, k, self.value(word, kind))
            after += ' %s = plumb_given%d;' % (known[1], k) if k < len(results) else ''
        return '{ %s%s(%s);%s }' % (before, self.callee(args[0], len(given)), ', '.join(handed), after)

    @staticmethod
    def listed(text):
        return [w.strip() for w in text.strip('() ').split(',') if w.strip()]

    def callee(self, name, arguments):
        known = self.register(name)
        if known:
            return '((void (*)(%s))%s)' % (', '.join(['unsigned char*'] * arguments), known[1])
        return self.module.function_named(name)
