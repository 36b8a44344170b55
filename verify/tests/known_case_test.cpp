// What all variants of a case share: images as they are staged, and comparisons of answers without a miss.
#include "verify/judge/known_case.hpp"

#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "verify/image/staged_images.hpp"

namespace {

using plumb::Contents;
using plumb::Format;
using plumb::ImageLayout;
using plumb::KnownAnswer;
using plumb::KnownCase;
using plumb::Placement;
using plumb::Poison;
using plumb::Segment;
using plumb::StagedImages;

Segment vector_of(const std::vector<float>& values, bool output) {
  Segment s;
  s.name = output ? "y" : "x", s.output = output;
  s.rows = 1, s.cols = static_cast<std::int64_t>(values.size());
  s.source = output ? nullptr : values.data(), s.source_ld = s.cols;
  return s;
}

ImageLayout layout_of(const std::vector<float>& values, const Contents& contents,
                      Poison poison = Poison::nan_payload) {
  Placement placement;
  placement.poison = poison;
  ImageLayout layout(placement);
  layout.set_contents(contents);
  (void)layout.add(vector_of(values, false), true);
  (void)layout.add(vector_of(values, true), true);
  return layout;
}

bool is_image_of(const ImageLayout& layout, const std::byte* image) {
  std::vector<std::byte> written(static_cast<std::size_t>(layout.bytes()));
  layout.write(written.data());
  return std::memcmp(written.data(), image, written.size()) == 0;
}

KnownAnswer answer_of(const ImageLayout& layout, const std::byte* image) {
  KnownAnswer answer{layout.contents(), 0, plumb::Arithmetic::native, false, {}, {}};
  answer.bits = plumb::elements_of(layout.segments()[1], image);
  answer.comparison.max_ratio = 0.25;
  return answer;
}

}  // namespace

TEST_CASE("an image is staged once for equal data and placement, and again where either differs") {
  std::vector<float> values{1, 2, 3};
  StagedImages images;
  const ImageLayout layout = layout_of(values, {7, 7});
  const std::byte* const first = images.of(layout);
  CHECK(is_image_of(layout, first));
  values[1] = 5;  // not looked at: the data of a case do not change
  CHECK(images.of(layout) == first);
  CHECK_FALSE(is_image_of(layout, first));
  for (const ImageLayout& other :
       {layout_of(values, {7, 8}), layout_of(values, {7, 7}, Poison::sentinel_a), layout_of(values, {})})
    CHECK(is_image_of(other, images.of(other)));
  const ImageLayout of_nobody = layout_of(values, {});
  values[2] = 6;  // of data of which nothing is known nothing is kept
  CHECK(is_image_of(of_nobody, images.of(of_nobody)));
  const ImageLayout of_another = layout_of(values, {9, 9});
  CHECK(is_image_of(of_another, images.of(of_another)));
  CHECK(is_image_of(layout, images.of(layout)));  // of the case before: forgotten since
}

TEST_CASE("images of a case that take more than is kept are right all the same") {
  const std::vector<float> values(1 << 20, 0.5F);  // 4 MiB, twice in an image
  StagedImages images;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t number = 1; number <= 6; ++number) {
      const ImageLayout layout = layout_of(values, {1, number});
      CHECK(is_image_of(layout, images.of(layout)));
    }
  }
}

TEST_CASE("a comparison is known for equal bits of the same output, data and arithmetic alone") {
  const std::vector<float> values{1, 2, 3};
  const ImageLayout layout = layout_of(values, {7, 7});
  std::vector<std::byte> image(static_cast<std::size_t>(layout.bytes()));
  layout.write(image.data());
  const Segment& y = layout.segments()[1];
  std::memcpy(image.data() + y.offset, values.data(), 12);
  KnownCase known;
  const KnownAnswer answer = answer_of(layout, image.data());
  CHECK(known.find(answer, y, image.data()) == nullptr);
  known.keep(answer);
  REQUIRE(known.find(answer, y, image.data()) != nullptr);
  CHECK(known.find(answer, y, image.data())->comparison.max_ratio == 0.25);
  KnownAnswer other = answer;
  other.output = 1;
  CHECK(known.find(other, y, image.data()) == nullptr);
  other = answer, other.tensor_cores = true;
  CHECK(known.find(other, y, image.data()) == nullptr);
  other = answer, other.arithmetic = plumb::Arithmetic::flushed;
  CHECK(known.find(other, y, image.data()) == nullptr);
  other = answer, other.contents = {7, 8};
  CHECK(known.find(other, y, image.data()) == nullptr);
  image[static_cast<std::size_t>(y.offset) + 11] ^= std::byte{0x80};  // the sign of the last
  CHECK(known.find(answer, y, image.data()) == nullptr);
  image[static_cast<std::size_t>(y.offset) + 11] ^= std::byte{0x80};
  other = answer, other.contents = {9, 9};
  CHECK(known.find(other, y, image.data()) == nullptr);  // another case
  CHECK(known.find(answer, y, image.data()) == nullptr);
}
