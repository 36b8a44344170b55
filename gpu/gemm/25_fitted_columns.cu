// gemm, rung 25: tiles as wide as C, for C of few columns.
//
// Change    tiles of 128 rows whose columns are the multiple of eight, up to 64, that fits C: 41 columns are made as 48, where tiles of 64
//           made more than half as many again, and 112 as twice 56. fp32: a lane makes 8 rows by 2 to 8 columns. A keeps its rows in shared
//           memory, from which four terms are loaded at once, and is copied 128 bytes of a row at a time, 16 bytes a lane however its rows
//           are aligned: a warp takes every fourth row. Rung 23 turns A element by element. Two stages: three or four blocks share a multiprocessor, and one
//           loads while another multiplies. fp64: rung 16's products by four warps of 32 rows and all columns. The depth of tiles in
//           parts as in rung 21 where they are fewer than multiprocessors.
// Traffic   A once for up to 64 columns; B m / 128 times from the second-level cache; tiles in parts once more for each part.
// Fails at  C of few rows; more columns than a few tiles have, where rung 23's and 19's squares load less.
// Source    as rung 21.
#include "gpu/gemm/families/fitted_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class T>
using Rung = FittedRung<T, FitColumns<T>>;

const Register<Gemm, float, Space::device> f32{"25_fitted_columns",   Rung<float>::run,
                                               Traits{}.needs_sm(80), nullptr,
                                               Rung<float>::prepare,  Rung<float>::release};
const Register<Gemm, double, Space::device> f64{"25_fitted_columns",   Rung<double>::run,
                                                Traits{}.needs_sm(90), nullptr,
                                                Rung<double>::prepare, Rung<double>::release};

}  // namespace
}  // namespace plumb
