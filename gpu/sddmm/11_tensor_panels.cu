// sddmm, rung 11: panels on the tensor cores: of fp64, or of 16-bit elements.
//
// Change    rung 9 with its products and sums made by mma: no shuffles, and one mask per row and group to place
//           results by. fp32 is converted on the way: products are exact, sums rounded once. That runs at 16
//           elements a clock, and took longer than the products when every panel of eight rows converted X for
//           each group: hence X once, kept in shared memory as fp64, and where k > 32 panels of 16 rows, which
//           halve the rows of Y asked for and converted. k = 32, 64 and 128 are known to the compiler: tests of
//           a row's end around each load cost 281 us for 200.
//           f16 and bf16 are multiplied as they are, with fp32 sums (half_panels.hpp): nothing is converted, X
//           stays in registers up to k = 128.
// Traffic   as rung 9.
// Fails at  rows that share little: a unit of 16 rows costs as much as three entries in rung 8. Few and deep
//           panels, as one warp goes along each. Where columns do not ascend or giant rows hold most entries, it
//           is rung 8.
// Source    tensor cores on sparse rows with their columns condensed: TC-GNN, Wang et al., USENIX ATC
//           2023, there in tf32.
#include "gpu/sddmm/tensor_panels.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return panels_or_steps(fill_tensor_panels(count_tensor_panels(in, context), in, context), in, context);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_panels_or_steps(in, out, context, run_tensor_panels<T>);
}

PLUMB_REGISTER_WITH(Sddmm, "11_tensor_panels",
                    (run<T>, {}, steps_support<T>, prepare<T>, release_panels_or_steps), float, double, f16,
                    bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
