// gemm, rung 21: tiles of 64 x 64, whole ones first, the depth of the rest in parts or in streams.
//
// Change    between rung 20, whose 32 x 32 tiles load as much as they multiply, and the rungs of large tiles, which leave
//           multiprocessors idle: tiles of 64 x 64 (rung 23's smallest steps in fp32, rung 16's half in fp64). As many tiles as fill whole
//           rounds of the chip have a block each; each of the rest has several blocks, which share its depth, as many as make the last
//           round shortest. In fp32 there may be streams instead: a block for each place on the chip, which share the stages of all
//           the rest equally, so that none waits for a fuller multiprocessor; a block then makes the end of one tile and the
//           beginning of the next. The parts are added as in rung 20: reproducible.
// Traffic   A is read n / 64 times and B m / 64 times; tiles in parts once more for each part, written and read.
// Fails at  large products, where rungs 16 and 19 read less; tiny ones: rung 20.
// Source    M. Osama et al., "Stream-K" (2023), for the rest; split-K: CUTLASS, "Efficient GEMM in CUDA".
#include "gpu/gemm/families/divided_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class T>
struct Plan {
  Division division;
  unsigned* finished;
};

template <class T, class S>
void* prepare(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Division division =
      divided<S>(out.C.rows, out.C.cols, depth_of(p, in), S::kBlocks, kMeeting<S>).division;
  return new Plan<T>{division, prepare_divided<S>(division, out, context)};
}

template <class T>
void release(void* plan) {
  delete static_cast<Plan<T>*>(plan);
}

template <class T, class S>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& plan = *static_cast<const Plan<T>*>(context.plan);
  run_divided<S>(plan.division, plan.finished, p, in, out, context);
}

const Register<Gemm, float, Space::device> f32{"21_tiles_in_parts",           run<float, QuarteredDeep>,
                                               Traits{}.needs_sm(80),         nullptr,
                                               prepare<float, QuarteredDeep>, release<float>};
const Register<Gemm, double, Space::device> f64{"21_tiles_in_parts",        run<double, Fp64Small>,
                                                Traits{}.needs_sm(90),      nullptr,
                                                prepare<double, Fp64Small>, release<double>};

}  // namespace
}  // namespace plumb
