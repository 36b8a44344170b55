// log_softmax, rung 5: maximum and sum in one read.
//
// Change    each thread keeps a running maximum and a sum relative to it, and rescales the sum when the
//           maximum grows, once for four elements; the pairs of a block are merged the same way. x is read
//           once for them and once for the result.
// Traffic   x twice and y once; the second time from the cache where the rows in flight fit.
// Fails at  narrow rows, as rung 4. The rescaling costs an exponential more per new maximum, and rounds once
//           more.
// Source    Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
#include "gpu/log_softmax/online.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_online(in, out, context);
}

PLUMB_REGISTER(LogSoftmax, "05_online", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
