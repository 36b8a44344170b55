# Inline PTX as C++: what rewrite.py puts in place of an asm statement in a kernel.
#
# Each instruction of the template becomes a statement over the asm's operands, in the shim's own words (gpu/simt/language/ptx.hpp for what has
# none). Covered: what synchronises, moves data or reads special registers, and the arithmetic people reach for PTX for; registers,
# predicates, labels and branches inside one statement. What is not covered is an error that names it. Source: PTX ISA.
import ast
import itertools
import re

from ptx_arithmetic import Arithmetic
from ptx_tables import (
    HALVES,
    HOPPER,
    HOPPER_SPACES,
    SPECIAL,
    TYPES,
    UPDATE,
    VECTORS,
    NotOffered,
    P,
)
from ptx_warp import Warp

STATEMENT = re.compile(r'\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|__volatile|inline)\s*)*')


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


class Asm(Arithmetic, Warp):
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

    def assign(self, word, expression, _kind=None):
        """`expression`, of the C++ type `_kind` where that is known, stored in the operand `word`."""
        if word.strip() == '_':
            return '(void)(%s);' % expression
        return '%sout(%s, %s);' % (P, self.operand(word), expression)

    def carry(self):
        """The variable that .cc sets, one of a statement or function."""
        self.registers.setdefault('condition_code', 'bool')
        return 'plumb_condition_code'

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
        args = [a.strip() for a in re.findall(r'(?:\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,])+', m.group(2))]
        args = [re.sub(r'^\{\s*([^\s,{}]+)\s*\}$', r'\1', a) for a in args]  # braces around one
        how = self.dispatched(words)
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
        if words[1:2] == ['red']:
            return self.vote_of_block(words[2:], args)
        if len(words) != 2 or words[1] not in ('sync', 'arrive') or len(args) not in (1, 2):
            return None
        if len(args) == 1 and args[0] == '0' and words[1] == 'sync':
            return '__syncthreads();'
        count = self.value(args[1], 'int') if len(args) == 2 else P + 'block_size()'
        return '::plumb::simt::named_barrier(%s, %s, %s, ::plumb::simt::Here::at());' % (
            self.value(args[0], 'int'), count, 'true' if words[1] == 'sync' else 'false')

    def vote_of_block(self, words, args):
        """bar.red of all threads of the block, on barrier 0."""
        name = {'popc': '__syncthreads_count', 'and': '__syncthreads_and', 'or': '__syncthreads_or'}.get(words[0])
        if name is None or len(args) != 3 or args[1] != '0' or words[1:] != (['u32'] if words[0] == 'popc' else ['pred']):
            return None
        vote = '%s(%s)' % (name, self.value(args[2], 'bool'))
        return self.assign(args[0], vote if words[0] == 'popc' else vote + ' != 0', 'unsigned' if words[0] == 'popc' else 'bool')

    def do_barrier(self, words, args):
        if words[1:2] != ['cluster']:
            return self.do_bar(words, args)
        order = [w for w in words[3:] if w != 'aligned']
        if words[2:3] == ['arrive'] and order in ([], ['release'], ['relaxed']):
            return '::plumb::simt::cluster_arrive(%s, ::plumb::simt::Here::at());' % str(order != ['relaxed']).lower()
        return '::plumb::simt::cluster_wait(::plumb::simt::Here::at());' if words[2:3] == ['wait'] and order in ([], ['acquire']) else None

    def do_mapa(self, words, args):
        """Of a rank that the cluster does not have, an address that nothing has: compilers take it before they know the rank, and do not use it."""
        kind = self.kind(words)
        if kind not in ('unsigned', 'unsigned long long') or len(args) != 3:
            return None
        shared = 'shared~cluster' in words
        at = '%s%s<const void>(%s)' % (P, 'shared' if shared else 'global', self.operand(args[1]))
        rank = self.value(args[2], 'unsigned')
        there = '::plumb::simt::map_shared_rank(%s, %s, ::plumb::simt::Here::at())' % (at, rank)
        there = '::plumb::simt::shared_offset(%s)' % there if shared else 'reinterpret_cast<std::uintptr_t>(%s)' % there
        return self.assign(args[0], '%s < %s ? %s : %s' % (rank, SPECIAL['cluster_nctarank'], there, '0xfff00000u' if shared else '0'))

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
        leader = '::plumb::simt::elect(%s, ::plumb::simt::Here::at())' % self.value(args[1], 'unsigned')
        return '{ const unsigned plumb_leader = %s; %s %s }' % (
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

    do_prefetchu = do_applypriority = do_pmevent = do_prefetch

    def do_isspacep(self, words, args):
        at = '(const void*)%s' % self.value(args[1], 'unsigned long long')
        shared = {'shared': '::plumb::simt::is_shared', 'shared~cta': '::plumb::simt::is_shared',
                  'shared~cluster': '::plumb::simt::is_cluster_shared'}.get(words[1])
        if len(args) != 2 or (shared is None and words[1] != 'global'):
            return None
        return self.assign(args[0], '%s(%s)' % (shared, at) if shared else '!::plumb::simt::is_cluster_shared(%s)' % at, 'bool')

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
        form, kind = HALVES.get(words[-1], (None, self.kind(words)))
        change = next((w for w in words if w in UPDATE), None)
        if kind in (None, 'bool') or change is None or {'v8', 'async'} & set(words) or (form and change not in ('add', 'min', 'max')):
            return None
        args = args if result else ['_'] + args
        if any(w.endswith('~cache_hint') for w in words):
            args = args[:-1]
        if len(args) != (4 if change == 'cas' else 3):
            return None
        lanes = next((int(w[1]) for w in words if w in ('v2', 'v4')), 1)
        if lanes == 1:
            return self.assign(args[0], self.updated(words, kind, change, args), None if form else kind)
        to, values = ([n.strip() for n in x.strip('{} ').split(',')] for x in (args[0], args[2]))
        if change == 'cas' or len(values) != lanes or (result and len(to) != lanes):
            return None
        size = {'float': 4, 'unsigned': 4, 'unsigned short': 2}.get(kind)  # each element by itself
        return size and ' '.join(self.assign(to[k] if result else '_', self.updated(words, kind, change, [None, args[1], values[k]], k))
                                 for k in range(lanes))

    def updated(self, words, kind, change, args, lane=0):
        """The update as an expression: what was there."""
        _, acquire, release = self.ways(words)
        more = ', w = %s' % self.value(args[3], kind) if change == 'cas' else ''
        at = self.address(args[1], self.space(words), kind) + (' + %d' % lane if lane else '')
        new = UPDATE[change]
        if words[-1] in HALVES:
            form = HALVES[words[-1]][0]
            new = '%shalf_op%s<::plumb::simt::%s, %sHalfOp::%s>(old, v)' % (P, '2' if kind == 'unsigned' else '', form, P, change)
        elif (change, kind) == ('add', 'float'):  # subnormals are flushed in global memory
            more, new = ', at = %s' % at, '::plumb::simt::atomic_sum(at, old, v)'
        return '%supdate(%s, %s, %s, %s, [v = %s%s](%s old) { return static_cast<%s>(%s); }, ::plumb::simt::Here::at()%s)' % (
            P, at, self.scope(words), str(acquire).lower(), str(release).lower(), self.value(args[2], kind), more, kind, kind, new,
            ', ::plumb::simt::Ordered::exchange' if change == 'exch' else '')

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

    def do_exit(self, _words, _args):
        return '::plumb::simt::exit_thread();'

    # ---- wgmma ----
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
        if not all(self.is_sum(name) for name in sums):
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

    def is_sum(self, name):
        """Whether the operand is a variable that outlives the statement, as the product does."""
        return self.operand(name) in {'plumb_%d' % n for n, (kind, _) in enumerate(self.operands) if kind == 'out'}

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
