// An operator by formula of a user's own folder (tools/plumb --extra): it needs no line in verify/operators.hpp.
#pragma once
#include <memory>
#include <vector>

#include "verify/engine/operator/adapter.hpp"

namespace plumb {

/// What makes the entries of those in this program, in the order in which they registered; none in the usual programs.
using MakeOperator = std::unique_ptr<OperatorEntry> (*)();
[[nodiscard]] std::vector<MakeOperator>& user_operators();

/// A namespace-scope object that adds one: `const UserOperator<GatedResidual> registered;`
template <Operator Op>
struct UserOperator {
  UserOperator() {
    user_operators().push_back(
        []() -> std::unique_ptr<OperatorEntry> { return std::make_unique<OperatorAdapter<Op>>(); });
  }
};

}  // namespace plumb
