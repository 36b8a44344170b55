// Runs every registered host variant of an operator in a test. Stands apart because the tests of all
// operators use it.
#pragma once
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "reference/core/abi.hpp"

namespace plumb::testing {

/// A context with workspace and nothing else: what a variant gets where no engine runs it.
class HostContext : public Context {
 public:
  HostContext() {
    owner = this;
    allocate = [](Context& context, std::int64_t bytes) -> void* {
      auto& self = *static_cast<HostContext*>(context.owner);
      const auto room = static_cast<std::size_t>(bytes) + 256;
      self.blocks_.push_back(std::make_unique<std::byte[]>(room));
      void* p = self.blocks_.back().get();
      std::size_t space = room;
      return std::align(256, static_cast<std::size_t>(bytes), p, space);
    };
  }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

/// Calls f(variant) for every host variant of Op in T, its name shown with a failure. Fails where there is
/// none.
template <class Op, class T, class F>
void for_each_variant(F&& f) {
  REQUIRE(variants<Op, T, Space::host> != nullptr);
  for (const auto* v = variants<Op, T, Space::host>; v != nullptr; v = v->next) {
    INFO(Op::kName, " variant ", v->name);
    f(*v);
  }
}

}  // namespace plumb::testing
