// The arithmetic of wgmma: where the elements of an operand lie, and a warp's part of a product. Source: PTX ISA, "Asynchronous
// Warpgroup Level Matrix Instructions", shared memory matrix layout.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/simt/language/async_proxy.hpp"

namespace plumb::simt {

constexpr int kRowsOfWarp = 16;  // of the 64 that a warpgroup makes
constexpr int kMostColumns = 256;
constexpr int kBytesAlongK = 32;     // of one instruction, in every type
constexpr std::uint32_t kUnit = 16;  // bytes that lie together in every layout

/// Elements along K of one instruction.
int depth_of(Element element);

/// An operand in shared memory: `rows` run along M or N.
struct Described {
  unsigned long long descriptor;
  Element element;
  bool turned;  // rows lie together, else elements along K
};
/// Why the executor cannot read that layout; null where it can.
const char* cannot_read(const Described& operand);
/// Offsets in shared memory of the 16-byte units that hold rows [first, first + rows).
std::vector<std::uint32_t> units_of(const Described& operand, int first, int rows);
/// Those rows as they lie along K: (rows, kBytesAlongK).
void fetch(const Described& operand, const unsigned char* shared, int first, int rows, unsigned char* to);
/// The 16 rows of A in a warp's registers, four of each lane.
void fetch(const unsigned (&a)[32][4], unsigned char* to);

/// The registers of the sums of each lane, which hold the rows and columns that mma.sync's do.
using WarpSums = unsigned* [32];
/// Adds a (16, kBytesAlongK) times the transpose of b (columns, kBytesAlongK) to a warp's sums, in the bits of the chip under way; with `add` false they are
/// taken as zeros.
void add_product(const ProductForm& form, const unsigned char* a, const unsigned char* b, bool add,
                 const WarpSums& sums);

}  // namespace plumb::simt
