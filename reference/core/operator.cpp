#include "reference/core/operator.hpp"

#include <algorithm>
#include <cmath>

#include "reference/core/text.hpp"

namespace plumb {

double sum_bound(const Tolerance& t, double value, double magnitude, std::int64_t terms) {
  if (is_bitwise(t.fill)) return 0;
  const double n = static_cast<double>(terms), u = t.unit();
  const double drift = 4 * std::sqrt(n);  // random walk of n roundings, measured 1.0 to 1.5 sqrt(n) on positive data
  const double native = (t.fill == Fill::positive ? drift : std::min(drift, 16.0)) * u * magnitude;
  const double underflow = n * t.eta();
  const double doubled = u * std::fabs(value) + 8 * n * u * u * magnitude;
  switch (t.arithmetic) {
    case Arithmetic::native:
    case Arithmetic::winograd:  // the operator passes the transform's magnitude and the length of its longest chain
      return native + underflow;
    // each operand keeps 22 bits (2 u each), and the product of the two low parts is dropped (4 u): 8 u per product, which shows
    // where there are few terms; from four terms on the fp32 bound holds it
    case Arithmetic::tf32x3: return std::max(native, 12 * u * magnitude) + underflow;
    case Arithmetic::pairwise: return std::min(native, (2 * std::log2(n + 1) + 8) * u * magnitude) + underflow;
    case Arithmetic::compensated: return 2 * u * magnitude + doubled + underflow;  // Kahan: Higham (2002), eq. 4.8
    case Arithmetic::doubled: return doubled + underflow;
    case Arithmetic::tf32: return 0x1p-9 * magnitude + native + underflow;   // two operands, truncated to 11 bits
    case Arithmetic::bf16: return 0x1p-6 * magnitude + native + underflow;   // two operands, truncated to 8 bits
    case Arithmetic::fp16: return 0x1p-9 * magnitude + native + n * 0x1p-24;  // two operands, 11 bits, fp16 underflow
  }
  return 0;
}

void CaseList::add(Tier tier, std::string_view params, std::initializer_list<Fill> fills, std::string_view why,
                   std::initializer_list<Dtype> dtypes) {
  for (const Dtype dtype : dtypes) {
    for (const Fill fill : fills) {
      Case c;
      c.op = op_;
      c.dtype = dtype;
      c.fill = fill;
      c.tier = tier;
      c.why = why;
      for (const std::string& item : split(params, ',')) {
        const std::size_t equals = item.find('=');
        c.params.emplace_back(item.substr(0, equals), item.substr(equals + 1));
      }
      cases_.push_back(std::move(c));
    }
  }
}

}  // namespace plumb
