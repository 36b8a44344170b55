"""libplumb_simt_ptx.so as the tests here use it: modules of PTX, launches on memory of the caller's, findings."""

import ctypes
import json
import os


class Shape(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("cluster", ctypes.c_uint * 3),
                ("shared_bytes", ctypes.c_size_t), ("cooperative", ctypes.c_int)]


class Executor:
    def __init__(self, library):
        os.environ.setdefault("PLUMB_SIMT_BUILD", os.path.dirname(os.path.dirname(os.path.abspath(library))))  # where modules are compiled
        self.of = ctypes.CDLL(library)
        for name in ("error", "kernels", "findings"):
            getattr(self.of, "plumb_ptx_" + name).restype = ctypes.c_char_p
        self.of.plumb_ptx_load.restype = self.of.plumb_ptx_global.restype = ctypes.c_void_p

    def load(self, text, name=None):
        module = self.of.plumb_ptx_load(text.encode(), name and name.encode())
        if not module:
            raise RuntimeError(self.of.plumb_ptx_error().decode())
        return ctypes.c_void_p(module)

    def kernels(self, module):
        return json.loads(self.of.plumb_ptx_kernels(module))

    def set(self, module, name, value):
        """Makes a variable of the module, of 32 bits, that value."""
        ctypes.c_uint.from_address(self.of.plumb_ptx_global(module, name.encode(), None)).value = value

    def begin(self, **options):
        if self.of.plumb_ptx_begin(json.dumps(options).encode()):
            raise RuntimeError(self.of.plumb_ptx_error().decode())

    def array(self, name, address, size, initialised=True, writable=True):
        """Makes `size` bytes at `address` an array of the run."""
        self.of.plumb_ptx_array(name.encode(), ctypes.c_void_p(address), ctypes.c_size_t(size), initialised, writable)

    def launch(self, module, kernel, grid, block, shared, values):
        """`values`: a ctypes value for each parameter, in order."""
        three = lambda n: tuple(n) + (1,) * (3 - len(n))  # noqa: E731
        shape = Shape(three(grid), three(block), (0, 0, 0), shared, 0)
        pointers = (ctypes.c_void_p * (len(values) + 1))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
        code = self.of.plumb_ptx_launch(module, kernel.encode(), ctypes.byref(shape), pointers)
        if code > 1:
            raise RuntimeError(self.of.plumb_ptx_error().decode())
        return code

    def findings(self):
        return json.loads(self.of.plumb_ptx_findings())
