// The body of rung 23: shapes whose warps make small tiles, so that many of them share a multiprocessor. Header only.
#pragma once
#include "gpu/gemm/kernels/parts.hpp"

namespace plumb {
namespace gemm {

/// 64 x 64 by four warps of 32 x 32. By steps of 16 along K, five blocks share a multiprocessor: for products of little depth.
using Quartered = Shape<float, 64, 64, 32, 2, 2, 1, 8, 4, 3, 4>;
using QuarteredShallow = Shape<float, 64, 64, 16, 2, 2, 1, 8, 4, 4, 5>;
/// The same by steps of 8, for depths that fill no step of 16; and with registers for more, four blocks: parts of a deep product.
using QuarteredShort = Shape<float, 64, 64, 8, 2, 2, 1, 8, 4, 4, 5>;
using QuarteredDeep = Shape<float, 64, 64, 16, 2, 2, 1, 8, 4, 4, 4>;
/// 128 x 32 by four warps of 32 x 32: products with few columns.
using QuarteredThin = Shape<float, 128, 32, 16, 4, 1, 1, 8, 4, 4, 4>;
/// 64 x 128 by four warps of 32 x 64.
using QuarteredWide = Shape<float, 64, 128, 16, 2, 2, 1, 8, 8, 4, 3>;
/// 32 x 64 by two warps, twice, and 32 x 32 by one warp, four times: each a part of the depth.
using SharedWide = Shape<float, 32, 64, 32, 1, 2, 2, 8, 4, 3, 5>;
using SharedSquare = Shape<float, 32, 32, 32, 1, 1, 4, 8, 4, 3, 5>;

/// fp64: 128 x 32 by four warps of 32 x 32: products with few columns.
using Fp64Thin = TensorShape<double, 128, 32, 16, 4, 1, 1, 3, 3>;
/// 32 x 64 and 32 x 32 by four warps, twice: each half of the depth.
using Fp64SharedWide = TensorShape<double, 32, 64, 32, 2, 2, 2, 3, 2>;
using Fp64SharedSquare = TensorShape<double, 32, 32, 32, 2, 2, 2, 3, 3>;

}  // namespace gemm
}  // namespace plumb
