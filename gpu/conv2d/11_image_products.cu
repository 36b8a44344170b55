// conv2d, rung 11: filters of one pixel as a product of matrices for each image, by gemm's tiles.
//
// Change    rung 9 copies images as matrices into the tiles of rungs 6 and 7. Here the product itself is gemm's: tiles of 64 x 64 that do not
//           cross from one image into the next, of which those of all images are one grid; the next step's fragments are loaded ahead, filters
//           are copied 16 bytes at a time, and the depth of a tile is in parts where there are few. Planes need no alignment.
// Traffic   X k / 64 times, F n oh ow / 64 times, from the second-level cache; the outputs once more for each part, written and read.
// Fails at  every other filter: unsupported. Planes much smaller than a tile, of which most is empty: rung 9 puts outputs of several images
//           into one.
// Source    as rung 9; gemm's rung 21.
#include "gpu/conv2d/families/image_products_family.hpp"

namespace plumb {
namespace {

using namespace conv2d;

template <class T>
void* prepare(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  using S = typename ImageTiles<T>::Small;
  return keep_tiles_in_parts<S>(tiles_of_images<S>(p, out), in, context);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const TilesInParts& plan = *static_cast<const TilesInParts*>(context.plan);
  run_image_products<typename ImageTiles<T>::Small>(p, in, out, context, plan.parts, plan.finished);
}

const Register<Conv2d, float, Space::device> f32{"11_image_products",   run<float>,
                                                 Traits{}.needs_sm(80), supports_pixels<float>,
                                                 prepare<float>,        release_tiles_in_parts};
const Register<Conv2d, double, Space::device> f64{"11_image_products",   run<double>,
                                                  Traits{}.needs_sm(90), supports_pixels<double>,
                                                  prepare<double>,       release_tiles_in_parts};

}  // namespace
}  // namespace plumb
