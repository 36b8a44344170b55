// gemm, rung 6: a 64 x 64 tile by 128 threads, a 4 x 8 register tile each.
//
// Change    reuse in both directions: 4 elements of A and 8 of B, loaded into registers, serve 32
//           multiply-adds. A is turned on its way into shared memory.
// Traffic   A is read n / 64 times, B m / 64 times. 12 shared loads for 32 multiply-adds, where rung 3 needs
//           32.
// Limits    Addresses of the unrolled narrow loads take a third of the registers.
// Fails at  the number of load instructions, global and shared, all of 4 or 8 bytes. Rung 7 makes the global
//           ones wide.
// Source    V. Volkov and J. Demmel, "Benchmarking GPUs to tune dense linear algebra", SC'08.
#include "gpu/gemm/kernels/register_tile.hpp"

namespace plumb {
namespace {

using namespace gemm;

PLUMB_REGISTER_WITH(Gemm, "06_register_tile", (run_register_tile<T, ByElement>), float, double);

}  // namespace
}  // namespace plumb
