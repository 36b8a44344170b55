// sddmm, rung 14: all pairs of rows by gemm's tiles, and the entries taken out of them.
//
// Change    a gather of k elements for each entry, which no other entry shares, is slower than the whole product where a pattern has a good
//           share of all pairs: tiles of gemm's rung 23 load a row of X or Y once for 64 or 128 pairs. Y is turned first, since those
//           tiles want B by rows of k.
// Traffic   X cols / 64 or 128 times, Y rows / 64 times, from the second-level cache; all pairs once written and read; row and column of
//           an entry.
// Fails at  patterns of a few percent, where most of the product is for nothing; more than 1 GiB of pairs: unsupported.
// Source    our own; it is what attention with a dense mask does.
#include "gpu/sddmm/dense_product.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return prepare_at_once(in, context);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_dense_product(static_cast<const std::int32_t*>(context.plan), in, out, context);
}

PLUMB_REGISTER_WITH(Sddmm, "14_dense_product",
                    (run<T>, Traits{}.needs_sm(TileOfPairs<T>::kMinSm), dense_support<T>, prepare<T>), float,
                    double);

}  // namespace
}  // namespace plumb
