// Which arrays of a placement allow 16-byte accesses.
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "reference/core/error.hpp"
#include "verify/engine/backend/far_rows.hpp"
#include "verify/engine/process/worker.hpp"
#include "verify/image/image.hpp"

namespace plumb {
namespace {

// One letter for each of three matrices of values after one array of indices: w where base and rows are on 16 bytes.
std::string placed(const std::string& layout, Format kind, std::int64_t cols, int alignment, bool tight) {
  Placement placement;
  placement.alignment = alignment, placement.tight = tight;
  placement.wide = parse_layout(layout, "test");
  ImageLayout image(placement);
  Segment s;
  s.kind = Format::i32, s.rows = 1, s.cols = 5;
  image.add(s, true);
  s.kind = kind, s.rows = 3, s.cols = cols;
  std::string letters;
  for (int i = 0; i < 3; ++i) {
    const Segment& at = image.segments()[image.add(s, false)];
    CHECK(at.ld >= cols);
    letters += at.offset % 16 == 0 && at.ld * at.element_bytes() % 16 == 0 ? 'w' : 'n';
  }
  return letters;
}

TEST_CASE("a layout widens the arrays that it names, and no others") {
  for (const Format kind : {Format::f32, Format::f64}) {
    for (const std::int64_t cols : {1, 7, 8, 64}) {
      CAPTURE(cols);
      CHECK(placed("wide", kind, cols, 0, false) == "www");
      CHECK(placed("narrow", kind, cols, 0, false) == "nnn");
      CHECK(placed("only_1", kind, cols, 0, false) == "wnn");
      CHECK(placed("only_2", kind, cols, 0, false) == "nwn");
      CHECK(placed("only_3", kind, cols, 0, false) == "nnw");
      CHECK(placed("not_1", kind, cols, 0, false) == "nww");
      CHECK(placed("not_2", kind, cols, 0, false) == "wnw");
      CHECK(placed("not_3", kind, cols, 0, false) == "wwn");
    }
  }
}

TEST_CASE("a tight run has gaps between the rows of the arrays that are named, and of no others") {
  for (unsigned gapped = 0; gapped < 8; ++gapped) {
    for (const bool packed : {false, true}) {
      CAPTURE(gapped);
      CAPTURE(packed);
      Placement placement;
      placement.tight = true, placement.packed = packed, placement.gapped = static_cast<std::uint8_t>(gapped);
      ImageLayout image(placement);
      Segment s;
      s.kind = Format::i32, s.rows = 3, s.cols = 5;
      CHECK(image.segments()[image.add(s, false)].ld == 5);
      s.kind = Format::f32, s.cols = 1;
      for (unsigned i = 0; i < 3; ++i) {
        const std::int64_t ld = image.segments()[image.add(s, false)].ld;
        CHECK((ld > 1) == (!packed && (gapped >> i & 1) != 0));
      }
    }
  }
}

TEST_CASE("half puts every base on 8 bytes and none on 16; pages puts rows whole pages apart") {
  for (const bool tight : {false, true}) {
    CAPTURE(tight);
    for (const Format kind : {Format::f32, Format::f64}) {
      Placement placement;
      placement.tight = tight;
      Segment s;
      s.kind = kind, s.rows = 3, s.cols = 8;
      placement.wide = parse_layout("half", "test");
      ImageLayout half(placement);
      const Segment& on_half = half.segments()[half.add(s, false)];
      CHECK(on_half.offset % 16 == 8);
      CHECK(on_half.ld * on_half.element_bytes() % 16 == (tight ? 0 : 8));
      placement.wide = parse_layout("pages", "test");
      ImageLayout pages(placement);
      const Segment& on_pages = pages.segments()[pages.add(s, false)];
      CHECK(on_pages.offset % 256 == 0);
      CHECK(on_pages.ld * on_pages.element_bytes() % 4096 == (tight ? 8 * on_pages.element_bytes() : 0));
      const std::int64_t pitch = on_pages.ld;
      CHECK(pages.segments()[pages.add(s, false)].ld == pitch);
    }
  }
}

TEST_CASE("far puts each row on pages of its own, and vectors where they would be") {
  Placement placement;
  placement.wide = parse_layout("far", "test");
  ImageLayout image(placement);
  Segment s;
  s.kind = Format::f32, s.rows = 7, s.cols = 5;
  const auto at = [&](bool vector) { return image.segments()[image.add(s, vector)]; };
  for (int i = 0; i < 2; ++i) {
    const Segment matrix = at(false);
    CHECK(matrix.offset % kPageBytes == 0);
    CHECK(matrix.ld * 4 == kPageBytes);
    CHECK(at(true).ld == 5);
  }
}

TEST_CASE("rows that are mapped far apart are the image's, and nothing lies between them") {
  constexpr std::int64_t kRows = 5, kCols = 3, kOffset = kPageBytes;
  const Descriptor file(memfd_create("far rows", MFD_CLOEXEC));
  REQUIRE(ftruncate(file.get(), (kRows + 1) * kPageBytes) == 0);
  ArrayInfo array;
  array.name = "A", array.kind = Format::f64;
  array.rows = kRows, array.cols = kCols, array.ld = kPageBytes / 8;
  FarRows far(file.get());
  auto* const first = static_cast<double*>(far.place(array, kOffset));
  CHECK(array.is_far());
  CHECK(array.ld * 2 > std::int64_t{1} << 31);
  CHECK(array.ld * 4 > std::int64_t{1} << 32);
  for (std::int64_t i = 0; i < kRows; ++i) {
    const double value = 10.0 * static_cast<double>(i) + 1;
    first[i * array.ld] = value;
    double seen = 0;
    REQUIRE(pread(file.get(), &seen, sizeof seen, kOffset + i * kPageBytes) == sizeof seen);
    CHECK(seen == value);
  }
  array.ld = 3;
  CHECK_THROWS_WITH((void)far.place(array, kOffset), "A: its rows do not begin at pages");
}

TEST_CASE("where one array alone is narrow, its rows are, and its base is not") {
  for (const char* const layout : {"not_1", "narrow"}) {
    Placement placement;
    placement.wide = parse_layout(layout, "test");
    ImageLayout image(placement);
    Segment s;
    s.kind = Format::f32, s.rows = 3, s.cols = 8;
    const Segment& at = image.segments()[image.add(s, false)];
    CHECK(at.ld * at.element_bytes() % 16 != 0);
    CHECK((at.offset % 16 == 0) == (placement.wide == WideArrays::all_but_first));
  }
}

TEST_CASE("inputs of a tight run may end at walls; operands that are one array are placed once") {
  Placement placement;
  placement.tight = placement.walled = true;
  ImageLayout image(placement);
  const std::vector<float> contents(15);
  Segment s;
  s.kind = Format::f32, s.rows = 3, s.cols = 5, s.source = contents.data(), s.source_ld = 5;
  const std::size_t first = image.add_once(s, false);
  CHECK(image.add_once(s, false) == first);
  s.rows = 5, s.cols = 3;
  CHECK(image.add_once(s, false) != first);
  s.output = true;
  image.add_once(s, false);
  REQUIRE(image.walls().size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Wall wall = image.walls()[i];
    CHECK(wall.at % kPageBytes == 0);
    CHECK(image.segments()[i].offset + image.segments()[i].extent() == wall.at);
    CHECK(wall.read_only_from == wall.at - kPageBytes);  // the small input's own page, where nothing else is
  }
  CHECK(image.segments()[2].offset >= image.walls()[1].at + kPageBytes);
}

TEST_CASE("a declared alignment of 16 bytes holds in every layout") {
  CHECK(placed("narrow", Format::f32, 7, 16, false) == "www");
}

TEST_CASE(
    "in a tight run rows follow without a gap, and the arrays that the layout widens begin on 256 bytes") {
  CHECK(placed("wide", Format::f32, 7, 0, true) == "nnn");  // rows of 28 bytes
  CHECK(placed("wide", Format::f32, 8, 0, true) == "www");
  CHECK(placed("apart", Format::f32, 8, 0, true) == "nnn");
  CHECK(placed("not_2", Format::f32, 8, 0, true) == "wnw");
  Placement placement{Poison::nan_payload, true, 0, false, WideArrays::all};
  ImageLayout image(placement);
  Segment s;
  s.kind = Format::f32, s.rows = 3, s.cols = 7;
  for (int i = 0; i < 3; ++i) {
    const Segment& at = image.segments()[image.add(s, false)];
    CHECK(at.ld == 7);
    CHECK(at.offset % 256 == 0);
  }
}

TEST_CASE("what lies behind an array differs from run to run, and differs between indices and values") {
  const auto bits_behind = [](Format kind, Poison poison) {
    Placement placement;
    placement.poison = poison;
    ImageLayout layout(placement);
    const std::vector<double> contents(8);
    Segment s;
    s.kind = kind, s.rows = 1, s.cols = 3, s.source = contents.data(), s.source_ld = 3;
    layout.add(s, true);
    layout.add(s, true);
    std::vector<std::byte> image(static_cast<std::size_t>(layout.bytes()));
    layout.write(image.data());
    std::uint64_t bits = 0;
    const Segment& first = layout.segments()[0];
    std::memcpy(&bits, &image[static_cast<std::size_t>(first.offset + first.extent())], sizeof(bits));
    return bits;
  };
  const auto word_behind = [&](Format kind, Poison poison) {
    return static_cast<std::int32_t>(bits_behind(kind, poison));
  };
  CHECK(word_behind(Format::i32, Poison::nan_payload) > 1'000'000);
  CHECK(word_behind(Format::i32, Poison::sentinel_a) == 0);
  CHECK(word_behind(Format::i32, Poison::sentinel_b) < 0);
  const auto value_behind = [&](Poison poison) {
    return std::bit_cast<float>(word_behind(Format::f32, poison));
  };
  CHECK(std::isnan(value_behind(Poison::nan_payload)));
  CHECK(value_behind(Poison::sentinel_a) > 1e29f);
  CHECK(value_behind(Poison::sentinel_b) < -1e29f);
  CHECK(std::isnan(std::bit_cast<double>(bits_behind(Format::f64, Poison::nan_payload))));
}

TEST_CASE("rows of an input and of an output have other bits behind them: a gap that is copied along shows") {
  Placement placement{Poison::nan_payload, false, 0, false, WideArrays::pages};
  for (const Format kind : {Format::f32, Format::f64}) {
    for (const Poison poison : {Poison::nan_payload, Poison::sentinel_a, Poison::sentinel_b}) {
      placement.poison = poison;
      ImageLayout layout(placement);
      const std::vector<double> contents(9);
      Segment s;
      s.kind = kind, s.rows = 3, s.cols = 3, s.source = contents.data(), s.source_ld = 3;
      layout.add(s, false);
      s.output = true, s.source = nullptr;
      layout.add(s, false);
      std::vector<std::byte> before(static_cast<std::size_t>(layout.bytes()));
      layout.write(before.data());
      std::vector<std::byte> after = before;
      const Segment &from = layout.segments()[0], &to = layout.segments()[1];
      REQUIRE(from.ld == to.ld);
      std::memcpy(after.data() + to.offset, before.data() + from.offset,
                  static_cast<std::size_t>(from.extent()));
      const Trespass found = find_trespass(layout, before.data(), after.data());
      CHECK(found.kind == Trespass::Kind::guard);
      CHECK(found.text == "wrote (0, 3), in the padding behind a row of 3 elements");
    }
  }
}

TEST_CASE("values are encoded where they are stored in another format than they are computed in") {
  for (const FormatFacts& f : kFormats) {
    if (!is_floating(f.format)) continue;
    CAPTURE(f.name);
    std::vector<double> contents(40);
    for (std::size_t i = 0; i < contents.size(); ++i)
      contents[i] = std::ldexp(1.0 + 0.01 * static_cast<double>(i), -3);
    quantise(f.format, contents.data(), static_cast<std::int64_t>(contents.size()));
    for (const bool tight : {false, true}) {
      Placement placement;
      placement.tight = tight;
      ImageLayout layout(placement);
      Segment s;
      s.kind = f.format, s.source_kind = Format::f64, s.rows = 5, s.cols = 7, s.source = contents.data(),
      s.source_ld = 8;
      layout.add(s, false);
      s.output = true, s.source = nullptr;
      layout.add(s, false);
      std::vector<std::byte> image(static_cast<std::size_t>(layout.bytes()));
      layout.write(image.data());
      const Segment &in = layout.segments()[0], &out = layout.segments()[1];
      CHECK(in.extent() == ((in.rows - 1) * in.ld + in.cols) * f.bytes);
      int wrong = 0, written = 0;
      for_each_element(in, image.data(), 0, in.elements(), [&](std::int64_t i, const std::byte* at) {
        wrong += decode(f.format, at) == contents[static_cast<std::size_t>(i / 7 * 8 + i % 7)] ? 0 : 1;
      });
      for_each_element(out, image.data(), 0, out.elements(), [&](std::int64_t, const std::byte* at) {
        written += std::isnan(decode(f.format, at)) ? 0 : 1;
      });
      CHECK(wrong == 0);
      CHECK(written == 0);
      std::vector<std::byte> after = image;
      after[static_cast<std::size_t>(in.place(1, 0) - 1)] ^= std::byte{1};
      CHECK(find_trespass(layout, image.data(), after.data()).kind ==
            (in.ld > in.cols ? Trespass::Kind::guard : Trespass::Kind::input));
    }
  }
}

TEST_CASE("poison is a NaN or a finite number of usual size in every format of its size") {
  for (const FormatFacts& f : kFormats) {
    if (!is_floating(f.format)) continue;
    CAPTURE(f.name);
    const auto poison = [&](Poison p) {
      const std::uint64_t bits = poison_bits(p, f.bytes);
      return decode(f.format, &bits);
    };
    CHECK(std::isnan(poison(Poison::nan_payload)));
    for (const Poison p : {Poison::sentinel_a, Poison::sentinel_b}) {
      CHECK(std::fabs(poison(p)) > 1e-3);
      CHECK(std::fabs(poison(p)) < 2);
    }
    CHECK(poison(Poison::sentinel_a) > 0);
    CHECK(poison(Poison::sentinel_b) < 0);
  }
  CHECK_THROWS_WITH_AS((void)poison_bits(Poison::nan_payload, 3),
                       "no poison is known for elements of 3 bytes", Error);
}

TEST_CASE("an unknown layout is an error with the nearest") {
  CHECK_THROWS_WITH_AS(
      (void)parse_layout("wid", "case 'x'"),
      "case 'x': unknown layout 'wid'; did you mean 'wide'? (known: apart, wide, narrow, only_1, "
      "only_2, only_3, not_1, not_2, not_3, half, pages, far)",
      Error);
}

}  // namespace
}  // namespace plumb
