// Products of matrices as tensor cores make them: the rules of reference/arithmetic/tensor_step.hpp, eight elements at once.
#pragma once
#include "gpu/simt/language/device_api.hpp"
#include "reference/arithmetic/tensor_step.hpp"

namespace plumb::simt {

constexpr int kMostDepth = 32;   // elements along K of one instruction
constexpr int kMostTerms = 512;  // of A, of a warp

/// Bytes of an element of A or B.
constexpr int bytes_of(Element element) {
  return element == Element::tf32 ? 4 : element == Element::f16 || element == Element::bf16 ? 2 : 1;
}

/// tensor_product() by the rules of `core`. At most kMostDepth along K and kMostTerms elements of A.
void multiply(const TensorCore& core, const TensorForm& form, const unsigned char* a, const unsigned char* b,
              float* sums);

}  // namespace plumb::simt
