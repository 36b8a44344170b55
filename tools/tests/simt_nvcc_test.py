"""tools/simt-nvcc as a project's build calls it: options, and programs that are made and run."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from simt_program import PATIENCE, build

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
from simt_nvcc import keeping, missing, options  # noqa: E402

HEADER = "#pragma once\n__global__ void set(int* to, int value);\n"
KERNEL = """#include "k.h"
extern __device__ int offset;
__global__ void set(int* to, int value) { *to = TWICE(value) + offset; }
"""
MAIN = """#include "k.h"
#include <cassert>
#include <cstdio>
__device__ int offset = 1;
extern "C" int from_c(void);
int main(int argc, char**) {
  int *d, got;
  cudaStream_t s[argc];
  cudaStreamCreate(&s[argc - 1]);
  assert(s[argc - 1] != nullptr && s[0] != nullptr);
  cudaMalloc(&d, sizeof got);
  set<<<1, argc>>>(d, from_c());
  cudaMemcpy(&got, d, sizeof got, cudaMemcpyDeviceToHost);
  return got == 43 ? 0 : 3;
}
"""
IN_C = """#include <cuda_runtime.h>
#include <vector_types.h>
int from_c(void) {
  struct float4 v = {1, 2, 3, 4};
  struct cudaDeviceProp properties;
  int *d, got = 21;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.warpSize != 32) return v.w;
  if (cudaMalloc((void**)&d, sizeof got) != cudaSuccess) return v.x;
  cudaMemcpy(d, &got, sizeof got, cudaMemcpyHostToDevice);
  got = 0;
  cudaMemcpy(&got, d, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(d);
  return got;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(p LANGUAGES C CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(p main.cu k.cu host.c kernels.cpp)
set_target_properties(p PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
target_link_libraries(p PRIVATE CUDA::cudart)
"""
STREAMS = """__global__ void count(int* to) { *to += 1; }
int main() {
  int* d;
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMalloc(&d, sizeof *d);
  cudaMemset(d, 0, sizeof *d);
  count<<<1, 1>>>(d);
  count<<<1, 1, 0, s>>>(d);
  return cudaDeviceSynchronize();
}
"""
DRIVER = """#include <cuda.h>
int main() {
  CUdeviceptr p;
  unsigned got[2] = {};
  if (cuInit(0) || cuMemAlloc(&p, sizeof got) || cuMemsetD32(p, 7, 2) || cuMemsetD16(p + 4, 5, 1)) return 4;
  if (cuMemcpyDtoH(got, p, sizeof got) || got[0] != 7 || got[1] != 5 || cuMemFree(p)) return 5;
  CUmemAllocationProp properties = {};
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemGenericAllocationHandle made;
  size_t bytes;
  if (cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM)) return 6;
  if (cuMemAddressReserve(&p, 2 * bytes, 0, 0, 0) || cuMemCreate(&made, bytes, &properties, 0)) return 7;
  if (!cuMemMap(p + 2 * bytes, bytes, 0, made, 0) || cuMemMap(p, bytes, 0, made, 0)) return 8;
  if (cuMemSetAccess(p, bytes, &access, 1) || cuMemsetD32(p + bytes - 4, 9, 1)) return 9;
  if (cuMemcpyDtoH(got, p + bytes - 4, 4) || got[0] != 9 || cuMemUnmap(p, bytes)) return 10;
  if (cuMemRelease(made) || !cuMemRelease(made) || cuMemAddressFree(p, 2 * bytes)) return 11;
  CUmodule module;
  if (cuModuleLoad(&module, "none.ptx") != CUDA_ERROR_FILE_NOT_FOUND) return 12;
  return cuModuleLoadData(&module, "\\x7f" "ELF");
}
"""
BY_NVRTC = r"""#include <cuda.h>
#include <nvrtc.h>
#include <string>
int main() {
  const char* text = "extern \"C\" __global__ void twice(float* x, int n) {\n"
                     "  int i = threadIdx.x;\n  if (i < n) x[i] *= 2;\n}\n";
  const char* options[] = {"--gpu-architecture=compute_80", "-lineinfo"};
  nvrtcProgram program;
  size_t bytes;
  if (nvrtcCreateProgram(&program, text, "twice.cu", 0, nullptr, nullptr)) return 4;
  if (nvrtcCompileProgram(program, 2, options) || nvrtcGetPTXSize(program, &bytes)) return 5;
  std::string ptx(bytes, 0);
  if (nvrtcGetPTX(program, &ptx[0])) return 6;
  CUmodule module;
  CUfunction twice;
  CUdeviceptr x;
  float host[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  if (cuModuleLoadData(&module, ptx.c_str()) || cuModuleGetFunction(&twice, module, "twice")) return 7;
  if (cuMemAlloc(&x, sizeof host) || cuMemcpyHtoD(x, host, sizeof host)) return 8;
  int n = 10;
  void* arguments[] = {&x, &n};
  if (cuLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr)) return 9;
  if (cuMemcpyDtoH(host, x, sizeof host)) return 10;
  return host[9] == 18 ? 0 : 11;
}
"""
LIKE_CUTE = """#include <cstdio>
namespace lib {
template <class A, class B>
constexpr int min(const A& a, const B& b) { return a < b ? a : b; }
}
using namespace lib;
__global__ void set(int* to, int a, int b) {
  extern __shared__ char tiles[];
  to[0] = min(a, b);
  to[1] = static_cast<int>(__cvta_generic_to_shared(tiles) % 1024);
  if (a == 3) asm volatile("exit;");
  to[0] = -1;
}
int main() {
  int *to, got[2];
  cudaMalloc(&to, sizeof got);
  set<<<1, 1, 16>>>(to, 3, 2);
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  return got[0] == 2 && got[1] == 0 ? 0 : 3;
}
"""


class Options(unittest.TestCase):
    def read(self, *words):
        return options.read(words)

    def test_what_decides_how_device_code_is_made_is_accepted(self):
        words = (
            "-O3 -arch=sm_90a -gencode arch=compute_80,code=sm_80 -lineinfo -G -g -w -m64 -maxrregcount=32 "
            "--generate-code=arch=compute_90,code=sm_90 --use_fast_math --expt-relaxed-constexpr -t4 "
            "--extended-lambda -Xptxas -v,-O3 --ptxas-options=-v -ccbin g++ -Xcudafe --diag_suppress=2 "
            "--threads 4 -Wno-deprecated-gpu-targets a.cu -o b"
        )
        order = self.read(*words.split())
        self.assertEqual(
            (order.files, order.output, order.mode, order.rdc), ([("a.cu", "cu")], "b", "link", False)
        )
        self.assertEqual((order.preprocessor, order.defines, order.host, order.link), ([], [], [], []))

    def test_the_chip_is_the_newest_that_the_command_names_and_the_executor_knows(self):
        for words, chip in (
            ("-arch=sm_80", ""),
            ("-arch sm_90", "90"),
            ("-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a", "90a"),
            ("-arch=sm_90a -arch=sm_90", "90a"),
            ("-arch=sm_900", ""),
        ):
            self.assertEqual(self.read(*words.split(), "a.cu").chip, chip, words)

    def test_values_are_joined_or_apart(self):
        order = self.read(
            "-Ia",
            "-I",
            "b",
            "--include-path=c",
            "-isystem",
            "d",
            "-DX",
            "-D",
            "f(x)=x",
            "-UX",
            "-std",
            "c++20",
            "x.cu",
        )
        self.assertEqual(order.preprocessor, ["-I", "a", "-I", "b", "-I", "c", "-isystem", "d"])
        self.assertEqual(order.defines, [("D", "X"), ("D", "f(x)=x"), ("U", "X")])
        self.assertEqual(order.standard, "20")

    def test_libraries_of_the_toolkit_are_left_out(self):
        order = self.read(
            "x.o", "-lcudart", "-lcublas", "-lm", "-Lhere", "-Xlinker", "-rpath,there", "liby.a"
        )
        self.assertEqual(order.link, ["x.o", "-lm", "-Lhere", "-Wl,-rpath", "-Wl,there", "liby.a"])

    def test_folders_of_a_toolkits_headers_are_not_before_the_executors(self):
        with tempfile.TemporaryDirectory() as place:
            headers = Path(place) / "include"
            for name in ("cuda_runtime.h", "crt/host_config.h", "cccl/cub/cub.cuh"):
                (headers / name).parent.mkdir(parents=True, exist_ok=True)
                (headers / name).touch()
            options_file = Path(place) / "includes.rsp"  # as CMake writes it
            options_file.write_text(f'-I"{place}" -isystem="{headers}"\n')
            words = ("--options-file", str(options_file), f"-I{headers}/cccl", "a.cu")
            after = ["-idirafter", str(headers), "-idirafter", f"{headers}/cccl"]
            for installed, found in ((place, []), (f"{place}/none", after)):
                with mock.patch.dict(os.environ, {"CUDA_HOME": installed}):
                    self.assertEqual(self.read(*words).preprocessor, ["-I", place, *found])

    def test_modes(self):
        for words, mode, rdc in (
            ("-c", "compile", False),
            ("-dc", "compile", True),
            ("--device-c", "compile", True),
            ("-E", "preprocess", False),
            ("-rdc=true -c", "compile", True),
            ("-dlink", "device link", True),
            ("--lib", "archive", False),
            ("-ptx", "device code", False),
            ("--version", "version", False),
            ("-MM", "dependencies", False),
        ):
            order = self.read(*words.split(), "x.cu")
            self.assertEqual((order.mode, order.rdc), (mode, rdc), words)

    def test_a_language_is_that_of_the_files_behind_it(self):
        self.assertEqual(
            self.read("-x", "cu", "a.cpp", "-x", "none", "b.c").files, [("a.cpp", "cu"), ("b.c", "c")]
        )

    def test_what_it_does_not_know_is_refused(self):
        for words in (
            ["-frobnicate", "x.cu"],
            ["x.txt"],
            ["x.cu", "-o"],
            ["@/nowhere"],
        ):
            with self.assertRaises(options.Refused):
                self.read(*words)


class Kept(unittest.TestCase):
    def test_a_file_of_an_older_version_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "lib64/libcufft.so")
            for content in (b"INPUT(old)\n", b"INPUT(new)\n"):
                keeping.keep(path, content)
                self.assertEqual(path.read_bytes(), content)


class Projects(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(
            prefix="simt nvcc "
        )  # with a space: paths are quoted everywhere
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        for name, text in (("k.h", HEADER), ("k.cu", KERNEL), ("main.cu", MAIN)):
            (self.folder / name).write_text(text)
        (self.folder / "host.c").write_text(IN_C)

    def nvcc(self, *words, status=0, cuda_home=None):
        got = subprocess.run(
            [str(ROOT / "tools/simt-nvcc"), *words],
            cwd=self.folder,
            env={**os.environ, **({"CUDA_HOME": str(cuda_home)} if cuda_home else {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        self.assertEqual(got.returncode, status, got.stdout + got.stderr)
        return got

    def run_program(self, program, *words):
        command = [str(self.folder / program), *words]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)

    def ran(self, program, *words):
        return self.run_program(program, *words).returncode

    def test_separate_files_with_relocatable_device_code(self):
        self.nvcc("-dc", "-DTWICE(x)=((x)*2)", "-MD", "-MF", "k.d", "k.cu", "-o", "k.o")
        self.assertIn("k.h", (self.folder / "k.d").read_text())
        self.assertTrue((self.folder / "k.d").read_text().startswith("k.o:"))
        self.nvcc("-dc", "main.cu")
        self.nvcc("-c", "host.c")
        self.nvcc("-dlink", "k.o", "main.o", "-o", "link.o")
        self.nvcc("k.o", "main.o", "host.o", "link.o", "-lcudart", "-o", "program")
        self.assertEqual(self.ran("program"), 0)

    def test_what_a_header_defines_and_nothing_uses_is_left_out(self):
        (self.folder / "unused.cu").write_text(
            'extern "C" int function_of_no_library();\n'
            "struct Window { virtual int close(); };\n"
            "inline int Window::close() { return function_of_no_library(); }\n"
            "int main(int, char**) { return 0; }\n"
        )
        self.nvcc("unused.cu", "-o", "unused")
        self.assertEqual(self.ran("unused"), 0)

    def test_a_shared_library_of_kernels_has_its_findings_told(self):
        (self.folder / "k.cu").write_text(
            "__global__ void racy(int* x) { *x = threadIdx.x; }\n"
            "void work() { int* x; cudaMalloc(&x, 4); racy<<<1, 64>>>(x); cudaDeviceSynchronize(); }\n"
        )
        for name in ("m.cu", "h.cpp"):
            (self.folder / name).write_text("void work();\nint main() { work(); }\n")
        self.nvcc("-Xcompiler", "-fPIC", "-shared", "k.cu", "-o", "libk.so")
        self.nvcc("m.cu", "libk.so", "-Xlinker", f"-rpath={self.folder}", "-o", "m")
        subprocess.run(
            ["c++", "h.cpp", "libk.so", f"-Wl,-rpath={self.folder}", "-o", "h"], cwd=self.folder, check=True
        )
        for program in ("m", "h"):
            got = self.run_program(program)
            self.assertEqual((got.returncode, got.stderr.count("race in racy")), (1, 1), got.stderr)

    def test_a_library_that_is_not_offered_is_named_and_a_chip_is_told(self):
        (self.folder / "r.cu").write_text(
            'extern "C" int cufftXtSetGPUs(int, int, int*);\n'
            "int main(int argc, char**) { return argc > 1 ? 0 : cufftXtSetGPUs(1, 2, 0); }\n"
        )
        named = "not supported by the CPU executor: cufftXtSetGPUs"
        self.assertIn(f"note: {named}; a call ends", self.nvcc("r.cu", "-lcufft", "-o", "r").stderr)
        self.assertEqual(self.ran("r", "without"), 0)
        got = self.run_program("r")
        self.assertEqual((got.returncode, got.stderr), (3, named + "\n"))
        (self.folder / "u.cu").write_text(
            "int main() { cudaExternalMemory_t m; return cudaDestroyExternalMemory(m); }\n"
        )
        got = self.nvcc("-c", "u.cu", status=3 if missing.toolkit() else 1)
        if missing.toolkit():
            self.assertIn("CPU executor: cudaDestroyExternalMemory, cudaExternalMemory_t\n", got.stderr)
        (self.folder / "u.cu").write_text("int main() { return cudaMaloc(0); }\n")
        self.assertIn("cudaMaloc", self.nvcc("-c", "u.cu", status=1).stderr)
        (self.folder / "m.cu").write_text(DRIVER)
        self.nvcc("m.cu", "-lcuda", "-o", "m")
        self.assertEqual(self.ran("m"), 3)
        (self.folder / "c.cu").write_text(
            "int main() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return p.major * 10; }\n"
        )
        for words, chip in ((["-arch=sm_90a"], 90), (["-D__CUDA_ARCH__=900"], 90), ([], 80)):
            self.nvcc(*words, "c.cu", "-o", "c")
            self.assertEqual(self.ran("c"), chip)

    def test_a_program_loads_modules_of_ptx(self):
        kernels = str(ROOT / "gpu/tests/ptx/kernels.ptx")
        self.nvcc(str(ROOT / "gpu/tests/programs/ptx_modules.cu"), "-lcuda", "-o", "p")
        for words, code, said in (
            ([], 0, ""),
            (["short"], 1, "out of bounds in reversed: write of 4 bytes at byte 252 of 'z', which has 4"),
            (["cubin"], 3, "a module of machine code (cubin or fatbin); PTX is offered"),
        ):
            done = subprocess.run(
                [str(self.folder / "p"), kernels, *words],
                check=False,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)

    @unittest.skipUnless(missing.library_folder("libnvrtc.so"), "no NVRTC is installed")
    def test_a_program_compiles_by_nvrtc(self):
        (self.folder / "n.cu").write_text(BY_NVRTC)
        self.nvcc("n.cu", "-lnvrtc", "-lcuda", "-o", "n")
        self.assertEqual(self.ran("n"), 0)

    def test_images_are_a_library_whose_header_may_be_missing(self):
        (self.folder / "i.cu").write_text("#include <nppi.h>\nint main() { return nppiSet_8u(); }\n")
        top = self.folder / "toolkit"
        (top / "include").mkdir(parents=True)
        got = self.nvcc("i.cu", "-lnppc", "-lnppidei", "-o", "i", status=3, cuda_home=top)
        self.assertIn(f"nppi.h (i.cu:1), a header of CUDA's toolkit that is not in {top}", got.stderr)
        (top / "include/nppi.h").write_text('extern "C" int nppiSet_8u();\n')
        got = self.nvcc("i.cu", "-lnppc", "-lnppidei", "-o", "i", cuda_home=top)
        self.assertIn("not supported by the CPU executor: nppiSet_8u; a call ends", got.stderr)
        self.assertEqual(self.ran("i"), 3)

    def test_the_version_of_cuda_is_the_toolkits(self):
        top = self.folder / "toolkit"
        (top / "include").mkdir(parents=True)
        source = (
            "#include <cuda.h>\nint main() { int v; cudaRuntimeGetVersion(&v);"
            " return CUDA_VERSION == v && __CUDACC_VER_MAJOR__ == v / 1000"
            " ? v / 1000 + v % 1000 / 10 : 0; }\n"
        )
        (self.folder / "v.cu").write_text(source)
        for told, major, minor in (("", 12, 0), ("#define CUDA_VERSION 13020\n", 13, 2)):
            (top / "include/cuda.h").write_text(told)
            self.nvcc("v.cu", "-o", "v", cuda_home=top)
            self.assertEqual(self.ran("v"), major + minor)
            self.assertIn(f"release {major}.{minor},", self.nvcc("--version", cuda_home=top).stdout)

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_a_project_of_cmake_with_files_of_c_and_cxx(self):
        (self.folder / "CMakeLists.txt").write_text(CMAKE)
        (self.folder / "k.h").write_text(HEADER + "#define TWICE(x) ((x) * 2)\n")
        (self.folder / "kernels.cpp").write_text("#include <cuda_runtime.h>\nint bytes = sizeof(dim3);\n")
        for words in (["-B", "b", f"-DCMAKE_CUDA_COMPILER={ROOT / 'tools/simt-nvcc'}"], ["--build", "b"]):
            got = subprocess.run(
                ["cmake", *words], cwd=self.folder, check=False, capture_output=True, text=True
            )
            self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        self.assertEqual(self.ran("b/p"), 0)

    def test_a_default_stream_of_the_thread(self):
        (self.folder / "s.cu").write_text(STREAMS)
        self.nvcc("s.cu", "-o", "s")
        self.assertEqual(self.ran("s"), 0)
        self.nvcc("--default-stream", "per-thread", "s.cu", "-o", "s")
        self.assertIn("race in count", self.run_program("s").stderr)

    # what is installed, as its lines say; a user's folder of that name has the rules of all programs
    def header_of(self, folder, name, text):
        (self.folder / folder).mkdir()
        line = f'#line 1 "/usr/local/cuda/include/cub/{name}"\n' if folder == "installed" else ""
        (self.folder / folder / name).write_text(line + text)
        return f"{folder}/{name}"

    def test_volatile_is_atomic_in_installed_cub_alone(self):
        (self.folder / "v.cu").write_text(VOLATILE)
        for folder in ("installed", "cub"):
            header = self.header_of(folder, "flags.cuh", FLAGS)
            self.nvcc(f'-DFLAGS="{header}"', "-I.", "v.cu", "-o", "v")
            self.assertEqual("race in hand_over" in self.run_program("v").stderr, folder == "cub")

    def test_padding_is_copied_in_words_in_installed_cub_alone(self):
        (self.folder / "p.cu").write_text(PADDING)
        for folder in ("installed", "cub"):
            header = self.header_of(folder, "words.cuh", WORDS)
            self.nvcc(f'-DWORDS="{header}"', "-I.", "p.cu", "-o", "p")
            self.assertEqual("uninitialised read" in self.run_program("p").stderr, folder == "cub")
            self.assertIn("uninitialised read", self.run_program("p", "one that nobody wrote").stderr)

    def test_a_program_that_gives_up_tells_its_findings_first(self):
        (self.folder / "g.cu").write_text(GIVES_UP)
        self.nvcc("g.cu", "-o", "g")
        got = self.run_program("g")
        self.assertEqual(got.returncode, -signal.SIGABRT)
        self.assertIn("uninitialised read in add", got.stderr)
        self.assertIn("1 finding\n", got.stderr)

    def test_what_cute_counts_on(self):
        (self.folder / "cute.cu").write_text(LIKE_CUTE)
        self.nvcc("cute.cu", "-o", "cute")
        self.assertEqual(self.ran("cute"), 0)

    def test_all_at_once_and_a_mistake_in_the_source(self):
        self.nvcc("-rdc=true", "-DTWICE(x)=((x)*3)", "k.cu", "main.cu", "host.c", "-o", "program")
        self.assertEqual(self.ran("program"), 3)
        self.assertIn(
            "TWICE", self.nvcc("-rdc=true", "k.cu", "main.cu", "host.c", "-o", "program", status=1).stderr
        )
        self.assertIn("nothing.cu: no such file", self.nvcc("nothing.cu", status=2).stderr)


VOLATILE = """#include FLAGS
__global__ void hand_over(int* flag, int* seen) {
  if (blockIdx.x == 0) set(flag, 1);
  else *seen = get(flag);
}
int main() {
  int* flags;
  cudaMalloc(&flags, 2 * sizeof(int));
  cudaMemset(flags, 0, 2 * sizeof(int));
  hand_over<<<2, 1>>>(flags, flags + 1);
  return cudaDeviceSynchronize();
}
"""
FLAGS = """__device__ inline void set(int* p, int v) { *static_cast<volatile int*>(p) = v; }
__device__ inline int get(int* p) { return *static_cast<volatile int*>(p); }
"""

PADDING = """#include WORDS
struct alignas(8) Flag { char set; };
__global__ void raise(Flag* f) { f->set = 1; }
__global__ void copy(const Flag* from, unsigned long long* to) { *to = word(from); }
int main(int argc, char**) {
  Flag* flags;
  cudaMalloc(&flags, 24);
  raise<<<1, 1>>>(flags);
  copy<<<1, 1>>>(flags + (argc - 1), reinterpret_cast<unsigned long long*>(flags + 2));
  return cudaDeviceSynchronize();
}
"""
WORDS = """template <class T>
__device__ unsigned long long word(const T* p) { return *reinterpret_cast<const unsigned long long*>(p); }
"""
GIVES_UP = """#include <cassert>
__global__ void add(int* to) { *to += 1; }
int main() {
  int *p, got;
  cudaMalloc(&p, sizeof *p);
  add<<<1, 1>>>(p);
  cudaMemcpy(&got, p, sizeof *p, cudaMemcpyDeviceToHost);
  assert(got == -1 && "no number that memory holds by itself");
}
"""

RULES = """#include <cstdio>
#include <cstring>
__global__ void meet(int* to, int n) {
  if (threadIdx.x >= n) return;
  __syncthreads();
  to[threadIdx.x] = 1;
}
__global__ void same(int* to) { *to = 1; }
__global__ void poll(volatile int* flag) {
  if (blockIdx.x == 0) *flag = 1;
  else while (*flag == 0) {}
}
__global__ void met() {
  __shared__ int s[64]; s[threadIdx.x] = 1;
  __syncthreads();
  int v = s[63 - threadIdx.x];
  __syncwarp();
  s[threadIdx.x] = v + 1;
}
__global__ void past(int* to) { to[64] = 1; }
int main(int argc, char** argv) {
  const auto is = [&](const char* what) { return std::strcmp(argv[1], what) == 0; };
  int *d, h[64];
  const size_t bytes = is("large") ? size_t(3) << 30 : sizeof h;
  const cudaError_t e = cudaMalloc(&d, bytes);
  if (is("large")) return e == cudaErrorMemoryAllocation ? 7 : 8;
  if (is("same") || is("poll")) cudaMemset(d, 0, sizeof h);
  if (is("meet")) meet<<<1, 64>>>(d, 50);
  if (is("same")) same<<<2, 1>>>(d);
  if (is("poll")) poll<<<2, 1>>>(d);
  if (is("met")) met<<<1, 64>>>();
  if (is("past")) past<<<1, 1>>>(d);
  const bool went_on = cudaDeviceSynchronize() == cudaSuccess;
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  std::puts(went_on && (!is("meet") || h[49] == 1) ? "went on" : "stopped");
  return 0;
}
"""


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = build(cls, "rules", RULES)

    def ran(self, mode, status, before=None, **environment):
        got = subprocess.run(
            [str(self.folder / "rules"), mode],
            cwd=self.folder,
            env={**os.environ, **environment},
            preexec_fn=before,
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        self.assertEqual(got.returncode, status, got.stdout + got.stderr)
        return got

    def test_a_barrier_without_returned_threads_is_a_finding_and_the_program_goes_on(self):
        got = self.ran("meet", 1)
        self.assertIn("went on", got.stdout)
        self.assertIn("50 of 64 threads meet at __syncthreads", got.stderr)

    def test_unchecked(self):
        self.assertIn("went on", self.ran("same", 0, PLUMB_SIMT_STRICT="1", PLUMB_SIMT_UNCHECKED="1").stdout)
        self.assertIn("it is '0' or '1'", self.ran("same", 2, PLUMB_SIMT_UNCHECKED="yes").stderr)

    def test_unwritten_bytes_copied_to_the_host_are_a_note(self):
        got = self.ran("copy", 0)
        self.assertIn("note: uninitialised read in cudaMemcpy: 'd' at byte 0", got.stderr)
        self.assertIn("1 note", got.stderr)

    def test_strict_and_volatile(self):
        self.ran("same", 0)
        self.assertIn("race in same", self.ran("same", 1, PLUMB_SIMT_STRICT="1").stderr)
        self.assertIn("volatile is not atomic", self.ran("poll", 1).stderr)
        self.ran("poll", 0, PLUMB_SIMT_VOLATILE="atomic")
        got = self.ran("poll", 2, PLUMB_SIMT_VOLATILE="perhaps")
        self.assertIn("PLUMB_SIMT_VOLATILE=perhaps: it is 'plain' or 'atomic'", got.stderr)

    def test_findings_as_json_and_sarif(self):
        files = {"PLUMB_SIMT_JSON": "found.json", "PLUMB_SIMT_SARIF": "found.sarif", "PLUMB_SIMT_SEED": "6"}
        self.ran("meet", 1, **files)
        found = json.loads((self.folder / "found.json").read_text())
        self.assertEqual(found["seed"], 6)
        finding, note = found["findings"]
        self.assertEqual((finding["kind"], finding["kernel"]), ("divergent barrier", "meet"))
        self.assertEqual((finding["note"], finding["at"]["line"]), (False, 5))
        told = (note["kind"], note["note"], note["offset_bytes"])
        self.assertEqual(told, ("uninitialised read", True, 200))
        self.assertTrue(note["at"]["host"])
        results = json.loads((self.folder / "found.sarif").read_text())["runs"][0]["results"]
        self.assertEqual([r["level"] for r in results], ["error", "note"])
        where = results[0]["locations"][0]["physicalLocation"]
        self.assertTrue(where["artifactLocation"]["uri"].endswith("rules.cu"))
        self.assertEqual(where["region"]["startLine"], 5)
        self.ran("same", 0, **files)
        self.assertEqual(json.loads((self.folder / "found.json").read_text())["findings"], [])

    def test_suppressed_findings_are_counted_and_no_reason_to_fail(self):
        (self.folder / "known.txt").write_text(
            "# what we know\nkind=divergent-barrier kernel=me*t file=rules.cu:5  # by design\nkernel=gone\n"
        )
        (self.folder / "wrong.txt").write_text("\nkind=race colour=red\n")
        files = {"PLUMB_SIMT_JSON": "kept.json", "PLUMB_SIMT_SARIF": "kept.sarif"}
        files["PLUMB_SIMT_HTML"] = "kept.html"
        got = self.ran("meet", 0, PLUMB_SIMT_SUPPRESS="known.txt", **files)
        self.assertNotIn("divergent barrier", got.stderr)
        self.assertIn("1 suppressed\nknown.txt:3: this suppression named no finding\n1 note\n", got.stderr)
        finding, note = json.loads((self.folder / "kept.json").read_text())["findings"]
        self.assertEqual((finding["suppressed"], "suppressed" in note), ("known.txt:2", False))
        result = json.loads((self.folder / "kept.sarif").read_text())["runs"][0]["results"][0]
        self.assertEqual(result["suppressions"], [{"kind": "external", "justification": "known.txt:2"}])
        self.assertIn("<li>divergent barrier in meet", (self.folder / "kept.html").read_text())
        got = self.ran("meet", 2, PLUMB_SIMT_SUPPRESS="wrong.txt")
        self.assertIn("wrong.txt:2: 'colour' is none of kind=, kernel=, array=, file=", got.stderr)
        self.assertIn("nowhere.txt: the file", self.ran("meet", 2, PLUMB_SIMT_SUPPRESS="nowhere.txt").stderr)

    def test_what_stops_the_program_is_not_suppressed(self):
        (self.folder / "all.txt").write_text("kernel=*\n")
        self.assertIn("out of bounds in past", self.ran("past", 1, PLUMB_SIMT_SUPPRESS="all.txt").stderr)

    def test_a_page_shows_a_race(self):
        self.ran("met", 1, PLUMB_SIMT_HTML="found.html")
        page = (self.folder / "found.html").read_text()
        self.assertIn("<h2>race in met</h2>", page)
        place = f"{self.folder}/rules.cu"
        for line, text in ((16, "int v = s[63 - threadIdx.x];"), (18, "s[threadIdx.x] = v + 1;")):
            self.assertIn(f"<b>   {line}    {text}</b>", page)
            at = rf"{re.escape(place)}:{line}"
            self.assertRegex(page, rf"<span class=access>(read|written) (here|there)<br>{at}</span>")
        self.assertIn("<div class=both>__syncthreads, line 15:", page)
        self.assertIn("<span class=step>__syncwarp, line 17</span>", page)
        self.assertLess(page.index("__syncthreads, line 15"), page.index("__syncwarp, line 17"))
        self.assertIn("no order between these two", page)
        # each panel is headed by what the text says of its place, in the text's order
        here = re.search(r"<h3>(read|written) here</h3>.*?rules.cu:(\d+)<br>", page, re.S)
        there = re.search(r"<h3>(read|written) there</h3>.*?rules.cu:(\d+)<br>", page, re.S)
        self.assertLess(here.start(), there.start())
        self.assertEqual({(m[1], m[2]) for m in (here, there)}, {("read", "16"), ("written", "18")})

    def test_no_room_for_a_shadow_is_an_error_of_the_allocation(self):
        limit = 16 << 30  # bytes: room for the array, not for what is kept beside it
        got = self.ran("large", 7, before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertIn("cudaMalloc of 3221225472 bytes: no memory for the shadow", got.stderr)
        self.assertIn(f"(ulimit -v is {limit >> 10}); the program holds 0 bytes in 0 arrays", got.stderr)


if __name__ == "__main__":
    unittest.main()
