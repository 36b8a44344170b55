# Variables of a kernel that are declared without a value lie in no memory that is watched. Behind such a declaration they get one
# (language/unset_variables.hpp): of floats one that is no number, which sums and products hand on, and which is told where it comes to the
# host (memory/unset.cpp); of all types one that a launch is tried with others of (scheduler/unset_trial.cpp):
#
#   float sum[4], all;  ->  float sum[4], all; ::plumb::simt::leave_unset(sum, all);
import re

from own_arrays import NO_TYPES
from text import enclosing, file_at, flat, in_device_code, in_literal, in_system_header

NAME = r'[A-Za-z_]\w*\s*(?:\[[^;{}]*?\]\s*)*'
DECLARATION = re.compile(
    r'(?<=[;{}])(?:\s|^#[^\n]*\n)*(?P<kind>(?:(?:unsigned|signed|long|short)\s+)*(?:typename\s+)?(?:::)?[A-Za-z_][\w:]*(?:\s*<[^;{}()]*>(?:::\w+)?)?)\s+'
    r'(?P<names>%s(?:,\s*%s)*);' % (NAME, NAME), re.M)
NO_KINDS = {'auto', 'goto', 'struct', 'enum', 'class', 'union', 'const', 'static', 'volatile'}


def in_type(text, at):
    """Whether `at` lies right in the body of a class: what is declared there is a member."""
    before = next(enclosing(text, at), '')
    head = before[max(before.rfind(c) for c in ';{}') + 1:]
    return re.search(r'\b(?:struct|class|union|enum|namespace)\b', head) is not None and not before.endswith(')')


def rewritten(text):
    """Insertions, behind each declaration."""
    edits = []
    for m in DECLARATION.finditer(text):
        at = m.start('kind')
        kind = flat(m.group('kind'))
        if (NO_TYPES | NO_KINDS) & set(re.findall(r'\w+', kind.split('<')[0])) or kind.startswith('__plumb_'):
            continue
        if in_system_header(text, at) or '/gpu/simt/' in (file_at(text, at) or '') or in_type(text, at):
            continue
        if not in_device_code(text, at) or in_literal(text, at):
            continue
        names = re.findall(r'(?:^|,)\s*([A-Za-z_]\w*)', re.sub(r'\[[^;{}]*?\]', '', flat(m.group('names'))))
        edits.append((m.end(), m.end(), ' ::plumb::simt::leave_unset(%s);' % ', '.join(names)))
    return edits
