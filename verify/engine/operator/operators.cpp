// Instantiates the engine for every operator of the list.
#include "verify/engine/operator/operators.hpp"

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "reference/core/resource_error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/operator/adapter.hpp"
#include "verify/engine/operator/no_bound.hpp"
#include "verify/engine/operator/user_operator.hpp"
#include "verify/operators.hpp"

namespace plumb {
namespace {

template <class... Ops>
std::vector<std::unique_ptr<OperatorEntry>> entries(OperatorList<Ops...>) {
  std::vector<std::unique_ptr<OperatorEntry>> all;
  (all.push_back(std::make_unique<OperatorAdapter<Ops>>()), ...);
  for (const MakeOperator make : user_operators()) {
    all.push_back(make());
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i]->name() == all.back()->name())
        throw Error(
            fmt::format("an operator is called '{}' already: give yours another kName", all[i]->name()));
    }
  }
  return all;
}

}  // namespace

std::vector<MakeOperator>& user_operators() {
  static std::vector<MakeOperator> all;
  return all;
}

std::string_view name(Device device) {
  return device == Device::cpu ? "cpu" : device == Device::gpu ? "gpu" : "simt";
}

const std::vector<std::unique_ptr<OperatorEntry>>& operators() {
  static const auto all = entries(Operators{});
  return all;
}

const OperatorEntry& find_operator(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& entry : operators()) {
    if (entry->name() == name) return *entry;
    known.push_back(entry->name());
  }
  throw Error(fmt::format("no operator is called '{}'{} (verify --list)", printable(name),
                          did_you_mean(name, known)));
}

void throw_unknown_variant(const std::string& op, const std::string& variant) {
  throw Error(fmt::format("{} has no variant '{}' in this process (verify --list variants)", op, variant));
}

void throw_no_memory(const Case& c, const std::bad_alloc& e) {
  throw ResourceError(fmt::format("{}: {}", c.id(), ending_text(e)));
}

void throw_no_bound(const std::string& op, Arithmetic arithmetic) {
  throw NoBound(
      fmt::format("{}: no bound is known here for variants that compute in {}: they are to decline the case",
                  op, name(arithmetic)));
}

}  // namespace plumb
