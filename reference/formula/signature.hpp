// The signature of an operator by formula, read: "q: n d, k: m d, v: m d, scale -> o: n d".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

/// One array of a signature.
struct SignatureArray {
  enum class Values : std::uint8_t { any, positive, flags, places, counts };
  std::string name;
  std::vector<std::string>
      extents;          // in their order; of a matrix with more than two the first ones are its rows
  bool sparse = false;  // csr: two extents, rows and columns
  Values values = Values::any;
  std::string of = {};  // places are below this extent, counts from 1 to it
  /// The name of the extent of its entries, where it is sparse: "A(n,m)".
  [[nodiscard]] std::string entries() const;
};
struct SignatureScalar {
  std::string name;
  bool positive = false;
};

///   signature  =  item {, item} -> output {, output}
///   item       =  NAME : [csr] EXTENT... [>0 | flag | in EXTENT | to EXTENT]   an array, or   NAME [>0]   a scalar
/// An EXTENT may be the name of a sparse operand before it: an array with a number for each entry; or a number: it has that size in every case.
/// in: int32 numbers from 0 to below the extent; to: from 1 to the extent; flag: 0 or 1, stored as values are.
struct Signature {
  std::vector<SignatureArray> inputs, outputs;
  std::vector<SignatureScalar> scalars;
  std::vector<std::string> extents;  // of all, in the order in which they appear
  /// Whether Problem holds every extent: views do not tell those of an array of three or more.
  [[nodiscard]] bool holds_extents() const;
};

/// The size of an extent that is a number; 0 of one with a name.
[[nodiscard]] std::int64_t fixed_size(const std::string& extent);

/// Throws Error that names the operator and the place in the text where it is wrong.
[[nodiscard]] Signature parse_signature(std::string_view op, std::string_view text);

}  // namespace plumb
