// A family of conv2d's launches: tiles whose sums are in parts, fp32.
#include "gpu/conv2d/families/tiles_family.hpp"

namespace plumb {
namespace conv2d {

PLUMB_CONV2D_PARTS_F32(template)

}  // namespace conv2d
}  // namespace plumb
