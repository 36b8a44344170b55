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
/// Those rows as numbers: (rows, depth).
void fetch(const Described& operand, const unsigned char* shared, int first, int rows, double* to);
/// The 16 rows of A in a warp's registers, four of each lane: (16, depth).
void fetch(Element element, const unsigned (&a)[32][4], double* to);

/// product (16, columns), which holds zeros, becomes a (16, depth) times the transpose of b (columns, depth): exact products, added in double
/// in the order of K.
void multiply(const ProductForm& form, const double* a, const double* b, double* product);
/// Adds a lane's elements of that to its registers of the sums, which hold the rows and columns that mma.sync's do; with `add` false they are
/// taken as zeros.
void add_product(const ProductForm& form, const double* product, bool add, int lane, unsigned* sums);

}  // namespace plumb::simt
