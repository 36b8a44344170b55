// Host entry points of tensor_sums.cu.
#pragma once

namespace plumb::simt_test {

/// How products of e4m3 are summed over K.
enum class Fp8Sum { by_wgmma, by_mma };
/// c(64, 16), or its first 16 x 8 by mma.sync, of a(64, k) and b(16, k), K contiguous; k is a multiple of 32.
void fp8_sums(Fp8Sum how, const unsigned char* a, const unsigned char* b, int k, float* c);

}  // namespace plumb::simt_test
