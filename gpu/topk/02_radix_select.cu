// topk, rung 2: one block per row: the k-th largest key is found digit by digit, what is not below it is gathered, and sorted.
//
// Change    a row is read by a block, and no element is shifted: counts of eight bits of the key at a time, from the highest, narrow the
//           k-th largest down. A bitonic network sorts the k elements, in shared memory up to 1,024 of them, else in the outputs.
// Traffic   x five times (nine times in fp64), coalesced, after the first time from the caches where the row fits.
// Limits    which of the elements equal to the k-th are taken, and in which order equal ones stand, is as the threads come.
// Fails at  rows shorter than a block, for which a warp would do; one long row, which has one block.
// Source    Alabi, Blanchard, Gordon and Steinbach, "Fast k-selection algorithms for graphics processing units" (2012); Batcher, "Sorting
//           networks and their applications" (1968), in the form in which all comparisons have one direction.
#include "gpu/topk/common.hpp"

namespace plumb {
namespace {

using namespace topk;

constexpr int kThreads = 128;
constexpr int kDigit = 8, kDigits = 1 << kDigit;  // bits that are told apart in a round, and their values
constexpr int kMostInShared = 1024;

// Where the k elements stand while they are sorted: in shared memory,
template <class T>
struct InShared {
  key_t<in_t<T>>* key;   // (kMostInShared)
  std::int32_t* column;  // (kMostInShared)
  PLUMB_DEVICE void put(Index at, in_t<T> x, Index j) const {
    key[at] = key_of(x), column[at] = static_cast<std::int32_t>(j);
  }
  PLUMB_DEVICE bool is_less(Index a, Index b) const { return key[a] < key[b]; }
  PLUMB_DEVICE void swap(Index a, Index b) const {
    const auto key_of_a = key[a];
    const std::int32_t column_of_a = column[a];
    key[a] = key[b], column[a] = column[b];
    key[b] = key_of_a, column[b] = column_of_a;
  }
};

// or in their row of the outputs.
template <class T>
struct InOutputs {
  out_t<T>* value;       // (k)
  std::int32_t* column;  // (k)
  PLUMB_DEVICE void put(Index at, in_t<T> x, Index j) const {
    value[at] = x, column[at] = static_cast<std::int32_t>(j);
  }
  PLUMB_DEVICE bool is_less(Index a, Index b) const { return key_of(value[a]) < key_of(value[b]); }
  PLUMB_DEVICE void swap(Index a, Index b) const {
    const out_t<T> value_of_a = value[a];
    const std::int32_t column_of_a = column[a];
    value[a] = value[b], column[a] = column[b];
    value[b] = value_of_a, column[b] = column_of_a;
  }
};

// The k-th largest key of a row, and how many of the elements that have it are among the k.
template <class Key>
struct Threshold {
  Key key = 0;
  Index equal = 0;
};

struct Scratch {
  int count[kDigits];  // of elements, by a digit of their key
  int digit;
  Index equal;
  int taken, taken_equal;
};

// By the first warp: the digit at which the `wanted`-th largest is, counted from the largest digit, and which it is of those with that digit.
PLUMB_DEVICE void find_digit(Scratch& scratch, Index wanted) {
  constexpr int kEach = kDigits / 32;  // digits of a lane
  const int lane = static_cast<int>(threadIdx.x), largest = kDigits - 1 - lane * kEach;
  int mine = 0;
  for (int u = 0; u < kEach; ++u) mine += scratch.count[largest - u];
  Index before = scan_lanes(mine, lane) - mine;
  if (before >= wanted || wanted > before + mine) return;
  int digit = largest;
  for (; wanted > before + scratch.count[digit]; --digit) before += scratch.count[digit];
  scratch.digit = digit, scratch.equal = wanted - before;
}

template <class T>
PLUMB_DEVICE Threshold<key_t<in_t<T>>> find_threshold(const in_t<T>* x, Index cols, Index k,
                                                      Scratch& scratch) {
  using Key = key_t<in_t<T>>;
  Threshold<Key> found{0, k};
  Key known = 0;  // the bits of the threshold that are known
  for (int shift = 8 * static_cast<int>(sizeof(Key)) - kDigit; shift >= 0; shift -= kDigit) {
    for (int d = static_cast<int>(threadIdx.x); d < kDigits; d += kThreads) scratch.count[d] = 0;
    __syncthreads();
    for (Index j = threadIdx.x; j < cols; j += kThreads) {
      const Key key = key_of(x[j]);
      if ((key & known) == found.key) atomicAdd(&scratch.count[key >> shift & (kDigits - 1)], 1);
    }
    __syncthreads();
    if (threadIdx.x < 32) find_digit(scratch, found.equal);
    __syncthreads();
    found.key |= static_cast<Key>(scratch.digit) << shift, found.equal = scratch.equal;
    known |= static_cast<Key>(kDigits - 1) << shift;
  }
  return found;
}

// Elements above the threshold, then those equal to it, in the order in which threads come.
template <class T, class Kept>
PLUMB_DEVICE void gather(const in_t<T>* x, Index cols, Index k, Threshold<key_t<in_t<T>>> threshold,
                         const Kept& kept, Scratch& scratch) {
  for (Index j = threadIdx.x; j < cols; j += kThreads) {
    const auto key = key_of(x[j]);
    if (key > threshold.key) {
      kept.put(atomicAdd(&scratch.taken, 1), x[j], j);
    } else if (key == threshold.key) {
      const Index nth = atomicAdd(&scratch.taken_equal, 1);
      if (nth < threshold.equal) kept.put(k - threshold.equal + nth, x[j], j);
    }
  }
  __syncthreads();
}

// The larger of two goes before the other, always: elements that would fill k up to a power of two are the smallest, and stay behind.
template <class Kept>
PLUMB_DEVICE void sort_block(const Kept& kept, Index k) {
  for (int level = 0; Index(1) << level < k; ++level) {
    for (int step = level; step >= 0; --step) {
      const Index stride = Index(1) << step;
      for (Index t = threadIdx.x;; t += kThreads) {
        const Index in_pair = t & (stride - 1), pair = (t >> step) << (step + 1), low = pair + in_pair;
        const Index high = pair + (step == level ? 2 * stride - 1 - in_pair : stride + in_pair);
        if (low >= k) break;
        if (high < k && kept.is_less(low, high)) kept.swap(low, high);
      }
      __syncthreads();
    }
  }
}

template <class T, bool kShared>
__global__ void __launch_bounds__(kThreads) topk_radix_select(In<T> in, Out<T> out) {
  __shared__ Scratch scratch;
  const Index i = blockIdx.x, cols = in.x.cols, k = out.values.cols;
  const in_t<T>* const x = in.x.data + i * in.x.ld;
  out_t<T>* const values = out.values.data + i * out.values.ld;
  std::int32_t* const indices = out.indices.data + i * out.indices.ld;
  if (threadIdx.x == 0) scratch.taken = scratch.taken_equal = 0;
  const auto threshold = find_threshold<T>(x, cols, k, scratch);
  if constexpr (kShared) {
    __shared__ key_t<in_t<T>> key[kMostInShared];
    __shared__ std::int32_t column[kMostInShared];
    const InShared<T> kept{key, column};
    gather<T>(x, cols, k, threshold, kept, scratch);
    sort_block(kept, k);
    for (Index p = threadIdx.x; p < k; p += kThreads) values[p] = x[column[p]], indices[p] = column[p];
  } else {
    const InOutputs<T> kept{values, indices};
    gather<T>(x, cols, k, threshold, kept, scratch);
    sort_block(kept, k);
  }
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  if (out.values.cols <= kMostInShared)
    launch(topk_radix_select<T, true>, in.x.rows, kThreads, 0, context.stream, in, out);
  else
    launch(topk_radix_select<T, false>, in.x.rows, kThreads, 0, context.stream, in, out);
}

PLUMB_REGISTER(TopK, "02_radix_select", run, float, double, f16, bf16);

}  // namespace
}  // namespace plumb
