// A family of conv2d's launches: tiles of filters by outputs, fp64.
#include "gpu/conv2d/families/tiles_family.hpp"

namespace plumb {
namespace conv2d {

PLUMB_CONV2D_TILES_F64(template)

}  // namespace conv2d
}  // namespace plumb
