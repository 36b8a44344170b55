// The space of an operator's cases: its parameters, and the classes into which the values of each parameter fall. Tiers, drawn
// cases, shrinking and the coverage test all read this one description.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/cases/case_id.hpp"

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

/// Shapes that people have, for timing, beside the values that each parameter has by itself.
struct TimedFamily {
  std::string name;    // "layers of transformers"
  std::string source;  // who published the numbers; "" for a kind of shape
  /// Of each, the parameters that it fixes: "n=3072,k=768" values, "n=40|41" one of these, "m=1..64" log-uniform between both ends. The
  /// others take their own values, and those of them that grow still do.
  std::vector<std::string> shapes;
  /// In half of the draws each number of a shape is up to this share more or less: no kernel is made for one network alone. Numbers of one
  /// value stay equal. Parameters that are one of few words, such as a filter's side, stay.
  double noise = 0;
};

/// One parameter of a case id. Classes of an extent stand in ascending order.
struct Parameter {
  std::string key;
  ParameterKind kind = ParameterKind::extent;
  std::vector<ValueClass> classes;
  std::string simplest;    // where shrinking ends: "1" for alpha, "uniform" for pattern; unused for extents
  TimedValues timed = {};  // of a word or scalar without any: the simplest value
  std::string why = {};    // of a derived one that stands for a trap
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
/// What one case that is met once may cost on the CPU executor: where many kernels are judged, and where few are.
inline constexpr CaseLimit kCheapOnce{2.9e5, 3e5}, kDearOnce{3.3e5, 4e5};

/// A value of a parameter that one word of a special parameter is for, or all of its words: "".
struct Beside {
  std::string word, key, value;
};

/// For timing: an extent that grows with the case, within [low, high]; it equals the parameter `like` in a share `alike` of the cases.
[[nodiscard]] TimedValues timed_size(std::int64_t low, std::int64_t high, std::string like = "",
                                     double alike = 0);
/// For timing: log-uniform in [low, high], however large the case is.
[[nodiscard]] TimedValues timed_range(std::int64_t low, std::int64_t high);
/// For timing: one of `values`. A value named twice is twice as likely.
[[nodiscard]] TimedValues timed_words(std::vector<std::string> values, std::string like = "",
                                      double alike = 0);

/// What is to be said of an extent beside its key.
struct Extent {
  /// What known traps call it: "rows" of the answer, its "width", the "depth" of its sums, "cols" of a sparse operand. Several, by spaces.
  std::string role = {};
  std::vector<std::int64_t> values =
      {};                       // a list of its own, ascending, such as a filter's sides; none: any size
  bool may_be_none = false;     // of such a list: it may be 0, and something is computed all the same
  bool never_none = false;      // of any size: it is 1 or more
  bool beyond_16_bits = false;  // of such a list: it may also be beyond 16 bits
  std::vector<std::int64_t> also = {};  // further sizes, in a class of their own
  bool unrolled = false;  // kernels take it in groups of four: what is left over meets all other classes
  std::vector<std::pair<std::string, std::string>> together = {};  // two others that it meets in every way
  TimedValues timed = {};
};

/// What is to be said of words beside their values.
struct WordTraits {
  bool factor = false;                 // a factor of the contract: the words are the simplest one alone
  std::vector<std::string> once = {};  // one case is enough of these
  TimedValues timed = {};
};

/// What a case costs, and what must hold of it.
struct CaseWork {
  using Number = std::function<double(const Point&)>;
  using Condition = std::function<bool(const Point&)>;
  Number multiply_adds, elements;     // of all arrays together
  Number terms = {};                  // the most that one element of the answer sums
  std::vector<Condition> where = {};  // of every case, such as a filter that fits its padded image
  std::vector<Condition> tells = {};  // in contexts(), for an answer to tell right from wrong
  Condition timed = {};               // of a case that a user would have
};

/// What arrays there are.
struct Layout {
  bool sparse = false;  // an operand with the roles "rows" and "cols"
  /// The lengths of rows of dense operands. Where all are multiples of four, rows are whole vectors of 16 bytes in either type.
  std::vector<std::string> widths = {};
  int arrays = 3;  // of values
};

/// Of a count, the class of large ones.
struct Count {
  double beyond = 69'999;  // more than 16 bits: counts are expected numbers where entries are drawn
  std::string with = {};   // "pattern=giant,cols=511": values that have it, where few have
};

/// How often a trap is met.
enum class Met : std::uint8_t { once, dear, with_all };

/// Values of several parameters that lead kernels into a mistake which no pair of classes leads them into.
struct Trap {
  std::string name;
  /// "rows=36,depth=129|257,width?=3,sparse": alternatives are traps of their own; what ends in ? is for operators that have such a parameter;
  /// a word alone is what an operator must have, -word what it must not.
  std::string constraint;
  std::string why;
  /// Once in each type, all else as simple as it can be; `dear`: once, where it takes the CPU executor long; `with_all`: as a form that
  /// kernels are made for, with every class of the other parameters.
  Met met = Met::once;
};
/// Traps of every operator whose extents have the roles that they name, and for whose cases they are not too large.
[[nodiscard]] const std::vector<Trap>& known_traps();

/// "m=36,n=4" as keys and words.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_values(std::string_view text);

/// docs/contributing/cases.md names each of the ten verbs with an example.
class CaseSpace {
 public:
  /// `dtypes`: those of the operator.
  explicit CaseSpace(std::string op, std::span<const Dtype> dtypes = kUsualDtypes);

  /// A size that may be any number: zero, one, few, around a warp, around a block, ragged, beyond any tile, beyond shared memory, around 16
  /// bits, and so large that a fourth of it is beyond 16 bits too. Or one with a list of its own.
  CaseSpace& extent(std::string key, Extent what = {});
  /// One of some words, each a class of its own; the first is the simplest. Or a factor of the contract: 0, -0, 1, -1, integers, fractions
  /// that no 16-bit type and no tf32 holds, a large and a small value. Bitwise fills meet integers alone: only those keep an answer exact.
  CaseSpace& words(std::string key, const std::vector<std::string>& values, WordTraits what = {});
  /// The fills that this operator's oracle and bound are made for; the first is the simplest.
  CaseSpace& fills(const std::vector<Fill>& fills);
  CaseSpace& work(CaseWork what);
  /// Extents that are sometimes equal, and above 1: what is confused in a square shows in no other shape, and the reverse. Two that may be
  /// beyond any tile are so once, too: squares of several tiles.
  CaseSpace& alike(const std::vector<std::string>& extents);
  /// Under these classes of a parameter the answer says nothing of the others: alpha is 0, or the cap. Such a case meets what is about that
  /// class alone.
  CaseSpace& hides(std::string_view key, const std::vector<std::string>& class_names);
  /// A number that follows from the parameters, and that an implementation may hold in a variable of its own: entries, planes,
  /// elements of an operand. Some case has it beyond 16 bits.
  CaseSpace& count(std::string key, std::function<double(const Point&)> value, const Count& what = {});
  /// The arrays, after the extents. A sparse operand brings its pattern, and the mean length of its rows, from which the id's density follows.
  CaseSpace& layout(Layout what);
  /// What operands may hold instead of fill `real`, by `key`=word in an id; the first of `words` is the usual one, and unsaid. No covering array
  /// of this space has others: that of contexts() does, with the values `beside` them ("alpha=1,beta=0"). "facing" needs no words: all
  /// that two operands of a product may hold for each other (sparse_cases.hpp) and that the factors allow.
  CaseSpace& special(std::string key, const std::vector<std::string>& words = {},
                     std::string_view beside = "");
  /// Half of the cases drawn for timing are of such families, each as likely as another. Errors: a shape names no parameter, or one that
  /// the space lacks; no shapes.
  CaseSpace& timed_family(TimedFamily family);
  /// A trap of this operator's own. Its constraint names parameters by their keys.
  CaseSpace& one_case(const Trap& trap);

  /// Adds the known traps that this operator has, and what is left over of unrolled extents. The last call of a description.
  CaseSpace& complete();
  /// Every extent, and the mean length of rows, may also be one of these: sizes beside the constants of a kernel's own source.
  CaseSpace& beside_constants(const std::vector<std::int64_t>& sizes);

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
  [[nodiscard]] const std::vector<TimedFamily>& timed_families() const { return timed_families_; }
  /// What a shape of a family says: parameters, and the values that they take there.
  [[nodiscard]] std::vector<std::pair<std::size_t, TimedValues>> timed_shape(std::string_view shape) const;
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
  /// Whether a user would have such a case.
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
  /// What extents are to meet together with two other parameters, each ascending.
  [[nodiscard]] std::vector<std::vector<std::size_t>> triples_together() const;

 private:
  struct Derived {
    std::size_t parameter = 0;
    std::function<bool(const Point&)> holds;
    std::vector<std::size_t> equal;                              // extents of alike()
    std::vector<std::pair<std::size_t, std::string>> together;   // values of a trap
    std::vector<std::pair<std::size_t, std::string>> with = {};  // those that count() names
  };
  using Values = std::vector<std::pair<std::size_t, std::string>>;  // of parameters
  // The parameter that a trap means by a word: one of that key, or an extent of that role.
  [[nodiscard]] std::optional<std::size_t> meant(std::string_view word, bool by_role) const;
  // What a constraint stands for: no values where this operator lacks a parameter that it must have.
  [[nodiscard]] std::vector<Values> values_of(const Trap& trap, bool by_role) const;
  [[nodiscard]] bool fits(const Values&, const CaseLimit&) const;
  void add_trap(const Trap&, bool known);
  void add_in_each_type(const Trap&, const std::string& key, const Values&);
  void add_form(const Trap&, const std::string& key, const Values&);
  void derived(std::string key, std::string name, std::function<bool(const Point&)> holds, Values with = {});
  void add_rests_of_four(const std::string& extent);
  void add_sparse();
  void add_facing();
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
  std::vector<TimedFamily> timed_families_;
  std::vector<std::size_t> drawn_;
  CaseWork work_;
  std::vector<Derived> derived_;                            // in the order of their parameters
  std::vector<std::pair<std::size_t, std::string>> roles_;  // of extents
  std::vector<std::string> unrolled_;
  std::vector<std::array<std::string, 3>> together_;
  std::vector<std::pair<std::size_t, std::size_t>> hiding_;  // parameter and class
  std::string sparse_rows_, sparse_cols_;                    // "" where there is no sparse operand
  std::vector<Shape> shapes_;  // of contexts(): their parameters follow each other
  std::vector<Special> specials_;
  Layout layout_;
  std::size_t first_special_ = SIZE_MAX;  // of contexts(): in parameters_
};

/// The space of an operator of C++, known traps included.
template <class Op>
[[nodiscard]] CaseSpace space_of() {
  std::span<const Dtype> dtypes = kUsualDtypes;
  if constexpr (requires { Op::kDtypes; }) dtypes = Op::kDtypes;
  CaseSpace space(Op::kName, dtypes);
  Op::describe(space);
  space.complete();
  return space;
}

/// Entries of the sparse operand, and of its longest row, as the patterns of sparse cases make them.
[[nodiscard]] double expected_entries(const Point&, std::string_view rows, std::string_view cols);
[[nodiscard]] double longest_row(const Point&, std::string_view rows, std::string_view cols);

}  // namespace plumb
