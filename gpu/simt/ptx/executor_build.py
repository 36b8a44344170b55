# Where the executor's libraries are, and how code for it is compiled: of the tree's build, or of the installed tree. compile_module.py and
# tools/simt_nvcc ask.
import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
INSTALLED = os.path.join(ROOT, 'simt_nvcc.json')


def build_folder():
    """The folder in which what was compiled is kept: PLUMB_SIMT_BUILD, or build/simt of the tree, or the user's cache."""
    if not os.path.exists(INSTALLED):
        return os.environ.get('PLUMB_SIMT_BUILD', os.path.join(ROOT, 'build', 'simt'))
    cache = os.environ.get('XDG_CACHE_HOME') or os.path.join(os.path.expanduser('~'), '.cache')
    return os.environ.get('PLUMB_SIMT_BUILD', os.path.join(cache, 'plumbline', 'simt'))


def known():
    """What CMake wrote: the compiler, its words, the libraries. {root} is the installed tree's."""
    path = INSTALLED if os.path.exists(INSTALLED) else os.path.join(build_folder(), 'simt_nvcc.json')
    with open(path, encoding='utf-8') as file:
        return json.loads(file.read().replace('{root}', json.dumps(ROOT)[1:-1]))
