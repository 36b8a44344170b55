// Fourier transforms of arrays on the host, by FFTW, and what of the arrays they read and write.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/simt/memory/memory.hpp"

namespace plumb::simt {

enum class FourierKind : std::uint8_t { complex, real_to_complex, complex_to_real };

/// Where the elements of one side lie. Element (i0, i1, ...) of transform b is at
/// b * distance + stride * (i0 * embed[1] * embed[2] + i1 * embed[2] + ...). Without `embed` they lie as close as they can.
struct FourierSide {
  std::vector<std::int64_t> embed;
  std::int64_t stride = 1, distance = 0;
};

/// `batch` transforms of 1 to 3 dimensions, not scaled. sizes: the real side's, or those of both; the last changes fastest. The complex side
/// of a real transform has sizes.back() / 2 + 1 elements in the last dimension.
struct Fourier {
  FourierKind kind = FourierKind::complex;
  bool is_double = false;
  std::vector<std::int64_t> sizes;
  std::int64_t batch = 1;
  FourierSide in, out;
};

/// The complex elements of one side, in bytes.
std::size_t fourier_bytes(const Fourier& f);
/// In place, the rows of a packed real side have room for the complex ones, as FFTW's have.
std::vector<HostRange> fourier_reads(const Fourier& f, const void* in, bool in_place);
std::vector<HostRange> fourier_writes(const Fourier& f, const void* out, bool in_place);
/// exp(sign 2 pi i ...), sign -1 or 1; of a real transform its kind says it. `reads`: fourier_reads() of it. False: FFTW has
/// no plan for it.
bool run_fourier(const Fourier& f, const std::vector<HostRange>& reads, const void* in, void* out, int sign);

}  // namespace plumb::simt
