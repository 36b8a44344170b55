// The space of an operator's cases: its parameters, and the classes into which the values of each parameter fall. Tiers, drawn
// cases, shrinking and the coverage test all read this one description.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/core/case_id.hpp"

namespace plumb {

/// Values of one parameter that implementations tend to treat alike. Either a list of words, or a range of integers.
struct ValueClass {
  std::string name;                // "warp edge"
  std::vector<std::string> words;  // the values as a case id prints them; empty where the class is a range
  std::int64_t low = 0, high = 0;  // the range, both ends inside; values are drawn log-uniformly
  double weight = 1;               // how often a draw takes this class, relative to the others
  bool once = false;               // one case is enough: not met together with others' classes
  bool dear = false;  // one case takes the CPU executor long: met there where one kernel is judged, not many
  std::vector<std::string> typical =
      {};  // where there are any, draws take these, not all that are of the class
};

/// Whether a value, as an id prints it, is of a class.
[[nodiscard]] bool contains(const ValueClass&, const std::string& word);

/// A derived parameter is none of the id: its class follows from the others.
enum class ParameterKind : std::uint8_t { extent, scalar, word, derived };

/// The values that a parameter takes where cases are drawn for timing: those that users have, whatever branches they meet.
struct TimedValues {
  std::vector<std::string> words;  // one of these, each as likely; empty where the values are a range
  std::int64_t low = 0, high = 0;  // the range, both ends inside
  bool grows = false;  // scaled together with the others that grow until the case has the size that is wanted
  std::string like;    // a parameter before it that it often equals; "": none
  double alike = 0;    // the share of cases in which it does
};

/// One parameter of a case id. Classes of an extent stand in ascending order.
struct Parameter {
  std::string key;
  ParameterKind kind = ParameterKind::extent;
  std::vector<ValueClass> classes;
  std::string simplest;    // where shrinking ends: "1" for alpha, "uniform" for pattern; unused for extents
  TimedValues timed = {};  // of a word or scalar without any: the simplest value
};

/// One value for each parameter of a space, in its order, with the class that each value belongs to.
struct Point {
  const std::vector<Parameter>* parameters = nullptr;
  std::vector<std::size_t> classes;
  std::vector<std::string> words;
  std::vector<double> numbers;  // words read as numbers; 0 for those that are none

  /// The value of `key` as a number or a word. Throws Error naming a key that the space lacks.
  [[nodiscard]] double operator[](std::string_view key) const;
  [[nodiscard]] const std::string& word(std::string_view key) const;

 private:
  [[nodiscard]] std::size_t index(std::string_view key) const;
};

/// The least size of the class "beyond any tile".
inline constexpr std::int64_t kBeyondTiles = 600;

/// What all threads that the CPU executor's device holds read in one round, 16 bytes each: four multiprocessors of 2048 threads.
inline constexpr double kBytesOfRound = 4 * 2048 * 16;

/// What 65,536 threads read, 16 bytes each. Where an array has more, the executor's device holds a thread for each 16 bytes of it and more:
/// ten times as many multiprocessors, where it is for a user's kernels.
inline constexpr double kBytesOf16Bits = 65536.0 * 16;

/// What one case may cost. Elements count all arrays together; work counts multiply-adds.
struct CaseLimit {
  double elements = 2e6;
  double work = 2e7;
};

/// A value of a parameter that one word of a special parameter is for, or all of its words: "".
struct Beside {
  std::string word, key, value;
};

class CaseSpace {
 public:
  /// `dtypes`: those of the operator.
  explicit CaseSpace(std::string op, std::span<const Dtype> dtypes = kUsualDtypes);

  /// A size that may be any number >= `least` (0 unless said): zero, one, few, around a warp, around a block, ragged,
  /// beyond any tile, beyond shared memory, around 16 bits, and so large that a fourth of it is beyond 16 bits too.
  CaseSpace& extent(std::string key, std::int64_t least = 0);
  /// A size with a list of its own, such as a filter's side or a stride. Ascending.
  CaseSpace& small_extent(std::string key, const std::vector<std::int64_t>& values);
  /// Such a size that may be 0 too, without which something is computed all the same: a padding.
  CaseSpace& may_be_none(std::string key, const std::vector<std::int64_t>& values);
  /// These sizes with lists of their own may also be beyond 16 bits.
  CaseSpace& also_beyond_16_bits(const std::vector<std::string>& keys);
  /// An extent that may also be one of these, in a class of its own.
  CaseSpace& also(std::string_view key, std::string name, const std::vector<std::int64_t>& sizes);
  /// Every extent, and the mean length of rows, may also be one of these: sizes beside the constants of a kernel's own source.
  CaseSpace& beside_constants(const std::vector<std::int64_t>& sizes);
  /// A number that follows from the parameters, and that an implementation may hold in a variable of its own: entries, planes,
  /// elements of an operand. Some case has it beyond 16 bits: where few values have, `with` are some of them.
  CaseSpace& count(std::string key, std::function<double(const Point&)> value,
                   const std::vector<std::pair<std::string, std::string>>& with = {});
  /// Elements that a kernel may go over in rounds, by a grid that is as large as the device, 16 bytes a thread and round. Such loops are
  /// unrolled, by four as a rule: in each type some case has two, three, four and more rounds on the CPU executor's device.
  CaseSpace& rounds(std::function<double(const Point&)> elements);
  /// Rows that the warps of a grid as large as the device take in rounds, 16 at a time, through stages that are filled again. In each type
  /// some case has two, three, four and more rounds of rows that lie on 16 bytes without a gap, each of `width` elements.
  CaseSpace& rounds_of_rows(const std::string& rows, const std::string& width);
  /// Elements that a grid as large as the device goes over: in each type some case has more than 65,536 threads of 16 bytes, with these
  /// values of other parameters.
  CaseSpace& threads_beyond_16_bits(std::function<double(const Point&)> elements,
                                    const std::vector<std::pair<std::string, std::string>>& beside = {});
  /// In each type some case has each of these extents beyond 16 bits and all arrays on 16 bytes, with these values of other parameters:
  /// kernels of one type, and those that copy by vectors or in bulk, see no other case of such a size.
  CaseSpace& large_on_16_bytes(const std::vector<std::string>& extents,
                               const std::vector<std::pair<std::string, std::string>>& beside = {});
  /// In each type and for each of `sizes`, which kernels are made for, some case has one more and all arrays on 16 bytes.
  CaseSpace& beside_on_16_bytes(const std::string& extent, const std::vector<int>& sizes);
  /// In each type some case has one row of more than 65,536 entries among short ones, of the sparse operand: what is left over of a regular
  /// part, and what a row is cut into, is then beyond 16 bits. Another one is long, too, and has more than 65,536 short ones before it.
  CaseSpace& one_long_row();
  /// In each type some case has 300 rows of more than 512 entries each: beyond what lists of long rows, tables with a place for each of
  /// few of them, and rounds of blocks over them have room for.
  CaseSpace& many_long_rows();
  /// In each type some case has unsorted columns that lie more than 65,536 apart in one row: what is known of its first and last entry
  /// says nothing of the others.
  CaseSpace& unsorted_wide_rows();
  /// In each type some case has each of `sizes`, powers of two that kernels are made for when they are compiled, with real values: what such a
  /// kernel has of its own, a sum in a narrower type, shows in no other size.
  CaseSpace& made_for(const std::string& extent, const std::vector<int>& sizes,
                      const std::vector<std::pair<std::string, std::string>>& beside);
  /// In each type some case has one row of 2,503 entries among short ones, beside each of some sizes of `extent`: what takes long rows apart
  /// has code of its own for each width of a vector or a tile. One has a row of 260 entries beside 1,030 of `extent`: the pieces of such a
  /// row are gone over again for each panel of the other.
  CaseSpace& long_row_beside(const std::string& extent);
  /// In each type some case has neighbouring rows of one length, whose first and last columns are the same, and some between them are not:
  /// what takes such rows together must have looked at all of them.
  CaseSpace& rows_alike_at_their_ends(const std::vector<std::pair<std::string, std::string>>& beside = {});
  /// In each type some case has alpha and beta both 1 beside these values, the sums long ones: to add to what is there needs no product, and
  /// kernels have a path for it, such as parts of a sum that each are added at once.
  CaseSpace& added_as_it_is(std::vector<std::pair<std::string, std::string>> values);
  /// In each type some case has these values of parameters, all else as simple as it can be: for what needs several of them together,
  /// and meets no pair of classes. `dear`: where it takes the CPU executor long.
  CaseSpace& one_case(const std::string& key, const std::string& name,
                      const std::vector<std::pair<std::string, std::string>>& values, bool dear = false);
  /// In each type some case has each of these extents as 6,144, whole blocks of most sizes that kernels have, powers of two or three times
  /// such a one, and another one as 1,025, of which one element is left over by all of them. One has a row of so many entries, where there is a sparse operand: what is left over is nothing then. Another one is a row of 4,128 entries,
  /// 129 warps of them: the last block has warps without any.
  CaseSpace& whole_blocks(const std::vector<std::string>& extents);
  /// In each type some case has this extent as 129, 257, 513 and 2,049, with these values of other parameters: what a warp or a block holds
  /// of a row, and one element more, less than a warp's worth. Where several rows follow each other they begin at every place of 16 bytes.
  /// And as 258 and 259: two and three are left over by all powers of two up to 256. Products have more rows than a warp there: what is left
  /// of a depth is staged by one warp, and read by others.
  CaseSpace& few_beyond_blocks(const std::string& extent,
                               const std::vector<std::pair<std::string, std::string>>& beside = {});
  /// The same of the entries of one row among short ones, of the sparse operand.
  CaseSpace& rows_few_beyond_blocks();
  /// In each type some case has this extent as 107, and where it has `tiles` as 107 tiles of 32: in fp32 and in fp64 the reciprocal of 107
  /// is rounded down, and 107 times it is below 1. A kernel that multiplies a flat index by it takes the row before.
  CaseSpace& reciprocal_rounded_down(const std::string& extent,
                                     const std::vector<std::pair<std::string, std::string>>& beside,
                                     const std::vector<std::pair<std::string, std::string>>& tiles = {});
  /// In each type all arrays of values but one lie on 16 bytes, each of three in turn, with these values of other parameters: sizes of whole
  /// vectors. A kernel that forgets to ask about that one takes its wide path. `size` tells several such sets of values apart: of more
  /// rows than a block has, a kernel may take another path than of few.
  CaseSpace& one_array_narrow(const std::vector<std::pair<std::string, std::string>>& values,
                              const std::string& size = "");
  /// In each type some case has all arrays on 8 bytes and none on 16, with these values of other parameters: sizes of whole vectors. A kernel
  /// that asks fp32 arrays for half a vector takes its wide path. Its tight run has the bases alone so.
  CaseSpace& on_8_bytes(const std::vector<std::pair<std::string, std::string>>& values);
  /// In each type some case has rows that lie whole pages apart, as allocators of matrices place them, with these values of other
  /// parameters: sizes with tails. Kernels have paths for such a pitch, where rows meet the same sets of a cache.
  CaseSpace& rows_on_pages(const std::vector<std::pair<std::string, std::string>>& values);
  /// In each type some case has a row of 256, and one a row of 65,536 entries among short ones: counts that are 0 in 8 and in 16 bits, and
  /// that a limit which forgets to be strict lets through. The latter has `rows` rows: of 300 the mean is long, and nearly all are short.
  CaseSpace& row_lengths_that_wrap(int rows = 300);
  /// Extents that are sometimes equal, and above 1: what is confused in a square shows in no other shape, and the reverse. Two that may be
  /// beyond any tile are so once, too: squares of several tiles.
  CaseSpace& alike(const std::vector<std::string>& extents);
  /// Extents beyond a warp that leave 1, 2 and 3 of groups of four, which loops are unrolled by: each has code of its own for what is left,
  /// and a kernel may be made for one value of another parameter. Each of the three is met with every other parameter's classes.
  CaseSpace& rests_of_four(const std::vector<std::string>& extents);
  /// What else the parameters have together: a class of its own where `holds`. Where few values have it, `with` are some of them.
  CaseSpace& derived(std::string key, std::string name, std::function<bool(const Point&)> holds,
                     const std::vector<std::pair<std::string, std::string>>& with = {});
  /// Values that some parameters have together, and that kernels are made for, such as a filter of one pixel. It meets the
  /// classes of which one case is enough, too: a kernel for this form alone sees no other case.
  CaseSpace& form(std::string key, std::string name,
                  const std::vector<std::pair<std::string, std::string>>& values);
  /// Under this class of a parameter the answer says nothing of the others: alpha is 0, or the cap. Such a case meets what is about that
  /// class alone.
  CaseSpace& hides(std::string_view key, std::string_view class_name);
  /// What operands may hold instead of fill `real`, by `key`=word in an id; the first of `words` is the usual one, and unsaid. No covering array
  /// of this space has others: that of contexts() does, with the values `beside` them.
  CaseSpace& special(std::string key, const std::vector<std::string>& words,
                     const std::vector<Beside>& beside = {});
  /// What two operands of a product hold for each other: all words of facing=WORD (sparse_cases.hpp) that the factors allow. The answer has
  /// a line for each of `left`, an extent, and one across for each of `right`; "": one alone.
  CaseSpace& facing(const std::string& left = "", const std::string& right = "");
  /// What must hold in contexts() for an answer to tell right from wrong.
  CaseSpace& tells(std::function<bool(const Point&)> holds);
  /// The lengths of rows of dense operands, and how many arrays of values there are. Where all lengths are multiples of four, rows are whole
  /// vectors of 16 bytes in either type.
  CaseSpace& dense(const std::vector<std::string>& widths, int arrays = 3);
  /// Three parameters whose classes are to meet in every way in tier smoke too.
  CaseSpace& together(std::string_view a, std::string_view b, std::string_view c);
  /// A sparse operand with `rows` and `cols` (extents declared before): its pattern, and the mean length of its rows, from
  /// which the id's density follows. Also the share of stored zeros where the contract lets a sparse operand have them.
  CaseSpace& sparse(std::string_view rows, std::string_view cols);
  /// A factor of the contract: 0, -0, 1, -1, integers, fractions that no 16-bit type and no tf32 holds, a large and a small
  /// value. Bitwise fills meet the integers alone: only those keep an answer exact.
  CaseSpace& scalar(std::string key, std::string simplest);
  /// One of some words, each a class of its own; the first is the simplest.
  CaseSpace& words(std::string key, const std::vector<std::string>& values);
  /// One case is enough of this word: it need not meet the other parameters' classes.
  CaseSpace& once(std::string_view key, const std::string& word);
  /// The fills that this operator's oracle and bound are made for; the first is the simplest.
  CaseSpace& fills(const std::vector<Fill>& fills);
  /// Multiply-adds, and elements of all arrays together, of one case.
  CaseSpace& work(std::function<double(const Point&)> multiply_adds,
                  std::function<double(const Point&)> elements);
  /// The most terms that one output element sums: keeps the exact and wide fills exact, and the bound of few close.
  CaseSpace& terms(std::function<double(const Point&)> most);
  /// What else must hold, such as a filter that fits its padded image.
  CaseSpace& where(std::function<bool(const Point&)> holds);

  /// For timing: an extent that grows with the case, within [low, high]. `like` and `alike` as in TimedValues.
  CaseSpace& timed_size(std::string_view key, std::int64_t low, std::int64_t high, std::string like = "",
                        double alike = 0);
  /// For timing: log-uniform in [low, high], however large the case is.
  CaseSpace& timed_range(std::string_view key, std::int64_t low, std::int64_t high);
  /// For timing: one of `values`. A value named twice is twice as likely.
  CaseSpace& timed_words(std::string_view key, std::vector<std::string> values, std::string like = "",
                         double alike = 0);
  /// For timing: what else must hold of a case that a user would have.
  CaseSpace& timed_where(std::function<bool(const Point&)> holds);

  /// The same parameters in few classes each, without derived ones, and special() ones beside them, of which a case has one at a time:
  /// sizes by what holds them, layouts other than `apart` with rows of whole vectors alone. Each pair of such classes is met: what is right in
  /// one size, layout or type may be wrong in another one. A point of another kind is in no context, and locate() gives nothing.
  [[nodiscard]] CaseSpace contexts() const;
  /// Whether a parameter of contexts() is special().
  [[nodiscard]] bool is_special(std::size_t parameter) const;
  /// Of a derived parameter of contexts() that is the shape of an extent, that extent. A shape is one, few (up to 300) or many: coarse
  /// enough to stand beside each special value and each size of another extent. A size of 0 has none.
  [[nodiscard]] std::optional<std::size_t> extent_of_shape(std::size_t parameter) const;
  /// The class of such a parameter where its extent is of this class; of no class where that has no shape.
  [[nodiscard]] std::size_t shape_of(std::size_t parameter, std::size_t class_of_extent) const;
  /// Of classes, one of each parameter: those of shapes follow from their extents'.
  void update_shapes(std::vector<std::size_t>& classes) const;
  /// Of a point of contexts(): one special value alone stays, a `kept` one where there is any, with what belongs beside it; and rows become
  /// whole vectors where the layout is for those. Parameters that are `kept` stay in their classes.
  void settle(Point&, const std::vector<bool>& kept) const;

  [[nodiscard]] const std::string& op() const { return op_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Those that have values of their own, all but derived ones: their places in parameters(), ascending.
  [[nodiscard]] const std::vector<std::size_t>& drawn_parameters() const { return drawn_; }
  [[nodiscard]] std::size_t index(std::string_view key) const;  // throws Error for an unknown key
  [[nodiscard]] bool has(std::string_view key) const;

  /// True where nothing is computed: an extent is 0, a matrix has no entries, or a class hides the others.
  [[nodiscard]] bool idle(const Point&) const;
  /// True for a class that alone can make a case idle: an extent of 0, or one that hides the others.
  [[nodiscard]] bool is_nothing(std::size_t parameter, std::size_t value_class) const;
  /// The parameters that make a case of these classes, one of each parameter, idle. That a matrix has no entries is none of them where it
  /// has no rows or columns.
  [[nodiscard]] std::vector<std::size_t> nothings(const std::vector<std::size_t>& classes) const;
  /// True where nothing would be computed with 1 in place of every extent of 0 either: a filter is larger than its image. False for sparse
  /// operands, whose entries follow from their extents.
  [[nodiscard]] bool idle_at_any_extent(const Point&) const;
  /// True where the point is a case that can be made and judged within `limit`.
  [[nodiscard]] bool valid(const Point&, const CaseLimit& limit) const;
  /// False where its factors, type and fill do not go together: no case of these is valid, whatever its sizes are.
  [[nodiscard]] bool valid_at_some_size(const Point&) const;
  /// Whether timed_where() holds.
  [[nodiscard]] bool worth_timing(const Point&) const;
  [[nodiscard]] double multiply_adds(const Point&) const;
  /// Stored entries of the sparse operand, as its pattern makes them; 0 where there is none.
  [[nodiscard]] double entries(const Point&) const;
  /// Of all arrays together, with the sparse operand's column of every entry.
  [[nodiscard]] double bytes(const Point&) const;
  /// The case of a point: extents, pattern, density, scalars, in the order of the description.
  [[nodiscard]] Case make(const Point&, std::uint64_t seed) const;
  /// The point of a case, or nothing where it has a parameter that this space does not know (matrix=FILE).
  [[nodiscard]] std::optional<Point> locate(const Case&) const;
  /// "dtype: f32, rows: warp edge, cols: 219 (of no class), fill: exact"; derived ones where they are of a class.
  [[nodiscard]] std::string class_names(const Point&) const;
  /// Sets the value of one parameter, no derived one; its class, and the derived classes, are found again.
  void set(Point&, std::size_t parameter, std::string word) const;
  /// Draws a value for one parameter, no derived one, from one of its classes. Derived classes stay: update_derived() finds them again.
  void draw_value(Point&, std::size_t parameter, std::size_t value_class, std::uint64_t seed,
                  std::uint64_t index) const;
  void update_derived(Point&) const;
  /// The class that a parameter has at this point, which `classes` may not say yet where it is a derived one.
  [[nodiscard]] std::size_t class_at(const Point&, std::size_t parameter) const;

  /// Makes the derived parameter hold where it is one of alike() or form(): the extents become equal, as one of `kept` that is
  /// among them, else as the smallest above 1; the form's parameters take its values, but those in `kept` stay. Likewise the values that
  /// count() names, where the count is not beyond 16 bits yet. Derived classes stay, as in draw_value().
  void make_hold(Point&, std::size_t parameter, const std::vector<std::size_t>& kept = {}) const;
  [[nodiscard]] bool is_form(std::size_t parameter) const;
  /// What together() asks for, each ascending.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& triples_together() const { return together_; }

 private:
  struct Derived {
    std::size_t parameter = 0;
    std::function<bool(const Point&)> holds;
    std::vector<std::size_t> equal;                              // extents of alike()
    std::vector<std::pair<std::size_t, std::string>> together;   // parameters of form(), with their values
    std::vector<std::pair<std::size_t, std::string>> with = {};  // those that count() names
  };
  // A derived parameter for each type: some case has `holds(point, bytes of an element)` in this layout. It is met once;
  // where a case is made for it, parameters have these values and all else is as simple as it can be.
  struct InEachType {
    std::string key, name;                                    // of the parameter and of its class
    std::string layout;                                       // "wide": rows too lie on 16 bytes
    std::vector<std::pair<std::string, std::string>> values;  // of parameters
    bool dear = false;
  };
  void once_in_each_type(const InEachType&, const std::function<bool(const Point&, double)>& holds);
  void rounds(const InEachType&, const std::function<double(const Point&, double)>& number);
  void add(Parameter);
  void place(Point&, std::size_t parameter, std::string word) const;  // set(), but derived classes stay
  [[nodiscard]] const Derived* derived_of(std::size_t parameter) const;
  [[nodiscard]] bool factors_fit(const Point&) const;               // in the type
  [[nodiscard]] bool fill_tells(const Point&, double terms) const;  // of one element of the answer
  struct Special {
    Parameter parameter;
    std::vector<Beside> beside;
  };
  [[nodiscard]] std::vector<std::size_t> specials_of(
      const Point&) const;  // parameters with another than the usual word
  template <class F>
  void each_beside(const Point&, std::size_t special, F&& f) const;  // f(parameter, value)
  void make_whole(Point&, std::size_t width) const;
  // A derived parameter of contexts(): a size in few classes.
  struct Shape {
    std::size_t parameter = 0, extent = 0;
    std::vector<std::size_t> by_class;  // of the extent
  };
  void add_shapes();
  [[nodiscard]] const Shape* shape(std::size_t parameter) const;
  [[nodiscard]] bool in_context(const Point&) const;
  std::string op_;
  std::vector<Parameter> parameters_;
  std::vector<std::size_t> drawn_;
  std::function<double(const Point&)> multiply_adds_, elements_, terms_;
  std::vector<Derived> derived_;  // in the order of their parameters
  std::vector<std::vector<std::size_t>> together_;
  std::vector<std::pair<std::size_t, std::size_t>> hiding_;  // parameter and class
  std::vector<std::function<bool(const Point&)>> conditions_, timed_conditions_;
  std::string sparse_rows_, sparse_cols_;  // "" where there is no sparse operand
  std::vector<Shape> shapes_;              // of contexts(): their parameters follow each other
  std::vector<Special> specials_;
  std::vector<std::function<bool(const Point&)>> tells_;
  std::vector<std::string> widths_;
  int arrays_ = 3;                        // of values
  std::size_t first_special_ = SIZE_MAX;  // of contexts(): in parameters_
};

/// Entries of the sparse operand, and of its longest row, as the patterns of sparse cases make them.
[[nodiscard]] double expected_entries(const Point&, std::string_view rows, std::string_view cols);
[[nodiscard]] double longest_row(const Point&, std::string_view rows, std::string_view cols);

}  // namespace plumb
