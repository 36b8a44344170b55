// The staged image: every array of a case in one block of bytes, each between guards, rows apart by their leading dimension.
// One block, because then "nothing else was touched" is one comparison with the block as it was, and because a block can be
// shared with a child process, or copied to a device and back, whole.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reference/core/abi.hpp"
#include "reference/core/format.hpp"

namespace plumb {

/// What outputs, padding and workspace hold before a run. Three kinds, because each alone has a blind spot: a NaN where NaN
/// is a right answer, a finite value where it happens to be the right one.
enum class Poison : std::uint8_t { nan_payload, sentinel_a, sentinel_b };

/// The poison of one element of `element_bytes` bytes (1, 2, 4 or 8), as its bit pattern: a NaN, and two finite numbers of usual size, in every
/// format of that size.
[[nodiscard]] std::uint64_t poison_bits(Poison, int element_bytes);

/// One array inside an image.
struct Segment {
  std::string name;  // "A.val", "y"
  Format kind = Format::f32;
  bool output = false;
  std::int64_t offset = 0;                  // bytes from the image's start to element (0, 0)
  std::int64_t rows = 0, cols = 0, ld = 0;  // elements; a vector is one row
  const void* source = nullptr;             // packed contents, or null: poison
  std::int64_t source_ld = 0;
  Format source_kind = Format::none;  // in which the contents are held; none: as they are staged

  [[nodiscard]] int element_bytes() const { return facts(kind).bytes; }
  [[nodiscard]] std::int64_t elements() const { return rows * cols; }
  /// Bytes from the image's start to element (i, j).
  [[nodiscard]] std::int64_t place(std::int64_t i, std::int64_t j) const {
    return offset + (i * ld + j) * element_bytes();
  }
  /// Bytes from the first element to the end of the last.
  [[nodiscard]] std::int64_t extent() const {
    return rows > 0 ? ((rows - 1) * ld + cols) * element_bytes() : 0;
  }
};

/// Elements that one thread takes in one piece. The same on every machine, as the order of sums is; a multiple of 64, so that no two pieces
/// share a word of a vector<bool>.
inline constexpr std::int64_t kStretch = 1 << 16;

/// Calls f(row, column of the first, how many) for the elements [begin, end) of `s`, as far as each row goes, in order.
template <class F>
void for_each_run(const Segment& s, std::int64_t begin, std::int64_t end, F&& f) {
  const std::int64_t cols = std::max<std::int64_t>(s.cols, 1);
  std::int64_t col = begin % cols;
  for (std::int64_t row = begin / cols, i = begin; i < end; ++row, col = 0) {
    const std::int64_t count = std::min(cols - col, end - i);
    f(row, col, count);
    i += count;
  }
}

/// Calls f(index, address of its first byte) for the elements [begin, end) of `s`, in order.
template <class F>
void for_each_element(const Segment& s, const std::byte* image, std::int64_t begin, std::int64_t end, F&& f) {
  std::int64_t index = begin;
  for_each_run(s, begin, end, [&](std::int64_t row, std::int64_t col, std::int64_t count) {
    const std::byte* at = image + s.place(row, col);
    for (; count > 0; --count, ++index, at += s.element_bytes()) f(index, at);
  });
}

/// memcpy on all threads where it is long.
void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes);

/// Which arrays allow 16-byte accesses on every row: their base and their leading dimension are multiples of 16 bytes. Kernels test
/// two or three pointers before they take their wide path: some case must pass each test, and fail each for one array alone.
enum class WideArrays : std::uint8_t {
  unsaid,  // bases are wide in one run and narrow in the next; leading dimensions as the widths have it
  all,
  none,
  first,  // it alone, counting arrays of values
  second,
  third,
  all_but_first,
  all_but_second,
  all_but_third,
  halves,  // none, but all bases and leading dimensions are multiples of 8 bytes
  pages,  // all, and leading dimensions are the next multiples of 4096 bytes where an array has few rows: arrays of one width share theirs
  far  // the same with a page or more to each row, which the process that runs the variant maps far from the row before (FarRows)
};
/// The value of a case's parameter `layout`: apart (unsaid), wide, narrow, only_1 to only_3, not_1 to not_3, half, pages, far. Throws Error for another
/// word, with the nearest.
[[nodiscard]] WideArrays parse_layout(const std::string& word, const std::string& what);

/// How one run's arrays are placed. The runs of a case differ in it, so that a kernel fails that needs more than it declares.
struct Placement {
  Poison poison = Poison::nan_payload;
  // ld == cols where alignment allows, and bases, but those that are `wide`, at the smallest allowed alignment
  bool tight = false;
  std::int32_t alignment = 0;  // bytes the variant declared; 0: the element size
  bool packed = false;  // as data lies in practice, for timing: ld as if tight, bases generously aligned
  // of a run that is not packed; a tight one takes the bases from it, and not the rows
  WideArrays wide = WideArrays::unsaid;
  // each input ends where a page does, as nearly as its alignment allows, and the page behind it is a wall: not to be read. Of a tight run.
  // The input's own pages are not to be written
  bool walled = false;
  // of a tight run without a layout: a bit for each array of values, counted from the first, whose rows have gaps all the same
  std::uint8_t gapped = 0;

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// Whose data are placed: equal ones, in equal placements, make the same image. Zeros: nothing is known.
struct Contents {
  std::uint64_t of_case = 0, number = 0;  // a case, and which of its twins or neighbours, or it itself

  friend bool operator==(const Contents&, const Contents&) = default;
};

inline constexpr std::int64_t kGuardBytes = 1024;
inline constexpr std::int64_t kPageBytes = 4096;

/// A page that may not be touched, and the pages before it that hold one input and nothing else: these may be read alone, so that a store
/// shows that is undone before the run ends. In bytes from the image's start, whole pages.
struct Wall {
  std::int64_t at = 0, read_only_from = 0;
};

/// Places arrays one after another.
class ImageLayout {
 public:
  explicit ImageLayout(Placement placement) : placement_(placement) {}
  /// Places a (rows, cols) array; returns its index. `vector`: ld is not padded.
  std::size_t add(Segment segment, bool vector);
  /// The same; an input of the source and shape of one that is placed is that one: operands may be one array.
  std::size_t add_once(Segment segment, bool vector);
  /// Leaves a placed array fewer rows and columns, at the same address and with the same leading dimension.
  void shrink(std::size_t index, std::int64_t rows, std::int64_t cols) {
    segments_[index].rows = rows, segments_[index].cols = cols;
  }
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] const std::vector<Wall>& walls() const { return walls_; }
  [[nodiscard]] std::int64_t bytes() const { return next_ + kGuardBytes; }
  [[nodiscard]] Placement placement() const { return placement_; }
  void set_contents(const Contents& contents) { contents_ = contents; }
  [[nodiscard]] const Contents& contents() const { return contents_; }

  /// Writes guards everywhere, then inputs, then poison or initial contents into outputs. `image` has bytes() bytes.
  void write(std::byte* image) const;

 private:
  [[nodiscard]] std::int64_t arrays_of_values() const;
  [[nodiscard]] bool is_wide(const Segment& segment) const;
  [[nodiscard]] bool has_gaps(const Segment& segment) const;
  void place_wide(Segment& segment, bool vector, std::int64_t needed);
  void place_narrow(Segment& segment, bool vector, std::int64_t needed);
  void place_before_wall(Segment& segment, std::int64_t needed);
  Placement placement_;
  Contents contents_;
  std::vector<Segment> segments_;
  std::vector<Wall> walls_;
  std::int64_t next_ = kGuardBytes;
};

/// A store outside the outputs.
struct Trespass {
  enum class Kind : std::uint8_t { none, input, guard } kind = Kind::none;
  std::string
      text;  // "x[17] changed", "wrote 4 bytes after the end of y", "wrote in the padding of C, row 3"
};

/// Compares an image after a run with the same image before it. Only output elements may differ.
[[nodiscard]] Trespass find_trespass(const ImageLayout&, const std::byte* before, const std::byte* after);

}  // namespace plumb
