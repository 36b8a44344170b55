// A family of conv2d's launches (families.hpp): tiles of filters by outputs, double.
#include "gpu/conv2d/families.hpp"

namespace plumb {
namespace conv2d {

#define PLUMB_DEFINE(S, WINDOWS, PARTS) PLUMB_CONV2D_RUN_TILES(template, double, S, WINDOWS, PARTS)
PLUMB_CONV2D_TILES_F64(PLUMB_DEFINE)
#undef PLUMB_DEFINE

}  // namespace conv2d
}  // namespace plumb
