// spmv, rung 10: each block gathers the x it needs once, and its entries name them by 16-bit local numbers.
//
// Change    prepare() lists the distinct columns of every block of rows, sorted, and rewrites the column
//           numbers to places in that list. A block reads its list and its x into shared memory, then works
//           from there.
// Traffic   2 bytes per entry instead of 4 for the column, x once per block that uses it, 4 bytes per block
//           and distinct column.
// Fails at  columns without locality: the lists grow as long as the entries they replace. A row of more than
//           4096 distinct columns keeps its own column numbers, in a block of its own. The conversion, on the
//           host, costs hundreds of products.
// Source    local numbering as in the blocked formats of E.-J. Im and K. Yelick, and in CSR5-like block-local
//           schemes.
#include <algorithm>
#include <vector>

#include "gpu/spmv/features.hpp"

namespace plumb {
namespace {

using namespace spmv;

constexpr int kThreads = 256;
constexpr int kMostRows = 256;      // of a block
constexpr int kMostColumns = 4096;  // distinct ones of a block

struct Plan {
  Index blocks;
  const Index* row_start;      // (blocks + 1)
  const Index* col_start;      // (blocks + 1), into cols
  const std::int32_t* cols;    // distinct columns, ascending per block
  const std::uint16_t* local;  // (nnz), place in the block's list
};

template <class T>
__global__ void __launch_bounds__(kThreads) spmv_block_remap(Problem<T> p, In<T> in, Out<T> out, Plan plan) {
  PLUMB_DYNAMIC_SHARED(T, x);  // (kMostColumns)
  __shared__ T scratch[kThreads / 32];
  const Index first = plan.row_start[blockIdx.x], last = plan.row_start[blockIdx.x + 1];
  const Index list = plan.col_start[blockIdx.x];
  const int columns = static_cast<int>(plan.col_start[blockIdx.x + 1] - list);
  const Index begin = in.A.row_ptr[first], end = in.A.row_ptr[last];
  if (columns == 0 && end > begin) {  // one long row that was not rewritten
    T sum = T(0);
    for (Index k = begin + static_cast<Index>(threadIdx.x); k < end; k += kThreads) sum += product(in, k);
    sum = sum_block<kThreads>(sum, scratch);
    if (threadIdx.x == 0) finish_row(p, out.y.data, first, sum);
    return;  // the whole block
  }
  for (int c = static_cast<int>(threadIdx.x); c < columns; c += kThreads)
    x[c] = __ldg(in.x.data + plan.cols[list + c]);
  __syncthreads();
  int width = 1;  // lanes per row: as many as the block's mean row has entries
  while (width < 32 && width * (last - first) < end - begin) width *= 2;
  const int lane = static_cast<int>(threadIdx.x) % width;
  for (Index base = first; base < last; base += kThreads / width) {
    const Index i = base + static_cast<int>(threadIdx.x) / width;
    const Index stop = i < last ? in.A.row_ptr[i + 1] : 0;
    T sum = T(0);
    for (Index k = i < last ? in.A.row_ptr[i] + static_cast<Index>(lane) : 0; k < stop; k += width) {
      sum += __ldg(in.A.val + k) * x[plan.local[k]];
    }
    sum = sum_lanes(sum, width);
    if (i < last && lane == 0) finish_row(p, out.y.data, i, sum);
  }
}

template <class E>
const E* upload_vector(const std::vector<E>& host, Context& context) {
  auto* device = workspace_of<E>(static_cast<Index>(host.size()), context);
  device_write(device, host.data(), host.size() * sizeof(E), context.stream);
  return device;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  const Index rows = in.A.rows, nnz = in.A.nnz;
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, rows + 1, context.stream),
      col(in.A.col, nnz, context.stream);
  std::vector<Index> row_start{0}, col_start{0};
  std::vector<std::int32_t> cols, list;
  std::vector<std::uint16_t> local(static_cast<std::size_t>(nnz));
  std::vector<Index> seen(static_cast<std::size_t>(in.A.cols), -1);  // the last block that listed a column
  std::vector<std::uint16_t> place(static_cast<std::size_t>(in.A.cols));  // where in that block's list
  Index block = 0, first = 0;
  const auto close = [&](Index last, bool rewritten) {
    if (rewritten) {
      std::sort(list.begin(), list.end());
      for (std::size_t c = 0; c < list.size(); ++c)
        place[static_cast<std::size_t>(list[c])] = static_cast<std::uint16_t>(c);
      for (Index k = row_ptr[first]; k < row_ptr[last]; ++k)
        local[static_cast<std::size_t>(k)] = place[static_cast<std::size_t>(col[k])];
      cols.insert(cols.end(), list.begin(), list.end());
    }
    row_start.push_back(last);
    col_start.push_back(static_cast<Index>(cols.size()));
    list.clear();
    first = last;
    ++block;
  };
  for (Index i = 0; i < rows;) {
    const std::size_t before = list.size();
    for (Index k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      Index& mark = seen[static_cast<std::size_t>(col[k])];
      if (mark != block) mark = block, list.push_back(col[k]);
    }
    if (list.size() > kMostColumns) {
      if (i == first) {
        close(i + 1, false);
        ++i;
      } else {
        list.resize(before);  // the row opens the next block, where it is looked at again
        close(i, true);
      }
      continue;
    }
    ++i;
    if (i - first == kMostRows) close(i, true);
  }
  if (first < rows) close(rows, true);
  return new Plan{block, upload_vector(row_start, context), upload_vector(col_start, context),
                  upload_vector(cols, context), upload_vector(local, context)};
}

void release(void* plan) { delete static_cast<Plan*>(plan); }

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Plan& plan = *static_cast<const Plan*>(context.plan);
  launch(spmv_block_remap<T>, plan.blocks, kThreads, kMostColumns * sizeof(T), context.stream, p, in, out,
         plan);
}

PLUMB_REGISTER_WITH(Spmv, "10_block_remap", (run<T>, {}, nullptr, prepare<T>, release), float, double);

}  // namespace
}  // namespace plumb
