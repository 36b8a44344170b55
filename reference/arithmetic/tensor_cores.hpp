// The arithmetic of tensor cores as one table: what a product of matrices keeps of its terms, by chip and instruction. The CPU executor
// computes by it (tensor_step.hpp), and the bound of such sums follows from it (tensor_bound.hpp). Read with every kernel: C++17, <cstdint> alone.
//
// One step takes `terms` products and the sum so far. All are aligned to the largest exponent among them and cut, toward zero, to
// `fraction_bits` bits behind it; what is left is added exactly. An fp32 sum is cut, toward zero, to `result_bits` bits behind its leading one;
// an f16 sum is rounded to nearest even. Steps follow in the order of K.
//
// Sources: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021
// (sm_70, 75, 80); X. Li et al., "FTTN", arXiv 2403.00232; P. Xie et al., "MMA-Sim", arXiv 2511.10909 (all chips); F. A. Khattak,
// M. Mikaitis, arXiv 2512.07004.
#pragma once
#include <cstdint>

namespace plumb {

/// Instructions that differ in their sums: mma.sync; wmma.mma, of which nvcuda::wmma is made; wgmma.mma_async; tcgen05.mma.
enum class TensorInstruction : std::uint8_t { mma, wmma, wgmma, tcgen05 };

struct TensorCore {
  int chip;  // 90: sm_90; the first one that sums so
  TensorInstruction instruction;
  int operand_bytes;  // 4: tf32; 2: f16 and bf16; 1: e4m3 and e5m2
  int fraction_bits, result_bits, terms;
  // The chip has no such instruction. The compiler (ptxas of CUDA 13.0) makes it of two products of f16 from 0, of the first and of the last two of
  // each four elements along K, and of an ordinary addition of the accumulator.
  bool as_f16 = false;
};

inline constexpr TensorCore kTensorCores[] = {
    {70, TensorInstruction::mma, 2, 23, 23, 4},       {75, TensorInstruction::mma, 2, 24, 23, 8},
    {80, TensorInstruction::mma, 2, 24, 23, 8},       {80, TensorInstruction::mma, 4, 24, 23, 4},
    {89, TensorInstruction::mma, 1, 13, 13, 16},      {90, TensorInstruction::mma, 2, 25, 23, 16},
    {90, TensorInstruction::mma, 4, 25, 23, 8},       {90, TensorInstruction::mma, 1, 25, 23, 16, true},
    {120, TensorInstruction::mma, 1, 25, 23, 32},     {70, TensorInstruction::wmma, 2, 23, 23, 4},
    {75, TensorInstruction::wmma, 2, 24, 23, 8},      {80, TensorInstruction::wmma, 2, 24, 23, 8},
    {80, TensorInstruction::wmma, 4, 24, 23, 4},      {90, TensorInstruction::wmma, 2, 25, 23, 16},
    {90, TensorInstruction::wmma, 4, 25, 23, 4},      {90, TensorInstruction::wgmma, 2, 25, 23, 16},
    {90, TensorInstruction::wgmma, 4, 25, 23, 8},     {90, TensorInstruction::wgmma, 1, 13, 13, 32},
    {100, TensorInstruction::tcgen05, 2, 25, 23, 16}, {100, TensorInstruction::tcgen05, 4, 25, 23, 8},
    {100, TensorInstruction::tcgen05, 1, 25, 23, 32},
};

/// The row for `chip` (90: sm_90) and operands of that many bytes: of the newest chip up to it that has the instruction; of the first one that
/// has it where `chip` is older. operand_bytes: 1, 2 or 4.
[[nodiscard]] constexpr const TensorCore& tensor_core(int chip, TensorInstruction instruction,
                                                      int operand_bytes) {
  const TensorCore* found = nullptr;
  for (const TensorCore& row : kTensorCores) {
    if (row.instruction != instruction || row.operand_bytes != operand_bytes) continue;
    if (found == nullptr || row.chip <= chip) found = &row;
  }
  return *found;
}

/// What is true of every chip that has the instruction: the fewest bits and the fewest terms of its rows.
[[nodiscard]] constexpr TensorCore any_tensor_core(TensorInstruction instruction, int operand_bytes) {
  TensorCore least = tensor_core(0, instruction, operand_bytes);
  for (const TensorCore& row : kTensorCores) {
    if (row.instruction != instruction || row.operand_bytes != operand_bytes) continue;
    if (row.fraction_bits < least.fraction_bits) least.fraction_bits = row.fraction_bits;
    if (row.result_bits < least.result_bits) least.result_bits = row.result_bits;
    if (row.terms < least.terms) least.terms = row.terms;
    least.as_f16 = least.as_f16 || row.as_f16;
  }
  return least;
}

}  // namespace plumb
