// Planted faults of the tiled transpose on a device.
#include "reference/ops/transpose.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(Transpose);

constexpr int kTile = 16;

enum class Fault { none, no_barrier, bounds_of_a, grid_floor, narrow_offset, one_past, padding };

template <class T, Fault F>
__global__ void transpose_mutant(In<T> in, Out<T> out) {
  __shared__ T tile[kTile][kTile + 1];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const Index i = static_cast<Index>(blockIdx.y) * kTile + ty,
              j = static_cast<Index>(blockIdx.x) * kTile + tx;
  if (i < in.A.rows && j < in.A.cols) tile[ty][tx] = in.A.data[i * in.A.ld + j];
  if (F != Fault::no_barrier) __syncthreads();
  const Index out_i = static_cast<Index>(blockIdx.x) * kTile + ty,
              out_j = static_cast<Index>(blockIdx.y) * kTile + tx;
  const bool inside = F == Fault::bounds_of_a ? out_i < in.A.rows && out_j < in.A.cols
                                              : out_i < in.A.cols && out_j < in.A.rows;
  if (!inside) return;
  // 12 bits stand for the 32 that overflow beyond 2^31 elements: the same mistake at a size that fits the CPU executor
  const Index row = F == Fault::narrow_offset ? (out_i * out.B.ld) & 0xfff : out_i * out.B.ld;
  out.B.data[row + out_j] = tile[tx][ty];
  const bool last_column = out_j == in.A.rows - 1, last_row = out_i == in.A.cols - 1;
  if (F == Fault::one_past && last_column && last_row) out.B.data[row + out_j + 1] = T(0);
  if (F == Fault::padding && last_column && !last_row && out.B.ld > in.A.rows)
    out.B.data[row + out_j + 1] = T(0);
}

template <class T, Fault F>
void run(const Transpose::Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index up = F == Fault::grid_floor ? 0 : kTile - 1;
  const dim3 grid(static_cast<unsigned>((in.A.cols + up) / kTile),
                  static_cast<unsigned>((in.A.rows + kTile - 1) / kTile));
  launch(transpose_mutant<T, F>, grid, dim3(kTile, kTile), 0, context.stream, in, out);
}

PLUMB_DEVICE_FAULT(no_barrier, "tile_read_without_barrier", 2,
                   "the tile is read with no barrier after it was written",
                   "right on a device whose blocks are one warp", kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(bounds_of_a, "output_guarded_with_bounds_of_input", 16,
                   "B is guarded by A's rows and columns", "square matrices in every test",
                   kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(grid_floor, "grid_is_cols_over_tile", 15,
                   "the grid has cols / 16 columns of blocks: the last columns are never read",
                   "a sample that only knew multiples", kNumeric);

PLUMB_DEVICE_FAULT(narrow_offset, "row_times_ld_overflows", 24,
                   "row * ld is computed in 12 bits (in the wild 32, beyond 2^31 elements)",
                   "int rows and columns, right until the matrix of production", kNumeric);
PLUMB_DEVICE_FAULT(one_past, "device_writes_one_past_the_end", 39, "one element is written behind the last",
                   "a sentinel, or <= for <", kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(padding, "device_writes_in_the_padding", 39,
                   "the element behind each row is written, where ld leaves room for it",
                   "vector stores that round the row's end up", kNumeric);

// Blocks of as many rows as a vector has elements, read and written by vectors where all is whole; a thread has one of them.
template <class T>
struct alignas(16) Vector {
  static constexpr Index kLanes = 16 / sizeof(T);
  T lane[kLanes];
};
template <class T>
__global__ void transpose_mutant_vectors(In<T> in, Out<T> out) {
  constexpr Index kLanes = Vector<T>::kLanes;
  const Index i = blockIdx.y * kLanes, j = threadIdx.x * kLanes;
  if (j >= in.A.cols) return;
  Vector<T> across[kLanes], down[kLanes];
  for (Index r = 0; r < kLanes; ++r)
    across[r] = *reinterpret_cast<const Vector<T>*>(in.A.data + (i + r) * in.A.ld + j);
  for (Index r = 0; r < kLanes; ++r) {
    for (Index s = 0; s < kLanes; ++s) down[r].lane[s] = across[s].lane[r];
    *reinterpret_cast<Vector<T>*>(out.B.data + (j + r) * out.B.ld + i) = down[r];
  }
}

template <class T>
void run_vectors(const Transpose::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr Index kLanes = Vector<T>::kLanes, kSize = sizeof(T), kHalf = 8, kMost = 256;
  const auto whole = [](const T* data, Index cols, Index ld) {
    return reinterpret_cast<std::uintptr_t>(data) % kHalf == 0 && cols % kLanes == 0 && ld * kSize % 16 == 0;
  };
  const bool vectors = whole(in.A.data, in.A.cols, in.A.ld) && whole(out.B.data, out.B.cols, out.B.ld);
  if (!vectors || in.A.cols > kMost * kLanes) return run<T, Fault::none>(p, in, out, context);
  launch(transpose_mutant_vectors<T>, dim3(1, static_cast<unsigned>(in.A.rows / kLanes)), dim3(kMost), 0,
         context.stream, in, out);
}
// A's rows and both bases are asked whether they lie on 16 bytes, and B's leading dimension is not.
template <class T>
void run_vectors_of_a(const Transpose::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr Index kLanes = Vector<T>::kLanes, kSize = sizeof(T), kMost = 256;
  const auto on_16 = [](const T* data, Index cols) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && cols % kLanes == 0;
  };
  const bool vectors =
      on_16(in.A.data, in.A.cols) && in.A.ld * kSize % 16 == 0 && on_16(out.B.data, out.B.cols);
  if (!vectors || in.A.cols > kMost * kLanes) return run<T, Fault::none>(p, in, out, context);
  launch(transpose_mutant_vectors<T>, dim3(1, static_cast<unsigned>(in.A.rows / kLanes)), dim3(kMost), 0,
         context.stream, in, out);
}
PLUMB_DEVICE_FAULT_BY(
    run_vectors_of_a, "pitch_of_the_output_not_asked", 0,
    "vectors are written where A's rows and both bases lie on 16 bytes, whatever B's leading dimension is",
    "matrices from one allocator, whose pitches are alike", kSimt | kRace | kSanitizer);
const RegisterMutant<Transpose, float, Space::device> half_vectors_m{
    "vectors_of_16_bytes_on_8",
    run_vectors<float>,
    {0, "a base on 8 bytes is taken for one on 16, where rows are whole vectors",
     "a test that was written for pairs, kept when pairs became vectors", kSimt | kRace | kSanitizer}};

// The order of rows comes from the host, through pinned memory that every call writes anew.
template <class T>
__global__ void transpose_mutant_rows(In<T> in, Out<T> out, const int* order /* (rows) */) {
  const Index i = order[blockIdx.x];
  for (Index j = threadIdx.x; j < in.A.cols; j += static_cast<Index>(blockDim.x))
    out.B.data[j * out.B.ld + i] = in.A.data[i * in.A.ld + j];
}
template <class T>
void run_staged(const Transpose::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr Index kMost = 4096;
  static int* staged = nullptr;
  const Index rows = in.A.rows, bytes = rows * static_cast<Index>(sizeof(int));
  if (rows == 0 || rows > kMost) return run<T, Fault::none>(p, in, out, context);
  if (staged == nullptr) cudaMallocHost(&staged, kMost * sizeof(int));
  for (Index i = 0; i < rows; ++i) staged[i] = static_cast<int>(rows - 1 - i);
  int* const order = static_cast<int*>(context.workspace(bytes));
  cudaMemcpyAsync(order, staged, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                  static_cast<cudaStream_t>(context.stream));
  launch(transpose_mutant_rows<T>, dim3(static_cast<unsigned>(rows)), dim3(32), 0, context.stream, in, out,
         static_cast<const int*>(order));
}
PLUMB_DEVICE_FAULT_BY(run_staged, "staging_rewritten_in_flight", 0,
                      "pinned memory is written anew while the copy of the call before may still read it",
                      "one staging buffer, and callers that wait after every call in each test", kRace);

// Pairs are read where A's base and width allow it; of more than 300 rows the leading dimension is not asked.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};
template <class T>
__global__ void transpose_mutant_pairs(In<T> in, Out<T> out) {
  const Index i = blockIdx.x;
  for (Index j = 2 * static_cast<Index>(threadIdx.x); j < in.A.cols;
       j += 2 * static_cast<Index>(blockDim.x)) {
    const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(in.A.data + i * in.A.ld + j);
    out.B.data[j * out.B.ld + i] = pair.first;
    out.B.data[(j + 1) * out.B.ld + i] = pair.second;
  }
}
template <class T>
void run_pairs(const Transpose::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr Index kFew = 300;
  const bool base = reinterpret_cast<std::uintptr_t>(in.A.data) % sizeof(Pair<T>) == 0;
  const bool pairs = base && in.A.cols % 2 == 0 && (in.A.ld % 2 == 0 || in.A.rows > kFew);
  if (!pairs) return run<T, Fault::none>(p, in, out, context);
  launch(transpose_mutant_pairs<T>, dim3(static_cast<unsigned>(in.A.rows)), dim3(32), 0, context.stream, in,
         out);
}
PLUMB_DEVICE_FAULT_BY(run_pairs, "pitch_not_asked_beyond_300_rows", 0,
                      "of more than 300 rows, pairs are read whatever the leading dimension is",
                      "a vector's width chosen by the shape and the base, in the path of large matrices",
                      kSimt | kRace | kSanitizer);

// A block of 256 threads for 8 rows and 32 columns; no more blocks down than a grid may have.
template <class T>
__global__ void transpose_mutant_bands(In<T> in, Out<T> out) {
  const Index j = static_cast<Index>(blockIdx.x) * 32 + threadIdx.x;
  const Index i = static_cast<Index>(blockIdx.y) * 8 + threadIdx.y;
  if (i < in.A.rows && j < in.A.cols) out.B.data[j * out.B.ld + i] = in.A.data[i * in.A.ld + j];
}
template <class T>
void run_bands(const Transpose::Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr Index kMostDown = 65535;
  const Index down = (in.A.rows + 7) / 8;
  launch(transpose_mutant_bands<T>,
         Grid(static_cast<unsigned>((in.A.cols + 31) / 32),
              static_cast<unsigned>(down < kMostDown ? down : kMostDown)),
         dim3(32, 8), 0, context.stream, in, out);
}
const DeviceMutant<Transpose> bands_m{"grid_cut_at_its_end",
                                      run_bands<float>,
                                      run_bands<double>,
                                      {15, "rows beyond 65,535 blocks of eight are left out",
                                       "a grid's end taken for a limit that no matrix reaches", kNumeric},
                                      Traits{}};

}  // namespace
}  // namespace plumb
