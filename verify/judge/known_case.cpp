#include "verify/judge/known_case.hpp"

#include <utility>

#include "verify/judge/operands.hpp"
#include "verify/judge/run_plan.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{16} << 20;

}  // namespace

void KnownCase::begin(const Contents& contents) {
  if (contents.of_case == case_ && case_ != 0) return;
  case_ = contents.of_case;
  has_operands_ = false;
  answers_.clear(), bytes_ = 0;
}

const KnownCase::Operands& KnownCase::operands_of(const PreparedCase& prepared) {
  begin(prepared.contents());
  if (!has_operands_)
    operands_.arrays = arrays_of(prepared), operands_.words = describe_operands(operands_.arrays);
  has_operands_ = case_ != 0;
  return operands_;
}

const KnownAnswer* KnownCase::find(const KnownAnswer& like, const Segment& s, const std::byte* image) {
  begin(like.contents);
  for (const KnownAnswer& a : answers_) {
    if (a.contents == like.contents && a.output == like.output && a.arithmetic == like.arithmetic &&
        a.tensor_cores == like.tensor_cores && holds(s, image, a.bits))
      return &a;
  }
  return nullptr;
}

void KnownCase::keep(KnownAnswer answer) {
  begin(answer.contents);
  if (case_ == 0 || bytes_ + answer.bits.bytes > kMostBytes) return;
  bytes_ += answer.bits.bytes;
  answers_.push_back(std::move(answer));
}

}  // namespace plumb
