// Not fitted yet.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace gemm {

template <class T>
struct Costs {
  static constexpr CostModel model[] = {
      {2, {3, 2, 0.01, 12, 0.2, 0.5, 0.5, 3}}, {2, {3, 2, 0.01, 12, 0.2, 0.5, 0.5, 3}},
      {2, {3, 2, 0.01, 12, 0.2, 0.5, 0.5, 3}}, {2, {3, 2, 0.01, 12, 0.2, 0.5, 0.5, 3}},
      {2, {3, 2, 0.01, 12, 0.2, 0.5, 0.5, 3}}, {2, {3, 2, 0.01, 12, 0.2, 0.5, 0.5, 3}},
      {2, {3, 2, 0.01, 12, 0.2, 0.5, 0.5, 3}}, {2, {3, 2, 0.01, 12, 0.2, 0.5, 0.5, 3}}};
};

}  // namespace gemm
}  // namespace plumb
