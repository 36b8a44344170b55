// A family of conv2d's launches: few filters of one pixel.
#include "gpu/conv2d/families/few_filters_family.hpp"

namespace plumb {
namespace conv2d {

PLUMB_CONV2D_FEW_FILTERS(template)

}  // namespace conv2d
}  // namespace plumb
