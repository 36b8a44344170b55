#include "gpu/simt/language/reductions.hpp"

#include <cstdint>
#include <cstring>

#include "gpu/simt/language/half_bits.hpp"

namespace plumb::simt {

namespace {

template <class T>
T whole_number(Reduction how, T old, T v) {
  switch (how) {
    case Reduction::add_:
      return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(v));
    case Reduction::min_:
      return v < old ? v : old;
    case Reduction::max_:
      return old < v ? v : old;
    case Reduction::inc_:
      return old >= v ? T{0} : static_cast<T>(old + 1);
    case Reduction::dec_:
      return old == 0 || old > v ? v : static_cast<T>(old - 1);
    case Reduction::and_:
      return old & v;
    case Reduction::or_:
      return old | v;
    case Reduction::xor_:
      return old ^ v;
  }
  return old;
}

template <class F>
std::uint16_t half_number(Reduction how, std::uint16_t old, std::uint16_t v) {
  if (how != Reduction::add_) return extreme<F>(old, v, how == Reduction::min_);
  return narrow<F>(sum_to_odd(static_cast<double>(widen<F>(old)), static_cast<double>(widen<F>(v))));
}

template <class T, class Change>
void for_each(void* to, const void* from, std::size_t bytes, Change change) {
  for (std::size_t i = 0; i < bytes; i += sizeof(T)) {
    T old, v;
    auto* const at = static_cast<unsigned char*>(to) + i;
    std::memcpy(&old, at, sizeof old);
    std::memcpy(&v, static_cast<const unsigned char*>(from) + i, sizeof v);
    const T now = change(old, v);
    std::memcpy(at, &now, sizeof now);
  }
}

}  // namespace

std::size_t bytes_of(Number type) {
  switch (type) {
    case Number::f16:
    case Number::bf16:
      return 2;
    case Number::u64:
    case Number::s64:
    case Number::f64:
      return 8;
    default:
      return 4;
  }
}

bool can_reduce(Reduction how, Number type) {
  switch (how) {
    case Reduction::add_:
      return type != Number::none && type != Number::s64;
    case Reduction::min_:
    case Reduction::max_:
      return type != Number::none && type != Number::f32 && type != Number::f64;
    case Reduction::inc_:
    case Reduction::dec_:
      return type == Number::u32;
    default:
      return type == Number::u32 || type == Number::s32 || type == Number::u64 || type == Number::s64;
  }
}

void reduce(void* to, const void* from, std::size_t bytes, Reduction how, Number type) {
  const auto whole = [how](auto old, auto v) { return whole_number(how, old, v); };
  switch (type) {
    case Number::none:
      return;
    case Number::u32:
      return for_each<std::uint32_t>(to, from, bytes, whole);
    case Number::s32:
      return for_each<std::int32_t>(to, from, bytes, whole);
    case Number::u64:
      return for_each<std::uint64_t>(to, from, bytes, whole);
    case Number::s64:
      return for_each<std::int64_t>(to, from, bytes, whole);
    case Number::f16:
      return for_each<std::uint16_t>(to, from, bytes,
                                     [how](auto o, auto v) { return half_number<Half>(how, o, v); });
    case Number::bf16:
      return for_each<std::uint16_t>(to, from, bytes,
                                     [how](auto o, auto v) { return half_number<Brain>(how, o, v); });
    case Number::f32:
      return for_each<float>(to, from, bytes, [to](float o, float v) { return atomic_sum(to, o, v); });
    case Number::f64:
      return for_each<double>(to, from, bytes, [](double o, double v) { return o + v; });
  }
}

}  // namespace plumb::simt
