// Sparse operands of cases: a pattern by name, or a user's own file. Shared by the sparse operators.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// The sparse operand of a case, with values by c.fill (role left). Read from the parameters
///   matrix=FILE                              a user's own matrix, through the reader set by set_matrix_reader
///   rows, cols, density, pattern=WORD        a generated one (patterns.hpp); pattern defaults to uniform
///   equal=1                                  the values of a generated one are equal
/// Throws Error for an unknown pattern (with the nearest), sizes above int32, or a density outside [0, 1].
template <class T>
[[nodiscard]] Csr<T> make_sparse(const Case& c, std::uint64_t stream);

/// The stream of the sparse operand in every operator that has one.
inline constexpr std::uint64_t kMatrixStream = 1000;

/// Nine matrices by which sparse kernels are compared at size: regular and skewed, local and scattered, fitting the
/// second-level cache of a large GPU and not. Parameters of make_sparse, and what each stands for.
struct SizedMatrix {
  const char* parameters;
  const char* why;
  bool exact = true;  // its longest row's product with small integers is exact in fp32
};
inline constexpr SizedMatrix kSizedMatrices[] = {
    {"rows=281903,cols=281903,density=0.0000537,pattern=powerlaw", "a web graph: 4.3 M entries, skewed"},
    {"rows=1000000,cols=1000000,density=0.000016,pattern=rmat", "R-MAT: 16 M entries, skewed both ways"},
    {"rows=1440000,cols=1440000,density=0,pattern=stencil", "five points on a 1200 x 1200 grid"},
    {"rows=300000,cols=300000,density=0.0002,pattern=banded", "FEM-like, 60 per row"},
    {"rows=1000000,cols=1000000,density=0.000045,pattern=banded", "FEM-like, 45 per row, past the cache"},
    {"rows=65536,cols=65536,density=0.00049", "uniform, 32 per row"},
    {"rows=66463,cols=66463,density=0.0023,pattern=giant", "as mip1: 10 M entries and one row of everything"},
    {"rows=8217820,cols=7591564,density=0.00000065", "as Hardesty3: 4.9 per row, 8 M rows"},
    {"rows=1000000,cols=1000000,density=0,pattern=arrow", "one full row, one full column, the diagonal",
     false},
};

/// Sets the function that reads matrix=FILE. verify and bench set it once; without it such a case is an error.
void set_matrix_reader(std::function<Csr<double>(const std::string&)> reader);

/// Fills the values of A as fill_values does: index leaves one 1 per row among the entries there are.
template <class T>
void fill_csr_values(Csr<T>& a, Fill fill, std::uint64_t seed, std::uint64_t stream,
                     Format stored = kFormat<T>);

/// Copies an owning matrix into an instance's arena, and gives the view.
template <class T>
[[nodiscard]] CsrView<const T, Space::host> keep(Arena& arena, const Csr<T>& a);

/// What two operands hold for each other, by facing=WORD, once they are filled. Throws Error for another word.
///   inf_tiny   a left operand begins with an infinity, a right one with the smallest subnormal; tiny_inf: the other way round
///   near_top   a left operand and an addend begin with three quarters of the largest number, a right one with 1
///   large      left and right operands and addends are so large that a scalar below the normal numbers leaves a usual result
///   rows_small rows of a left operand are scaled by powers of two, eight in turn, down to the smallest normal numbers in which a lower half
///              of the digits is normal no more; a right one is large
///   zeros      all of a left operand that meets one row of a right one is 0, and one row in four is 0 as a whole; that row of the right one
///              holds NaN and an infinity in turn, in two columns of three: nothing but 0 times either makes an answer NaN. In a sparse
///              operand these are stored zeros
///   run_of_zeros  a quarter of a right operand's rows, one behind the other, are 0, and one column of a left one that they meet holds NaN
///              and an infinity in turn, in two rows of three. In a sparse operand its entries in that column do
///   cancels    terms of each row of a left operand cancel each other but for one or two (make_cancelling), and all rows of a right one are
///              the first one, so that their products do
template <class T>
void put_facing(T* data, std::int64_t rows, std::int64_t cols, const Case& c, Role role);

/// By looks=VALUE_WHERE, what a left and a right operand hold in some places whatever their fill is, so that who samples takes all of it for
/// such values: VALUE is ones, or zeros (in a left operand alone); WHERE is
///   first      the first row, of a vector the first eighth
///   ends       the first row, the middle one and the last one, of a vector eight elements there
///   every      every eighth element
///   nearly     all but one element in 61
/// Throws Error for another word.
template <class T>
void put_looks(T* data, std::int64_t rows, std::int64_t cols, const Case& c, Role role);

/// Adds cases of `params` with each of these looks.
void add_looks(CaseList& list, std::string_view params);

/// Whether operands hold NaN or an infinity, by the fill or by what faces each other.
[[nodiscard]] bool holds_nonfinite(const Case& c);

/// Allocates a filled vector or matrix in the arena, and lets it face the other operand (put_facing).
template <class T>
[[nodiscard]] VecView<const T, Space::host> make_vector(Arena& arena, std::int64_t size, const Case& c,
                                                        Role role, std::uint64_t stream);
template <class T>
[[nodiscard]] DenseView<const T, Space::host> make_dense(Arena& arena, std::int64_t rows, std::int64_t cols,
                                                         const Case& c, Role role, std::uint64_t stream);
/// The same beside a `first` operand; that one itself where the case says same=1. Throws Error where it has another shape.
template <class T>
[[nodiscard]] DenseView<const T, Space::host> make_second(Arena& arena,
                                                          const DenseView<const T, Space::host>& first,
                                                          std::int64_t rows, std::int64_t cols, const Case& c,
                                                          Role role, std::uint64_t stream);

}  // namespace plumb
