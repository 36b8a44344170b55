// A family of conv2d's launches: filters of one pixel, fp64.
#include "gpu/conv2d/families/image_products_family.hpp"

namespace plumb {
namespace conv2d {

PLUMB_CONV2D_IMAGES_F64(template)

}  // namespace conv2d
}  // namespace plumb
