// gemm, rung 26: tiles as high as C, for C of few rows, in fp64.
//
// Change    rung 25 turned: tiles whose rows are the multiple of 16, up to 64, that fits C, by four warps that lie beside each other. Of 16 rows
//           rung 23's tiles make 32, of 41 64. Their depth in parts as in rung 21 where they are fewer than multiprocessors.
// Traffic   B once for up to 64 rows; A n / 64 to n / 128 times from the second-level cache; tiles in parts once more for each part.
// Fails at  C of few columns: rung 25; large products, where larger tiles load less.
// Source    as rung 21.
#include "gpu/gemm/families/fitted_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

using Rung = FittedRung<double, FitRows>;

const Register<Gemm, double, Space::device> f64{"26_fitted_rows", Rung::run,     Traits{}.needs_sm(90),
                                                nullptr,          Rung::prepare, Rung::release};

}  // namespace
}  // namespace plumb
