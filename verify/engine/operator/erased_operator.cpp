#include "verify/engine/operator/erased_operator.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

std::string full_name(const AnyVariant& v) {
  if (v.origin[0] != '\0') return std::string(v.origin) + "/" + v.name;
  return std::string(v.space == Space::host ? "cpu/" : "gpu/") + v.name;
}
std::string full_name(const AnyMutant& m) { return std::string("mutant/") + m.variant.name; }

}  // namespace

std::vector<Case> ErasedOperator::cases() const {
  CaseList list(contract_.name, contract_.dtypes);
  contract_.cases(list);
  return list.all();
}

CaseSpace ErasedOperator::space() const {
  CaseSpace described(contract_.name, contract_.dtypes);
  contract_.describe(described);
  described.complete();
  return described;
}

std::vector<VariantInfo> ErasedOperator::variants(Device device_of_device_space) const {
  std::vector<VariantInfo> all;
  const auto add = [&](const AnyVariant& v, std::string name, bool mutant, const MutantInfo& fault) {
    const Device device = v.space == Space::host ? Device::cpu : device_of_device_space;
    all.push_back({contract_.name, std::move(name), v.dtype, device, v.traits, mutant, fault});
    all.back().prepares = v.has_prepare;
  };
  for (const AnyVariant* v = contract_.variants(); v != nullptr; v = v->next)
    add(*v, full_name(*v), false, {0, "", "", 0});
  for (const AnyMutant* m = contract_.mutants(); m != nullptr; m = m->next)
    add(m->variant, full_name(*m), true, m->info);
  std::sort(all.begin(), all.end(), [](const VariantInfo& a, const VariantInfo& b) {
    return std::tie(a.mutant, a.device, a.name, a.dtype) < std::tie(b.mutant, b.device, b.name, b.dtype);
  });
  return all;
}

std::unique_ptr<PreparedCase> ErasedOperator::prepare(const Case& c) const {
  try {
    return prepare_case(contract_, c);
  } catch (const std::bad_alloc& e) { throw_no_memory(c, e); }
}

std::unique_ptr<PreparedCase> ErasedOperator::prepare(const GivenCall& given) const {
  return prepare_given(contract_, given);
}

const ArrayInfo& GivenCall::array(const std::string& name) const {
  for (const ArrayInfo& a : arrays) {
    if (a.name == name) return a;
  }
  throw Error(fmt::format("there is no array {}", name));
}

double GivenCall::scalar(const std::string& name) const {
  for (const auto& [known, value] : scalars) {
    if (known == name) return value;
  }
  throw Error(fmt::format("there is no number {}", name));
}

const AnyVariant& ErasedOperator::find(const Call& i) const {
  const Space space = i.device == Device::cpu ? Space::host : Space::device;
  const auto fits = [&](const AnyVariant& v) { return v.space == space && v.dtype == i.dtype; };
  for (const AnyMutant* m = contract_.mutants(); m != nullptr; m = m->next) {
    if (fits(m->variant) && full_name(*m) == i.variant) return m->variant;
  }
  const AnyVariant* found = nullptr;  // the first that registered
  for (const AnyVariant* v = contract_.variants(); v != nullptr; v = v->next) {
    if (fits(*v) && full_name(*v) == i.variant) found = v;
  }
  if (found == nullptr) throw_unknown_variant(contract_.name, i.variant);
  return *found;
}

std::string ErasedOperator::invoke(const Call& i) const {
  return call_variant(contract_.of(i.dtype), find(i), i);
}

CallInfo ErasedOperator::relocate(Dtype dtype, std::byte* views, const Placer& placer) const {
  const TypedContract& contract = contract_.of(dtype);
  CallInfo info;
  info.scalars = contract.numbers(views);
  for (const ViewArray& a : contract.arrays(views, dtype)) {
    ArrayInfo& array = info.arrays.emplace_back();
    array = {a.name, a.kind, a.output, a.vector, a.rows, a.cols, a.ld(), nullptr};
    array.data = placer(array, a.address());
    a.set_ld(array.ld);
    a.point_to(array.data);
  }
  return info;
}

}  // namespace plumb
