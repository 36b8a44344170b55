# Inline PTX as C++: what rewrite.py puts in place of an asm statement in a kernel.
#
# Each instruction of the template becomes a statement over the asm's operands, in the shim's own words (gpu/simt/language/ptx.hpp for what has
# none). Covered: what synchronises, moves data or reads special registers, and the arithmetic people reach for PTX for; registers,
# predicates, labels and branches inside one statement. What is not covered is an error that names it. Source: PTX ISA.
import ast
import itertools
import re

TYPES = {'u8': 'unsigned char', 's8': 'signed char', 'b8': 'unsigned char', 'u16': 'unsigned short', 's16': 'short',
         'b16': 'unsigned short', 'u32': 'unsigned', 's32': 'int', 'b32': 'unsigned', 'u64': 'unsigned long long',
         's64': 'long long', 'b64': 'unsigned long long', 'f32': 'float', 'f64': 'double', 'pred': 'bool'}
# The 16-bit floats live in registers as bits. Not among TYPES: an instruction that knows nothing of them must refuse them, not add integers.
HALVES = {'f16': ('Half', 'unsigned short'), 'bf16': ('Brain', 'unsigned short'), 'f16x2': ('Half', 'unsigned'), 'bf16x2': ('Brain', 'unsigned')}
HALF_OPERANDS = {'add': 2, 'sub': 2, 'mul': 2, 'fma': 3, 'min': 2, 'max': 2, 'neg': 1, 'abs': 1, 'ex2': 1, 'tanh': 1}
VECTORS = {'float': 'float', 'double': 'double', 'unsigned': 'uint', 'int': 'int', 'unsigned long long': 'ulonglong',
           'long long': 'longlong', 'unsigned char': 'uchar', 'signed char': 'char', 'unsigned short': 'ushort', 'short': 'short'}
SPECIAL = {'laneid': '::plumb::simt::ptx::lane()', 'warpid': '::plumb::simt::ptx::warp()',
           'nwarpid': '((::plumb::simt::ptx::block_size() + 31) / 32)', 'smid': '0u', 'nsmid': '1u', 'clock': 'static_cast<unsigned>(clock64())',
           'clock64': 'clock64()', 'globaltimer': 'clock64()', 'lanemask_eq': '(1u << ::plumb::simt::ptx::lane())',
           'lanemask_lt': '((1u << ::plumb::simt::ptx::lane()) - 1u)', 'lanemask_le': '((2u << ::plumb::simt::ptx::lane()) - 1u)',
           'lanemask_gt': '~((2u << ::plumb::simt::ptx::lane()) - 1u)', 'lanemask_ge': '~((1u << ::plumb::simt::ptx::lane()) - 1u)'}
for _name, _of in (('tid', 'threadIdx'), ('ntid', 'blockDim'), ('ctaid', 'blockIdx'), ('nctaid', 'gridDim')):
    for _axis in 'xyz':
        SPECIAL['%s.%s' % (_name, _axis)] = '::%s.%s' % (_of, _axis)

for _name, _of in (('cluster_ctaid', 'block'), ('cluster_nctaid', 'blocks'), ('clusterid', 'cluster'), ('nclusterid', 'clusters')):
    for _axis in 'xyz':
        SPECIAL['%s.%s' % (_name, _axis)] = '::plumb::simt::cluster_place().%s.%s' % (_of, _axis)
SPECIAL.update({'cluster_ctarank': '::plumb::simt::cluster_place().rank', 'cluster_nctarank': '::plumb::simt::cluster_size()',
                'is_explicit_cluster': '(::plumb::simt::cluster_size() > 1)'})

P = '::plumb::simt::ptx::'
STATEMENT = re.compile(r'\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|__volatile|inline)\s*)*')
COMPARE = {'eq': '==', 'ne': '!=', 'lt': '<', 'le': '<=', 'gt': '>', 'ge': '>=', 'lo': '<', 'ls': '<=', 'hi': '>', 'hs': '>='}
BINARY = {'add': '+', 'sub': '-', 'and': '&', 'or': '|', 'xor': '^', 'div': '/', 'rem': '%'}
WIDE = {'unsigned': 'unsigned long long', 'int': 'long long', 'unsigned short': 'unsigned', 'short': 'int'}
HIGH_PRODUCT = {'unsigned': '__umulhi', 'int': '__mulhi', 'unsigned long long': '__umul64hi', 'long long': '__mul64hi'}
UNARY_F32 = {'ex2': 'exp2f', 'lg2': 'log2f', 'sin': 'sinf', 'cos': 'cosf', 'tanh': 'tanhf', 'rsqrt': 'rsqrtf', 'sqrt': 'sqrtf',
             'rcp': '1.0f / ', 'abs': 'fabsf', 'neg': '-'}
UPDATE = {'add': 'old + v', 'min': 'v < old ? v : old', 'max': 'old < v ? v : old', 'exch': 'v', 'and': 'old & v', 'or': 'old | v',
          'xor': 'old ^ v', 'inc': 'old >= v ? 0 : old + 1', 'dec': 'old == 0 || old > v ? v : old - 1', 'cas': 'old == v ? w : old'}

# What sm_90 was the first to have, by its first words, beside cp.async.bulk and wgmma, which the executor itself refuses before it; and
# the scopes that came with it.
HOPPER = ('elect', 'setmaxnreg', 'stmatrix', 'griddepcontrol', 'mapa', 'getctarank', 'barrier.cluster', 'fence.mbarrier_init',
          'fence.proxy.async', 'fence.proxy.tensormap~generic', 'prefetch.tensormap', 'mbarrier.try_wait', 'mbarrier.expect_tx', 'mbarrier.complete_tx',
          'mbarrier.arrive.expect_tx', 'mbarrier.arrive_drop.expect_tx', 'st.async')
HOPPER_SPACES = {'cluster': '.cluster', 'shared~cluster': '.shared::cluster'}


class NotOffered(Exception):
    pass


def sections(body):
    """The parts of asm(template : outputs : inputs : clobbers), and the operands of each, outside of brackets and strings."""
    out, depth, last, i = [[]], 0, 0, 0
    while i <= len(body):
        c = body[i] if i < len(body) else ':'
        if c == '"':
            i = re.compile(r'"(?:\\.|[^"\\])*"').match(body, i).end()
            continue
        if c in '([{':
            depth += 1
        elif c in ')]}':
            depth -= 1
        elif depth == 0 and c in ':,':
            out[-1].append(body[last:i].strip())
            last = i + 1
            if c == ':' and i < len(body):
                out.append([])
        i += 1
    return [[piece for piece in part if piece] for part in out]


def text_of(pieces):
    """What adjacent string literals spell."""
    return ''.join(ast.literal_eval(m.group(0)) for m in re.finditer(r'"(?:\\.|[^"\\])*"', pieces))


class Asm:
    serial = itertools.count()  # C++ labels are of a whole function, PTX's of their statement

    def __init__(self, body, parameters=None):
        """`parameters`: names of the function that the statement stands in; None where they are not known."""
        self.parameters = parameters
        parts = sections(body)
        if not parts[0]:
            raise NotOffered('an asm statement without a template')
        self.template = text_of(parts[0][0])
        self.operands, self.names = [], {}
        for kind, part in zip(('out', 'in'), parts[1:3]):
            for piece in part:
                m = re.match(r'(?:\[(\w+)\]\s*)?((?:"[^"]*"\s*)+)\((.*)\)$', piece, re.S)
                if not m:
                    raise NotOffered('the operand %s' % piece)
                if m.group(1):
                    self.names[m.group(1)] = len(self.operands)
                self.operands.append((kind, m.group(3).strip()))
        self.fence = any(text_of(clobber) == 'memory' for part in parts[3:4] for clobber in part)  # for the compiler
        self.registers, self.labels, self.number = {}, set(), next(self.serial)

    def rewritten(self):
        lines = []
        for n, (kind, expression) in enumerate(self.operands):
            lines.append(('auto& plumb_%d = (%s);' if kind == 'out' else 'const auto plumb_%d = (%s);') % (n, expression))
        text = re.sub(r'//[^\n]*|/\*.*?\*/', ' ', self.template, flags=re.S)
        instructions = list(self.instructions(text))
        self.labels = {m.group(1) for m in map(self.LABEL.match, instructions) if m}
        statements = [self.instruction(s) for s in instructions]
        lines += ['%s plumb_%s{};' % (kind, name) for name, kind in self.registers.items()]  # first: no branch may cross them
        lines += statements
        if self.fence:
            lines.append('asm volatile("" ::: "memory");')
        return 'do { ' + ' '.join(lines) + ' } while (0)'

    LABEL = re.compile(r'([A-Za-z_$%][\w$%=]*)\s*:(?!:)')

    @classmethod
    def instructions(cls, text):
        """Instructions and labels in order. A scope's braces vanish: a register's name is taken once. A vector operand's stay."""
        for piece in text.split(';'):
            piece = ' '.join(piece.split())
            while True:
                piece = re.sub(r'^(?:[{}]\s*)+', '', piece)
                m = cls.LABEL.match(piece)
                if not m:
                    break
                yield m.group(0)
                piece = piece[m.end():].strip()
            if piece.count('}') > piece.count('{'):
                piece = piece[:piece.rindex('}')].strip()
            if piece:
                yield piece

    def operand(self, word):
        """A C++ expression for a PTX operand; its type is its own."""
        word = word.strip()
        if re.fullmatch(r'%\d+', word):
            if int(word[1:]) >= len(self.operands):
                raise NotOffered('operand %s of an asm statement that has %d' % (word, len(self.operands)))
            return 'plumb_' + word[1:]
        m = re.fullmatch(r'%\[(\w+)\]', word)
        if m and m.group(1) in self.names:
            return 'plumb_%d' % self.names[m.group(1)]
        m = re.fullmatch(r'%{1,2}([a-z][\w.]*)', word)
        if m and m.group(1) in SPECIAL:
            return SPECIAL[m.group(1)]
        if word.lstrip('%') in self.registers:
            return 'plumb_' + word.lstrip('%')
        m = re.fullmatch(r'0[fFdD]([0-9A-Fa-f]{8}(?:[0-9A-Fa-f]{8})?)', word)
        if m:
            return '::plumb::simt::from_bits(0x%s%s)' % (m.group(1), 'u' if len(m.group(1)) == 8 else 'ull')
        if re.fullmatch(r'-?(?:0[xX][0-9A-Fa-f]+|\d+)[uU]?', word) or re.fullmatch(r'-?\d+\.\d*', word):
            return word
        raise NotOffered("the operand '%s'" % word)

    def value(self, word, kind):
        m = re.fullmatch(r'!\s*(.*)', word)
        if m:
            return '!' + self.value(m.group(1), kind)
        return '%sin<%s>(%s)' % (P, kind, self.operand(word))

    def address(self, word, space, kind):
        m = re.fullmatch(r'\[\s*([^+\]]+?)\s*(?:\+\s*([^\]]+))?\]', word.strip())
        if not m:
            raise NotOffered("the address '%s'" % word)
        offset = ', ' + self.operand(m.group(2)) if m.group(2) else ''
        return '%s%s<%s>(%s%s)' % (P, 'shared' if space == 'shared' else 'global', kind, self.operand(m.group(1)), offset)

    def assign(self, word, expression):
        if word.strip() == '_':
            return '(void)(%s);' % expression
        return '%sout(%s, %s);' % (P, self.operand(word), expression)

    def label(self, name):
        if name not in self.labels:
            raise NotOffered("a branch to '%s', which is not in the same asm statement" % name)
        return 'plumb_%s_%d' % (re.sub(r'\W', '_', name), self.number)

    def instruction(self, text):
        label = self.LABEL.fullmatch(text)
        if label:
            return self.label(label.group(1)) + ':;'
        guard = re.match(r'@(!?)\s*(%{0,2}\w+)\s+', text)
        if guard:
            return 'if (%s%s) { %s }' % (guard.group(1), self.operand(guard.group(2)), self.instruction(text[guard.end():]))
        m = re.match(r'\.reg\s+\.(\w+)\s+(.*)$', text)
        if m:
            kind = TYPES.get(m.group(1)) or HALVES.get(m.group(1), (None, None))[1]
            if kind is None:
                raise NotOffered("a register of type .%s" % m.group(1))
            names = [n.strip().lstrip('%') for n in m.group(2).split(',')]
            for n in names:
                if not re.fullmatch(r'[A-Za-z_]\w*', n):
                    raise NotOffered("the registers '%s'" % m.group(2))
            for n in names:
                if self.registers.setdefault(n, kind) != kind:
                    raise NotOffered("the register '%s', of two types" % n)
            return ''
        m = re.match(r'([a-z][\w.:]*)\s*(.*)$', text)
        if not m:
            raise NotOffered("'%s'" % text)
        words = m.group(1).replace('::', '~').split('.')
        if words[-1] == 'ftz' and len(words) > 2:  # some put it behind the type
            words[-2:] = ['ftz', words[-2]]
        args = [a.strip() for a in re.findall(r'(?:\{[^}]*\}|\[[^\]]*\]|[^,])+', m.group(2))]
        how = getattr(self, 'do_' + words[0], None)
        if words[-1] in HALVES and words[0] in HALF_OPERANDS:
            how = self.half
        if how is None and words[0] in BINARY:
            how = self.binary
        if how is None and words[0] in UNARY_F32:
            how = self.unary
        try:
            made = how(words, args) if how else None
        except (IndexError, ValueError):  # a form with fewer operands than are known, or with more
            made = None
        if made is None:
            raise NotOffered("'%s'" % text)
        return self.refused_before_hopper(words) + made

    @staticmethod
    def refused_before_hopper(words):
        """What stops the thread on a chip that does not have the instruction."""
        if words[0] in ('cp', 'wgmma'):
            return ''
        of = [h for h in HOPPER if words[:h.count('.') + 1] == h.split('.')]
        of += [words[0] + HOPPER_SPACES[w] for w in words[1:] if w in HOPPER_SPACES]
        return '::plumb::simt::must_be_hopper("%s", ::plumb::simt::Here::at()); ' % of[0] if of else ''

    @staticmethod
    def kind(words):
        """The type an instruction ends in."""
        return TYPES.get(words[-1])

    @staticmethod
    def scope(words):
        if 'cluster' in words:
            return '::plumb::simt::cluster_scope()'
        return '::plumb::simt::Scope::' + ('block' if 'cta' in words else 'device')

    @staticmethod
    def space(words):
        for w in words:
            if w.split('~')[0] in ('shared', 'global', 'const', 'local', 'param'):
                return w.split('~')[0]
        return 'generic'

    # ---- synchronisation ----
    def do_bar(self, words, args):
        if words[1:2] == ['warp']:
            return '__syncwarp(%s);' % self.value(args[0], 'unsigned')
        words = [w for w in words if w not in ('cta', 'aligned')]
        if len(words) != 2 or words[1] not in ('sync', 'arrive') or len(args) not in (1, 2):
            return None
        if len(args) == 1 and args[0] == '0' and words[1] == 'sync':
            return '__syncthreads();'
        count = self.value(args[1], 'int') if len(args) == 2 else P + 'block_size()'
        return '::plumb::simt::named_barrier(%s, %s, %s, ::plumb::simt::Here::at());' % (
            self.value(args[0], 'int'), count, 'true' if words[1] == 'sync' else 'false')

    def do_barrier(self, words, args):
        if words[1:2] != ['cluster']:
            return self.do_bar(words, args)
        order = [w for w in words[3:] if w != 'aligned']
        if words[2:3] == ['arrive'] and order in ([], ['release'], ['relaxed']):
            return '::plumb::simt::cluster_arrive(%s, ::plumb::simt::Here::at());' % str(order != ['relaxed']).lower()
        return '::plumb::simt::cluster_wait(::plumb::simt::Here::at());' if words[2:3] == ['wait'] and order in ([], ['acquire']) else None

    def do_mapa(self, words, args):
        kind = self.kind(words)
        if kind not in ('unsigned', 'unsigned long long') or len(args) != 3:
            return None
        shared = 'shared~cluster' in words
        at = '%s%s<const void>(%s)' % (P, 'shared' if shared else 'global', self.operand(args[1]))
        there = '::plumb::simt::map_shared_rank(%s, %s, ::plumb::simt::Here::at())' % (at, self.value(args[2], 'unsigned'))
        return self.assign(args[0], '::plumb::simt::shared_offset(%s)' % there if shared else 'reinterpret_cast<std::uintptr_t>(%s)' % there)

    def do_getctarank(self, words, args):
        if len(args) != 2:
            return None
        at = '%s%s<const void>(%s)' % (P, 'shared' if 'shared~cluster' in words else 'global', self.operand(args[1]))
        return self.assign(args[0], '::plumb::simt::query_shared_rank(%s, ::plumb::simt::Here::at())' % at)

    def do_membar(self, words, _args):
        return '::plumb::simt::fence(%s);' % self.scope(words)

    def proxy_fence(self, words, args):
        here = '::plumb::simt::Here::at());'
        if words[0] == 'tensormap~generic' and words[1] == 'release' and not args:
            return '::plumb::simt::map_release(%s' % here
        if words[0] == 'tensormap~generic' and words[1] == 'acquire' and len(args) == 2:
            return '::plumb::simt::map_acquire(%s, %s, %s' % (self.address(args[0], 'global', 'const void'), self.value(args[1], 'int'), here)
        if words == ['async', 'global']:  # of shared memory it says nothing
            return '::plumb::simt::must_be_hopper("fence.proxy.async", %s' % here
        return '::plumb::simt::proxy_fence(%s' % here if words[0].split('~')[0] == 'async' else None

    def do_fence(self, words, args):
        if words[1] == 'mbarrier_init':
            return '::plumb::simt::barrier_init_fence();'
        if words[1] == 'proxy':
            return self.proxy_fence(words[2:], args)
        return '::plumb::simt::fence(%s, %s);' % (self.scope(words), 'true' if 'sc' in words else 'false')

    def do_nanosleep(self, _words, args):
        return '__nanosleep(%s);' % self.value(args[0], 'unsigned')

    def do_bra(self, words, args):
        return 'goto %s;' % self.label(args[0]) if words[1:] in ([], ['uni']) and len(args) == 1 else None

    def do_elect(self, words, args):
        names = args[0].split('|')
        if words[1:] != ['sync'] or len(names) != 2 or len(args) != 2:
            return None
        leader = '__ffs(static_cast<int>(__ballot_sync(%s, 1))) - 1' % self.value(args[1], 'unsigned')  # the lowest lane
        return '{ const unsigned plumb_leader = static_cast<unsigned>(%s); %s %s }' % (
            leader, self.assign(names[0], 'plumb_leader'), self.assign(names[1], 'plumb_leader == %slane()' % P))

    def do_setmaxnreg(self, _words, _args):
        return ';'

    def do_mbarrier(self, words, args):
        what, words = words[1], words[2:]
        if what in ('test_wait', 'try_wait'):
            at, phase = args[1], args[2]
            return self.assign(args[0], '%sbarrier_test(%s, %s, %s, %s, ::plumb::simt::Here::at())' % (
                P, self.address(at, self.space(words), 'void'), str('parity' in words).lower(), self.value(phase, 'unsigned long long'),
                str(what == 'try_wait').lower()))
        if what in ('init', 'inval', 'expect_tx', 'complete_tx'):
            at = self.address(args[0], self.space(words), 'void')
            name = {'init': 'init', 'inval': 'invalidate'}.get(what, 'expect')
            count = ', %s%s' % ('-' if what == 'complete_tx' else '', self.value(args[1], 'int')) if what != 'inval' else ''
            return '::plumb::simt::object_barrier_%s(%s%s, ::plumb::simt::Here::at());' % (name, at, count)
        if what not in ('arrive', 'arrive_drop') or {'noComplete', 'relaxed'} & set(words):
            return None
        if not args[0].startswith('['):  # a state, or none at all
            state, args = args[0], args[1:]
        else:
            state = '_'
        at = self.address(args[0], self.space(words), 'void')
        count, expect = '1', ''
        if 'expect_tx' in words:
            expect = '::plumb::simt::object_barrier_expect(%s, %s, ::plumb::simt::Here::at()); ' % (at, self.value(args[1], 'int'))
        elif len(args) == 2:
            count = self.value(args[1], 'int')
        return expect + self.assign(state, '::plumb::simt::object_barrier_arrive(%s, %s, 0, %s, ::plumb::simt::Here::at())' % (
            at, count, str(what == 'arrive_drop').lower()))

    def do_createpolicy(self, _words, args):
        return self.assign(args[0], '0ull')

    def do_trap(self, _words, _args):
        return '::plumb::simt::trap("trap", ::plumb::simt::Here::at());'

    do_brkpt = do_trap

    # ---- memory ----
    def do_prefetch(self, _words, _args):
        return ';'

    do_prefetchu = do_discard = do_applypriority = do_prefetch

    def ways(self, words):
        """('plain' | 'ordered', acquires, releases). PTX's volatile is a relaxed access, unlike that of CUDA C++."""
        if 'volatile' in words:
            return 'ordered', False, False
        strong = [w for w in ('relaxed', 'acquire', 'release', 'acq_rel') if w in words]
        if not strong:
            return 'plain', False, False
        return 'ordered', strong[0] in ('acquire', 'acq_rel'), strong[0] in ('release', 'acq_rel')

    def do_ld(self, words, args):
        kind = self.kind(words)
        if kind is None or len(args) < 2:
            return None
        width = next((w[1] for w in words if w in ('v2', 'v4')), '')
        if width:
            names = [n.strip() for n in args[0].strip('{} ').split(',')]
            if len(names) != int(width):
                return None
            vector = VECTORS[kind] + width  # with an order it is one access, as the toolkit's libraries count on
            value = self.loaded(words, args[1], vector)
            return '{ const %s plumb_v = %s; %s }' % (
                vector, value, ' '.join(self.assign(n, 'plumb_v.' + 'xyzw'[i]) for i, n in enumerate(names)))
        return self.assign(args[0], self.loaded(words, args[1], kind))

    def loaded(self, words, address, kind):
        """The value of type `kind` there."""
        at = self.address(address, self.space(words), 'const ' + kind)
        way, acquire, _ = self.ways(words)
        if way != 'ordered':
            return '*' + at
        return '%sload(%s, %s, %s, ::plumb::simt::Here::at())' % (P, at, self.scope(words), str(acquire).lower())

    def do_ldu(self, words, args):
        return self.do_ld(words, args)

    def do_st(self, words, args):
        kind = self.kind(words)
        if kind is None or len(args) < 2:
            return None
        if 'async' in words:
            return self.store_to_peer(words, args, kind)
        width = next((w[1] for w in words if w in ('v2', 'v4')), '')
        if width:
            names = [n.strip() for n in args[1].strip('{} ').split(',')]
            if len(names) != int(width):
                return None
            vector = VECTORS[kind] + width
            return self.stored(words, args[0], vector, '%s{%s}' % (vector, ', '.join(self.value(n, kind) for n in names)))
        return self.stored(words, args[0], kind, self.value(args[1], kind))

    def stored(self, words, address, kind, value):
        """`value`, of type `kind`, written there."""
        at = self.address(address, self.space(words), kind)
        way, _, release = self.ways(words)
        if way != 'ordered':
            return '*%s = %s;' % (at, value)
        return '%sstore<%s>(%s, %s, %s, %s, ::plumb::simt::Here::at());' % (
            P, kind, at, value, self.scope(words), str(release).lower())

    def store_to_peer(self, words, args, kind):
        """st.async: a value that completes on a barrier beside it."""
        if 'shared~cluster' not in words or 'mbarrier~complete_tx~bytes' not in words or len(args) != 3:
            return None
        values = ', '.join(self.value(n, kind) for n in args[1].strip('{} ').split(','))
        return '{ const %s plumb_v[] = {%s}; ::plumb::simt::store_to_peer(%s, plumb_v, sizeof plumb_v, %s, ::plumb::simt::Here::at()); }' % (
            kind, values, self.address(args[0], 'shared', 'void'), self.address(args[2], 'shared', 'const void'))

    def do_atom(self, words, args, result=True):
        kind = self.kind(words)
        change = next((w for w in words if w in UPDATE), None)
        if kind is None or change is None or {'v2', 'v4', 'async'} & set(words):
            return None
        if not result:
            args = ['_'] + args
        _, acquire, release = self.ways(words)
        more = ', w = %s' % self.value(args[3], kind) if change == 'cas' else ''
        if len(args) != (4 if change == 'cas' else 3):
            return None
        at = self.address(args[1], self.space(words), kind)
        new = UPDATE[change]
        if (change, kind) == ('add', 'float'):  # subnormals are flushed in global memory
            more, new = ', at = %s' % at, '::plumb::simt::atomic_sum(at, old, v)'
        made = '%supdate(%s, %s, %s, %s, [v = %s%s](%s old) { return static_cast<%s>(%s); }, ::plumb::simt::Here::at()%s)' % (
            P, at, self.scope(words), str(acquire).lower(), str(release).lower(), self.value(args[2], kind), more, kind, kind, new,
            ', ::plumb::simt::Ordered::exchange' if change == 'exch' else '')
        return self.assign(args[0], made)

    def do_red(self, words, args):
        return self.do_atom(words, args, result=False)

    def box(self, text):
        """The map and the coordinates of a tensor copy's [map, {c0, c1, ...}]."""
        m = re.fullmatch(r'\[\s*([^,\]]+?)\s*,\s*\{([^}]*)\}\s*\]', text.strip())
        if not m:
            raise NotOffered("the box '%s'" % text)
        at = [self.value(c, 'int') for c in m.group(2).split(',')]
        return '%sglobal<const void>(%s)' % (P, self.operand(m.group(1))), at

    def bulk(self, words, args):
        """cp.async.bulk: copies in whole 16 bytes, of a run or of a box of a tensor."""
        here = '::plumb::simt::Here::at());'
        if words[3] == 'commit_group':
            return '::plumb::simt::bulk_commit(%s' % here
        if words[3] == 'wait_group':
            return '::plumb::simt::bulk_wait(%s, %s, %s' % (self.value(args[0], 'int'), str('read' in words).lower(), here)
        if 'prefetch' in words[3:5]:
            return ';'
        tensor = words[3] == 'tensor'
        rank = words.pop(4) if tensor else ''
        to, source = (words[4:6] if tensor else words[3:5])
        if {'im2col', 'im2col_no_offs'} & set(words) or any('cta_group' in w for w in words):
            return None
        barrier = 2 if tensor else 3
        name, mask = '', ''
        if 'multicast~cluster' in words:
            name, mask = '_multicast', ', ' + self.value(args[barrier + 1], 'unsigned')
        if to == 'shared~cluster' and source == 'shared~cta' and 'mbarrier~complete_tx~bytes' in words and not tensor and not name:
            return '::plumb::simt::bulk_copy_to_peer(%s, %s, %s, %s, %s' % (
                self.address(args[0], 'shared', 'void'), self.address(args[1], 'shared', 'const void'), self.value(args[2], 'int'),
                self.address(args[3], 'shared', 'const void'), here)
        if to.startswith('shared') and source == 'global' and 'mbarrier~complete_tx~bytes' in words:
            at, done = self.address(args[0], 'shared', 'void'), self.address(args[barrier], 'shared', 'const void') + mask
            if not tensor:
                return '::plumb::simt::bulk_copy%s(%s, %s, %s, %s, %s' % (
                    name, at, self.address(args[1], 'global', 'const void'), self.value(args[2], 'int'), done, here)
            tiles, place = self.box(args[1])
            if rank != '%dd' % len(place):
                return None
            return '{ const int plumb_at[] = {%s}; ::plumb::simt::tensor_load%s(%s, %s, plumb_at, %d, %s, %s }' % (
                ', '.join(place), name, at, tiles, len(place), done, here)
        if to == 'global' and source == 'shared~cta' and 'bulk_group' in words and not any('cp_mask' in w for w in words):
            if not tensor:
                return '::plumb::simt::bulk_store(%s, %s, %s, %s' % (
                    self.address(args[0], 'global', 'void'), self.address(args[1], 'shared', 'const void'), self.value(args[2], 'int'), here)
            tiles, place = self.box(args[0])
            if rank != '%dd' % len(place):
                return None
            return '{ const int plumb_at[] = {%s}; ::plumb::simt::tensor_store(%s, plumb_at, %d, %s, %s }' % (
                ', '.join(place), tiles, len(place), self.address(args[1], 'shared', 'const void'), here)
        return None

    NUMBERS = {'u32': 'u32', 'b32': 'u32', 's32': 's32', 'u64': 'u64', 'b64': 'u64', 's64': 's64', 'f16': 'f16', 'bf16': 'bf16',
               'f32': 'f32', 'f64': 'f64'}

    def reduce(self, words, args):
        """cp.reduce.async.bulk from shared to global memory: a run of numbers, or a box of a tensor, whose map has the type."""
        words = [w for w in words if w not in ('noftz', 'tile', 'L2~cache_hint')]
        tensor = words[4:5] == ['tensor']
        change = [w for w in words if w in UPDATE and w not in ('exch', 'cas')]
        if len(change) != 1 or not {'global', 'shared~cta', 'bulk_group'} <= set(words) or len(words) != (10 if tensor else 9):
            return None
        source, how = self.address(args[1], 'shared', 'const void'), '::plumb::simt::Reduction::%s_' % change[0]
        if not tensor:
            if words[8] not in self.NUMBERS:
                return None
            return '::plumb::simt::bulk_reduce(%s, %s, %s, %s, ::plumb::simt::Number::%s, ::plumb::simt::Here::at());' % (
                self.address(args[0], 'global', 'void'), source, self.value(args[2], 'int'), how, self.NUMBERS[words[8]])
        tiles, place = self.box(args[0])
        if words[5] != '%dd' % len(place):
            return None
        return '{ const int plumb_at[] = {%s}; ::plumb::simt::tensor_reduce(%s, plumb_at, %d, %s, %s, ::plumb::simt::Here::at()); }' % (
            ', '.join(place), tiles, len(place), source, how)

    def do_cp(self, words, args):
        if words[1:4] == ['reduce', 'async', 'bulk']:
            return self.reduce(words, args)
        if words[1] != 'async':
            return None
        if words[2] == 'mbarrier':
            return '::plumb::simt::object_barrier_copies_arrive(%s, %s, ::plumb::simt::Here::at());' % (
                self.address(args[0], self.space(words), 'void'), str('noinc' in words).lower())
        if words[2] == 'bulk':
            return self.bulk(words, args)
        if 'commit_group' in words:
            return '::plumb::simt::async_commit();'
        if 'wait_all' in words:
            return '::plumb::simt::async_wait_all();'
        if 'wait_group' in words:
            return '::plumb::simt::async_wait(%s);' % self.value(args[0], 'int')
        if any(w.endswith('~cache_hint') for w in words):
            args = args[:-1]
        size = self.value(args[2], 'int')
        valid = self.value(args[3], 'int') if len(args) > 3 else size
        return '::plumb::simt::async_copy(%s, %s, %s, %s, ::plumb::simt::Here::at());' % (
            self.address(args[0], 'shared', 'void'), self.address(args[1], 'global', 'const void'), size, valid)

    def do_cvta(self, words, args):
        if words[1:2] == ['to'] and words[2] == 'shared':
            return self.assign(args[0], '__cvta_generic_to_shared(%sglobal<const void>(%s))' % (P, self.operand(args[1])))
        if words[1] == 'shared':
            return self.assign(args[0], 'reinterpret_cast<std::uintptr_t>(%sshared<void>(%s))' % (P, self.operand(args[1])))
        return self.assign(args[0], self.value(args[1], 'unsigned long long'))

    # ---- warp ----
    def do_shfl(self, words, args):
        if words[1] != 'sync' or len(args) != 5 or words[2] not in ('idx', 'up', 'down', 'bfly'):
            return None
        to, bar, predicate = (part.strip() for part in args[0].partition('|'))
        value, b, c, mask = (self.value(a, 'unsigned') for a in args[1:])
        taken = '__shfl_sync(%s, %s, %sshuffle_source(%sShuffled::%s, %s, %s, plumb_within))' % (mask, value, P, P, words[2], b, c)
        return '{ bool plumb_within; const unsigned plumb_taken = %s; %s %s }' % (
            taken, self.assign(to, 'plumb_taken'), self.assign(predicate, 'plumb_within') if bar else '')

    def do_vote(self, words, args):
        modes = {'ballot': '__ballot_sync', 'any': '__any_sync', 'all': '__all_sync'}
        if 'sync' not in words or len(args) != 3:
            return None
        name = next((modes[w] for w in words if w in modes), None)  # before or behind .sync
        return self.assign(args[0], '%s(%s, %s)' % (name, self.value(args[2], 'unsigned'), self.value(args[1], 'bool'))) if name else None

    def do_exit(self, _words, _args):
        return '::plumb::simt::exit_thread();'

    def do_activemask(self, _words, args):
        return self.assign(args[0], '__activemask()')

    def do_mma(self, words, args):
        shape = next((re.fullmatch(r'm(\d+)n8k(\d+)', w) for w in words if w.startswith('m') and 'n8k' in w), None)
        types = words[-4:]
        d, a, b, c = ([n.strip() for n in x.strip('{} ').split(',')] for x in args)
        if shape is None or words[-6:-4] != ['row', 'col']:
            return None
        copy = lambda kind, name, names: '%s plumb_%s[] = {%s};' % (kind, name, ', '.join(self.value(n, kind) for n in names))  # noqa: E731
        m, k = shape.groups()
        total, a_type, b_type = types[:3]
        together = ('e4m3', 'e5m2') if a_type in ('e4m3', 'e5m2') else (a_type,)
        if m == '16' and a_type in self.PAIRS.get(total, ()) and b_type in together and types[3] == total and a_type in self.MMA_DEPTHS:
            wide, words = total == 'f32', {self.MMA_DEPTHS[a_type]: 4, self.MMA_DEPTHS[a_type] // 2: 2}.get(int(k))
            if words is None or (len(a), len(b), len(c), len(d)) != (words, words // 2, 4 if wide else 2, 4 if wide else 2):
                return None
            made = copy('float' if wide else 'unsigned', 'c', c) + copy('unsigned', 'a', a) + copy('unsigned', 'b', b)
            made += '::plumb::simt::mma(%s::plumb::simt::Total::%s, %s, plumb_c, plumb_a, plumb_b, ::plumb::simt::Here::at());' % (
                ''.join('::plumb::simt::Element::%s, ' % t for t in (a_type, b_type)), total, k)
        elif types == ['f64'] * 4:
            made = copy('double', 'c', c) + copy('double', 'a', a) + copy('double', 'b', b)
            made += '::plumb::simt::mma_f64(plumb_c, plumb_a, plumb_b, %s, %s, ::plumb::simt::Here::at());' % (m, k)
        else:
            return None
        return '{ %s %s }' % (made, ' '.join(self.assign(n, 'plumb_c[%d]' % i) for i, n in enumerate(d)))

    MMA_DEPTHS = {'tf32': 8, 'f16': 16, 'bf16': 16, 'e4m3': 32, 'e5m2': 32}  # with four words of A; half of it with two
    ELEMENTS = ('tf32', 'f16', 'bf16', 'e4m3', 'e5m2', 's8', 'u8')
    OF_K = {'tf32': 8, 'f16': 16, 'bf16': 16}  # elements of an instruction; 32 of the others
    PAIRS = {'f32': ELEMENTS[:5], 'f16': ('f16', 'e4m3', 'e5m2'), 's32': ('s8', 'u8')}  # what adds to what

    def do_wgmma(self, words, args):
        here = '::plumb::simt::Here::at());'
        if words[1] in ('fence', 'commit_group'):
            return '::plumb::simt::wgmma_%s(%s' % (words[1].split('_')[0], here)
        if words[1] == 'wait_group':
            return '::plumb::simt::wgmma_wait(%s, %s' % (self.value(args[0], 'int'), here)
        saturate, words = 'satfinite' in words, [w for w in words if w != 'satfinite']
        shape = re.fullmatch(r'm64n(\d+)k(\d+)', words[4]) if len(words) == 8 and words[1] == 'mma_async' else None
        if shape is None or words[5] not in self.PAIRS:
            return None
        total, a_type, b_type = words[5:]
        if a_type not in self.PAIRS[total] or b_type not in self.PAIRS[total] or int(shape.group(2)) != self.OF_K.get(a_type, 32) or \
                self.OF_K.get(a_type) != self.OF_K.get(b_type):
            return None
        return self.product_of_group(int(shape.group(1)), (total, a_type, b_type), saturate, args)

    def product_of_group(self, columns, types, saturate, args):
        sums, from_registers = args[0].strip('{} ').split(','), args[1].startswith('{')
        total, a_type, b_type = types
        flags = [self.value(f, 'int') for f in args[4:]]
        signs, turns = flags[:2], flags[2:]
        wanted = 0 if total == 's32' else 2 if a_type not in ('f16', 'bf16') else 3 if from_registers else 4
        if len(flags) != wanted or len(sums) != columns // (4 if total == 'f16' else 2) or len(args) < 4:
            return None
        for name in sums:
            if self.operand(name) not in {'plumb_%d' % n for n, (kind, _) in enumerate(self.operands) if kind == 'out'}:
                raise NotOffered("sums of wgmma that are no operands of the asm statement")
        form = ['%d' % columns] + ['::plumb::simt::Total::' + total] + ['::plumb::simt::Element::' + t for t in (a_type, b_type)]
        form += ['%s < 0' % s for s in signs] or ['false', 'false']
        form += (['false'] if from_registers else []) + ['%s != 0' % t for t in turns] if turns else ['false', 'false']
        form += [str(saturate).lower()]
        registers = ', '.join(self.value(r, 'unsigned') for r in args[1].strip('{} ').split(',')) if from_registers else ''
        made = 'void* const plumb_d[] = {%s}; ' % ', '.join('&' + self.operand(s) for s in sums)
        if from_registers:
            made += 'const unsigned plumb_a[] = {%s}; ' % registers
            made += 'const void* const plumb_a_at[] = {%s}; ' % ', '.join(map(self.place, args[1].strip('{} ').split(',')))
        return '{ %s::plumb::simt::wgmma({%s}, plumb_d, %s, %s, %s, %s, ::plumb::simt::Here::at()%s); }' % (
            made, ', '.join(form), 'plumb_a' if from_registers else 'nullptr', '0' if from_registers else self.value(args[1], 'unsigned long long'),
            self.value(args[2], 'unsigned long long'), self.value(args[3], 'bool'), ', plumb_a_at' if from_registers else '')

    def place(self, word):
        """Where the variable lies that an input operand is; nullptr for a value. A parameter ends before the product does: it counts where it
        names another's variable."""
        m = re.fullmatch(r'%(\d+)', word.strip())
        expression = self.operands[int(m.group(1))][1] if m else ''
        if re.fullmatch(r'[A-Za-z_]\w*', expression) and (self.parameters is None or expression in self.parameters):
            return '(std::is_reference<decltype(%s)>::value ? %splace_of(%s) : nullptr)' % (expression, P, expression)
        if not m or re.search(r'\w\s*\(|\+\+|--|[^=!<>]=[^=]', expression):  # what calls or changes something is not written twice
            return 'nullptr'
        return '%splace_of(%s)' % (P, expression)

    def do_stmatrix(self, words, args):
        count = next((int(w[1]) for w in words if w in ('x1', 'x2', 'x4')), 0)
        known = {'stmatrix', 'sync', 'aligned', 'm8n8', 'x1', 'x2', 'x4', 'trans', 'shared', 'shared~cta', 'b16'}
        if set(words) - known or 'm8n8' not in words or words[-1] != 'b16' or len(args) != 2 or count == 0:
            return None
        names = args[1].strip('{} ').split(',')
        if len(names) != count:
            return None
        return '{ const unsigned plumb_m[] = {%s}; ::plumb::simt::stmatrix(%s, plumb_m, %d, %s, ::plumb::simt::Here::at()); }' % (
            ', '.join(self.value(n, 'unsigned') for n in names), self.address(args[0], self.space(words), 'void'), count,
            'true' if 'trans' in words else 'false')

    MAP_FIELDS = {'global_address': 0, 'rank': 0, 'box_dim': 1, 'global_dim': 1, 'global_stride': 1, 'element_stride': 1, 'elemtype': 0,
                  'interleave_layout': 0, 'swizzle_mode': 0, 'fill_mode': 0}  # and how many operands say which dimension

    def do_tensormap(self, words, args):
        here = '::plumb::simt::Here::at());'
        if words[1] == 'cp_fenceproxy' and words[2:4] == ['global', 'shared~cta'] and 'release' in words and len(args) == 3:
            return '::plumb::simt::tensormap_copy_release(%s, %s, %s, %s' % (
                self.address(args[0], 'global', 'void'), self.address(args[1], 'shared', 'const void'), self.value(args[2], 'int'), here)
        if words[1:3] != ['replace', 'tile'] or words[3] not in self.MAP_FIELDS or 'b1024' not in words:
            return None
        field, ordinals = words[3], self.MAP_FIELDS[words[3]]
        if len(args) != 2 + ordinals or self.kind(words) not in ('unsigned', 'unsigned long long'):
            return None
        return '::plumb::simt::tensormap_replace(%s, ::plumb::simt::MapField::%s, %s, %s, %s' % (
            self.address(args[0], self.space(words), 'void'), field, self.value(args[1], 'unsigned') if ordinals else '0',
            self.value(args[-1], self.kind(words)), here)

    def do_griddepcontrol(self, words, _args):
        return {'wait': '::plumb::simt::wait_for_launches();', 'launch_dependents': ';'}.get(' '.join(words[1:]))

    def do_ldmatrix(self, words, args):
        count = next((int(w[1]) for w in words if w in ('x1', 'x2', 'x4')), 0)
        known = {'ldmatrix', 'sync', 'aligned', 'm8n8', 'x1', 'x2', 'x4', 'trans', 'shared', 'shared~cta', 'b16'}
        names = [n.strip() for n in args[0].strip('{} ').split(',')]
        if set(words) - known or 'm8n8' not in words or words[-1] != 'b16' or len(args) != 2 or count == 0 or len(names) != count:
            return None
        return '{ unsigned plumb_m[%d]; ::plumb::simt::ldmatrix(plumb_m, %s, %d, %s, ::plumb::simt::Here::at()); %s }' % (
            count, self.address(args[1], self.space(words), 'const void'), count, 'true' if 'trans' in words else 'false',
            ' '.join(self.assign(n, 'plumb_m[%d]' % i) for i, n in enumerate(names)))

    # ---- arithmetic ----
    def half(self, words, args):
        """Arithmetic on 16-bit floats, of one or of a pair."""
        form, kind = HALVES[words[-1]]
        if set(words[1:-1]) - {'rn', 'approx'} or len(args) != 1 + HALF_OPERANDS[words[0]]:
            return None
        return self.assign(args[0], '%shalf_op%s<::plumb::simt::%s, %sHalfOp::%s>(%s)' % (
            P, '2' if kind == 'unsigned' else '', form, P, words[0], ', '.join(self.value(a, kind) for a in args[1:])))

    def convert_half(self, words, args):
        """cvt to or from the 16-bit floats: from float and double, from integers to nearest, two floats into a pair."""
        to, of = words[-2:]
        how = [w for w in words[1:-2] if w not in ('rn', 'rz', 'relu')]
        if how or (to in HALVES) != ('rn' in words or 'rz' in words) or len(args) != (3 if to in ('f16x2', 'bf16x2') else 2):
            return None
        if to not in HALVES:
            if of not in ('f16', 'bf16') or to not in ('f32', 'f64'):
                return None
            return self.assign(args[0], '::plumb::simt::widen<::plumb::simt::%s>(%s)' % (HALVES[of][0], self.value(args[1], 'unsigned short')))
        if TYPES.get(of) in (None, 'bool') or of.startswith('b') or (len(args) == 3 and of != 'f32'):
            return None

        def narrowed(word):
            x = ('static_cast<double>(%s)' if of[0] == 'f' else '::plumb::simt::odd_double(%s)') % self.value(word, TYPES[of])
            return '::plumb::simt::narrow<::plumb::simt::%s>(%s, ::plumb::simt::Round::%s)' % (
                HALVES[to][0], '::plumb::simt::rectified(%s)' % x if 'relu' in words else x, 'zero' if 'rz' in words else 'nearest')
        made = [narrowed(a) for a in args[1:]]
        return self.assign(args[0], made[0] if len(made) == 1 else '%spair(%s, %s)' % (P, made[1], made[0]))

    def do_mov(self, words, args):
        kind = self.kind(words)
        if kind is None or len(args) != 2:
            return None
        if '{' in args[0] + args[1]:
            return self.parts(words[-1], *args)
        return self.assign(args[0], self.value(args[1], kind))

    def parts(self, of, to, source):
        """mov between a register and a tuple of its parts, the lowest first."""
        names = [n.strip() for n in (to if '{' in to else source).strip('{} ').split(',')]
        whole, bits = TYPES[of], int(of[1:]) // len(names) if of in ('b32', 'b64') and len(names) in (2, 4) else 0
        part = TYPES.get('b%d' % bits)
        if part is None:
            return None
        if '{' in source:
            values = ['static_cast<%s>(%s) << %d' % (whole, self.value(n, part), bits * k) for k, n in enumerate(names)]
            return self.assign(to, ' | '.join(values))
        taken = [self.assign(n, 'static_cast<%s>(plumb_whole >> %d)' % (part, bits * k)) for k, n in enumerate(names)]
        return '{ const auto plumb_whole = %s; %s }' % (self.value(source, whole), ' '.join(taken))

    def do_cvt(self, words, args):
        if words[1:] == ['rna', 'tf32', 'f32']:
            return self.assign(args[0], '%sto_tf32(%s)' % (P, self.value(args[1], 'float')))
        if words[-2] in HALVES or words[-1] in HALVES:
            return self.convert_half(words, args)
        to, of = TYPES.get(words[-2]), TYPES.get(words[-1])
        rounding = [w for w in words[1:-2] if w not in ('rn', 'rz')]
        if to is None or of is None or rounding or ('rn' in words and 'f' not in words[-2]):
            return None
        return self.assign(args[0], 'static_cast<%s>(%s)' % (to, self.value(args[1], of)))

    def binary(self, words, args):
        kind = self.kind(words)
        if kind is None or len(args) != 3 or set(words[1:-1]) - {'rn', 'approx', 'full', 'relaxed'}:
            return None
        if words[0] in ('and', 'or', 'xor') and kind == 'bool':
            return self.assign(args[0], '%s != false %s %s != false' % (self.value(args[1], kind), BINARY[words[0]], self.value(args[2], kind)))
        return self.assign(args[0], '%s %s %s' % (self.value(args[1], kind), BINARY[words[0]], self.value(args[2], kind)))

    def unary(self, words, args):
        if self.kind(words) != 'float' or len(args) != 2 or set(words[1:-1]) - {'rn', 'approx', 'ftz'}:
            return None
        return self.assign(args[0], '%s(%s)' % (UNARY_F32[words[0]], self.value(args[1], 'float')))

    def do_mul(self, words, args):
        rest = [w for w in words[1:-1] if w not in ('rn',)]
        product, _ = self.product(rest, self.kind(words), args)
        return self.assign(args[0], product) if product and len(args) == 3 else None

    def do_mad(self, words, args):
        product, kind = self.product(words[1:-1], self.kind(words), args)
        if product is None or words[1:-1] == [] or len(args) != 4:
            return None
        return self.assign(args[0], '%s + %s' % (product, self.value(args[3], kind)))

    def product(self, which, kind, args):
        """The product of a mul or mad that takes its operands as `kind`, and the product's type."""
        if kind is None or len(args) < 3:
            return None, None
        a, b = self.value(args[1], kind), self.value(args[2], kind)
        if which == ['wide'] and kind in WIDE:
            return 'static_cast<%s>(%s) * %s' % (WIDE[kind], a, b), WIDE[kind]
        if which == ['hi'] and kind in HIGH_PRODUCT:
            return '%s(%s, %s)' % (HIGH_PRODUCT[kind], a, b), kind
        return ('%s * %s' % (a, b), kind) if which in ([], ['lo']) else (None, None)

    def do_fma(self, words, args):
        kind = self.kind(words)
        if kind not in ('float', 'double') or words[1:-1] != ['rn'] or len(args) != 4:
            return None
        return self.assign(args[0], '%s(%s)' % ('fmaf' if kind == 'float' else 'fma', ', '.join(self.value(a, kind) for a in args[1:])))

    def do_min(self, words, args):
        kind = self.kind(words)
        if kind is None or len(words) != 2 or len(args) != 3:
            return None
        return self.assign(args[0], '::%s(%s, %s)' % (words[0], self.value(args[1], kind), self.value(args[2], kind)))

    do_max = do_min

    def do_not(self, words, args):
        kind = self.kind(words)
        return self.assign(args[0], ('!' if kind == 'bool' else '~') + self.value(args[1], kind)) if kind else None

    def shift(self, words, args, sign):
        kind = self.kind(words)
        if kind is None or len(args) != 3:
            return None
        bits = 8 * {'unsigned': 4, 'int': 4}.get(kind, 8)
        a, n = self.value(args[1], kind), self.value(args[2], 'unsigned')
        beyond = '%s < 0 ? -1 : 0' % a if sign == '>>' and words[-1].startswith('s') else '0'
        return self.assign(args[0], 'static_cast<%s>(%s >= %du ? (%s) : %s %s %s)' % (kind, n, bits, beyond, a, sign, n))

    def do_shl(self, words, args):
        return self.shift(words, args, '<<')

    def do_shr(self, words, args):
        return self.shift(words, args, '>>')

    def call(self, function, words, args, count):
        if len(args) != count + 1 or self.kind(words) != 'unsigned':
            return None
        return self.assign(args[0], '%s(%s)' % (function, ', '.join(self.value(a, 'unsigned') for a in args[1:])))

    def do_popc(self, words, args):
        return self.call('__popc', words, args, 1)

    def do_brev(self, words, args):
        return self.call('__brev', words, args, 1)

    def do_clz(self, words, args):
        return self.call('__clz', words, args, 1)

    def do_prmt(self, words, args):
        return self.call('__byte_perm', words, args, 3)

    def do_lop3(self, words, args):
        return self.call(P + 'lop3', words, args, 4)

    def do_vabsdiff4(self, words, args):  # alone with .add: the four differences are summed
        if len(args) != 4 or words[1:] not in (['u32', 'u32', 'u32', 'add'], ['s32', 's32', 's32', 'add']):
            return None
        a, b, c = (self.value(one, 'unsigned') for one in args[1:])
        return self.assign(args[0], '__vsad%s4(%s, %s) + %s' % (words[1][0], a, b, c))

    def do_vabsdiff2(self, words, args):
        made = self.do_vabsdiff4(words, args)
        return made and made.replace('4(', '2(', 1)

    def do_bmsk(self, words, args):
        if words[1:] not in (['clamp', 'b32'], ['wrap', 'b32']):
            return None
        return self.call(P + 'bmsk_' + words[1], words, args, 2)

    def do_bfind(self, words, args):
        kind = self.kind(words)
        if kind not in WIDE and kind not in HIGH_PRODUCT or len(args) != 2 or words[1:-1] not in ([], ['shiftamt']):
            return None
        return self.assign(args[0], '%sbfind(%s, %s)' % (P, self.value(args[1], kind), 'true' if 'shiftamt' in words else 'false'))

    def do_bfe(self, words, args):
        return self.call(P + 'bfe', words, args, 3) if words[-1] != 's32' else None

    def do_bfi(self, words, args):
        return self.call(P + 'bfi', words, args, 4)

    def do_shf(self, words, args):
        if words[2:3] != ['wrap']:
            return None
        return self.call('__funnelshift_' + words[1], words, args, 3)

    def do_setp(self, words, args):
        kind = self.kind(words)
        if kind is None or len(words) != 3 or words[1] not in COMPARE or len(args) != 3 or '|' in args[0]:
            return None
        return self.assign(args[0], '%s %s %s' % (self.value(args[1], kind), COMPARE[words[1]], self.value(args[2], kind)))

    def do_selp(self, words, args):
        kind = self.kind(words)
        if kind is None or len(args) != 4:
            return None
        return self.assign(args[0], '%s ? %s : %s' % (self.value(args[3], 'bool'), self.value(args[1], kind), self.value(args[2], kind)))
