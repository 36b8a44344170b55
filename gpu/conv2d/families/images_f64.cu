// A family of conv2d's launches (families.hpp): filters of one pixel, few filters, and pixels staged once, double.
#include "gpu/conv2d/families.hpp"

namespace plumb {
namespace conv2d {

#define PLUMB_DEFINE(S) PLUMB_CONV2D_RUN_IMAGES(template, double, S)
PLUMB_CONV2D_IMAGES_F64(PLUMB_DEFINE)
#undef PLUMB_DEFINE
PLUMB_CONV2D_RUN_OTHERS(template, double)

}  // namespace conv2d
}  // namespace plumb
