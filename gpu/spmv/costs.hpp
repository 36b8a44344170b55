// Not fitted yet.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace spmv {

template <class T>
struct Costs {
  static constexpr CostModel model[] = {
      {2, {3, 2, 0.4, 0.02, 0.01, 0.12, 0.25, 0.01}}, {2, {3, 2, 0.4, 0.02, 0.01, 0.12, 0.25, 0.01}},
      {2, {3, 2, 0.4, 0.02, 0.01, 0.12, 0.25, 0.01}}, {2, {3, 2, 0.4, 0.02, 0.01, 0.12, 0.25, 0.01}},
      {2, {3, 2, 0.4, 0.02, 0.01, 0.12, 0.25, 0.01}}, {2, {3, 2, 0.4, 0.02, 0.01, 0.12, 0.25, 0.01}},
      {2, {3, 2, 0.4, 0.02, 0.01, 0.12, 0.25, 0.01}}, {2, {3, 2, 0.4, 0.02, 0.01, 0.12, 0.25, 0.01}}};
};

}  // namespace spmv
}  // namespace plumb
