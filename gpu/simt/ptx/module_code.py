# A module of PTX as one file of C++ for the CPU executor: each statement on the line that it has in the module, so that a compiler's lines are
# PTX's, and a table of what the module has (language/ptx_module.hpp).
import re
import struct

from function_code import Body, word_of
from module_text import NAME, BadModule, Module, number

BUILT_IN = {'vprintf', '__assertfail', 'malloc', 'free'}
LIBRARY = re.compile(r'/(?:site|dist)-packages/|/triton/language/|^/usr/|/cuda/include/')
FORMATS = {'f16': '<e', 'f32': '<f', 'f64': '<d'}


def quoted(text):
    return '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"')


def name_in_source(name):
    """What a function of C++ calls its static variable; any other name as it is."""
    for m in re.finditer(r'(?=E(\d+)([A-Za-z_]\w*)$)', name) if name.startswith('_ZZ') else ():
        own = re.sub(r'_\d+$', '', m.group(2)) if len(m.group(2)) > int(m.group(1)) else m.group(2)
        if len(own) == int(m.group(1)):
            return own
    return name


def aligned(at, alignment):
    return (at + alignment - 1) // alignment * alignment


class ModuleCode:
    def __init__(self, text):
        self.text = Module(text)
        self.variables = {v.name: v for v in self.text.variables}
        self.functions = {}
        for f in self.text.functions:  # a declaration may come before the function, and after it
            if f.name not in self.functions or f.statements is not None:
                self.functions[f.name] = f
        self.read, self.refused = set(), []

    # ---- what bodies ask for ----
    @staticmethod
    def layout(function):
        """Offsets of a function's parameters in the memory that holds them, and behind them its size."""
        out, at = [], 0
        for p in function.returns + function.parameters:
            at = aligned(at, max(p.alignment, 1))
            out.append(at)
            at += p.bytes
        return out + [at]

    def note_read(self, function, name):
        self.read.add((function.name, name))

    def place_of_name(self, name, body):
        v = self.variables.get(name)
        if v is not None and v.space == 'shared':
            if v not in body.declared:
                body.declared.append(v)
            return 'shared', 'p_' + word_of(name)
        if v is not None:
            return v.space, 'g_' + word_of(name)
        return ('func', self.function_named(name)) if name in self.functions else None

    def function_named(self, name):
        f = self.functions.get(name)
        if f is None or (f.statements is None and name not in BUILT_IN):
            return 'plumb_missing_' + word_of(name)
        return ('::plumb::simt::ptx::built_in_' if f.statements is None else 'f_') + word_of(name)

    @staticmethod
    def shared_pointer(v, name):
        if v.count is None or v.external:
            return 'unsigned char* %s = (unsigned char*)::plumb::simt::dynamic_shared();' % name
        return 'static ::plumb::simt::SharedSlot s_%s(%s); unsigned char* %s = (unsigned char*)s_%s.address(%d, %d);' % (
            name, quoted(name_in_source(v.name)), name, name, v.bytes, max(v.alignment, 1))

    # ---- the file ----
    def code(self, name):
        """The file; `name` is what the module's lines are called."""
        bodies = {f.name: self.body(f) for f in self.functions.values() if f.statements is not None}
        lines = {}
        for f in self.functions.values():
            self.put(lines, 1, self.declared(f))
        for v in self.text.variables:
            if v.space in ('global', 'const'):
                self.put(lines, 1, self.variable(v))
        for f in self.functions.values():
            if f.statements is not None:
                self.put(lines, f.line, self.head(f) + ' {')
                for line, text in bodies[f.name]:
                    self.put(lines, line, text)
                self.put(lines, f.statements[-1].line if f.statements else f.line, '}')
        top = ['#include "gpu/simt/language/ptx_module.hpp"', '# 1 %s' % quoted(name)]
        return '\n'.join(top + [lines.get(k, '') for k in range(1, max(lines) + 1)] + [self.table()]) + '\n'

    @staticmethod
    def put(lines, line, text):
        if text:
            lines[line] = lines[line] + ' ' + text if line in lines else text

    def body(self, function):
        translated = Body(self, function)
        made = translated.code()
        self.refused += translated.refused
        return self.limits(function) + made

    @staticmethod
    def limits(function):
        """What a launch is refused for, and the extent of its clusters, at the head of a kernel."""
        out = []
        for word, check in (('maxntid', 'ptx::most_threads'), ('reqntid', 'ptx::exact_threads'), ('reqnctapercluster', 'cluster_dims')):
            numbers = function.limits.get(word)
            if numbers:
                out.append((function.line, '::plumb::simt::%s(%s);' % (check, ', '.join(map(str, (numbers + [1, 1])[:3])))))
        return out

    def head(self, f):
        if f.is_entry:
            return 'static void f_%s(const unsigned char* plumb_parameters)' % word_of(f.name)
        return 'static void f_%s(%s)' % (word_of(f.name), ', '.join(
            'unsigned char* formal_%s' % word_of(p.name) for p in f.returns + f.parameters))

    def declared(self, f):
        if f.statements is not None:
            return self.head(f) + (' __asm__(%s);' % quoted(f.name) if re.fullmatch(r'[\w$]+', f.name) else ';')
        if f.name in BUILT_IN:
            return ''
        return 'static void plumb_missing_%s(...) { ::plumb::simt::not_offered(%s, ::plumb::simt::Here::at()); }' % (
            word_of(f.name), quoted("the function '%s', which the module declares and does not define" % f.name))

    def variable(self, v):
        name = 'g_' + word_of(v.name)
        if v.external:
            raise BadModule(v.line, "a variable of another module: '%s'" % v.name)
        text = 'alignas(%d) static unsigned char %s[%d]' % (max(v.alignment, v.bytes_each, 1), name, max(v.bytes, 1))
        data, later = self.initial(v)
        text += ' = {%s};' % ', '.join(map(str, data)) if data else ';'
        text += ' static const ::plumb::simt::DeviceVariable plumb_known_%s(%s, reinterpret_cast<const volatile char*>(%s), %d, %s, false);' % (
            name, quoted(v.name), name, max(v.bytes, 1), 'true' if v.space == 'const' else 'false')
        for offset, pointer in later:
            text += ' static const bool plumb_set_%s_%d = ::plumb::simt::ptx::set_pointer(%s + %d, %s);' % (
                name, offset, name, offset, pointer)
        return text

    def initial(self, v):
        """(bytes, [(offset, pointer)]): an initialiser's numbers, and its addresses of variables and functions."""
        out, later = bytearray(), []
        for word in v.initial or []:
            m = re.fullmatch(r'(?:generic\s*\(\s*)?(%s)\s*\)?(?:\s*\+\s*(\d+))?' % NAME, word)
            if m and (m.group(1) in self.variables or m.group(1) in self.functions):
                target = self.variables.get(m.group(1))
                pointer = 'g_' + word_of(m.group(1)) if target else '(void*)' + self.function_named(m.group(1))
                later.append((len(out), '(char*)%s + %s' % (pointer, m.group(2) or 0)))
                out += bytes(v.bytes_each)
                continue
            out += self.bytes_of(v, word)
        return bytes(out), later

    @staticmethod
    def bytes_of(v, word):
        m = re.fullmatch(r'0[fFdD]([0-9A-Fa-f]+)', word)
        if m:
            return int(m.group(1), 16).to_bytes(v.bytes_each, 'little')
        if '.' in word and v.kind in FORMATS:
            return struct.pack(FORMATS[v.kind], float(word))
        try:
            return (number(word) % (1 << 8 * v.bytes_each)).to_bytes(v.bytes_each, 'little')
        except ValueError as e:
            raise BadModule(v.line, "the value '%s' of '%s'" % (word, v.name)) from e

    # ---- the table ----
    def table(self):
        kernels = [f for f in self.functions.values() if f.is_entry and f.statements is not None]
        out = [self.kernel(f) for f in kernels]
        rows = ', '.join('{%s, (const void*)&f_%s, &plumb_invoke_%s, %d, plumb_of_%s, plumb_sizes_%s, %d}' % (
            quoted(f.name), word_of(f.name), word_of(f.name), len(f.parameters), word_of(f.name), word_of(f.name),
            (f.limits.get('reqntid') or f.limits.get('maxntid') or [0])[0]) for f in kernels)
        variables = ', '.join('{%s, g_%s, %d}' % (quoted(v.name), word_of(v.name), v.bytes)
                              for v in self.text.variables if v.space in ('global', 'const'))
        numbers = {n: k for k, n in enumerate(self.text.files)}
        places = ', '.join('{%d, %d, %d, %d, %d}' % (line, numbers.get(own[0], -1), own[1], numbers.get(inner[0], -1), inner[1])
                           for line, own, inner in self.places())
        out.append('static const ::plumb::simt::ptx::Kernel plumb_kernels[] = {%s};' % (rows or '{}'))
        out.append('static const ::plumb::simt::ptx::Global plumb_globals[] = {%s};' % (variables or '{}'))
        out.append('static const char* const plumb_files[] = {%s};' % (', '.join(map(quoted, self.text.files.values())) or '""'))
        out.append('static const ::plumb::simt::ptx::SourcePlace plumb_places[] = {%s};' % (places or '{}'))
        out.append('extern "C" __attribute__((visibility("default"))) const ::plumb::simt::ptx::Table plumb_ptx_module = {%s, plumb_kernels, '
                   '%d, plumb_globals, %d, plumb_files, plumb_places, %d};' % (
                       quoted(self.text.target), len(kernels), variables.count('{'), places.count('{')))
        return '\n'.join(out)

    def places(self):
        """(line of the module, place, innermost place): the place is the innermost that is in no library's file."""
        for line, p in sorted(self.text.places.items()):
            if p is not None:
                own = [at for at in p.chain if at[0] in self.text.files and not LIBRARY.search(self.text.files[at[0]])]
                yield line, (own or p.chain[-1:])[0], p.chain[0]

    def kernel(self, f):
        """A kernel's parameters, and how it is called with pointers to them."""
        name, layout = word_of(f.name), self.layout(f)
        rows = ', '.join('{%s, %s, %d, %d, %s, %s}' % (
            quoted(p.name), quoted(p.kind), p.bytes, at, 'true' if p.pointer else 'false',
            'true' if (f.name, p.name) in self.read else 'false') for p, at in zip(f.parameters, layout))
        copies = ' '.join('::plumb::simt::copy_argument(at + %d, given[%d], %d);' % (at, k, p.bytes)
                          for k, (p, at) in enumerate(zip(f.parameters, layout)))
        return ('static const ::plumb::simt::ptx::Parameter plumb_of_%s[] = {%s};\nstatic const std::size_t plumb_sizes_%s[] = {%s};\n'
                'PLUMB_SIMT_UNTRACKED static void plumb_invoke_%s(const void*, void** given) { alignas(128) unsigned char at[%d]; '
                '(void)given; %s f_%s(at); }') % (
                    name, rows or '{}', name, ', '.join([str(p.bytes) for p in f.parameters] + ['0']), name, max(layout[-1], 1), copies, name)
