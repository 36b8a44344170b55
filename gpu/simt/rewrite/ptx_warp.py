# What the lanes of a warp do together, but for wgmma: shuffles, votes, matches, reductions, products. A mixin of ptx.Asm.
import re

from ptx_tables import P

HERE = '::plumb::simt::Here::at()'


class Warp:
    def do_shfl(self, words, args):
        if words[1] != 'sync' or len(args) != 5 or words[2] not in ('idx', 'up', 'down', 'bfly'):
            return None
        to, bar, predicate = (part.strip() for part in args[0].partition('|'))
        value, b, c, mask = (self.value(a, 'unsigned') for a in args[1:])
        taken = '__shfl_sync(%s, %s, %sshuffle_source(%sShuffled::%s, %s, %s, plumb_within))' % (mask, value, P, P, words[2], b, c)
        return '{ bool plumb_within; const unsigned plumb_taken = %s; %s %s }' % (
            taken, self.assign(to, 'plumb_taken', 'unsigned'), self.assign(predicate, 'plumb_within', 'bool') if bar else '')

    def do_vote(self, words, args):
        modes = {'ballot': '__ballot_sync', 'any': '__any_sync', 'all': '__all_sync', 'uni': '__uni_sync'}
        if 'sync' not in words or len(args) != 3:
            return None
        name = next((modes[w] for w in words if w in modes), None)  # before or behind .sync
        return self.assign(args[0], '%s(%s, %s)' % (name, self.value(args[2], 'unsigned'), self.value(args[1], 'bool'))) if name else None

    def do_match(self, words, args):
        kind = {'b32': 'unsigned', 'b64': 'unsigned long long'}.get(words[-1])
        if kind is None or 'sync' not in words or len(words) != 4 or len(args) != 3:
            return None
        value, mask = self.value(args[1], kind), self.value(args[2], 'unsigned')
        if 'any' in words:
            return self.assign(args[0], '__match_any_sync(%s, %s)' % (mask, value), 'unsigned')
        if 'all' not in words:
            return None
        to, bar, predicate = (part.strip() for part in args[0].partition('|'))
        return '{ int plumb_all; const unsigned plumb_equal = __match_all_sync(%s, %s, &plumb_all); %s %s }' % (
            mask, value, self.assign(to, 'plumb_equal', 'unsigned'), self.assign(predicate, 'plumb_all != 0', 'bool') if bar else '')

    def do_redux(self, words, args):
        kind = self.kind(words)
        known = ('and', 'or', 'xor') if words[-1] == 'b32' else ('add', 'min', 'max') if words[-1] in ('u32', 's32') else ()
        if words[1] != 'sync' or len(words) != 4 or words[2] not in known or len(args) != 3:
            return None
        return self.assign(args[0], '__reduce_%s_sync(%s, %s)' % (words[2], self.value(args[2], 'unsigned'), self.value(args[1], kind)), kind)

    def do_activemask(self, _words, args):
        return self.assign(args[0], '__activemask()')

    def do_movmatrix(self, words, args):
        if words != ['movmatrix', 'sync', 'aligned', 'm8n8', 'trans', 'b16'] or len(args) != 2:
            return None
        return self.assign(args[0], '::plumb::simt::movmatrix(%s, %s)' % (self.value(args[1], 'unsigned'), HERE), 'unsigned')

    def do_mma(self, words, args):
        shape = next((re.fullmatch(r'm(\d+)n8k(\d+)', w) for w in words if w.startswith('m') and 'n8k' in w), None)
        types = words[-4:]
        d, a, b, c = ([n.strip() for n in x.strip('{} ').split(',')] for x in args)
        behind = [w for w in words[words.index('col') + 1:-4] if w not in ('satfinite',)] if 'col' in words else ['none']
        if shape is None or behind or 'row' not in words or words[-5] not in ('col', 'satfinite'):
            return None
        m, k = (int(n) for n in shape.groups())
        if types[0] == 's32':
            return self.byte_product(types, m, k, 'satfinite' in words, (d, a, b, c))
        return self.float_product(types, m, k, (d, a, b, c)) if 'satfinite' not in words else None

    def array(self, kind, name, words):
        return '%s plumb_%s[] = {%s};' % (kind, name, ', '.join(self.value(w, kind) for w in words))

    def stored_sums(self, made, d, kind):
        return '{ %s %s }' % (made, ' '.join(self.assign(n, 'plumb_c[%d]' % i, kind) for i, n in enumerate(d)))

    def byte_product(self, types, m, k, saturates, operands):
        d, a, b, c = operands
        if types[3] != 's32' or not set(types[1:3]) <= {'s8', 'u8'} or (m, k) not in ((8, 16), (16, 16), (16, 32)):
            return None
        if (len(a), len(b), len(c), len(d)) != (m * k // 128, k // 16, m // 4, m // 4):
            return None
        made = self.array('int', 'c', c) + self.array('unsigned', 'a', a) + self.array('unsigned', 'b', b)
        made += '::plumb::simt::mma_bytes(plumb_c, plumb_a, plumb_b, {%d, %d, ::plumb::simt::Element::%s, ::plumb::simt::Element::%s, %s}, ' \
                '%s);' % (m, k, types[1], types[2], str(saturates).lower(), HERE)
        return self.stored_sums(made, d, 'int')

    MMA_DEPTHS = {'tf32': 8, 'f16': 16, 'bf16': 16, 'e4m3': 32, 'e5m2': 32}  # with four words of A; half of it with two

    def float_product(self, types, m, k, operands):
        d, a, b, c = operands
        total, a_type, b_type, kept = types
        together = ('e4m3', 'e5m2') if a_type in ('e4m3', 'e5m2') else (a_type,)
        if m == 16 and a_type in self.PAIRS.get(total, ()) and b_type in together and kept == total and a_type in self.MMA_DEPTHS:
            sums, words = 4 if total == 'f32' else 2, {self.MMA_DEPTHS[a_type]: 4, self.MMA_DEPTHS[a_type] // 2: 2}.get(k)
            if words is None or (len(a), len(b), len(c), len(d)) != (words, words // 2, sums, sums):
                return None
            kind = 'float' if total == 'f32' else 'unsigned'
            made = self.array(kind, 'c', c) + self.array('unsigned', 'a', a) + self.array('unsigned', 'b', b)
            made += '::plumb::simt::mma(%s::plumb::simt::Total::%s, %d, plumb_c, plumb_a, plumb_b, %s);' % (
                ''.join('::plumb::simt::Element::%s, ' % t for t in (a_type, b_type)), total, k, HERE)
            return self.stored_sums(made, d, kind)
        if types == ['f64'] * 4 and (m, k) in ((8, 4), (16, 4), (16, 8), (16, 16)):
            made = self.array('double', 'c', c) + self.array('double', 'a', a) + self.array('double', 'b', b)
            return self.stored_sums(made + '::plumb::simt::mma_f64(plumb_c, plumb_a, plumb_b, %d, %d, %s);' % (m, k, HERE), d, 'double')
        return None
