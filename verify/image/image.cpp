#include "verify/image/image.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/pieces.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

// What lies beside an array, by the run's poison. A read beyond the end is harmless where the guard happens to be: a maximum ignores a
// NaN, an end of a row is clamped, an empty row before the first one is skipped. No kind of array has a value that is harmless three times.
struct Guards {
  Format kind;
  std::uint64_t nan, large, negative;  // by the kinds of poison; 8 bytes
};
constexpr Guards kGuards[] = {
    // a signalling NaN, 5.3e237 and its negative
    {Format::f64, 0x7ff5f1ce7fb5f1ceu, 0x7149f2ca7149f2cau, 0xf149f2caf149f2cau},
    // a signalling NaN, 1.0e30 and its negative
    {Format::f32, 0x7fb5f1ce7fb5f1ceu, 0x7149f2ca7149f2cau, 0xf149f2caf149f2cau},
    {Format::tf32, 0x7fb5f1ce7fb5f1ceu, 0x7149f2ca7149f2cau, 0xf149f2caf149f2cau},
    // NaN, a large number and its negative, in either format of the size
    {Format::f16, 0x7db57db57db57db5u, 0x7149714971497149u, 0xf149f149f149f149u},
    {Format::bf16, 0x7fb57fb57fb57fb5u, 0x7149714971497149u, 0xf149f149f149f149u},
    {Format::e4m3, 0x7f7f7f7f7f7f7f7fu, 0x7171717171717171u, 0xf1f1f1f1f1f1f1f1u},
    {Format::e5m2, 0x7f7f7f7f7f7f7f7fu, 0x7171717171717171u, 0xf1f1f1f1f1f1f1f1u},
    // a large index, 0 and -7
    {Format::i32, 0x7fb5f1ce7fb5f1ceu, 0, 0xfffffff9fffffff9u}};

std::uint64_t guard_of_input(Format kind, Poison poison) {
  for (const Guards& g : kGuards) {
    if (g.kind == kind)
      return poison == Poison::nan_payload ? g.nan : poison == Poison::sentinel_a ? g.large : g.negative;
  }
  throw Error(fmt::format("no guards are known for arrays of {}", facts(kind).name));
}

// Other bits beside an output than beside an input: what a copy takes along from between an input's rows would change nothing.
std::uint64_t guard_bits(Format kind, bool output, Poison poison) {
  const std::uint64_t word = guard_of_input(kind, poison);
  const int bytes = facts(kind).bytes;
  const std::uint64_t last_bits = bytes == 1   ? 0x0101010101010101u
                                  : bytes == 2 ? 0x0001000100010001u
                                               : 0x0000000100000001u;  // of each element
  return output ? word ^ last_bits : word;
}

constexpr std::int64_t kWideBytes = 16;  // of one vector access

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void fill_pattern(std::byte* to, std::int64_t elements, std::uint64_t bits, int element_bytes) {
  const auto fill = [&](auto size) {  // constant: one store each
    for (std::int64_t i = 0; i < elements; ++i) std::memcpy(to + i * size, &bits, size);
  };
  switch (element_bytes) {
    case 1:
      return fill(std::integral_constant<std::size_t, 1>{});
    case 2:
      return fill(std::integral_constant<std::size_t, 2>{});
    case 4:
      return fill(std::integral_constant<std::size_t, 4>{});
    default:
      return fill(std::integral_constant<std::size_t, 8>{});
  }
}

// `count` elements from (i, j) on, as contents hold them, into the image.
void stage(const Segment& s, std::int64_t i, std::int64_t j, std::int64_t count, std::byte* to) {
  const Format held = s.source_kind == Format::none ? s.kind : s.source_kind;
  const int bytes = facts(held).bytes, element = s.element_bytes();
  const std::byte* from = static_cast<const std::byte*>(s.source) + (i * s.source_ld + j) * bytes;
  if (held == s.kind) {
    std::memcpy(to, from, static_cast<std::size_t>(count * element));
    return;
  }
  for (std::int64_t n = 0; n < count; ++n) encode(s.kind, decode(held, from + n * bytes), to + n * element);
}

}  // namespace

std::uint64_t poison_bits(Poison poison, int element_bytes) {
  struct Patterns {
    int bytes;
    std::uint64_t nan, positive, negative;
  };
  static constexpr Patterns kPatterns[] = {
      // 0.0016, small, so that the sum of a kernel that adds to it differs from it; -0.36
      {8, 0x7ffad1ab5e0ddba1u, 0x3f5a78a56f77d1e5u, 0xbfd6fcda3b5aa9c3u},
      {4, 0x7fd1ab5eu, 0x3ad3c52bu, 0xbeb7e6d1u},
      {2, 0x7fd1u, 0x3ad3u, 0xbeb7u},  // f16: 0.85, -1.7; bf16: 0.0016, -0.36
      {1, 0x7fu, 0x33u, 0xb9u}};       // e4m3: 0.69, -1.1; e5m2: 0.22, -0.63
  for (const Patterns& p : kPatterns) {
    if (p.bytes == element_bytes)
      return poison == Poison::nan_payload ? p.nan : poison == Poison::sentinel_a ? p.positive : p.negative;
  }
  throw Error(fmt::format("no poison is known for elements of {} bytes", element_bytes));
}

WideArrays parse_layout(const std::string& word, const std::string& what) {
  static const std::vector<std::string> kWords = {"apart", "wide",  "narrow", "only_1", "only_2", "only_3",
                                                  "not_1", "not_2", "not_3",  "half",   "pages",  "far"};
  const auto at = std::find(kWords.begin(), kWords.end(), word);
  if (at == kWords.end())
    throw Error(fmt::format("{}: unknown layout '{}'{} (known: {})", what, printable(word),
                            did_you_mean(word, kWords), fmt::join(kWords, ", ")));
  return static_cast<WideArrays>(at - kWords.begin());
}

std::int64_t ImageLayout::arrays_of_values() const {
  return std::count_if(segments_.begin(), segments_.end(),
                       [](const Segment& s) { return s.kind != Format::i32; });
}

// Of an array for which no layout asks: between its rows.
bool ImageLayout::has_gaps(const Segment& segment) const {
  if (placement_.packed) return false;
  const bool asked = segment.kind != Format::i32 && placement_.wide == WideArrays::unsaid &&
                     arrays_of_values() < 8 && ((placement_.gapped >> arrays_of_values()) & 1) != 0;
  return !placement_.tight || asked;
}

bool ImageLayout::is_wide(const Segment& segment) const {
  switch (placement_.wide) {
    case WideArrays::all:
    case WideArrays::pages:
    case WideArrays::far:
      return true;
    case WideArrays::none:
    case WideArrays::halves:
      return false;
    default:
      break;
  }
  const std::int64_t before = arrays_of_values();
  const bool values = segment.kind != Format::i32;
  if (placement_.wide >= WideArrays::all_but_first)
    return !values ||
           before != static_cast<int>(placement_.wide) - static_cast<int>(WideArrays::all_but_first);
  return values && before == static_cast<int>(placement_.wide) - static_cast<int>(WideArrays::first);
}

// Each array has its own padding, narrow or wide: a leading dimension taken from another of the same width must show. Rows on pages are as
// an allocator of matrices places them: those of equal widths equally far apart.
void ImageLayout::place_wide(Segment& segment, bool vector, std::int64_t needed) {
  constexpr std::int64_t kFewRows = 300;
  const bool far = placement_.wide == WideArrays::far,
             pages = far || (placement_.wide == WideArrays::pages && segment.rows <= kFewRows);
  const std::int64_t unit = std::max(needed, pages ? kPageBytes : kWideBytes) / segment.element_bytes(),
                     index = static_cast<std::int64_t>(segments_.size());
  segment.ld = vector ? segment.cols : round_up(segment.cols, unit) + (pages ? 0 : unit * (1 + index));
  segment.offset = round_up(next_, far && !vector ? kPageBytes : 256);
}
// As far as the alignment that the variant declares leaves room to be narrow. Where one array alone is, its base is not: a kernel may have
// asked that, and forgotten the leading dimension. Bases that lie narrowly are in the tight run.
void ImageLayout::place_narrow(Segment& segment, bool vector, std::int64_t needed) {
  const std::int64_t element = segment.element_bytes(), unit = std::max<std::int64_t>(1, needed / element),
                     index = static_cast<std::int64_t>(segments_.size());
  segment.ld = vector ? segment.cols : round_up(segment.cols, unit) + unit * (1 + 2 * index);
  if (!vector && segment.ld * element % kWideBytes == 0) segment.ld += unit;
  const bool base = placement_.wide < WideArrays::all_but_first || placement_.wide == WideArrays::halves;
  segment.offset = round_up(next_, 256) + (base ? needed % 256 : 0);
}

std::size_t ImageLayout::add(Segment segment, bool vector) {
  const int element = segment.element_bytes();
  constexpr std::int64_t kHalf = 8;
  const std::int64_t least = placement_.wide == WideArrays::halves && !placement_.packed ? kHalf : element,
                     needed = std::max<std::int64_t>(placement_.alignment, least);
  if (placement_.wide != WideArrays::unsaid && !placement_.tight && !placement_.packed) {
    is_wide(segment) ? place_wide(segment, vector, needed) : place_narrow(segment, vector, needed);
    next_ = segment.offset + segment.extent() + kGuardBytes;
    segments_.push_back(std::move(segment));
    return segments_.size() - 1;
  }
  if (vector) {
    segment.ld = segment.cols;
  } else {
    const std::int64_t per_unit = std::max<std::int64_t>(1, needed / element);
    segment.ld = round_up(segment.cols, per_unit);
    // each array has its own padding: a kernel that takes the leading dimension of another array of the same width must fail
    const auto index = static_cast<std::int64_t>(segments_.size());
    if (has_gaps(segment)) segment.ld += per_unit * ((per_unit > 1 ? 1 : 3) + index);
    segment.ld = std::max<std::int64_t>(segment.ld, 1);
  }
  // one run has a large alignment, the other exactly the declared one; where the layout asks for 16 bytes, so does the tight run: rows
  // without a gap behind an aligned base, as data lies in practice
  const bool aligned = placement_.packed || (placement_.wide != WideArrays::unsaid && is_wide(segment));
  segment.offset = round_up(next_, 256) + (placement_.tight && !aligned ? needed % 256 : 0);
  next_ = segment.offset + segment.extent() + kGuardBytes;
  if (placement_.tight && placement_.walled && !segment.output && segment.elements() > 0)
    place_before_wall(segment, needed);
  segments_.push_back(std::move(segment));
  return segments_.size() - 1;
}

// A read that is thrown away shows by nothing else, nor does a store that is undone.
void ImageLayout::place_before_wall(Segment& segment, std::int64_t needed) {
  const std::int64_t least = segment.offset, wall = round_up(least + segment.extent(), kPageBytes),
                     offset = wall - segment.extent();
  segment.offset = offset - offset % needed;
  // an output before it, and the guard behind that one, can be written
  const std::int64_t from = segment.offset / kPageBytes * kPageBytes;
  const bool shared = from < least && !segments_.empty() && segments_.back().output;
  walls_.push_back({wall, shared ? from + kPageBytes : from});
  next_ = wall + kPageBytes + kGuardBytes;
}

std::size_t ImageLayout::add_once(Segment segment, bool vector) {
  const auto same = [&](const Segment& s) {
    return !s.output && !segment.output && segment.source != nullptr && s.source == segment.source &&
           s.rows == segment.rows && s.cols == segment.cols && segment.elements() > 0;
  };
  const auto placed = std::find_if(segments_.begin(), segments_.end(), same);
  return placed != segments_.end() ? static_cast<std::size_t>(placed - segments_.begin())
                                   : add(std::move(segment), vector);
}

void ImageLayout::write(std::byte* image) const {
  const auto guard = [&](Format kind, bool output, std::int64_t at, std::int64_t to) {
    // the same word at every multiple of 8
    const std::uint64_t word =
        std::rotr(guard_bits(kind, output, placement_.poison), static_cast<int>(8 * (at % 8)));
    for (; at + 8 <= to; at += 8) std::memcpy(image + at, &word, 8);
    for (int byte = 0; at < to; ++at, ++byte) image[at] = static_cast<std::byte>(word >> (8 * byte));
  };
  // guards lie around and between the segments, half of each gap for either neighbour; the padding of rows is guard too
  std::int64_t written = 0;
  Format before = Format::f32;
  bool output_before = false;
  for (const Segment& s : segments_) {
    if (s.elements() == 0) continue;
    const std::int64_t middle = written + (s.offset - written) / 16 * 8;
    guard(before, output_before, written, middle);
    guard(s.kind, s.output, middle, s.offset);
    before = s.kind, output_before = s.output;
    const int element = s.element_bytes();
    const std::int64_t stretches = (s.elements() + kStretch - 1) / kStretch;
    for_each_piece(stretches, [&](std::int64_t n) {
      for_each_run(s, n * kStretch, std::min(s.elements(), (n + 1) * kStretch),
                   [&](std::int64_t i, std::int64_t j, std::int64_t count) {
                     const std::int64_t at = s.place(i, j);
                     if (s.source != nullptr) {
                       stage(s, i, j, count, image + at);
                     } else {
                       fill_pattern(image + at, count, poison_bits(placement_.poison, element), element);
                     }
                     if (j + count == s.cols && i + 1 < s.rows)
                       guard(s.kind, s.output, at + count * element, s.place(i + 1, 0));
                   });
    });
    written = s.offset + s.extent();
  }
  guard(before, output_before, written, bytes());
}

namespace {

// f(first byte, bytes) for pieces of a block of memory.
template <class F>
void for_each_piece_of(std::int64_t bytes, F&& f) {
  constexpr std::int64_t kPieceBytes = 1 << 20;
  for_each_piece((bytes + kPieceBytes - 1) / kPieceBytes, [&](std::int64_t piece) {
    const std::int64_t begin = piece * kPieceBytes;
    f(begin, static_cast<std::size_t>(std::min(bytes - begin, kPieceBytes)));
  });
}

bool same_bytes(const std::byte* a, const std::byte* b, std::int64_t bytes) {
  std::atomic<bool> same{true};
  for_each_piece_of(bytes, [&](std::int64_t begin, std::size_t count) {
    if (same && std::memcmp(a + begin, b + begin, count) != 0) same = false;
  });
  return same;
}

}  // namespace

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  for_each_piece_of(
      bytes, [&](std::int64_t begin, std::size_t count) { std::memcpy(to + begin, from + begin, count); });
}

namespace {

// Whether everything but the elements of outputs is unchanged.
bool untouched(const ImageLayout& layout, const std::byte* before, const std::byte* after) {
  const auto same = [&](std::int64_t begin, std::int64_t end) {
    return begin >= end ||
           std::memcmp(before + begin, after + begin, static_cast<std::size_t>(end - begin)) == 0;
  };
  std::int64_t seen = 0;  // inputs, and all that lies around them, at once
  for (const Segment& s : layout.segments()) {
    if (!s.output || s.elements() == 0) continue;
    if (!same_bytes(before + seen, after + seen, s.offset - seen)) return false;
    for (std::int64_t i = 0; i + 1 < s.rows; ++i) {
      if (!same(s.place(i, s.cols), s.place(i + 1, 0))) return false;
    }
    seen = s.offset + s.extent();
  }
  return same_bytes(before + seen, after + seen, layout.bytes() - seen);
}

// "the first place" or "place 7".
std::string place_number(std::int64_t n) { return n == 1 ? "the first place" : fmt::format("place {}", n); }

// Of a write `bytes` bytes after the end of `s`.
std::string behind_end(const Segment& s, std::int64_t bytes) {
  const std::int64_t n = bytes / s.element_bytes();
  if (s.rows != 1) return fmt::format("wrote {} behind the end of {}", place_number(n + 1), s.name);
  return fmt::format("wrote {}[{}], {} behind its end", s.name, s.cols + n, place_number(n + 1));
}

// Of a write whose first byte is `bytes` bytes before the start of `s`.
std::string before_start(const Segment& s, std::int64_t bytes) {
  const std::int64_t n = (bytes + s.element_bytes() - 1) / s.element_bytes();
  if (s.rows != 1) return fmt::format("wrote {} before the start of {}", place_number(n), s.name);
  return fmt::format("wrote {}[{}], {} before its start", s.name, -n, place_number(n));
}

}  // namespace

Trespass find_trespass(const ImageLayout& layout, const std::byte* before, const std::byte* after) {
  Trespass found;
  if (untouched(layout, before, after)) return found;
  const auto& segments = layout.segments();  // something was written: find the first place
  const auto first_difference = [&](std::int64_t begin, std::int64_t end) -> std::int64_t {
    if (begin >= end ||
        std::memcmp(before + begin, after + begin, static_cast<std::size_t>(end - begin)) == 0)
      return -1;
    while (before[begin] == after[begin]) ++begin;
    return begin;
  };
  std::int64_t at = 0;
  for (std::size_t n = 0; n < segments.size(); ++n) {
    const Segment& s = segments[n];
    const int element = s.element_bytes();
    for (std::int64_t i = 0; i < s.rows; ++i) {
      const std::int64_t begin = s.offset + i * s.ld * element, end = begin + s.cols * element;
      if (const std::int64_t d = first_difference(at, begin); d >= 0) {
        const std::string text =
            i > 0 ? fmt::format("wrote {}({}, {}), in the padding behind a row of {} elements", s.name, i - 1,
                                s.cols + (d - at) / element, s.cols)
            : n > 0 && d - at < kGuardBytes / 2 ? behind_end(segments[n - 1], d - at)
                                                : before_start(s, begin - d);
        return {Trespass::Kind::guard, text};
      }
      if (!s.output) {
        if (const std::int64_t d = first_difference(begin, end);
            d >= 0 && found.kind == Trespass::Kind::none) {
          const std::int64_t j = (d - begin) / element;
          found = {Trespass::Kind::input, s.rows == 1
                                              ? fmt::format("input {}[{}] was changed", s.name, j)
                                              : fmt::format("input {}({}, {}) was changed", s.name, i, j)};
        }
      }
      at = end;
    }
  }
  if (const std::int64_t d = first_difference(at, layout.bytes()); d >= 0) {
    return {Trespass::Kind::guard,
            segments.empty() ? "wrote where there is no array" : behind_end(segments.back(), d - at)};
  }
  return found;
}

}  // namespace plumb
