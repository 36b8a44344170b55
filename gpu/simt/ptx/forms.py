#!/usr/bin/env python3
# Every instruction of the PTX ISA 9.x: forms of it that are offered, each of which a test compiles, or why there are none.
#
#   forms.py          prints the table of docs/executor/ptx.md
#
# In a form, %r is a register of 32 bits, %d of 64, %h of 16, %f and %e of f32 and f64, %p a predicate, %q of 128 bits; s is shared memory, g global.
A, S, B = '[%d1]', '[s]', '[s+8]'


def each(pattern, *choices):
    """The pattern with each of the choices in place of @."""
    return [pattern.replace('@', c) for c in choices]


INTEGERS = ('u16', 's16', 'u32', 's32', 'u64', 's64')


def typed(name, operands, types, more=''):
    """A form for each type, with registers of its size: 'D, A, B' becomes '%r0, %r1, %r2'."""
    letters = {'16': 'h', '32': 'r', '64': 'd'}
    out = []
    for t in types:
        letter = {'f32': 'f', 'f64': 'e', 'pred': 'p', 'f16': 'h', 'bf16': 'h', 'f16x2': 'r', 'bf16x2': 'r'}.get(t) or letters[t.lstrip('busf')]
        words = ', '.join(w if not w.isupper() else '%' + letter + str(ord(w) - ord('A')) for w in operands.split(', '))
        out.append('%s%s.%s %s' % (name, more, t, words))
    return out


OFFERED = {
    # integers
    'add': typed('add', 'A, B, C', INTEGERS) + typed('add', 'A, B, C', ('f32', 'f64', 'f16', 'bf16', 'f16x2', 'bf16x2'), '.rn')
        + ['add.sat.s32 %r0, %r1, %r2', 'add.rz.ftz.sat.f32 %f0, %f1, %f2', 'add.rp.f64 %e0, %e1, %e2'],
    'sub': typed('sub', 'A, B, C', INTEGERS) + typed('sub', 'A, B, C', ('f32', 'f64', 'f16', 'f16x2')) + ['sub.rm.f32 %f0, %f1, %f2'],
    'mul': typed('mul', 'A, B, C', INTEGERS, '.lo') + typed('mul', 'A, B, C', INTEGERS, '.hi') + typed('mul', 'A, B, C', ('f32', 'f64', 'f16', 'bf16x2'))
        + ['mul.wide.u32 %d0, %r1, %r2', 'mul.wide.s16 %r0, %h1, %h2', 'mul.rz.ftz.f32 %f0, %f1, %f2'],
    'mad': typed('mad', 'A, B, C, D', INTEGERS, '.lo') + ['mad.wide.u32 %d0, %r1, %r2, %d3', 'mad.hi.sat.s32 %r0, %r1, %r2, %r3',
                                                         'mad.rn.f32 %f0, %f1, %f2, %f3'],
    'mul24': ['mul24.lo.u32 %r0, %r1, %r2', 'mul24.hi.s32 %r0, %r1, %r2'], 'mad24': ['mad24.lo.s32 %r0, %r1, %r2, %r3'],
    'sad': typed('sad', 'A, B, C, D', INTEGERS), 'div': typed('div', 'A, B, C', INTEGERS) + ['div.rn.f32 %f0, %f1, %f2', 'div.full.ftz.f32 %f0, %f1, %f2',
                                                                                    'div.approx.f32 %f0, %f1, %f2', 'div.rz.f64 %e0, %e1, %e2'],
    'rem': typed('rem', 'A, B, C', INTEGERS), 'abs': typed('abs', 'A, B', ('s16', 's32', 's64', 'f32', 'f64', 'f16', 'bf16x2')) + ['abs.ftz.f32 %f0, %f1'],
    'neg': typed('neg', 'A, B', ('s16', 's32', 's64', 'f32', 'f64', 'f16', 'bf16x2')),
    'min': typed('min', 'A, B, C', INTEGERS + ('f32', 'f64', 'f16', 'bf16', 'f16x2')) + ['min.NaN.f32 %f0, %f1, %f2', 'min.ftz.xorsign.abs.f32 %f0, %f1, %f2',
                                                                                       'min.relu.s32 %r0, %r1, %r2', 'min.NaN.bf16x2 %r0, %r1, %r2'],
    'max': typed('max', 'A, B, C', INTEGERS + ('f32', 'f64', 'f16', 'bf16', 'f16x2')) + ['max.NaN.f32 %f0, %f1, %f2'],
    'popc': ['popc.b32 %r0, %r1', 'popc.b64 %r0, %d1'], 'clz': ['clz.b32 %r0, %r1', 'clz.b64 %r0, %d1'], 'brev': ['brev.b32 %r0, %r1', 'brev.b64 %d0, %d1'],
    'bfind': ['bfind.u32 %r0, %r1', 'bfind.s64 %r0, %d1', 'bfind.shiftamt.u64 %r0, %d1'], 'fns': ['fns.b32 %r0, %r1, %r2, %r3'],
    'bfe': ['bfe.u32 %r0, %r1, %r2, %r3', 'bfe.s32 %r0, %r1, %r2, %r3', 'bfe.u64 %d0, %d1, %r2, %r3', 'bfe.s64 %d0, %d1, %r2, %r3'],
    'bfi': ['bfi.b32 %r0, %r1, %r2, %r3, %r4', 'bfi.b64 %d0, %d1, %d2, %r3, %r4'], 'szext': each('szext.@.s32 %r0, %r1, %r2', 'wrap', 'clamp'),
    'bmsk': each('bmsk.@.b32 %r0, %r1, %r2', 'wrap', 'clamp'), 'dp4a': ['dp4a.u32.s32 %r0, %r1, %r2, %r3', 'dp4a.s32.s32 %r0, %r1, %r2, %r3'],
    'dp2a': ['dp2a.lo.u32.u32 %r0, %r1, %r2, %r3', 'dp2a.hi.s32.u32 %r0, %r1, %r2, %r3'],
    'add.cc': ['add.cc.u32 %r0, %r1, %r2', 'add.cc.s64 %d0, %d1, %d2'], 'addc': ['addc.cc.u32 %r0, %r1, %r2', 'addc.u64 %d0, %d1, %d2'],
    'sub.cc': ['sub.cc.u32 %r0, %r1, %r2'], 'subc': ['subc.cc.u32 %r0, %r1, %r2', 'subc.s64 %d0, %d1, %d2'],
    'mad.cc': ['mad.lo.cc.u32 %r0, %r1, %r2, %r3', 'mad.hi.cc.u64 %d0, %d1, %d2, %d3'], 'madc': ['madc.lo.cc.u32 %r0, %r1, %r2, %r3', 'madc.hi.u32 %r0, %r1, %r2, 0'],
    # floating point
    'testp': each('testp.@.f32 %p0, %f1', 'finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal'),
    'copysign': ['copysign.f32 %f0, %f1, %f2', 'copysign.f64 %e0, %e1, %e2'],
    'fma': ['fma.rn.f32 %f0, %f1, %f2, %f3', 'fma.rz.ftz.sat.f32 %f0, %f1, %f2, %f3', 'fma.rm.f64 %e0, %e1, %e2, %e3', 'fma.rn.relu.f16 %h0, %h1, %h2, %h3',
            'fma.rn.bf16x2 %r0, %r1, %r2, %r3', 'fma.rn.ftz.f16x2 %r0, %r1, %r2, %r3'],
    'rcp': ['rcp.rn.f32 %f0, %f1', 'rcp.approx.ftz.f32 %f0, %f1', 'rcp.rz.f64 %e0, %e1'], 'sqrt': ['sqrt.rn.f32 %f0, %f1', 'sqrt.approx.ftz.f32 %f0, %f1',
                                                                                            'sqrt.rp.f64 %e0, %e1'],
    'rsqrt': ['rsqrt.approx.ftz.f32 %f0, %f1', 'rsqrt.approx.f64 %e0, %e1'], 'sin': ['sin.approx.f32 %f0, %f1'], 'cos': ['cos.approx.ftz.f32 %f0, %f1'],
    'lg2': ['lg2.approx.f32 %f0, %f1'], 'ex2': ['ex2.approx.ftz.f32 %f0, %f1', 'ex2.approx.f16x2 %r0, %r1', 'ex2.approx.ftz.bf16 %h0, %h1'],
    'tanh': ['tanh.approx.f32 %f0, %f1', 'tanh.approx.bf16x2 %r0, %r1'],
    # comparison, selection
    'set': ['set.lt.u32.s32 %r0, %r1, %r2', 'set.neu.and.f32.f32 %f0, %f1, %f2, %p3', 'set.nan.f16x2.f16x2 %r0, %r1, %r2'],
    'setp': each('setp.@.s32 %p0, %r1, %r2', 'eq', 'ne', 'lt', 'le', 'gt', 'ge') + each('setp.@.u32 %p0, %r1, %r2', 'lo', 'ls', 'hi', 'hs')
        + each('setp.@.f32 %p0, %f1, %f2', 'eq', 'ne', 'lt', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan')
        + ['setp.lt.and.s32 %p0|%p1, %r1, %r2, %p3', 'setp.gt.ftz.f32 %p0|%p1, %f1, %f2', 'setp.le.xor.u64 %p0, %d1, %d2, !%p3', 'setp.lt.f16 %p0, %h1, %h2'],
    'selp': ['selp.b32 %r0, %r1, %r2, %p3', 'selp.f32 %f0, %f1, %f2, %p3', 'selp.b16 %h0, %h1, %h2, %p3', 'selp.s64 %d0, %d1, %d2, %p3'],
    'slct': ['slct.u32.s32 %r0, %r1, %r2, %r3', 'slct.f32.f32 %f0, %f1, %f2, %f3'],
    # logic
    'and': typed('and', 'A, B, C', ('b16', 'b32', 'b64', 'pred')), 'or': typed('or', 'A, B, C', ('b16', 'b32', 'b64', 'pred')),
    'xor': typed('xor', 'A, B, C', ('b16', 'b32', 'b64', 'pred')), 'not': typed('not', 'A, B', ('b16', 'b32', 'b64', 'pred')),
    'cnot': typed('cnot', 'A, B', ('b16', 'b32', 'b64')), 'lop3': ['lop3.b32 %r0, %r1, %r2, %r3, 0x96', 'lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x3f, %p1'],
    'shf': ['shf.l.wrap.b32 %r0, %r1, %r2, %r3', 'shf.r.clamp.b32 %r0, %r1, %r2, 7'], 'shl': ['shl.b16 %h0, %h1, %r2', 'shl.b32 %r0, %r1, 40', 'shl.b64 %d0, %d1, 3'],
    'shr': ['shr.u16 %h0, %h1, %r2', 'shr.s32 %r0, %r1, %r2', 'shr.s64 %d0, %d1, 70', 'shr.b32 %r0, %r1, 1'],
    # moves
    'mov': ['mov.b16 %h0, %h1', 'mov.f32 %f0, 0f3F800000', 'mov.u64 %d0, 12345678901', 'mov.pred %p0, %p1', 'mov.u32 %r0, %tid.x', 'mov.b32 {%h0, %h1}, %r0',
            'mov.b64 %d0, {%r1, %r2}', 'mov.u64 %d0, g', 'mov.u32 %r0, s', 'mov.b32 %r0, {%h0, %h1}', 'mov.u64 %d0, generic(g)+4'],
    'shfl.sync': each('shfl.sync.@.b32 %r0|%p0, %r1, %r2, 31, -1', 'idx', 'up', 'down', 'bfly'),
    'prmt': ['prmt.b32 %r0, %r1, %r2, 0x5410'] + each('prmt.b32.@ %r0, %r1, %r2, %r3')[:0] + each('prmt.@.b32 %r0, %r1, %r2, %r3', 'f4e', 'rc8', 'ecl'),
    'ld': ['ld.global.u8 %h0, [%d1]', 'ld.global.s8 %r0, [%d1+-4]', 'ld.shared.f32 %f0, [s+4]', 'ld.global.nc.L1::no_allocate.v4.b32 {%r0, %r1, %r2, %r3}, [%d1]',
           'ld.acquire.gpu.global.u32 %r0, [%d1]', 'ld.relaxed.cta.shared.u64 %d0, [s]', 'ld.volatile.global.u32 %r0, [%d1]', 'ld.const.b64 %d0, [c]',
           'ld.global.v2.f64 {%e0, %e1}, [%d1]', 'ld.b32 {%r0}, [%d1+0]', 'ld.param.u64 %d0, [k_param_0]', 'ld.local.u32 %r0, [%d1]'],
    'ldu': ['ldu.global.u32 %r0, [%d1]'],
    'st': ['st.global.b8 [%d1], %h0', 'st.shared.v2.b32 [s], {%r0, %r1}', 'st.release.gpu.global.u32 [%d1], %r0', 'st.volatile.shared.u32 [s], %r0',
           'st.global.wt.b64 [%d1], %d0', 'st.relaxed.sys.global.f32 [%d1+8], %f0'],
    'st.async': ['st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r0, [%r2]'],
    'prefetch': ['prefetch.global.L2 [%d1]'], 'prefetchu': ['prefetchu.L1 [%d1]'], 'applypriority': ['applypriority.global.L2::evict_normal [%d1], 128'],
    'createpolicy': ['createpolicy.fractional.L2::evict_last.b64 %d0, 1.0'], 'isspacep': each('isspacep.@ %p0, %d1', 'global', 'shared', 'shared::cluster'),
    'cvta': ['cvta.shared.u64 %d0, %d1', 'cvta.to.shared.u64 %d0, %d1', 'cvta.to.global.u64 %d0, %d1', 'cvta.global.u64 %d0, %d1', 'cvta.local.u64 %d0, %d1'],
    'cvt': ['cvt.u64.u32 %d0, %r1', 'cvt.s32.s8 %r0, %r1', 'cvt.sat.u8.s32 %h0, %r1', 'cvt.rn.f32.s32 %f0, %r1', 'cvt.rz.f32.u64 %f0, %d1', 'cvt.rzi.s32.f32 %r0, %f1',
            'cvt.rni.ftz.s32.f32 %r0, %f1', 'cvt.rmi.f32.f32 %f0, %f1', 'cvt.rn.f32.f64 %f0, %e1', 'cvt.f64.f32 %e0, %f1', 'cvt.sat.f32.f32 %f0, %f1',
            'cvt.rn.f16.f32 %h0, %f1', 'cvt.f32.f16 %f0, %h1', 'cvt.rn.bf16.f32 %h0, %f1', 'cvt.f32.bf16 %f0, %h1', 'cvt.rn.f16x2.f32 %r0, %f1, %f2',
            'cvt.rn.relu.bf16x2.f32 %r0, %f1, %f2', 'cvt.rna.tf32.f32 %r0, %f1', 'cvt.rn.f16.s32 %h0, %r1', 'cvt.rzi.s32.f16 %r0, %h1',
            'cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2', 'cvt.rn.satfinite.e5m2x2.f16x2 %h0, %r1', 'cvt.rn.f16x2.e4m3x2 %r0, %h1', 'cvt.rn.relu.f16x2.e5m2x2 %r0, %h1'],
    'mapa': ['mapa.shared::cluster.u32 %r0, %r1, %r2', 'mapa.u64 %d0, %d1, %r2'], 'getctarank': ['getctarank.shared::cluster.u32 %r0, %r1'],
    # copies
    'cp.async': ['cp.async.ca.shared.global [s], [%d1], 4', 'cp.async.cg.shared.global [s], [%d1], 16, %r0'], 'cp.async.commit_group': ['cp.async.commit_group'],
    'cp.async.wait_group': ['cp.async.wait_group 1', 'cp.async.wait_all'], 'cp.async.mbarrier.arrive': ['cp.async.mbarrier.arrive.noinc.shared.b64 [s]'],
    'cp.async.bulk': ['cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d1], 64, [s+64]', 'cp.async.bulk.global.shared::cta.bulk_group [%d1], [s], 64',
                      'cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [s], 64, [%r2]'],
    'cp.reduce.async.bulk': ['cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d1], [s], 64'],
    'cp.async.bulk.prefetch': ['cp.async.bulk.prefetch.L2.global [%d1], 64'],
    'cp.async.bulk.tensor': ['cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d1, {%r1, %r2}], [s+64]',
                             'cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [s]'],
    'cp.reduce.async.bulk.tensor': ['cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%d1, {%r1, %r2}], [s]'],
    'cp.async.bulk.commit_group': ['cp.async.bulk.commit_group'], 'cp.async.bulk.wait_group': ['cp.async.bulk.wait_group 0', 'cp.async.bulk.wait_group.read 1'],
    'tensormap.replace': ['tensormap.replace.tile.global_address.shared::cta.b1024.b64 [s], %d1', 'tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [s], 0, %r1'],
    'tensormap.cp_fenceproxy': ['tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [s], 128'],
    # control
    'bra': ['bra.uni L'], 'brx.idx': ['brx.idx %r0, T'], 'call': ['call.uni (o), f, (i)'], 'ret': ['@%p0 ret'], 'exit': ['@!%p0 exit'],
    # synchronisation
    'bar, barrier': ['bar.sync 0', 'bar.sync 1, 64', 'bar.arrive 2, 64', 'barrier.sync.aligned 0', 'bar.red.popc.u32 %r0, 0, %p0', 'bar.red.or.pred %p0, 0, %p1'],
    'bar.warp.sync': ['bar.warp.sync -1'], 'barrier.cluster': ['barrier.cluster.arrive.release.aligned', 'barrier.cluster.wait.acquire.aligned'],
    'membar': each('membar.@', 'cta', 'gl', 'sys'),
    'fence': ['fence.sc.gpu', 'fence.acq_rel.cta', 'fence.mbarrier_init.release.cluster', 'fence.proxy.async', 'fence.proxy.async.shared::cta',
              'fence.proxy.tensormap::generic.acquire.gpu [%d1], 128', 'fence.proxy.tensormap::generic.release.gpu'],
    'atom': each('atom.global.@.u32 %r0, [%d1], %r1', 'add', 'min', 'max', 'inc', 'dec', 'exch') + each('atom.shared.@.b32 %r0, [s], %r1', 'and', 'or', 'xor')
        + ['atom.acq_rel.gpu.global.cas.b32 %r0, [%d1], %r1, %r2', 'atom.global.add.f32 %f0, [%d1], %f1', 'atom.add.noftz.f16x2 %r0, [%d1], %r1', 'atom.global.cas.b16 %h0, [%d1], %h1, %h2',
           'atom.global.v2.f32.add {%f0, %f1}, [%d1], {%f2, %f3}'][:4] + ['atom.global.add.v2.f32 {%f0, %f1}, [%d1], {%f2, %f3}'],
    'red': ['red.global.add.f64 [%d1], %e0', 'red.release.gpu.global.add.u32 [%d1], %r1', 'red.global.add.noftz.bf16x2 [%d1], %r1', 'red.global.add.v4.f32 [%d1], {%f0, %f1, %f2, %f3}'],
    'vote.sync': ['vote.sync.ballot.b32 %r0, %p0, -1'] + each('vote.sync.@.pred %p0, %p1, -1', 'any', 'all', 'uni'),
    'match.sync': ['match.any.sync.b32 %r0, %r1, -1', 'match.all.sync.b64 %r0|%p0, %d1, -1'], 'activemask': ['activemask.b32 %r0'],
    'redux.sync': each('redux.sync.@.s32 %r0, %r1, -1', 'add', 'min', 'max') + each('redux.sync.@.b32 %r0, %r1, -1', 'and', 'or', 'xor'),
    'elect.sync': ['elect.sync %r0|%p0, -1'], 'griddepcontrol': ['griddepcontrol.wait', 'griddepcontrol.launch_dependents'],
    'mbarrier.init': ['mbarrier.init.shared::cta.b64 [s], 1'], 'mbarrier.inval': ['mbarrier.inval.shared.b64 [s]'],
    'mbarrier.expect_tx': ['mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [s], 64'], 'mbarrier.complete_tx': ['mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [s], 64'],
    'mbarrier.arrive': ['mbarrier.arrive.shared::cta.b64 %d0, [s]', 'mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], 1', 'mbarrier.arrive.expect_tx.shared::cta.b64 _, [s], 64'],
    'mbarrier.arrive_drop': ['mbarrier.arrive_drop.shared::cta.b64 %d0, [s]'],
    'mbarrier.test_wait': ['mbarrier.test_wait.shared::cta.b64 %p0, [s], %d1', 'mbarrier.test_wait.parity.shared::cta.b64 %p0, [s], %r1'],
    'mbarrier.try_wait': ['mbarrier.try_wait.parity.shared::cta.b64 %p0, [s], %r1', 'mbarrier.try_wait.acquire.cta.shared::cta.b64 %p0, [s], %d1, %r2'],
    # matrices
    'mma': ['mma.sync.aligned.m16n8k16.row.col.f32.@.@.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}'.replace('@', t) for t in ('f16', 'bf16')]
        + ['mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r0, %r1}',
           'mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}',
           'mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%e0, %e1}, {%e2}, {%e3}, {%e0, %e1}',
           'mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r0, %r1, %r2, %r3}',
           'mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}'],
    'ldmatrix': ['ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [s]', 'ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {%r0}, [s]'],
    'stmatrix': ['stmatrix.sync.aligned.m8n8.x2.shared.b16 [s], {%r0, %r1}'], 'movmatrix': ['movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1'],
    'wgmma.mma_async': ['wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d1, %p0, 1, 1, 0, 0',
                        'wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, %d0, %d1, %p0'],
    'wgmma.fence': ['wgmma.fence.sync.aligned'], 'wgmma.commit_group': ['wgmma.commit_group.sync.aligned'], 'wgmma.wait_group': ['wgmma.wait_group.sync.aligned 0'],
    'setmaxnreg': ['setmaxnreg.inc.sync.aligned.u32 232'],
    # the rest
    'vabsdiff2, vabsdiff4': ['vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3'], 'nanosleep': ['nanosleep.u32 100'], 'pmevent': ['pmevent 1'], 'trap': ['@%p0 trap'], 'brkpt': ['@%p0 brkpt'],
}

NOT_OFFERED = {
    'add{.sub, .fma} of f32x2': ('sm_100', 'add.rn.f32x2 %d0, %d1, %d2'), 'clusterlaunchcontrol': ('sm_100', 'clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %d1'),
    'tcgen05': ('sm_100: tensor memory', 'tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d1]'), 'st.bulk': ('sm_100', 'st.bulk.weak.shared::cta [s], 64, 0'),
    'multimem': ('memory of several devices; there is one', 'multimem.ld_reduce.relaxed.sys.global.add.f32 %f0, [%d1]'),
    'red.async': ('not written', 'red.async.relaxed.cluster.global.add.u32 [%d1], %r0'), 'wmma': ('written as mma by every compiler; of CUDA C++ it is offered', 'wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1}, [s]'),
    'mma.sp, wgmma.mma_async.sp': ('sparse operands', 'mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0}, {%r0}, {%r1}, {%f0}, %r2, 0'),
    'mma of 4-bit and 1-bit integers': ('not written', 'mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1}'),
    'tex, tld4, txq, istypep': ('textures of modules; of CUDA C++ they are offered', 'tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [g, {%r0}]'),
    'suld, sust, sured, suq': ('surfaces of modules; of CUDA C++ they are offered', 'suld.b.1d.b32.trap %r0, [g, {%r0}]'),
    'vadd, vsub, vmin, vmax, vset, vshl, vshr, vmad': ('emulated by devices, and emitted by no compiler', 'vadd.u32.u32.u32 %r0, %r1, %r2'),
    'vadd2, vadd4 and their kin': ('emulated by devices, and emitted by no compiler', 'vadd4.u32.u32.u32 %r0, %r1, %r2, %r3'),
    'alloca, stacksave, stackrestore': ('not written', 'stacksave.u64 %d0'), 'discard': ('what a read yields afterwards is undefined, which would have to be known', 'discard.global.L2 [%d1], 128'),
    'mbarrier.pending_count': ('not written', 'mbarrier.pending_count.b64 %r0, %d1'), 'shfl, vote without .sync': ('removed from PTX for sm_70 and later', 'vote.ballot.b32 %r0, %p0'),
    'atom of b128': ('not written', 'atom.global.exch.b128 %q0, [%d1], %q1'), 'ld, st of b128': ('not written', 'ld.global.b128 %q0, [%d1]'),
    'cvt to and from e2m1, e3m2, e2m3, ue8m0': ('sm_100', 'cvt.rn.satfinite.e2m1x2.f32 %h0, %f1, %f2'), 'redux.sync of f32': ('sm_100', 'redux.sync.min.f32 %f0, %f1, -1'),
}


def table():
    lines = ['| instruction | on the executor | forms that are tested |', '|---|---|---|']
    rows = {name: ('yes', str(len(forms))) for name, forms in OFFERED.items()}
    rows.update({name: ('no: ' + why, '') for name, (why, _) in NOT_OFFERED.items()})
    return '\n'.join(lines + ['| `%s` | %s | %s |' % (name, *rows[name]) for name in sorted(rows, key=str.lower)]) + '\n'


if __name__ == '__main__':
    print(table(), end='')
