// rmsnorm, rung 2: a row in the registers of some lanes, or of a block.
//
// Change    rung 1's thread reads its row twice, far from its neighbours' reads; here neighbours read neighbouring 16 bytes, and what they have
//           read stays with them until the root is known.
// Traffic   x and y once; w from the caches for every row.
// Limits    memory. Rows of up to 16,384 columns.
// Fails at  longer rows, which no block holds.
// Source    the ladder's own step; the row in registers as in log_softmax.
#include "gpu/common/functions.hpp"
#include "gpu/common/held_row.hpp"
#include "reference/ops/rmsnorm.hpp"

namespace plumb {
namespace {

template <class T>
using In = RmsNorm::In<T, Space::device>;
template <class T>
using Out = RmsNorm::Out<T, Space::device>;

template <class T>
struct Row {
  RmsNorm::Problem<T> p;
  In<T> in;
  Out<T> out;

  template <int Held, int V, class Team>
  PLUMB_DEVICE void take(Team team, Index i, bool mine) const {
    using S = scalar_t<T>;
    const int first = team.place() * V, stride = Team::kTeam * V, cols = static_cast<int>(in.x.cols);
    HeldRow<Held, V, S> row;
    row.load(&in.x(i, 0), first, cols, stride, S(0));
    S squares = 0;
    row.each([&](S x) { squares += x * x; });
    squares = team.all(squares, [](S a, S b) { return a + b; });
    const S root = root_of(squares / static_cast<S>(cols) + p.eps);
    row.join(
        first, cols, stride, [root](S x, S w) { return x * w / root; }, in.w.data);
    if (mine) row.store(&out.y(i, 0), first, cols, stride);
  }
};

template <class T>
const char* supports(const RmsNorm::Problem<T>&, const In<T>& in, const Out<T>&) {
  return why_not_held(in.x.cols);
}

template <class T>
void run(const RmsNorm::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kV = kPackOf<in_t<T>>;
  const bool wide = in_pieces<kV>(in.x) && in_pieces<kV>(out.y) && begins_on_16(in.w.data);
  run_function_of_rows<in_t<T>>(Row<T>{p, in, out}, in.x.rows, in.x.cols, wide, context);
}

PLUMB_REGISTER_WITH(RmsNorm, "02_row_in_registers", (run<T>, {}, supports<T>), float, double, f16, bf16,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
