// A family of conv2d's launches: pixels staged once for all windows of a tile.
#include "gpu/conv2d/families/register_tile_family.hpp"

namespace plumb {
namespace conv2d {

PLUMB_CONV2D_REGISTER_TILE(template)

}  // namespace conv2d
}  // namespace plumb
