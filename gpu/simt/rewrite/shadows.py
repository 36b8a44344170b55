# A __shared__ variable of the file becomes a macro (rewrite.py). Where a function has a parameter or a __shared__ variable of that name,
# the macro is out of force.
import re

from text import CLOSE, OPEN, in_function, matching, place

CONTROL = re.compile(r'\b(?:if|while|for|switch|catch|return|sizeof|decltype|alignas)\s*$')


def end_of_block(text, at):
    """Offset of the brace that closes the block around `at`."""
    depth = 0
    for m in re.finditer(r'[{}]', text[at:]):
        depth += 1 if m.group(0) == '{' else -1
        if depth < 0:
            return at + m.start()
    return len(text)


def opened_before(text, at):
    """Offset of the parenthesis that is open at `at`, where it is the innermost open bracket; None: another is, or none."""
    depth = 0
    for i in range(at - 1, -1, -1):
        if text[i] in CLOSE:
            depth += 1
        elif text[i] in OPEN:
            if depth == 0:
                return i if text[i] == '(' else None
            depth -= 1
    return None


def function_around(text, at):
    """[start, end) of the parameters around `at` and the function's body, or of a declaration's parameters; None: they are none."""
    first = opened_before(text, at)
    if first is None or CONTROL.search(text[max(0, first - 40):first]):
        return None
    last = matching(text, first)
    after = re.compile(r'(?:\s|\bconst\b|\bnoexcept\b|\bmutable\b)*([{;])').match(text, last + 1)
    if after is None:
        return None
    if after.group(1) == ';':
        return None if in_function(text, first) else (first, last + 1)
    return first, matching(text, after.start(1)) + 1


def spans(text, name, since, local):
    """[start, end) of the text in which another thing has the name; `local`: offsets of __shared__ variables in functions."""
    found = [(at, end_of_block(text, at)) for at in local if at > since]
    parameter = re.compile(r'(?:[\w>]\s+|[*&]\s*)%s\s*(?:\[[^\]]*\]\s*)*(?=[,)])' % re.escape(name))
    for m in parameter.finditer(text, since):
        if any(start <= m.start() < end for start, end in found):
            continue
        function = function_around(text, m.start())
        if function is not None:
            found.append(function)
    return found


def rewritten(text, of_file, local):
    """Edits around the stretches where a name of the file's __shared__ variables is another thing's. Both are {name: offsets}."""
    edits = []
    for name, ends in of_file.items():
        for start, end in spans(text, name, min(ends), local.get(name, [])):
            for at, lines in ((start, '#pragma push_macro("%s")\n#undef %s' % (name, name)), (end, '#pragma pop_macro("%s")' % name)):
                file, line = place(text, at)
                edits.append((at, at, '\n%s\n# %d "%s"\n' % (lines, line, file)))
    return edits
