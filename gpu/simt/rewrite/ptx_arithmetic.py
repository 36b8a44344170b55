# Arithmetic of PTX as C++: integers, floating point of each rounding, comparisons, conversions, bits. A mixin of ptx.Asm, which has the operands.
# Forms that are not here return None; so does a modifier that is not known.
from ptx_tables import BINARY, COMPARE, HALF_OPERANDS, HALVES, HIGH_PRODUCT, TYPES, UNARY_F32, WIDE, P

ROUNDINGS = {'rn': 'rn', 'rz': 'rz', 'rm': 'rd', 'rp': 'ru'}  # PTX's, and CUDA's in names
ROUNDS = {'rn': 'nearest', 'rz': 'zero', 'rm': 'down', 'rp': 'up', 'rni': 'nearest', 'rzi': 'zero', 'rmi': 'down', 'rpi': 'up'}
SIZES = {'unsigned char': 1, 'signed char': 1, 'unsigned short': 2, 'short': 2, 'unsigned': 4, 'int': 4, 'unsigned long long': 8, 'long long': 8}
UNSIGNED = {'signed char': 'unsigned char', 'short': 'unsigned short', 'int': 'unsigned', 'long long': 'unsigned long long'}
FLOATS = ('float', 'double')
SMALL = {'e4m3x2': 'E4m3', 'e5m2x2': 'E5m2'}
SIMT = '::plumb::simt::'
UNORDERED = {'equ': '==', 'neu': '!=', 'ltu': '<', 'leu': '<=', 'gtu': '>', 'geu': '>='}


class Arithmetic:
    def dispatched(self, words):
        """What translates an instruction that has no method of its own, or has another for 16-bit floats."""
        if words[-1] in HALVES and words[0] in HALF_OPERANDS:
            return self.half
        how = getattr(self, 'do_' + words[0], None)
        if how is None and words[0] in BINARY:
            return self.binary
        return self.unary if how is None and words[0] in UNARY_F32 else how

    @staticmethod
    def modifiers(words, *known):
        """The words between an instruction and its type; None where one is not among `known`."""
        rest = words[1:-1]
        return None if set(rest) - set(known) else rest

    def float_value(self, word, kind, how):
        """An operand of a floating-point instruction: with .ftz, subnormals of f32 are zeros of their sign."""
        value = self.value(word, kind)
        return '%swithout_subnormal(%s)' % (SIMT, value) if 'ftz' in how and kind == 'float' else value

    def float_result(self, word, made, kind, how):
        if 'ftz' in how and kind == 'float':
            made = '%swithout_subnormal(%s)' % (SIMT, made)
        if 'sat' in how:
            made = '%ssaturated(%s)' % (P, made)
        return self.assign(word, made, kind)

    @staticmethod
    def direction(how):
        """CUDA's name of the rounding; None: to nearest."""
        return next((ROUNDINGS[w] for w in how if w in ROUNDINGS and w != 'rn'), None)

    # ---- 16-bit floats ----
    def half(self, words, args):
        """Arithmetic on 16-bit floats, of one or of a pair."""
        form, kind = HALVES[words[-1]]
        how = self.modifiers(words, 'rn', 'approx', 'ftz', 'sat', 'relu', 'NaN', 'xorsign', 'abs')
        if how is None or len(args) != 1 + HALF_OPERANDS[words[0]] or {'xorsign', 'abs'} & set(how):
            return None
        values = [self.value(a, kind) for a in args[1:]]
        of = '::plumb::simt::%s' % form
        pair = '2' if kind == 'unsigned' else ''
        if 'ftz' in how and form == 'Half':
            values = ['%shalf_flushed%s(%s)' % (P, pair, v) for v in values]
        op = words[0] + ('_nan' if 'NaN' in how else '')
        made = '%shalf_op%s<%s, %sHalfOp::%s>(%s)' % (P, pair, of, P, op, ', '.join(values))
        for word in ('ftz', 'sat', 'relu'):
            if word in how and not (word == 'ftz' and form != 'Half'):
                name = {'ftz': 'half_flushed%s' % pair, 'sat': 'half_saturated%s<%s>' % (pair, of), 'relu': 'half_rectified%s' % pair}[word]
                made = '%s%s(%s)' % (P, name, made)
        return self.assign(args[0], made, kind)

    def convert_half(self, words, args):
        """cvt to or from the 16-bit floats: from float and double, from and to integers, two floats into a pair."""
        to, of = words[-2:]
        how = [w for w in words[1:-2] if w not in ('rn', 'rz', 'rm', 'rp', 'relu', 'ftz', 'sat', 'rni', 'rzi', 'rmi', 'rpi')]
        rounding = next((w for w in words[1:-2] if w in ROUNDS), None)
        if how or len(args) != (3 if to in ('f16x2', 'bf16x2') else 2):
            return None
        if to not in HALVES:
            return self.widened_half(to, of, rounding, words, args)
        if of in ('f16', 'bf16'):
            if to == of and rounding is None and 'sat' not in words:
                return self.assign(args[0], self.value(args[1], 'unsigned short'), 'unsigned short')
            value = 'static_cast<double>(::plumb::simt::widen<::plumb::simt::%s>(%s))' % (HALVES[of][0], self.value(args[1], 'unsigned short'))
            if rounding in ('rni', 'rzi', 'rmi', 'rpi'):
                value = '%sintegral(::plumb::simt::Round::%s, %s)' % (P, ROUNDS[rounding], value)
            return self.assign(args[0], self.narrowed_half(to, value, 'nearest', words), 'unsigned short')
        if rounding is None or rounding.endswith('i') or TYPES.get(of) in (None, 'bool') or of.startswith('b') or (len(args) == 3 and of != 'f32'):
            return None
        form = ('static_cast<double>(%s)' if of[0] == 'f' else '::plumb::simt::odd_double(%s)')
        made = [self.narrowed_half(to, form % self.value(a, TYPES[of]), ROUNDS[rounding], words) for a in args[1:]]
        if len(made) == 1:
            return self.assign(args[0], made[0], 'unsigned short')
        return self.assign(args[0], '%spair(%s, %s)' % (P, made[1], made[0]), 'unsigned')

    @staticmethod
    def narrowed_half(to, value, rounding, words):
        for word, function in (('relu', 'rectified'), ('sat', 'saturated')):
            if word in words:
                value = '::plumb::simt::%s(%s)' % (function, value)
        return '::plumb::simt::narrow<::plumb::simt::%s>(%s, ::plumb::simt::Round::%s)' % (HALVES[to][0], value, rounding)

    def widened_half(self, to, of, rounding, words, args):
        if of not in ('f16', 'bf16') or TYPES.get(to) in (None, 'bool') or to.startswith('b'):
            return None
        value = '::plumb::simt::widen<::plumb::simt::%s>(%s)' % (HALVES[of][0], self.value(args[1], 'unsigned short'))
        if to in ('f32', 'f64'):
            if rounding is not None:
                return None
            return self.assign(args[0], '%ssaturated(%s)' % (P, value) if 'sat' in words else value, TYPES[to] if to == 'f64' else 'float')
        if rounding is None or not rounding.endswith('i'):
            return None
        return self.assign(args[0], '%sto_integer<%s>(%sRound::%s, %s)' % (SIMT, TYPES[to], SIMT, ROUNDS[rounding], value), TYPES[to])

    # ---- moves ----
    def do_mov(self, words, args):
        kind = self.kind(words)
        if words[-1] in ('f16', 'bf16', 'f16x2', 'bf16x2'):
            kind = HALVES[words[-1]][1]
        if kind is None or len(args) != 2:
            return None
        if '{' in args[0] + args[1]:
            return self.parts(words[-1], *args)
        return self.assign(args[0], self.value(args[1], kind), kind)

    def parts(self, of, to, source):
        """mov between a register and a tuple of its parts, the lowest first."""
        names = [n.strip() for n in (to if '{' in to else source).strip('{} ').split(',')]
        bits = int(of[1:]) // len(names) if of in ('b16', 'b32', 'b64') and len(names) in (2, 4) else 0
        part = TYPES.get('b%d' % bits)
        if part is None:
            return None
        whole = TYPES[of]
        if '{' in source:
            values = ['static_cast<%s>(%s) << %d' % (whole, self.value(n, part), bits * k) for k, n in enumerate(names)]
            return self.assign(to, ' | '.join(values), whole)
        taken = [self.assign(n, 'static_cast<%s>(plumb_whole >> %d)' % (part, bits * k), part) for k, n in enumerate(names)]
        return '{ const auto plumb_whole = %s; %s }' % (self.value(source, whole), ' '.join(taken))

    # ---- conversions ----
    def do_cvt(self, words, args):
        if words[-1] == 'f32' and words[-2] == 'tf32':
            return self.assign(args[0], '%sto_tf32(%s)' % (P, self.value(args[1], 'float')), 'unsigned') if words[1:2] == ['rna'] else None
        if words[-2] in SMALL or words[-1] in SMALL:
            return self.convert_small(words, args)
        if words[-2] in HALVES or words[-1] in HALVES:
            return self.convert_half(words, args)
        to, of = TYPES.get(words[-2]), TYPES.get(words[-1])
        how = words[1:-2]
        rounding = next((w for w in how if w in ROUNDS), None)
        if to in (None, 'bool') or of in (None, 'bool') or set(how) - set(ROUNDS) - {'ftz', 'sat'} or len(args) != 2:
            return None
        return self.converted_number(to, of, rounding, how, args)

    def converted_number(self, to, of, rounding, how, args):
        value = self.float_value(args[1], of, how) if of in FLOATS else self.value(args[1], of)
        if of in FLOATS and to in FLOATS:
            if rounding is not None and rounding.endswith('i'):
                value = '%sintegral(%sRound::%s, %s)' % (P, SIMT, ROUNDS[rounding], value)
            elif to == 'float' and of == 'double' and rounding is not None:
                value = '%snarrowed<float>(%sRound::%s, %s)' % (SIMT, SIMT, ROUNDS[rounding], value)
            return self.float_result(args[0], 'static_cast<%s>(%s)' % (to, value), to, how)
        if of in FLOATS:
            if rounding is None or not rounding.endswith('i'):
                return None
            return self.assign(args[0], '%sto_integer<%s>(%sRound::%s, %s)' % (SIMT, to, SIMT, ROUNDS[rounding], value), to)
        if to in FLOATS:
            if rounding is None or rounding.endswith('i'):
                return None
            made = 'static_cast<%s>(%s)' % (to, value) if rounding == 'rn' or (to == 'double' and SIZES[of] < 8) else None
            wide = {1: 'int', 2: 'int', 4: of, 8: of}[SIZES[of]]
            made = made or '%snarrowed<%s>(%sRound::%s, static_cast<%s>(%s))' % (SIMT, to, SIMT, ROUNDS[rounding], wide, value)
            return self.float_result(args[0], made, to, how)
        if rounding is not None:
            return None
        return self.assign(args[0], ('%sclamped<%s>(%s)' if 'sat' in how else '%sinteger<%s>(%s)') % (P, to, value), to)

    def convert_small(self, words, args):
        """cvt between pairs of 8-bit floats and pairs of f16, or two f32."""
        to, of = words[-2:]
        how = set(words[1:-2]) - {'rn', 'satfinite', 'relu'}
        if how:
            return None
        relu = ', true' if 'relu' in words else ''
        if to in SMALL and of == 'f32' and 'satfinite' in words and len(args) == 3:
            made = '%ssmall_pair<%s%s>(%s, %s%s)' % (P, '::plumb::', SMALL[to], self.value(args[2], 'float'), self.value(args[1], 'float'), relu)
            return self.assign(args[0], made, 'unsigned short')
        if to in SMALL and of == 'f16x2' and 'satfinite' in words and len(args) == 2:
            made = '%ssmall_pair_of_halves<%s%s>(%s%s)' % (P, '::plumb::', SMALL[to], self.value(args[1], 'unsigned'), relu)
            return self.assign(args[0], made, 'unsigned short')
        if of in SMALL and to == 'f16x2' and 'rn' in words and len(args) == 2:
            made = '%shalves_of_small_pair<%s%s>(%s%s)' % (P, '::plumb::', SMALL[of], self.value(args[1], 'unsigned short'), relu)
            return self.assign(args[0], made, 'unsigned')
        return None

    # ---- two operands ----
    def binary(self, words, args):
        kind = self.kind(words)
        if kind is None or len(args) != 3:
            return None
        if kind in FLOATS:
            return self.binary_float(words, args, kind)
        if words[0] in ('and', 'or', 'xor') and words[1:-1]:
            return None
        if kind == 'bool':
            if words[0] not in ('and', 'or', 'xor'):
                return None
            return self.assign(args[0], '%s != false %s %s != false' % (self.value(args[1], kind), BINARY[words[0]], self.value(args[2], kind)), kind)
        a, b = self.value(args[1], kind), self.value(args[2], kind)
        if words[0] in ('div', 'rem'):
            return self.assign(args[0], '%s%s<%s>(%s, %s)' % (P, {'div': 'quotient', 'rem': 'remainder'}[words[0]], kind, a, b), kind) \
                if words[1:-1] == [] else None
        if words[1:-1] == ['cc'] and words[0] in ('add', 'sub') and kind in UNSIGNED.values() | UNSIGNED.keys():
            return self.with_carry(words[0], kind, args, False, True)
        if words[1:-1] == ['sat'] and words[-1] == 's32' and words[0] in ('add', 'sub'):
            return self.assign(args[0], '%sclamped<int>(static_cast<long long>(%s) %s %s)' % (P, a, BINARY[words[0]], b), kind)
        if words[1:-1]:
            return None
        whole = UNSIGNED.get(kind, kind)
        if words[0] in ('add', 'sub') and whole != kind:  # signed sums wrap
            return self.assign(args[0], '(%s)((%s)%s %s (%s)%s)' % (kind, whole, a, BINARY[words[0]], whole, b), kind)
        return self.assign(args[0], '%s %s %s' % (a, BINARY[words[0]], b), kind)

    def binary_float(self, words, args, kind):
        how = self.modifiers(words, 'rn', 'rz', 'rm', 'rp', 'ftz', 'sat', 'approx', 'full', 'relaxed')
        if how is None or words[0] not in ('add', 'sub', 'div'):
            return None
        a, b = (self.float_value(x, kind, how) for x in args[1:])
        direction = self.direction(how)
        made = '%s %s %s' % (a, BINARY[words[0]], b)
        if direction:
            made = '__%s%s_%s(%s, %s)' % ('f' if kind == 'float' else 'd', words[0], direction, a, b)
        return self.float_result(args[0], made, kind, how)

    def with_carry(self, what, kind, args, reads, writes):
        """add, sub and their kin with the carry: read, written, or both."""
        whole = UNSIGNED.get(kind, kind)
        if SIZES[whole] < 4:
            return None
        a, b = self.value(args[1], whole), self.value(args[2], whole)
        carry = self.carry()
        made = '%s%s_carry<%s>(%s, %s, %s, plumb_out)' % (P, what, whole, a, b, carry if reads else 'false')
        return '{ bool plumb_out; %s %s}' % (self.assign(args[0], made, whole), '%s = plumb_out; ' % carry if writes else '')

    def do_addc(self, words, args):
        if set(words[1:-1]) - {'cc'} or len(args) != 3:
            return None
        return self.with_carry('add', self.kind(words), args, True, 'cc' in words)

    def do_subc(self, words, args):
        if set(words[1:-1]) - {'cc'} or len(args) != 3:
            return None
        return self.with_carry('sub', self.kind(words), args, True, 'cc' in words)

    def unary(self, words, args):
        kind = self.kind(words)
        if kind not in FLOATS or len(args) != 2:
            return None
        how = self.modifiers(words, 'rn', 'rz', 'rm', 'rp', 'approx', 'ftz')
        if how is None or (words[0] in ('abs', 'neg') and set(how) - {'ftz'}):
            return None
        value, direction = self.float_value(args[1], kind, how), self.direction(how)
        if kind == 'float':
            made = '%s(%s)' % (UNARY_F32[words[0]], value)
        elif words[0] in ('abs', 'neg', 'sqrt', 'rcp', 'rsqrt'):
            made = {'abs': 'fabs(%s)', 'neg': '-(%s)', 'sqrt': 'sqrt(%s)', 'rcp': '1.0 / (%s)', 'rsqrt': '1.0 / sqrt(%s)'}[words[0]] % value
        else:
            return None
        if direction:
            if words[0] not in ('rcp', 'sqrt'):
                return None
            made = '__%s%s_%s(%s)' % ('f' if kind == 'float' else 'd', words[0], direction, value)
        return self.float_result(args[0], made, kind, how)

    def integer_or_unary(self, words, args, made):
        """neg and abs, of integers; of floats as the others."""
        kind = self.kind(words)
        if kind in FLOATS:
            return self.unary(words, args)
        if kind not in UNSIGNED or words[1:-1] or len(args) != 2:
            return None
        a, whole = self.value(args[1], kind), UNSIGNED[kind]
        return self.assign(args[0], made % {'a': a, 'minus': '(%s)(0 - (%s)%s)' % (kind, whole, a)}, kind)

    def do_neg(self, words, args):
        return self.integer_or_unary(words, args, '%(minus)s')

    def do_abs(self, words, args):
        return self.integer_or_unary(words, args, '%(a)s < 0 ? %(minus)s : %(a)s')

    def do_copysign(self, words, args):
        kind = self.kind(words)
        if kind not in FLOATS or words[1:-1] or len(args) != 3:
            return None
        return self.assign(args[0], '%s(%s, %s)' % ('copysignf' if kind == 'float' else 'copysign', self.value(args[2], kind),
                                                   self.value(args[1], kind)), kind)

    def do_testp(self, words, args):
        kind = self.kind(words)
        if kind not in FLOATS or len(words) != 3 or len(args) != 2:
            return None
        v = self.value(args[1], kind)
        test = {'finite': 'std::isfinite(%s)', 'infinite': 'std::isinf(%s)', 'number': '!std::isnan(%s)', 'notanumber': 'std::isnan(%s)',
                'normal': 'std::isnormal(%s)', 'subnormal': 'std::fpclassify(%s) == FP_SUBNORMAL'}.get(words[1])
        return test and self.assign(args[0], test % v, 'bool')

    # ---- products ----
    def do_mul(self, words, args):
        kind = self.kind(words)
        if kind in FLOATS:
            how = self.modifiers(words, 'rn', 'rz', 'rm', 'rp', 'ftz', 'sat')
            if how is None or len(args) != 3:
                return None
            a, b = (self.float_value(x, kind, how) for x in args[1:])
            direction = self.direction(how)
            made = '__%smul_%s(%s, %s)' % ('f' if kind == 'float' else 'd', direction, a, b) if direction else '%s * %s' % (a, b)
            return self.float_result(args[0], made, kind, how)
        product, of = self.product(words[1:-1], kind, args)
        return self.assign(args[0], product, of) if product and len(args) == 3 else None

    def do_mad(self, words, args):
        kind = self.kind(words)
        if kind in FLOATS:
            return self.do_fma(words, args)
        how = [w for w in words[1:-1] if w not in ('cc', 'sat')]
        product, of = self.product(how, kind, args)
        if product is None or how == [] or len(args) != 4:
            return None
        if 'cc' in words:
            return self.carried_product(product, of, args, False, True)
        if 'sat' in words:
            if how != ['hi'] or words[-1] != 's32':
                return None
            return self.assign(args[0], '%sclamped<int>(static_cast<long long>(%s) + %s)' % (P, product, self.value(args[3], of)), of)
        whole = UNSIGNED.get(of, of)
        return self.assign(args[0], '(%s)((%s)(%s) + (%s)%s)' % (of, whole, product, whole, self.value(args[3], of)), of)

    def carried_product(self, product, of, args, reads, writes):
        whole = UNSIGNED.get(of, of)
        carry = self.carry()
        made = '%sadd_carry<%s>((%s)(%s), %s, %s, plumb_out)' % (P, whole, whole, product, self.value(args[3], whole), carry if reads else 'false')
        return '{ bool plumb_out; %s %s}' % (self.assign(args[0], made, whole), '%s = plumb_out; ' % carry if writes else '')

    def do_madc(self, words, args):
        product, of = self.product([w for w in words[1:-1] if w != 'cc'], self.kind(words), args)
        if product is None or len(args) != 4 or words[1] not in ('lo', 'hi'):
            return None
        return self.carried_product(product, of, args, True, 'cc' in words)

    def product(self, which, kind, args):
        """The product of a mul or mad that takes its operands as `kind`, and the product's type."""
        if kind is None or len(args) < 3 or kind not in SIZES:
            return None, None
        a, b = self.value(args[1], kind), self.value(args[2], kind)
        if which == ['wide'] and kind in WIDE:
            return 'static_cast<%s>(%s) * static_cast<%s>(%s)' % (WIDE[kind], a, WIDE[kind], b), WIDE[kind]
        if which == ['hi'] and kind in HIGH_PRODUCT:
            return '%s(%s, %s)' % (HIGH_PRODUCT[kind], a, b), kind
        if which == ['hi'] and SIZES[kind] == 2:
            return '(%s)(%s * %s >> 16)' % (kind, a if kind == 'short' else '(unsigned)' + a, b), kind
        whole = 'unsigned' if SIZES[kind] < 4 else UNSIGNED.get(kind, kind)
        return ('(%s)((%s)%s * (%s)%s)' % (kind, whole, a, whole, b), kind) if which in ([], ['lo']) else (None, None)

    def do_mul24(self, words, args):
        if words[1:] not in (['lo', 'u32'], ['lo', 's32'], ['hi', 'u32'], ['hi', 's32']) or len(args) != 3:
            return None
        kind = self.kind(words)
        return self.assign(args[0], '%smul24_%s<%s>(%s, %s)' % (P, words[1], kind, self.value(args[1], kind), self.value(args[2], kind)), kind)

    def do_mad24(self, words, args):
        if words[1:] not in (['lo', 'u32'], ['lo', 's32'], ['hi', 'u32'], ['hi', 's32']) or len(args) != 4:
            return None
        kind = self.kind(words)
        made = '(unsigned)%smul24_%s<%s>(%s, %s) + %s' % (P, words[1], kind, self.value(args[1], kind), self.value(args[2], kind),
                                                         self.value(args[3], 'unsigned'))
        return self.assign(args[0], made, 'unsigned')

    def do_fma(self, words, args):
        kind = self.kind(words)
        how = self.modifiers(words, 'rn', 'rz', 'rm', 'rp', 'ftz', 'sat')
        if kind not in FLOATS or how is None or not set(how) & set(ROUNDINGS) or len(args) != 4:
            return None
        values = ', '.join(self.float_value(a, kind, how) for a in args[1:])
        function, direction = 'fmaf' if kind == 'float' else 'fma', self.direction(how)
        return self.float_result(args[0], '%s(%s)' % ('__%s_%s' % (function, direction) if direction else function, values), kind, how)

    def do_dp4a(self, words, args):
        if len(words) != 3 or len(args) != 4 or not {words[1], words[2]} <= {'u32', 's32'}:
            return None
        a, b, c = (self.value(x, 'unsigned') for x in args[1:])
        return self.assign(args[0], '%sdp4a(%s, %s, %s, %s, %s)' % (P, a, b, c, str(words[1] == 's32').lower(), str(words[2] == 's32').lower()),
                           'unsigned')

    def do_dp2a(self, words, args):
        if len(words) != 4 or len(args) != 4 or words[1] not in ('lo', 'hi') or not {words[2], words[3]} <= {'u32', 's32'}:
            return None
        a, b, c = (self.value(x, 'unsigned') for x in args[1:])
        return self.assign(args[0], '%sdp2a(%s, %s, %s, %s, %s, %s)' % (
            P, a, b, c, str(words[1] == 'hi').lower(), str(words[2] == 's32').lower(), str(words[3] == 's32').lower()), 'unsigned')

    def do_sad(self, words, args):
        kind = self.kind(words)
        if kind not in SIZES or words[1:-1] or len(args) != 4 or words[-1][0] == 'b':
            return None
        whole = UNSIGNED.get(kind, kind)
        a, b = self.value(args[1], kind), self.value(args[2], kind)
        return self.assign(args[0], '(%s)%s + (%s < %s ? (%s)%s - (%s)%s : (%s)%s - (%s)%s)' % (
            whole, self.value(args[3], whole), a, b, whole, b, whole, a, whole, a, whole, b), whole)

    # ---- least and greatest ----
    def do_min(self, words, args):
        kind = self.kind(words)
        if kind is None or kind == 'bool' or len(args) != 3:
            return None
        if kind not in FLOATS:
            how = self.modifiers(words, 'relu')
            if how is None:
                return None
            made = '%s(%s, %s)' % ('::' + words[0], self.value(args[1], kind), self.value(args[2], kind))
            return self.assign(args[0], '::max(%s, (%s)0)' % (made, kind) if 'relu' in how else made, kind)
        how = self.modifiers(words, 'ftz', 'NaN', 'xorsign', 'abs')
        if how is None or ('abs' in how) != ('xorsign' in how):
            return None
        a, b = (self.float_value(x, kind, how) for x in args[1:])
        made = '%sextreme<%s>(%s, %s, %s, %s, %s)' % (P, kind, a, b, str(words[0] == 'min').lower(), str('NaN' in how).lower(),
                                                     str('xorsign' in how).lower())
        return self.float_result(args[0], made, kind, how)

    do_max = do_min

    # ---- bits ----
    def do_not(self, words, args):
        kind = self.kind(words)
        return self.assign(args[0], ('!%s' if kind == 'bool' else '~%s') % self.value(args[1], kind), kind) if kind and len(args) == 2 else None

    def do_cnot(self, words, args):
        kind = self.kind(words)
        if kind not in SIZES or words[1:-1] or len(args) != 2:
            return None
        return self.assign(args[0], '!%s' % self.value(args[1], kind), kind)

    def shift(self, words, args, sign):
        kind = self.kind(words)
        if kind not in SIZES or len(args) != 3 or words[1:-1]:
            return None
        bits = 8 * SIZES[kind]
        a, n = self.value(args[1], kind), self.value(args[2], 'unsigned')
        beyond = '%s < 0 ? -1 : 0' % a if sign == '>>' and words[-1].startswith('s') else '0'
        if n.isdigit() or n.startswith('(unsigned)') and n[10:].isdigit():  # most are
            by = int(n.rsplit(')', 1)[-1])
            return self.assign(args[0], '%s %s %d' % (a, sign, by) if by < bits else beyond, kind)
        return self.assign(args[0], 'static_cast<%s>(%s >= %du ? (%s) : %s %s %s)' % (kind, n, bits, beyond, a, sign, n), kind)

    def do_shl(self, words, args):
        return self.shift(words, args, '<<')

    def do_shr(self, words, args):
        return self.shift(words, args, '>>')

    def do_shf(self, words, args):
        if len(words) != 4 or words[1] not in ('l', 'r') or words[2] not in ('wrap', 'clamp'):
            return None
        return self.call('__funnelshift_' + words[1] + ('c' if words[2] == 'clamp' else ''), words, args, 3)

    def call(self, function, words, args, count, kind='unsigned'):
        if len(args) != count + 1 or self.kind(words) != kind:
            return None
        return self.assign(args[0], '%s(%s)' % (function, ', '.join(self.value(a, 'unsigned') for a in args[1:])), 'unsigned')

    def of_bits(self, words, args, narrow, wide):
        """A function of a word of 32 bits or of 64."""
        if words[1:] == ['b32'] and len(args) == 2:
            return self.assign(args[0], '%s(%s)' % (narrow, self.value(args[1], 'unsigned')), 'unsigned')
        if words[1:] == ['b64'] and len(args) == 2:
            return self.assign(args[0], '%s(%s)' % (wide, self.value(args[1], 'unsigned long long')),
                               'unsigned long long' if words[0] == 'brev' else 'unsigned')
        return None

    def do_popc(self, words, args):
        return self.of_bits(words, args, '__popc', '__popcll')

    def do_brev(self, words, args):
        return self.of_bits(words, args, '__brev', '__brevll')

    def do_clz(self, words, args):
        return self.of_bits(words, args, '__clz', '__clzll')

    def do_fns(self, words, args):
        if words[1:] != ['b32'] or len(args) != 4:
            return None
        return self.assign(args[0], '__fns(%s, %s, %s)' % (self.value(args[1], 'unsigned'), self.value(args[2], 'unsigned'),
                                                          self.value(args[3], 'int')), 'unsigned')

    def do_prmt(self, words, args):
        if len(words) == 3 and words[1] in ('f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16'):
            return self.call(P + 'prmt_' + words[1], words, args, 3)
        return self.call('__byte_perm', words, args, 3) if len(words) == 2 else None

    def do_lop3(self, words, args):
        if words[1:] == ['b32']:
            return self.call(P + 'lop3', words, args, 4)
        if words[1:-1] not in (['or'], ['and']) or len(args) != 6 or '|' not in args[0]:
            return None
        to, predicate = (part.strip() for part in args[0].split('|'))
        made = '%slop3(%s)' % (P, ', '.join(self.value(a, 'unsigned') for a in args[1:5]))
        joined = 'plumb_l != 0 %s %s' % ('||' if words[1] == 'or' else '&&', self.value(args[5], 'bool'))
        return '{ const unsigned plumb_l = %s; %s %s }' % (made, self.assign(predicate, joined, 'bool'), self.assign(to, 'plumb_l', 'unsigned'))

    def do_vabsdiff4(self, words, args):  # alone with .add: the four differences are summed
        if len(args) != 4 or words[1:] not in (['u32', 'u32', 'u32', 'add'], ['s32', 's32', 's32', 'add']):
            return None
        a, b, c = (self.value(one, 'unsigned') for one in args[1:])
        return self.assign(args[0], '__vsad%s4(%s, %s) + %s' % (words[1][0], a, b, c), 'unsigned')

    def do_vabsdiff2(self, words, args):
        made = self.do_vabsdiff4(words, args)
        return made and made.replace('4(', '2(', 1)

    def do_bmsk(self, words, args):
        if words[1:] not in (['clamp', 'b32'], ['wrap', 'b32']):
            return None
        return self.call(P + 'bmsk_' + words[1], words, args, 2)

    def do_szext(self, words, args):
        kind = self.kind(words)
        if len(words) != 3 or words[1] not in ('clamp', 'wrap') or kind not in ('unsigned', 'int') or len(args) != 3:
            return None
        return self.assign(args[0], '%sszext<%s>(%s, %s, %s)' % (P, kind, self.value(args[1], kind), self.value(args[2], 'unsigned'),
                                                               str(words[1] == 'wrap').lower()), kind)

    def do_bfind(self, words, args):
        kind = self.kind(words)
        if kind not in WIDE and kind not in HIGH_PRODUCT or len(args) != 2 or words[1:-1] not in ([], ['shiftamt']):
            return None
        return self.assign(args[0], '%sbfind(%s, %s)' % (P, self.value(args[1], kind), 'true' if 'shiftamt' in words else 'false'), 'unsigned')

    def do_bfe(self, words, args):
        kind = self.kind(words)
        if SIZES.get(kind, 0) < 4 or words[1:-1] or len(args) != 4:
            return None
        return self.assign(args[0], '%sbfe<%s>(%s, %s, %s)' % (P, kind, self.value(args[1], kind), self.value(args[2], 'unsigned'),
                                                             self.value(args[3], 'unsigned')), kind)

    def do_bfi(self, words, args):
        kind = self.kind(words)
        if words[1:] not in (['b32'], ['b64']) or len(args) != 5:
            return None
        return self.assign(args[0], '%sbfi<%s>(%s, %s, %s, %s)' % (P, kind, self.value(args[1], kind), self.value(args[2], kind),
                                                                 self.value(args[3], 'unsigned'), self.value(args[4], 'unsigned')), kind)

    # ---- comparisons ----
    def comparison(self, how, words, args):
        """The comparison of args[1] with args[2] as an expression; None: one that is not offered."""
        kind = self.kind(words)
        if words[-1] in ('f16', 'bf16'):
            kind = 'float'
            a, b = ('::plumb::simt::widen<::plumb::simt::%s>(%s)' % (HALVES[words[-1]][0], self.value(x, 'unsigned short')) for x in args[1:3])
        elif kind in FLOATS:
            a, b = (self.float_value(x, kind, words) for x in args[1:3])
        elif kind is not None:
            a, b = self.value(args[1], kind), self.value(args[2], kind)
        else:
            return None
        if kind in FLOATS:
            return self.ordered(how, a, b)
        return '(%s %s %s)' % (a, COMPARE[how], b) if how in COMPARE else None

    def do_setp(self, words, args):
        rest = [w for w in words[2:-1] if w != 'ftz']
        if words[-1] in ('f16x2', 'bf16x2') or len(args) != (4 if rest else 3) or len(rest) > 1 or set(rest) - {'and', 'or', 'xor'}:
            return None
        made = self.comparison(words[1], words, args)
        if made is None:
            return None
        names = [n.strip() for n in args[0].split('|')]
        sign = {'and': '&', 'or': '|', 'xor': '^'}.get(rest[0]) if rest else None
        other = self.value(args[3], 'bool') if rest else None
        if len(names) == 1:
            return self.assign(names[0], '%s %s (%s)' % (made, sign, other) if rest else made, 'bool')
        results = ['plumb_c %s plumb_o' % sign, '!plumb_c %s plumb_o' % sign] if rest else ['plumb_c', '!plumb_c']
        return '{ const bool plumb_c = %s, plumb_o = %s; (void)plumb_o; %s }' % (
            made, other or 'false', ' '.join(self.assign(n, '(%s) != 0' % r, 'bool') for n, r in zip(names, results)))

    def set_of_pair(self, words, args):
        """set of two pairs: 1.0 or 0 as a 16-bit float, or all ones or none, for each."""
        form, one = HALVES[words[-1]][0], {'f16x2': '0x3c00', 'bf16x2': '0x3f80'}[words[-1]]
        if words[-2] != words[-1] or len(words) - ('ftz' in words) != 4 or len(args) != 3 or words[1] not in {**COMPARE, **UNORDERED, 'num': 0, 'nan': 0}:
            return None
        made = []
        for half in ('low', 'high'):
            a, b = ('%s::plumb::simt::widen<::plumb::simt::%s>(%s%s(%s))' % ('', form, P, half, self.value(x, 'unsigned')) for x in args[1:])
            made.append('(unsigned short)(%s ? %s : 0)' % (self.ordered(words[1], a, b), one))
        return self.assign(args[0], '%spair(%s, %s)' % (P, *made), 'unsigned')

    @staticmethod
    def ordered(how, a, b):
        """The comparison of two floating-point expressions; None: none of that name."""
        nan = '(%s != %s || %s != %s)' % (a, a, b, b)
        if how in UNORDERED:
            return '(%s || %s %s %s)' % (nan, a, UNORDERED[how], b)
        if how in ('lo', 'ls', 'hi', 'hs'):
            return None
        if how in COMPARE:
            return '(%s %s %s%s)' % (a, COMPARE[how], b, ' && !' + nan if how == 'ne' else '')
        return {'num': '!' + nan, 'nan': nan}.get(how)

    def do_set(self, words, args):
        if words[-1] in ('f16x2', 'bf16x2'):
            return self.set_of_pair(words, args)
        rest = [w for w in words[2:-2] if w != 'ftz']
        to = TYPES.get(words[-2])
        if to not in ('unsigned', 'int', 'float') or len(args) != (4 if rest else 3) or len(rest) > 1 or set(rest) - {'and', 'or', 'xor'}:
            return None
        made = self.comparison(words[1], words, args)
        if made is None:
            return None
        if rest:
            made = '(%s %s (%s))' % (made, {'and': '&', 'or': '|', 'xor': '^'}[rest[0]], self.value(args[3], 'bool'))
        return self.assign(args[0], '%s ? %s : (%s)0' % (made, '1.0f' if to == 'float' else '(%s)-1' % to, to), to)

    def do_selp(self, words, args):
        kind = HALVES[words[-1]][1] if words[-1] in HALVES else self.kind(words)
        if kind is None or len(args) != 4 or words[1:-1]:
            return None
        return self.assign(args[0], '%s ? %s : %s' % (self.value(args[3], 'bool'), self.value(args[1], kind), self.value(args[2], kind)), kind)

    def do_slct(self, words, args):
        kind, of = TYPES.get(words[-2]), self.kind(words)
        if kind is None or of not in ('int', 'float') or set(words[1:-2]) - {'ftz'} or len(args) != 4:
            return None
        c = self.float_value(args[3], of, words) if of == 'float' else self.value(args[3], of)
        return self.assign(args[0], '%s >= 0 ? %s : %s' % (c, self.value(args[1], kind), self.value(args[2], kind)), kind)
