// softmax, rung 2: a row in the registers of some lanes, or of a block.
//
// Change    rung 1's thread reads its row three times, far from its neighbours' reads, and takes every exponential twice; here neighbours read
//           neighbouring 16 bytes, and what they have read, then its exponential, stays with them until the sum is known.
// Traffic   x and y once.
// Limits    memory. Rows of up to 16,384 columns.
// Fails at  longer rows, which no block holds.
// Source    the ladder's own step; the row in registers as in log_softmax.
#include "gpu/common/functions.hpp"
#include "gpu/common/held_row.hpp"
#include "reference/ops/softmax.hpp"

namespace plumb {
namespace {

template <class T>
using In = Softmax::In<T, Space::device>;
template <class T>
using Out = Softmax::Out<T, Space::device>;

template <class T>
struct Row {
  In<T> in;
  Out<T> out;

  template <int Held, int V, class Team>
  PLUMB_DEVICE void take(Team team, Index i, bool mine) const {
    using S = scalar_t<T>;
    const int first = team.place() * V, stride = Team::kTeam * V, cols = static_cast<int>(in.x.cols);
    const auto larger = [](S a, S b) { return a > b ? a : b; };
    HeldRow<Held, V, S> row;
    row.load(&in.x(i, 0), first, cols, stride, -static_cast<S>(INFINITY));
    S max = -static_cast<S>(INFINITY), sum = 0;
    row.each([&](S x) { max = larger(x, max); });
    max = team.all(max, larger);
    row.each_inside(first, cols, stride, [&](S& x) { sum += x = exp_of(x - max); });
    sum = team.all(sum, [](S a, S b) { return a + b; });
    row.each([sum](S& x) { x /= sum; });
    if (mine) row.store(&out.y(i, 0), first, cols, stride);
  }
};

template <class T>
const char* supports(const Softmax::Problem<T>&, const In<T>& in, const Out<T>&) {
  return why_not_held(in.x.cols);
}

template <class T>
void run(const Softmax::Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kV = kPackOf<in_t<T>>;
  run_function_of_rows<in_t<T>>(Row<T>{in, out}, in.x.rows, in.x.cols,
                                in_pieces<kV>(in.x) && in_pieces<kV>(out.y), context);
}

PLUMB_REGISTER_WITH(Softmax, "02_row_in_registers", (run<T>, {}, supports<T>), float, double, f16, bf16,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
