// An operator's cases, variants and calls, made of its contract with the types erased.
#pragma once
#include "verify/engine/operator/contract.hpp"
#include "verify/engine/operator/entry.hpp"

namespace plumb {

class ErasedOperator : public OperatorEntry {
 public:
  explicit ErasedOperator(const OperatorContract& contract) : contract_(contract) {}
  [[nodiscard]] std::string name() const override { return contract_.name; }
  [[nodiscard]] std::string signature() const override { return contract_.signature; }
  [[nodiscard]] std::span<const Dtype> dtypes() const override { return contract_.dtypes; }
  [[nodiscard]] std::vector<Case> cases() const override;
  [[nodiscard]] CaseSpace space() const override;
  [[nodiscard]] std::vector<VariantInfo> variants(Device device_of_device_space) const override;
  [[nodiscard]] std::unique_ptr<PreparedCase> prepare(const Case&) const override;
  [[nodiscard]] std::unique_ptr<PreparedCase> prepare(const GivenCall&) const override;
  [[nodiscard]] std::string invoke(const Call&) const override;
  [[nodiscard]] CallInfo relocate(Dtype, std::byte* views, const Placer&) const override;

 private:
  [[nodiscard]] const AnyVariant& find(const Call&) const;
  OperatorContract contract_;
};

/// A case's data, made and validated, with what is judged against it. `contract` outlives it.
[[nodiscard]] std::unique_ptr<PreparedCase> prepare_case(const OperatorContract& contract, const Case&);
[[nodiscard]] std::unique_ptr<PreparedCase> prepare_given(const OperatorContract& contract, const GivenCall&);

/// Calls `variant` as `i` says, on views whose pointers are offsets and are made addresses. Returns the reason when it does not support the problem, else "".
[[nodiscard]] std::string call_variant(const TypedContract& contract, const AnyVariant& variant,
                                       const Call& i);

}  // namespace plumb
