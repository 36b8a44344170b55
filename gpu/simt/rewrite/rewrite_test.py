#!/usr/bin/env python3
"""The rewriter: what it makes of launches and __shared__ declarations, and that it refuses what it cannot read."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import library  # noqa: E402
import rewrite  # noqa: E402


def shared(text):
    """Rewrites declarations inside of a function body."""
    return rewrite.rewrite('void f() {\n' + text.replace('__shared__', '__plumb_shared__') + '\n}\n')


class Launches(unittest.TestCase):
    def check(self, text, kernel, config, arguments):
        new = rewrite.rewrite(text)
        self.assertIn('Written("%s", ::plumb::simt::Here::at(), %s)' % (kernel.replace('"', '\\"'), config), new)
        self.assertIn('(plumb_a...); }); }' + arguments, new)
        self.assertNotIn('<<<', new)

    def test_a_plain_launch(self):
        self.check('void f() { k<<<1, 2>>>(a, b); }', 'k', '1, 2', '(a, b)')

    def test_template_arguments_with_brackets_and_comparisons(self):
        self.check('void f() { k<T, (N > 2), sizeof(int[3])><<<g, b, s, st>>>(a); }', 'k<T, (N > 2), sizeof(int[3])>',
                   'g, b, s, st', '(a)')

    def test_qualified_names_and_whole_expressions(self):
        self.check('void f() { ::a::b<1>::k<float><<<1, 2>>>(); }', '::a::b<1>::k<float>', '1, 2', '()')
        self.check('void f() { (*table[i])<<<1, 2>>>(x); }', '(*table[i])', '1, 2', '(x)')
        self.check('void f() { return o.kernels[2]<<<1, 2>>>(x); }', 'o.kernels[2]', '1, 2', '(x)')
        self.check('void f() { if (x) k<<<1, 2>>>(x); else ::k<<<1, 2>>>(y); }', 'k', '1, 2', '(x)')

    def test_configurations_with_nested_brackets(self):
        self.check('void f() { k<<<dim3((n + 1) / 2, max(a, (b >> 3))), {32, 2}>>>(x); }', 'k',
                   'dim3((n + 1) / 2, max(a, (b >> 3))), {32, 2}', '(x)')

    def test_a_launch_over_several_lines_keeps_the_lines(self):
        text = 'void f() {\n  k\n    <<<1,\n       2>>>\n    (x);\n}\nint after;\n'
        new = rewrite.rewrite(text)
        self.assertEqual(new[:new.index('int after')].count('\n'), text[:text.index('int after')].count('\n'))

    def test_strings_and_characters_are_left_alone(self):
        for text in ('const char* s = "k<<<1, 2>>>(x)";', "char c = '<'; auto d = R\"x(k<<<1>>>)x\";",
                     'int n = 1\'000\'000; const char* t = "\\"<<<";'):
            self.assertEqual(rewrite.rewrite(text), text)

    def test_brackets_that_a_formatter_has_torn_apart(self):
        self.check('void f() { k << <g, n >> 3, 0 >> >(a); }', 'k', 'g, n >> 3, 0', '(a)')
        self.check('void f() { k<<<g, (b)>>  >\n(a); }', 'k', 'g, (b)', '\n(a)')

    def test_one_function_is_called_with_what_its_parameters_are(self):
        kernels = '__plumb_global__ void k(int*, P) {}\ntemplate <class T, int N> __plumb_global__ void t(T*);\n'
        for launch, wanted in (('k<<<1, 2>>>(__null, {1, 2});', '1, 2).of(k)(__null, {1, 2});'),
                               ('n::k<<<1, 2>>>(0, p);', '1, 2).of(n::k)(0, p);'),
                               ('t<float, (3 > 2)><<<1, 2>>>(0);', '1, 2).of(t<float, (3 > 2)>)(0);')):
            self.assertIn(wanted, rewrite.rewrite(kernels + 'void f() { ' + launch + ' }'))

    def test_what_may_be_several_functions_takes_the_arguments_as_they_are(self):
        for kernels, launch in (('template <class T> __plumb_global__ void k(T*, int*) {}', 'k<<<1, 2>>>(p, __null);'),
                                ('template <class T, class U> __plumb_global__ void k(T*, U*) {}', 'k<int><<<1, 2>>>(p, __null);'),
                                ('template <class... T> __plumb_global__ void k(T*...) {}', 'k<int><<<1, 2>>>(p, __null);'),
                                ('__plumb_global__ void k(int*, int* = 0) {}', 'k<<<1, 2>>>(p, __null);'),
                                ('__plumb_global__ void k(int*, int*) {} __plumb_global__ void k(float*, int*) {}',
                                 'k<<<1, 2>>>(p, __null);')):
            new = rewrite.rewrite(kernels + '\nvoid f() { ' + launch + ' }')
            self.assertIn('(plumb_a...); }); }(p,nullptr);', new)

    def test_a_function_of_the_host_may_have_a_kernels_name(self):
        for other in ('void k(int n)', 'static inline float* k(int n)', 'n::T<int> &k(int, int)'):
            new = rewrite.rewrite('__plumb_global__ void k(int*) {}\n' + other + ' { k<<<1, 2>>>(p); }')
            self.assertIn('(plumb_a...); }); }(p);', new)
        library = '# 7 "/usr/include/x.h" 1 3\nnamespace std { void k(int n); }\n# 2 "file.cu" 2\n'
        self.assertIn('.of(k)(p);', rewrite.rewrite(library + '__plumb_global__ void k(int*) {}\nvoid g() { k<<<1, 2>>>(p); }'))
        for no_other in ('void f() { return k (1); }', 'void f() { int a = b * k (1); }', 'void f(int (*)(int), T & k (int)) {}'):
            new = rewrite.rewrite('__plumb_global__ void k(int*) {}\n' + no_other + ' void g() { k<<<1, 2>>>(p); }')
            self.assertIn('.of(k)(p);', new)

    def test_shifts_are_no_launches(self):
        text = 'auto x = a << b << c >> d; std::vector<std::vector<std::vector<int>>> v;'
        self.assertEqual(rewrite.rewrite(text), text)

    def test_what_cannot_be_read_is_an_error_with_its_line(self):
        text = '# 7 "file.cu"\nvoid f() {\n  k<<<1, 2;\n}\n'
        with self.assertRaises(rewrite.Unreadable) as caught:
            rewrite.rewrite(text)
        self.assertEqual(rewrite.place(text, caught.exception.at), ('file.cu', 8))


class Bounds(unittest.TestCase):
    def test_a_kernel_begins_with_a_check_of_its_bounds(self):
        new = rewrite.rewrite('template <int N> __plumb_global__ void __plumb_launch_bounds__(pick<N, 2>(3), 2) k(int (*f)(int))\n{ g(); }')
        self.assertIn('k(int (*f)(int))\n{ ::plumb::simt::launch_bounds(static_cast<unsigned>(pick<N, 2>(3))); g(); }', new)
        self.assertNotIn('__plumb_launch_bounds__', new)

    def test_a_declaration_has_nothing_to_check(self):
        new = rewrite.rewrite('__plumb_global__ void __plumb_launch_bounds__(256)\nk(int);')
        self.assertEqual(' '.join(new.split()), 'void k(int);')

    def test_a_shared_variable_may_come_first(self):
        new = rewrite.rewrite('__plumb_global__ void __plumb_launch_bounds__(8) k() { __plumb_shared__ int s[3]; }')
        self.assertIn('{ ::plumb::simt::launch_bounds(static_cast<unsigned>(8)); using plumb_s_1_0_t', new)


class Shared(unittest.TestCase):
    def test_arrays_scalars_and_lists(self):
        new = shared('__shared__ float a[2][N + 1], b, c[3];')
        for wanted in ('_t = float[2][N + 1];', '_t& a = ', '_t = float;', '_t& b = ', '_t = float[3];', '_t& c = '):
            self.assertIn(wanted, new)

    def test_types_with_template_arguments_and_commas(self):
        new = shared('__shared__ typename Sort<T, 128>::Storage storage;')
        self.assertIn('_t = typename Sort<T, 128>::Storage;', new)
        self.assertIn('_t& storage = ', new)

    def test_alignment_goes_to_the_slot(self):
        for text in ('__shared__ alignas(128) float a[4];', 'alignas(128) __shared__ float a[4];',
                     '__shared__ __attribute__((aligned(128))) float a[4];', 'static __shared__ alignas(64 + 64) float a[4];'):
            new = shared(text)
            self.assertRegex(new, r'_t = float\[4\];')
            self.assertRegex(new, r'alignas\((128|64 \+ 64)\)')

    def test_volatile_and_pointers_stay_with_the_type(self):
        self.assertIn('_t = volatile int;', shared('volatile __shared__ int flag;'))
        self.assertIn('_t = const float*[4];', shared('__shared__ const float* rows[4];'))

    def test_dynamic_memory_inside_and_outside_of_functions(self):
        self.assertIn('float* const s = static_cast<float*>(::plumb::simt::dynamic_shared());',
                      shared('extern __shared__ float s[];'))
        new = rewrite.rewrite('# 4 "x.cu"\nnamespace a {\nextern __plumb_shared__ float s[];\n}\n')
        self.assertIn('#define s (plumb_s_1_0())\n# 5 "x.cu"\n', new)

    def test_dynamic_rows_point_to_arrays(self):
        new = shared('extern __shared__ half s[][N + 2][3];')
        self.assertIn('using plumb_s_1_0_t = half[N + 2][3];', new)
        self.assertIn('plumb_s_1_0_t* const s = static_cast<plumb_s_1_0_t*>', new)
        with self.assertRaises(rewrite.Unreadable):
            shared('extern __shared__ float s[4];')

    def test_a_file_scope_variable_becomes_a_call(self):
        new = rewrite.rewrite('# 1 "x.cu"\n__plumb_shared__ int g[4], h;\nint after;\n')
        self.assertIn('_t& plumb_g_1_0_f() { static ::plumb::simt::SharedSlot', new)
        self.assertIn('#define h (plumb_h_1_1_f())\n# 1 "x.cu"\n\nint after;', new)

    def test_the_name_of_a_file_scope_variable_may_be_another_things(self):
        head = '# 1 "x.cu"\n__plumb_shared__ int s[4];\n'
        away, back = '#pragma push_macro("s")\n#undef s\n# %d "x.cu"\n', '\n#pragma pop_macro("s")\n# %d "x.cu"\n'
        for other in ('void f%s(volatile int* s, int t) { s[t] = 1; }%s', 'void f%s(int* s)%s;', 'void f%s(int s[4]) const { }%s',
                      'void f() { %s__plumb_shared__ int s[2]; s[0] = 1; %s}'):
            made = rewrite.rewrite(head + other % ('', '') + ' int after;')
            self.assertEqual((made.count(away % 2), made.count(back % 2)), (1, 1), made)
            self.assertTrue(made.endswith(back % 2 + other[other.rindex('%s') + 2:] + ' int after;'), made)
        for use in ('void f() { g(2 * s, t); }', 'void f() { if (p && h(2 * s)) { } }', 'void f() { for (int i = g(p * s); i;) { } }'):
            self.assertNotIn('push_macro', rewrite.rewrite(head + use))

    def test_every_declarator_has_its_own_pointer(self):
        new = shared('__shared__ float *a, b[2], *const *c, * volatile d[3];')
        for wanted in ('_t = float*;', '_t& a = ', '_t = float[2];', '_t& b = ', '_t = float* const*;', '_t& c = ',
                       '_t = float* volatile[3];', '_t& d = '):
            self.assertIn(wanted.replace(' ', ''), new.replace(' ', ''))

    def test_a_declaration_it_cannot_read_is_refused(self):
        with self.assertRaises(rewrite.Unreadable):
            rewrite.rewrite('void f() { __plumb_shared__ float (*rows)[4]; }')

    def test_declarations_after_labels_and_markers_keep_their_place(self):
        new = rewrite.rewrite('void f() {\nagain:\n# 3 "x.cu"\n  __plumb_shared__ int a;\n  a = 1;\n}\n')
        self.assertIn('again:\n# 3 "x.cu"\n  using ', new)

    def test_noinline_is_taken_out_only_where_it_stands_alone(self):
        self.assertEqual(rewrite.rewrite('__noinline__ void f();'), ' void f();')
        text = '__attribute__((__noinline__)) void f();'
        self.assertEqual(rewrite.rewrite(text), text)


class Kernels(unittest.TestCase):
    TEXT = ('template <class T> __plumb_global__ void __attribute__((used)) k(T* a);\n'
            'namespace n { __plumb_global__ void other(int); }\n')

    def test_casts_of_kernels_to_void_pointers_remember_their_parameters(self):
        for cast, wanted in (('(void *)k<float>', '(void *)::plumb::simt::known_kernel(k<float>)'),
                             ('(const void*) &k<pair<int, (3 > 2)>>;', 'known_kernel(&k<pair<int, (3 > 2)>>);'),
                             ('(void*)n::other)', 'known_kernel(n::other))'),
                             ('(void*)(other)', '(void*)(::plumb::simt::known_kernel(other))'),
                             ('reinterpret_cast<const void*>(n :: other)', '>(::plumb::simt::known_kernel(n :: other))')):
            new = rewrite.rewrite(self.TEXT + 'auto p = ' + cast)
            self.assertIn(wanted, new)
            self.assertNotIn('__plumb_global__', new)

    def test_casts_of_variables_that_hold_kernels_do_so_too(self):
        new = rewrite.rewrite(self.TEXT + 'auto* p = &n::k<float>; launch((void const*) p); launch((void*) q);')
        self.assertIn('(void const*) ::plumb::simt::known_kernel(p)', new)
        self.assertIn('(void*) q', new)

    def test_casts_in_the_executors_own_headers_are_left_alone(self):
        text = self.TEXT + '# 3 "/x/gpu/simt/host/api/runtime/kernels.hpp"\nreturn reinterpret_cast<const void*>(other);\n'
        self.assertIn('reinterpret_cast<const void*>(other);', rewrite.rewrite(text))

    def test_other_casts_are_left_alone(self):
        for text in ('(void**)other;', '(void)other;', '(void*)others;', '(void*)p;', '(void*)m.other;'):
            self.assertIn(text, rewrite.rewrite(self.TEXT + text))


class OfTheDevice(unittest.TestCase):
    def made(self, text, rdc=False):
        return ' '.join(rewrite.rewrite(re.sub(r'__(device|constant|managed|host)__', r'__plumb_\1__', text), rdc).split())

    def test_variables_belong_to_their_file_and_are_known_by_name(self):
        new = self.made('namespace n { __device__ P a = {1, 2}, *b; }')
        self.assertIn('static P a = {1, 2}, *b; static const ::plumb::simt::DeviceVariable plumb_variable_1_0("a",', new)
        self.assertIn('("b", &reinterpret_cast<const volatile char&>(b), sizeof(b), false, false);', new)
        self.assertIn('sizeof(c), true, false);', self.made('__constant__ float c[2] = {1, 2};'))
        self.assertTrue(self.made('static __device__ int a;').startswith('static int a; static const'))
        self.assertTrue(self.made('__device__ int a;', rdc=True).startswith('int a; static const'))
        self.assertEqual(self.made('extern __device__ int a[];', rdc=True), 'extern int a[];')

    def test_an_array_of_numbers_has_a_gap_behind_it(self):
        new = self.made('__device__ volatile unsigned int a[N + 1];')
        self.assertIn('static __attribute__((section(".bss.plumb_device"))) volatile unsigned int a[N + 1];', new)
        self.assertIn('static char plumb_variable_1_0_gap[::plumb::simt::kVariableGap] __attribute__((used, section(".bss.plumb_device")));', new)
        self.assertIn('sizeof(a), false, true);', new)
        for other in ('dim3 a[2];', 'int a;', 'int a[2] = {1, 2};', 'int a[2], b[2];'):
            self.assertNotIn('_gap', self.made('__device__ ' + other))

    def test_functions_belong_to_their_file_unless_the_host_has_them_too(self):
        self.assertEqual(self.made('__device__ int f(int a = 3) { return a; }'), 'static int f(int a = 3) { return a; }')
        for text in ('__host__ __device__ int f();', 'template <class T> __device__ T f();', 'extern "C" __device__ int f();',
                     '__device__ int C::f() {}', 'struct C { __device__ int f(); };', 'void g() { auto f = [] __device__ (int) {}; }',
                     'struct C { friend __device__ int f(C); }; __device__ int f(C) {}'):
            self.assertNotIn('static', self.made(text), text)
        self.assertEqual(self.made('__device__ int f();', rdc=True), 'int f();')
        compares = 'template <int a> %s B<R<a>::n * 2 < R<a>::m> operator<(R<a>) { return {}; } void f() { s << "("; }'
        self.assertEqual(self.made(compares % '__device__'), ' '.join((compares % '').split()))
        for sign in ('+=', '==', '<', '<<=', '[]', '()', '=', '->', '!', '^'):
            text = 'void operator %s(P& a, P b) { a.x = b.x; } int y;' % sign
            self.assertEqual(self.made('inline __device__ ' + text), 'inline ' + text)
            self.assertEqual(self.made('__device__ ' + text), 'static ' + text)


class Unset(unittest.TestCase):
    def left(self, body, head='__plumb_global__ void f(P p)'):
        """What is left unset in a function of that body, declaration by declaration."""
        new = rewrite.rewrite(head + ' {\n' + body + '\n}\n')
        self.assertEqual(new.count('\n'), body.count('\n') + 3)
        return re.findall(r'leave_unset\(([^()]*)\)', new)

    def test_scalars_and_arrays_without_a_value(self):
        self.assertEqual(self.left('float all;'), ['all'])
        self.assertEqual(self.left('float sum[N], all; double x; x = 2;'), ['sum, all', 'x'])
        self.assertEqual(self.left('T acc[M][N / (2)];\ntypename Of<T, 3>::type y;\nif (c) { scalar_t z; }'), ['acc', 'y', 'z'])
        self.assertEqual(self.left('\n# 7 "a.cu"\n  float\n  x;'), ['x'])
        self.assertEqual(self.left('int i; unsigned n[4]; bool b; unsigned long long v, w; long double d; Sum s;'), ['i', 'n', 'b', 'v, w', 'd', 's'])

    def test_in_functions_that_a_kernel_may_call(self):
        self.assertEqual(self.left('float x;', '__plumb_device__ float f()'), ['x'])
        self.assertEqual(self.left('float x;', 'void f()'), [])
        self.assertEqual(self.left('auto g = [=] __plumb_device__ (int i) { float x; };', 'void f()'), ['x'])

    def test_what_has_a_value_or_is_no_variable_is_left_alone(self):
        for body in ('float x = 1, y[2] = {};', 'return x;', 'static float x;', 'else x;', 'goto end;', 'struct S { float a; float b[2]; };',
                     'union { float a; unsigned b; } u;', 'extern float x;', 'struct P p;', 'using namespace a;', 'delete p;',
                     'const char* s = "; float x;";', 'float& r = x;', 'typedef float F;', 'for (float x : xs) g(x);', 'float f(int);'):
            self.assertEqual(self.left(body), [], body)


class OwnArrays(unittest.TestCase):
    CALL = re.compile(r'::plumb::simt::own_index<decltype\((\w+)\), decltype\(([^()]*)\), (true|false), (\d)>'
                      r'\(::plumb::simt::Here::at\(\), "([^"]*)", ')

    def checked(self, body):
        """(root, array, only an address, unknown dimensions) of each index that is checked in a function of that body."""
        new = rewrite.rewrite('__plumb_global__ void f(P p) {\n' + body + '\n}\n')
        self.assertEqual(new.count('\n'), body.count('\n') + 3)
        return [m[:4] for m in self.CALL.findall(new)]

    def test_an_array_of_the_function(self):
        self.assertEqual(self.checked('float s[8] = {}; s[i + 1] = 2;'), [('s', 's', 'false', '0')])
        self.assertEqual(self.checked('const Piece<T, 4> a[N], b[2]; return a[i] + b[j];'),
                         [('a', 'a', 'false', '0'), ('b', 'b', 'false', '0')])
        self.assertEqual(self.checked('T s[2][4]; s[r][c] += x;'), [('s', 's', 'false', '0')] * 2)
        self.assertEqual(self.checked('int s[4]; int* end = &s[n]; if (a && s[i]) {}'),
                         [('s', 's', 'true', '0'), ('s', 's', 'false', '0')])

    def test_an_array_in_a_structure(self):
        self.assertEqual(self.checked('V v[2]; v[u].lane[l] = 0;'), [('v', 'v', 'false', '0'), ('v', 'v[u].lane', 'false', '0')])
        self.assertEqual(self.checked('V v; v.lane[l] = 0;'), [('v', 'v.lane', 'false', '0')])

    def test_an_index_is_written_twice_only_where_it_changes_nothing(self):
        self.assertEqual(self.checked('T s[2][4]; s[next()][c] = 0;'), [('s', 's', 'false', '0'), ('s', 's', 'false', '1')])
        self.assertEqual(self.checked('T s[2][4]; s[i++][c] = 0;'), [('s', 's', 'false', '0'), ('s', 's', 'false', '1')])

    def test_what_is_no_such_subscript_is_left_alone(self):
        for body in ('__plumb_shared__ float s[8]; s[i] = 0;', 'float* s; s[i] = 0;', 'q->v.lane[i] = 0;', 'float s[8]; s[0] = 0;',
                     'float s[8]; { float* s[4]; }', 'float s[8]; { double s[4]; }', 'delete[] s; new T[8]; return x[i];',
                     'float s[8]; a.s[i] = 1; b->s[i] = 2; n::s[i] = 3;'):
            self.assertEqual([m for m in self.checked(body) if m[:2] != ('a', 'a.s')], [])

    def test_its_scope_ends_with_its_block(self):
        self.assertEqual(self.checked('{ T s[4]; s[i] = 0; } s[j] = 0;'), [('s', 's', 'false', '0')])

    def test_an_index_in_what_is_rewritten_as_a_whole_is_left_alone(self):
        new = rewrite.rewrite('constexpr void f() { int n[2]; k<<<n[i], 32>>>(x); n[i] = 0; }')
        self.assertEqual(len(self.CALL.findall(new)), 1)

    def test_arrays_of_the_hosts_functions_may_have_variable_lengths(self):
        text = 'void f(int n) { S s[n]; s[i] = 0; auto g = [=] %s (int j) { int t[4]; return t[j]; }; }'
        self.assertEqual(self.CALL.findall(rewrite.rewrite(text % '')), [])
        self.assertEqual([m[0] for m in self.CALL.findall(rewrite.rewrite(text % '__plumb_device__'))], ['t'])

    def test_what_stands_in_a_literal_is_left_alone(self):
        self.assertEqual(self.checked('T s[2]; s[i] ? x : fail("s[i] && s[j]", \'"\', s[k]);'), [('s', 's', 'false', '0')] * 2)


class References(unittest.TestCase):
    def test_textures_and_surfaces_get_their_namespace(self):
        self.assertEqual(rewrite.rewrite('texture<float4, 2, cudaReadModeElementType> t;'),
                         '::plumb::simt::texture<float4, 2, cudaReadModeElementType> t;')
        self.assertEqual(rewrite.rewrite('void f(const texture<T, 1>& t, surface <void, 2> s);'),
                         'void f(const ::plumb::simt::texture<T, 1>& t, ::plumb::simt::surface <void, 2> s);')

    def test_what_else_has_these_names_is_left_alone(self):
        for text in ('template <class T> struct texture { T x; }; texture<float> t;', 'bool f() { return texture < 3 && a > b; }',
                     'cudaTextureObject_t texture; g(texture);', 'mine::texture<float> t;'):
            self.assertEqual(rewrite.rewrite(text), text)


class InlinePtx(unittest.TestCase):
    def made(self, statement):
        return rewrite.rewrite('void f() {\n' + statement + '\n}\n')

    def refused(self, statement, what):
        with self.assertRaises(rewrite.Unreadable) as caught:
            rewrite.rewrite('# 7 "file.cu"\n__plumb_device__ void f() {\n' + statement + '\n}\n')
        self.assertIn(what, str(caught.exception))
        self.assertEqual(rewrite.place('# 7 "file.cu"\n__plumb_device__ void f() {\n' + statement, caught.exception.at), ('file.cu', 8))

    def test_asm_of_the_host_stays(self):
        for statement in ('asm volatile("rdtsc" : "=a"(lo), "=d"(hi));', 'if (x) { asm("cpuid"); }'):
            self.assertIn(statement, self.made(statement))
        self.refused('auto f = [&] { asm("cpuid"); };', 'cpuid')
        header = '# 7 "/usr/include/x.h" 1 3\n%s void f() { asm("bar.sync 0;"); }\n'
        self.assertIn('asm("bar.sync 0;");', rewrite.rewrite(header % 'inline'))
        self.assertIn('__syncthreads();', rewrite.rewrite(header % 'inline __plumb_device__'))

    def test_what_a_header_has_too_much_is_told_when_it_runs(self):
        text = '# 1 "file.cu"\n# 1 "lib.hpp" 1\n__plumb_device__ void f() { asm("tcgen05.%s;"); }\n# 2 "file.cu" 2\n'
        made = rewrite.rewrite(text % 'x')
        self.assertIn('::plumb::simt::not_offered("inline PTX: \'tcgen05.x\'", ::plumb::simt::Here::at());', made)
        with self.assertRaises(rewrite.Unreadable):
            rewrite.rewrite(text % 'x' + '__plumb_device__ void g() { asm("tcgen05.x;"); }')

    def test_products_of_a_warpgroup(self):
        sums = ', '.join('%%%d' % i for i in range(4))
        outs = ', '.join('"+f"(d[%d])' % i for i in range(4))
        made = self.made('asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%s}, %%4, %%5, 1, 1, -1, 0, 1;" : %s : "l"(a), "l"(b));'
                         % (sums, outs))
        self.assertIn('void* const plumb_d[] = {&plumb_0, &plumb_1, &plumb_2, &plumb_3};', made)
        self.assertIn('::plumb::simt::wgmma({8, ::plumb::simt::Total::f32, ::plumb::simt::Element::bf16', made)
        self.assertIn('::plumb::simt::wgmma_wait(', self.made('asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(1));'))
        for shape, why in (('m64n8k8.f32.bf16.bf16', 'k8'), ('m64n8k16.f16.bf16.bf16', 'f16.bf16'), ('m64n16k16.f32.f16.f16', 'm64n16')):
            self.refused('asm volatile("wgmma.mma_async.sync.aligned.%s {%s}, %%4, %%5, 1, 1, 1, 0, 0;" : %s : "l"(a), "l"(b));' % (shape, sums, outs), why)
        self.refused('asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%s}, %%4, %%5, 1, 0, 1, 1, 1, 0, 0;" : %s : "l"(a), "l"(b));'
                     % (sums, outs), 'wgmma.mma_async.sp')

    def test_what_came_with_sm_90_is_refused_before_it(self):
        refused = '::plumb::simt::must_be_hopper("%s", '
        for template, name in (('setmaxnreg.inc.sync.aligned.u32 240;', 'setmaxnreg'), ('griddepcontrol.launch_dependents;', 'griddepcontrol'),
                               ('fence.proxy.async.shared::cta;', 'fence.proxy.async'), ('fence.acq_rel.cluster;', 'fence.cluster')):
            self.assertIn(refused % name, self.made('asm volatile("%s");' % template))
        for template in ('fence.acq_rel.gpu;', 'bar.sync 0;', 'wgmma.fence.sync.aligned;'):
            self.assertNotIn('must_be_hopper', self.made('asm volatile("%s");' % template))

    def test_a_vote_has_its_mode_before_or_behind_sync(self):
        for mode in ('sync.ballot', 'ballot.sync'):
            made = self.made('asm("{ .reg .pred p; setp.ne.u32 p, %%1, 0; vote.%s.b32 %%0, p, 0xffffffff; }" : "=r"(m) : "r"(l));' % mode)
            self.assertIn('__ballot_sync(', made)

    def test_a_thread_may_exit(self):
        self.assertIn('::plumb::simt::exit_thread();', self.made('asm volatile("exit;");'))
        made = self.made('asm("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p exit; }" :: "r"(x));')
        self.assertIn('if (plumb_p) { ::plumb::simt::exit_thread(); }', ' '.join(made.split()))

    def test_vectors_with_an_order_are_one_access(self):
        made = self.made('asm volatile("ld.acquire.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(p));')
        self.assertIn('const ulonglong2 plumb_v = ::plumb::simt::ptx::load(', made)
        self.assertIn('::plumb::simt::Scope::device, true, ', made)
        made = self.made('asm volatile("st.relaxed.gpu.v4.u16 [%0], {%1, %2, %3, %4};" :: "l"(p), "h"(a), "h"(b), "h"(c), "h"(d));')
        self.assertIn('::plumb::simt::ptx::store<ushort4>(', made)

    def test_copies_by_tensor_maps(self):
        load = 'cp.async.bulk.tensor.%s.shared::cluster.global.mbarrier::complete_tx::bytes%s [%%0], [%%1, {%%2, %%3}], [%%4]%s;'
        operands = ' :: "r"(s), "l"(m), "r"(x), "r"(y), "r"(bar)'
        self.assertIn('::plumb::simt::tensor_load(', self.made('asm volatile("%s"%s);' % (load % ('2d', '', ''), operands)))
        self.refused('asm volatile("%s"%s);' % (load % ('3d', '', ''), operands), 'tensor.3d')
        self.assertIn('::plumb::simt::tensor_load_multicast(',
                      self.made('asm volatile("%s"%s);' % (load % ('2d', '.multicast::cluster', ', 3'), operands)))
        self.refused('asm volatile("%s"%s);' % (load % ('2d', '.cta_group::2', ''), operands), 'cta_group')
        store = 'asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" :: "l"(m), "r"(x), "r"(s));'
        self.assertIn('::plumb::simt::tensor_store(', self.made(store))
        add = store.replace('cp.async', 'cp.reduce.async').replace('bulk_group', 'add.bulk_group')
        self.assertIn('::plumb::simt::tensor_reduce(', self.made(add))
        self.refused(add.replace('add', 'exch'), 'cp.reduce')
        self.assertIn('::plumb::simt::bulk_wait(', self.made('asm volatile("cp.async.bulk.wait_group.read 0;");'))
        self.assertIn('::plumb::simt::proxy_fence(', self.made('asm volatile("fence.proxy.async.shared::cta;");'))
        self.assertNotIn('::plumb::simt::proxy_fence(', self.made('asm volatile("fence.proxy.async.global;");'))
        self.refused('asm volatile("fence.proxy.alias;");', 'fence.proxy.alias')

    def test_tensor_maps_that_change(self):
        for text, operands, call in (
                ('fence.proxy.tensormap::generic.release.gpu', '', 'map_release('),
                ('fence.proxy.tensormap::generic.acquire.cta [%0], 128', '"l"(a)', 'map_acquire(::plumb::simt::ptx::global<const void>(plumb_0), '),
                ('tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1', '"l"(a), "l"(b)',
                 'tensormap_replace(::plumb::simt::ptx::global<void>(plumb_0), ::plumb::simt::MapField::global_address, 0, '),
                ('tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1', '"r"(a), "r"(b)',
                 'tensormap_replace(::plumb::simt::ptx::shared<void>(plumb_0), ::plumb::simt::MapField::global_dim, ::plumb::simt::ptx::in<unsigned>(1), '),
                ('tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%0], 3', '"l"(a)', 'MapField::swizzle_mode, 0, '),
                ('tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128', '"l"(a), "r"(b)',
                 'tensormap_copy_release(')):
            self.assertIn('::plumb::simt::' + call if call[0] != 'M' else call, self.made('asm volatile("%s;" :: %s : "memory");' % (text, operands)))
        for wrong in ('tensormap.replace.tile.global_dim.global.b1024.b32 [%0], %1', 'tensormap.replace.tile.colour.global.b1024.b32 [%0], %1',
                      'fence.proxy.tensormap::generic.acquire.gpu'):
            self.refused('asm volatile("%s;" :: "l"(a), "r"(b));' % wrong, wrong.split(' ')[0])

    def test_the_parameters_of_the_function_around(self):
        for text, names in (('void k(float (&d)[4], unsigned r) { if (d[0] > f(1)) { for (;;) { @', {'float', 'd', '4', 'unsigned', 'r'}),
                            ('struct S { int a; void k(int r) const { { } do { @', {'int', 'r'}),
                            ('void k(int r) { auto f = [&](int q) { @', {'int', 'q'}), ('struct S { @', None)):
            self.assertEqual(rewrite.parameters_at(text, text.index('@')), names)

    def test_registers_of_a_are_variables_where_that_is_certain(self):
        made = self.made('asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%%0, %%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, %%8, 1, 1, 1;" : %s : '
                         '"r"(r[0]), "r"(*(unsigned*)&x), "r"(one), "r"(bits(y)), "l"(b));' % ', '.join('"+f"(d[%d])' % i for i in range(4)))
        places = made[made.index('plumb_a_at[] = {'):]
        self.assertIn('{::plumb::simt::ptx::place_of(r[0]), ::plumb::simt::ptx::place_of(*(unsigned*)&x), ::plumb::simt::ptx::place_of(one), nullptr}', places)
        made = rewrite.ptx.Asm('"wgmma" : : "r"(one)', {'one'})
        self.assertEqual(made.place('%0'), '(std::is_reference<decltype(one)>::value ? ::plumb::simt::ptx::place_of(one) : nullptr)')

    def test_a_predicate_may_be_written_as_gcc_reads_it(self):
        made = self.made('asm volatile("{ .reg .pred %%p; setp.ne.u32 %%p, %1, 0; @%%p mov.u32 %0, 1; }" : "=r"(a) : "r"(b));')
        self.assertIn('if (plumb_p) {', made)

    def test_clusters(self):
        for text, call in (('barrier.cluster.arrive.aligned', 'cluster_arrive(true, '), ('barrier.cluster.arrive.relaxed', 'cluster_arrive(false, '),
                           ('barrier.cluster.wait.acquire.aligned', 'cluster_wait(')):
            self.assertIn('::plumb::simt::' + call, self.made('asm volatile("%s;" ::: "memory");' % text))
        self.assertIn('shared_offset(::plumb::simt::map_shared_rank(',
                      self.made('asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(b), "r"(c));'))
        self.assertIn('cluster_place().rank', self.made('asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(a));'))
        self.assertIn('::plumb::simt::store_to_peer(', self.made(
            'asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%1, %2}, [%3];" :: "r"(a), "r"(b), "r"(c), "r"(d));'))
        self.assertIn('::plumb::simt::bulk_copy_to_peer(', self.made(
            'asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(a), "r"(b), "r"(c), "r"(d));'))

    def test_a_kernel_says_its_clusters_and_bounds_in_either_order(self):
        for marks in ('__plumb_cluster_dims__(2, 1) __plumb_launch_bounds__(64)', '__plumb_launch_bounds__(64) __plumb_cluster_dims__(2, 1)'):
            made = rewrite.rewrite('__plumb_global__ void %s k(int* a) { a[0] = 1; }' % marks)
            self.assertIn('cluster_dims(static_cast<unsigned>(2), static_cast<unsigned>(1));', made)
            self.assertIn('launch_bounds(static_cast<unsigned>(64));', made)
            self.assertIn('k(int* a) {', made)

    def test_barriers(self):
        self.assertIn('__syncthreads();', self.made('asm volatile("bar.sync 0;");'))
        self.assertIn('in<int>(1), ::plumb::simt::ptx::block_size(), true,', self.made('asm volatile("bar.sync 1;" ::: "memory");'))
        self.assertIn('named_barrier(::plumb::simt::ptx::in<int>(plumb_0), ::plumb::simt::ptx::in<int>(plumb_1), false,',
                      self.made('__asm__ __volatile__("bar.arrive %0, %1;\\n" :: "r"(id), "r"(n));'))

    def test_literals_that_stand_together_and_operands_with_brackets_and_colons(self):
        made = self.made('asm("mov.b32 "\n  "%0, "\n  "%1;" : "=r"(a[i ? 1 : 0]) : "r"(b(1, "x:y", n::z)));')
        self.assertIn('auto& plumb_0 = (a[i ? 1 : 0]);', made)
        self.assertIn('const auto plumb_1 = (b(1, "x:y", n::z));', made)
        self.assertEqual(made.count('\n'), 5)

    def test_a_statement_stays_one(self):
        self.assertRegex(self.made('if (x) asm("membar.gl;"); else g();'), r'if \(x\) do \{.*\} while \(0\); else g\(\);')

    def test_what_is_not_offered_is_named_with_its_line(self):
        self.refused('asm volatile("tcgen05.fence::before_thread_sync;");', 'tcgen05.fence::before_thread_sync')
        self.refused('asm volatile("bra ELSEWHERE;");', 'ELSEWHERE')
        five = 'mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0}, {%1}, {%1}, {%0}, %1'
        self.refused('asm volatile("%s;" : "+f"(a) : "r"(b));' % five, 'mma.sync')
        self.refused('asm volatile("mov.u32;");', 'mov.u32')
        self.refused('asm volatile("barrier.cluster.arrive.acquire.aligned;");', 'barrier.cluster.arrive')
        self.refused('asm volatile("mov.u32 %0, %%nothing;" : "=r"(x));', '%%nothing')
        self.refused('asm volatile("mov.u32 %0, %3;" : "=r"(x) : "r"(y));', '%3')

    def test_branches_go_to_labels_of_their_own_statement(self):
        text = 'asm volatile("{ .reg .pred p; LOOP: setp.eq.u32 p, %0, 0; @!p bra LOOP; }" :: "r"(x));'
        one, other = self.made(text), self.made(text)
        labels = [re.findall(r'(\w+):;', made) for made in (one, other)]
        self.assertEqual([len(found) for found in labels], [1, 1])
        self.assertNotEqual(labels[0], labels[1])
        self.assertIn('goto %s;' % labels[0][0], one)
        self.assertLess(one.index('bool plumb_p{};'), one.index(labels[0][0] + ':;'))

    def test_sixteen_bit_floats_are_never_taken_for_integers(self):
        self.assertIn('half_op2<::plumb::simt::Brain, ::plumb::simt::ptx::HalfOp::fma>',
                      self.made('asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));'))
        self.refused('asm("setp.lt.f16x2 %0, %1, %2;" : "=r"(p) : "r"(a), "r"(b));', 'setp.lt.f16x2')
        self.assertIn('widen<::plumb::simt::Half>', self.made('asm("{.reg .pred q; setp.lt.f16 q, %0, %1;}" :: "h"(a), "h"(b));'))
        self.assertIn('half_flushed(', self.made('asm("add.ftz.f16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));'))
        self.assertIn('half_saturated2<', self.made('asm("fma.rn.sat.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));'))
        self.assertIn('HalfOp::add>(old, v)', self.made('asm("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(d) : "l"(p), "h"(b));'))
        self.assertIn('to_integer<int>', self.made('asm("cvt.rni.s32.f16 %0, %1;" : "=r"(d) : "h"(a));'))
        self.refused('asm("rem.f16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));', 'rem.f16')
        self.refused('asm("cvt.f16.f32 %0, %1;" : "=h"(d) : "f"(a));', 'cvt.f16.f32')

    def test_fragments_of_another_size_are_refused(self):
        self.refused('asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+f"(c[0]),'
                     ' "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a), "r"(b), "r"(d));', 'm16n8k16')
        self.refused('asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(p));', 'ldmatrix')

    def test_the_hosts_own_asm_is_left_alone(self):
        text = '# 1 "/usr/include/x.h" 1 3 4\nextern int f(void) __asm__ ("" "g");\n# 2 "file.cu" 2\nint y;\n'
        self.assertEqual(rewrite.rewrite(text), text)


class Copies(unittest.TestCase):
    """A compiler's own copies become calls that are looked at."""

    def test_they_are_renamed(self):
        for name in ('memcpy', 'memmove', 'memset', 'memcmp'):
            self.assertEqual(rewrite.rewrite('void f() { ::__builtin_%s(a, b, 5); }' % name),
                             'void f() { ::__plumb_%s(a, b, 5); }' % name)

    def test_other_names_and_literals_are_left_alone(self):
        for text in ('__builtin_memcpy_chk(a, b, 5, 6);', 'a__builtin_memcpy(b);', '"__builtin_memcpy";', 'memcpy(a, b, 5);'):
            self.assertEqual(rewrite.rewrite(text), text)

    def test_headers_of_the_host_and_of_the_executor_keep_theirs(self):
        copy = 'void f() { __builtin_memcpy(a, b, 5); }'
        for mark in ('# 1 "/usr/include/c++/12/x" 1 3\n', '# 1 "/here/gpu/simt/language/shim.hpp" 1\n',
                     '# 1 "/here/reference/core/small_floats.hpp" 1\n'):
            self.assertEqual(rewrite.rewrite('# 1 "a.cu"\n' + mark + copy), '# 1 "a.cu"\n' + mark + copy)
        of_device = '# 1 "a.cu"\n# 1 "/usr/include/cub/x" 1 3\n__plumb_device__ ' + copy
        self.assertIn('__plumb_memcpy(', rewrite.rewrite(of_device))


class Libraries(unittest.TestCase):
    """What system headers hold is set aside, where nothing of it is rewritten, and put back as it was."""

    TEXT = ('# 0 "a.cu"\n# 1 "/s/outer.h" 1 3\nnamespace std {\n# 1 "/s/inner.h" 1 3 4\n%s\n# 3 "/s/outer.h" 2 3\n}\n'
            '# 2 "a.cu" 2\nint f() { return 1 << 2; }\n')

    def test_a_header_goes_with_what_it_includes(self):
        text = self.TEXT % 'int g();'
        short, aside = library.set_aside(text)
        self.assertEqual(short, '# 0 "a.cu"\n#plumb_library 0\n# 2 "a.cu" 2\nint f() { return 1 << 2; }\n')
        self.assertEqual(library.put_back(short, aside), text)

    def test_a_header_stays_where_something_is_rewritten(self):
        for what in ('__plumb_global__ void k();', 'asm("");', '__noinline__ void g();', 'f<<<1, 2>>>();'):
            text = self.TEXT % what
            self.assertEqual(library.set_aside(text), (text, []))

    def test_its_neighbour_goes_nevertheless(self):
        text = self.TEXT % 'asm("");\n# 1 "/s/third.h" 1 3\nint h();\n# 2 "/s/inner.h" 2 3 4'
        short, aside = library.set_aside(text)
        self.assertEqual(aside, ['# 1 "/s/third.h" 1 3\nint h();\n'])
        self.assertEqual(library.put_back(short, aside), text)

    def test_ones_own_headers_stay(self):
        text = (self.TEXT % 'int g();').replace(' 1 3', ' 1').replace(' 2 3', ' 2')
        self.assertEqual(library.set_aside(text), (text, []))


class ArrayNames(unittest.TestCase):
    def test_an_allocation_says_the_variable_first(self):
        for call, name in (('cudaMalloc(&d_x, n)', 'd_x'), ('cudaMalloc((void**)&s.x, f(1, 2))', 's.x'),
                           ('::cudaMallocManaged(reinterpret_cast<void**>(&p->q), n)', 'p->q'),
                           ('cudaMalloc((void **)(&a[i]), 4)', 'a[i]'), ('cudaHostAlloc(out, n, 0)', '*out'),
                           ('cudaMalloc(&names["x"], n)', 'names[\\"x\\"]')):
            new = rewrite.rewrite('int main() { if (%s) return 1; }' % call)
            self.assertIn('if ((::plumb::simt::name_array("%s"), %s)) return 1;' % (name, call), new)

    def test_declarations_strings_and_other_functions_are_left_alone(self):
        for text in ('cudaError_t cudaMalloc(T** p, size_t n);', 'cudaError_t cudaMalloc(void **, size_t);',
                     'const char* s = "cudaMalloc(&x, n)";', 'void f() { api.cudaMalloc(&x, n); }',
                     'void f() { my_cudaMalloc(&x, n); }', 'void f() { cudaMalloc(where(), n); }'):
            self.assertEqual(rewrite.rewrite(text), text)


if __name__ == '__main__':
    unittest.main()
