// conv2d, rung 9: filters of one pixel: an image is the matrix of its windows, copied 16 bytes at a time.
//
// Change    where a filter is one pixel, takes every one and there is no padding, the windows of neighbouring outputs are neighbouring
//           pixels: a copy moves 16 bytes of a channel, and no term needs a place of its own or a test of the border. Rung 6's tile of
//           64 x 128 (fp64: rung 7's).
// Traffic   X k / 64 times, F n oh ow / 128 times, from the second-level cache.
// Fails at  every other filter: unsupported. Few outputs, as rung 6: rung 10 has parts of sums and smaller tiles for both.
// Source    the view of 1 x 1 filters as a product of matrices: S. Chetlur et al. (2014), as rung 4.
#include "gpu/conv2d/families/tiles_family.hpp"

namespace plumb {
namespace {

using namespace conv2d;

template <class T>
const char* supports(const Problem<T>& p, const In<T>& in, const Out<T>& out) {
  if (!images_are_matrices(p, in, out))
    return "takes filters of one pixel, stride 1, no padding, and planes of whole 16 bytes";
  return supports_gemm(p, in, out);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_tiles<typename Shapes<T>::Middle, ImagesAsMatrices>(p, in, out, context);
}

const Register<Conv2d, float, Space::device> f32{"09_images_as_matrices", run<float>,
                                                 Traits{}.needs_sm(80).align(16), supports<float>};
const Register<Conv2d, double, Space::device> f64{"09_images_as_matrices", run<double>,
                                                  Traits{}.needs_sm(90).align(16), supports<double>};

}  // namespace
}  // namespace plumb
