# The host's own headers are three quarters of a preprocessed text, and hold nothing to rewrite: they are set aside before it is read.
import re
from bisect import bisect_left

MARK = re.compile(r'^# \d+ "[^"\n]*"((?: \d)*)$', re.M)
OURS = ('__plumb_', '__noinline__', '<<<', '<< <', 'asm')  # what is rewritten holds one of them
PLACEHOLDER = re.compile(r'^#plumb_library (\d+)\n', re.M)


def rewritten(text):
    """Offsets of all that may be rewritten, in order."""
    places = []
    for word in OURS:
        at = text.find(word)
        while at >= 0:
            places.append(at)
            at = text.find(word, at + 1)
    return sorted(places)


def headers(text):
    """[start, end) of each system header, with what it includes, of which nothing is rewritten; none within another."""
    found, open_at, places = [], [], rewritten(text)
    for mark in MARK.finditer(text):
        flags = mark.group(1)
        if '1' in flags:
            open_at.append(mark.start() if '3' in flags else None)
        elif '2' in flags and open_at:
            start, end = open_at.pop(), mark.start()
            if start is None or bisect_left(places, start) < bisect_left(places, end):
                continue
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, end))
    return found


def set_aside(text):
    """The text with one line in place of each such header, and the headers."""
    out, last = [], 0
    found = headers(text)
    for number, (start, end) in enumerate(found):
        out += [text[last:start], '#plumb_library %d\n' % number]
        last = end
    return ''.join(out) + text[last:], [text[start:end] for start, end in found]


def put_back(text, headers):
    return PLACEHOLDER.sub(lambda m: headers[int(m.group(1))], text)
