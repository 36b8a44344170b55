#!/usr/bin/env python3
# Turns CUDA that no host compiler parses into C++ that one does: kernel<<<...>>>(...) (launches.py), __shared__ variables, variables and functions of
# the device and texture references (device.py), inline PTX (ptx.py), __noinline__, casts of kernels to void*; and what is checked that no compiler
# instruments: the indices of arrays that a thread has of its own (own_arrays.py), variables that are declared without a value (unset.py),
# __builtin_memcpy and its like (language/byte_copies.hpp).
#
#   g++ -E -DPLUMB_SIMT ... file.cu -o file.ii; rewrite.py [--rdc] file.ii file.simt.cpp    (or as a filter, with no file)
#
# --rdc: what belongs to the device is seen by other files, as with nvcc's -rdc=true; without it, by its own file alone.
#
# Works on preprocessed text: headers and macros are expanded, comments are gone, and line markers keep every file and line.
# No parser: __shared__ (which the shim leaves as __plumb_shared__) and <<< are found as tokens outside of literals, then the
# statement around them is read with balanced brackets. What it cannot read is an error with the line, never a guess.
import re
import sys
from bisect import bisect_right

sys.dont_write_bytecode = True
import array_names  # noqa: E402
import device  # noqa: E402
import launches  # noqa: E402
import library  # noqa: E402
import own_arrays  # noqa: E402
import ptx  # noqa: E402
import shadows  # noqa: E402
import unset  # noqa: E402
from text import (  # noqa: E402
    TOKEN,
    Unreadable,
    end_of,
    flat,
    in_device_code,
    in_function,
    in_header,
    in_own_code,
    in_system_header,
    lines_of,
    matching,
    no_markers,
    pieces,
    place,
)

ALIGN = re.compile(r'\balignas\s*\(|__attribute__\s*\(\s*\(\s*(?:aligned|__aligned__)\s*\(')


DECLARATOR = re.compile(r'((?:\s*(?:\*|&|\b(?:const|volatile|__restrict)\b))*)\s*([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$')


def split_declarators(s, at):
    """'float a[2][3], *b' -> type and [(what stands between it and the name, name, dimensions)]."""
    parts = pieces(s)
    first = DECLARATOR.search(parts[0].rstrip())
    kind = parts[0][:first.start()].strip() if first else ''
    if not kind:
        raise Unreadable(at, 'cannot read the __shared__ declaration')
    out = [first.groups()]
    for part in parts[1:]:
        m = DECLARATOR.fullmatch(part.rstrip())
        if not m:
            raise Unreadable(at, 'cannot read the __shared__ declaration')
        out.append(m.groups())
    return kind, [(flat(pointer), name, dims.strip()) for pointer, name, dims in out]


def rewrite_shared(text, at, number, in_function):
    """(start, end, replacement) for the declaration statement around the marker at `at`, and the names that it declares."""
    start = at
    depth = 0
    while start > 0:
        c = text[start - 1]
        if c in ')]':
            depth += 1
        elif c in '([':
            depth -= 1
        elif depth == 0 and c in ';{}':
            break
        elif depth == 0 and c == ':' and text[start - 2] != ':' and text[start] != ':':
            break  # a label or case
        start -= 1
    # markers and blank lines before the statement stay where they are
    head = re.match(r'(?:\s|#[^\n]*\n)*', text[start:at])
    start += head.end()
    end = end_of(text, at, [';'])
    body = flat(text[start:end].replace('__plumb_shared__', ' '))
    alignment = None
    while True:
        m = ALIGN.search(body)
        if not m:
            break
        first = body.index('(', m.start())
        last = matching(body, first)
        alignment = body[m.end():matching(body, m.end() - 1)]
        body = body[:m.start()] + ' ' + body[last + 1:]
    body, extern = re.subn(r'\bextern\b', ' ', body)
    body = flat(re.sub(r'\b(static|constexpr|inline)\b', ' ', body))
    type_of_all, names = split_declarators(body, at)
    out = []
    macros = []
    for k, (pointer, name, dims) in enumerate(names):
        kind = flat('%s %s' % (type_of_all, pointer)) if pointer[:1].isalpha() else type_of_all + pointer
        if extern:
            first = re.match(r'\[\s*\]', dims)
            if not first:
                raise Unreadable(at, 'extern __shared__ must be an array without a first size')
            tag = 'plumb_%s_%d_%d' % (name, number, k)
            element = kind
            if dims[first.end():].strip():  # rows of so many elements
                element = tag + '_t'
                out.append('using %s = %s%s;' % (element, kind, dims[first.end():].strip()))
            if in_function:
                out.append('%s* const %s = static_cast<%s*>(::plumb::simt::dynamic_shared());' %
                           (element, name, element))
            else:
                out.append('static inline %s* %s() { return static_cast<%s*>(::plumb::simt::dynamic_shared()); }' %
                           (element, tag, element))
                macros.append((name, tag))
            continue
        tag = 'plumb_%s_%d_%d' % (name, number, k)
        align = 'alignof(%s_t)' % tag
        slot = 'static ::plumb::simt::SharedSlot %s("%s");' % (tag, name)
        if alignment:  # a number or a type: alignas takes either
            slot = 'struct %s_a { alignas(%s) alignas(%s_t) char c; }; ' % (tag, alignment, tag) + slot
            align = 'alignof(%s_a)' % tag
        value = '*static_cast<%s_t*>(%s.address(sizeof(%s_t), %s));' % (tag, tag, tag, align)
        if in_function:
            out.append('using %s_t = %s%s; %s %s_t& %s = %s' % (tag, kind, dims, slot, tag, name, value))
        else:
            out.append('using %s_t = %s%s; static inline %s_t& %s_f() { %s return %s }' %
                       (tag, kind, dims, tag, tag, slot, value))
            macros.append((name, tag + '_f'))
    new = ' '.join(out) + lines_of(text[start:end])
    if macros:  # the text is preprocessed once more when it is compiled: the variable's name becomes a call
        file, line = place(text, end)
        new += ''.join('\n#undef %s\n#define %s (%s())' % (name, name, call) for name, call in macros)
        new += '\n# %d "%s"\n' % (line, file)
    return (start, end + 1, new), [name for _, name, _ in names]


def parameters_at(text, at):
    """Words of the parameter list of the function or lambda that `at` stands in; None where no such list is found."""
    depth = 0
    for m in re.finditer(r'[{}]', text[max(0, at - 50000):at][::-1]):
        here = at - 1 - m.start()
        depth += 1 if m.group(0) == '}' else -1
        if depth >= 0:
            continue
        depth = 0
        before = re.split('[;{}]', text[max(0, here - 20000):here])[-1]  # a loop's head has semicolons, and is none
        head = re.search(r'([\w\])>]*)\s*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))[^()]*$', before)
        if head and head.group(1) not in ('if', 'for', 'while', 'switch'):
            return set(re.findall(r'\w+', head.group(2)))
    return None


def rewrite_asm(text, at):
    """(start, end, replacement) for the asm statement at `at`, without its semicolon; None for the host's own."""
    if in_system_header(text, at) and not in_device_code(text, at):
        return None
    m = ptx.STATEMENT.match(text, at)
    if m.end() >= len(text) or text[m.end()] != '(':
        raise Unreadable(at, "expected '(' after asm")
    close = matching(text, m.end())
    try:
        body = no_markers(text[m.end() + 1:close])
        new = ptx.Asm(body, parameters_at(text, at) if 'wgmma.mma_async' in body else None).rewritten()
    except ptx.NotOffered as e:
        if not in_device_code(text, at):
            return None
        if in_header(text, at):  # of a library's many, few are called
            new = '::plumb::simt::not_offered("inline PTX: %s", ::plumb::simt::Here::at())'
            return at, close + 1, new % re.sub(r'[\\"\n]', ' ', str(e)) + lines_of(text[at:close + 1])
        raise Unreadable(at, 'inline PTX that the CPU executor does not offer: %s (guard it with #if !defined(PLUMB_SIMT))' % e) from e
    return at, close + 1, flat(new) + lines_of(text[at:close + 1])


def rewrite_bounds(text, at, token):
    """The marker of __launch_bounds__ or __cluster_dims__ at `at` goes; a kernel with a body begins with a check of its block's size, or
    with a word about its clusters."""
    first = text.index('(', at)
    last = matching(text, first)
    numbers = pieces(text[first + 1:last])
    if token == '__plumb_launch_bounds__':
        numbers = numbers[:1]
    said = ', '.join('static_cast<unsigned>(%s)' % flat(n) for n in numbers if flat(n))
    edits = [(at, last + 1, lines_of(text[at:last + 1]))]
    named = launches.KERNEL_NAME.match(text, launches.behind_markers(text, last + 1))
    if not named or not said:
        return edits
    body = re.compile(r'(?:\s|^#[^\n]*\n)*', re.M).match(text, matching(text, named.end() - 1) + 1).end()
    if text[body:body + 1] == '{':
        edits.append((body + 1, body + 1, ' ::plumb::simt::%s(%s);' % (token[len('__plumb_'):-2], said)))
    return edits


def is_left_alone(text, at):
    """Whether a compiler's own copy at `at` is one of the executor's or of a system header's host code, which nobody looks at."""
    if in_own_code(text, at, 'gpu/simt/language/'):
        return True
    return in_system_header(text, at) and not in_device_code(text, at)


def outside_of(edits, pairs):
    """The insertions of those pairs of which neither lies within an edit."""
    taken = sorted((start, end) for start, end, _ in edits if end > start)
    starts = [start for start, _ in taken]

    def is_free(at):
        i = bisect_right(starts, at) - 1
        return i < 0 or at >= taken[i][1] or at == starts[i]

    return [one for pair in pairs if all(is_free(one[0]) for one in pair) for one in pair]


# Registers of a product are known by their addresses: two variables of a function must not lie in one place, which g++ allows where
# their scopes do not meet.
STACK_REUSE = '#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC optimize("-fstack-reuse=none")\n#endif\n'


def rewrite(text, rdc=False):
    edits = []
    kernels = launches.kernels_of(text)
    file = device.File(text, rdc)
    of_file, local = {}, {}  # names of __shared__ variables, and where
    number = 0
    done = 0
    for m in TOKEN.finditer(text):
        token = m.group(0)
        if m.start() < done:
            continue
        if token in '{}':
            file.brace(m.start())
        elif token == '__noinline__':
            before = text[:m.start()][-40:].rstrip()
            if not before.endswith(('(', ',')):
                edits.append((m.start(), m.end(), ''))  # put in its caller's place, what it is handed by value is seen
        elif token == '__plumb_global__':
            edits.append((m.start(), m.end(), ''))
        elif token in ('__plumb_launch_bounds__', '__plumb_cluster_dims__'):
            edits += rewrite_bounds(text, m.start(), token)
        elif token in ('asm', '__asm__', '__asm'):
            statement = rewrite_asm(text, m.start())
            if statement is not None:
                edits.append(statement)
                done = statement[1]
        elif token == '__plumb_shared__':
            number += 1
            inside = in_function(text, m.start())
            statement, names = rewrite_shared(text, m.start(), number, inside)
            for name in names:
                (local if inside else of_file).setdefault(name, []).append(statement[0] if inside else statement[1])
            edits.append(statement)
            done = statement[1]
        elif token in device.MARKERS or token == '__plumb_host__':
            number += 1
            edits += device.rewritten(file, m.start(), token, number)
        elif token.startswith('__builtin_'):
            if not is_left_alone(text, m.start()):
                edits.append((m.start(), m.end(), '__plumb_' + token[len('__builtin_'):]))
        elif token[:2] == '<<':
            edits += launches.rewrite_launch(text, m.start(), len(token), kernels)
    edits += launches.rewrite_casts(text, kernels) + device.rewrite_references(text) + shadows.rewritten(text, of_file, local)
    edits += outside_of(edits, own_arrays.rewritten(text) + array_names.rewritten(text) + [(edit,) for edit in unset.rewritten(text)])
    out, last = [], 0
    for start, end, new in sorted(edits, key=lambda e: e[:2]):
        if start < last:
            raise Unreadable(start, 'launches and __shared__ declarations overlap')
        out += [text[last:start], new]
        last = end
    return ''.join(out) + text[last:]


# The compiler turns copies of large structures into calls of memcpy, past its own instrumentation: in instrumented builds the
# assembler is told another name for it. Likewise malloc and new, which in a kernel are the device's.
PROLOGUE = r"""#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLUMB_SIMT_RENAME
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(PLUMB_SIMT_RENAME)
asm(".set memcpy, __tsan_memcpy\n.set memmove, __tsan_memmove\n.set memset, __tsan_memset\n"
    ".set memcmp, plumb_simt_memcmp\n.set bcmp, plumb_simt_memcmp");
asm(".set malloc, plumb_simt_malloc\n.set free, plumb_simt_free\n.set _Znwm, plumb_simt_new\n.set _Znam, plumb_simt_new\n"
    ".set _ZdlPv, plumb_simt_delete\n.set _ZdlPvm, plumb_simt_delete\n.set _ZdaPv, plumb_simt_delete\n"
    ".set _ZdaPvm, plumb_simt_delete");
#endif
"""


def main():
    files = [word for word in sys.argv[1:] if word != '--rdc']
    source = open(files[0], encoding='utf-8', errors='surrogateescape') if len(files) > 1 else sys.stdin
    text, runs = library.set_aside(source.read())
    try:
        new = library.put_back(rewrite(text, rdc='--rdc' in sys.argv), runs)
        new = PROLOGUE + (STACK_REUSE if 'plumb_a_at' in new else '') + new
    except Unreadable as e:
        name, line = place(text, e.at)
        sys.exit('%s:%d: error: %s' % (name, line, e))
    if len(files) > 1:
        with open(files[1], 'w', encoding='utf-8', errors='surrogateescape') as out:
            out.write(new)
    else:
        sys.stdout.write(new)


if __name__ == '__main__':
    main()
