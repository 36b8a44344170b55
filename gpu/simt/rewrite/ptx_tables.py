# What the tables of PTX's instructions share: types, special registers, operators (ptx.py, ptx_arithmetic.py).

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
