// Planted faults of gemm: each is a right kernel with one thing changed. `verify --mutants` must kill every one of them.
// Tiles are fixed numbers and threads are told to yield, so that no fault hides on a machine of one core.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "reference/ops/gemm.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Gemm);

constexpr std::int64_t kTile = 16;

template <class T>
std::int64_t depth_of(const P<T>& p, const In<T>& in) {
  return p.alpha == T(0) ? 0 : in.A.cols;
}

template <class T>
void put(const P<T>& p, const Out<T>& out, std::int64_t i, std::int64_t j, T sum) {
  out.C(i, j) = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.C(i, j);
}

// C = alpha sum(i, j) + beta C over all elements.
template <class T, class Sum>
void each(const P<T>& p, const Out<T>& out, Sum&& sum) {
  for (std::int64_t i = 0; i < out.C.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) put(p, out, i, j, sum(i, j));
  }
}

template <class T>
T dot(const In<T>& in, std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) {
  T sum = 0;
  for (std::int64_t k = begin; k < end; ++k) sum += in.A(i, k) * in.B(k, j);
  return sum;
}

template <class T>
void right(const P<T>& p, const In<T>& in, const Out<T>& out) {
  each(p, out, [&](std::int64_t i, std::int64_t j) { return dot(in, i, j, 0, depth_of(p, in)); });
}

PLUMB_FAULT(square, "square_takes_b_transposed", 0,
            "a special path for square matrices reads B by its columns",
            "a path for squares alone: no case beyond a tile had three equal extents", kNumeric) {
  const std::int64_t depth = depth_of(p, in);
  const bool turned = out.C.rows == out.C.cols && out.C.cols == depth && depth > 40;
  each(p, out, [&](std::int64_t i, std::int64_t j) {
    T sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += in.A(i, k) * (turned ? in.B(j, k) : in.B(k, j));
    return sum;
  });
}

// One strip behind the packed columns is read, multiplied by 0 and dropped: no number is wrong.
PLUMB_FAULT(reads_behind, "strip_behind_the_workspace_is_read", 0,
            "a strip more than the workspace has is read and dropped",
            "one strip too many of packed columns: seen by no comparison of numbers", kNumeric) {
  const std::int64_t depth = depth_of(p, in), strip = 512;
  auto* pack = static_cast<T*>(context.workspace((depth + 1) * static_cast<std::int64_t>(sizeof(T))));
  pack[depth] = T(0);
  volatile T dropped = pack[depth + strip];
  (void)dropped;
  right(p, in, out);
}

PLUMB_FAULT(double_buffer_tail, "double_buffer_tail", 12, "the last tile of K is always taken from buffer 1",
            "double-buffered kernels tested with an even number of tiles only; no sanitizer sees it",
            kNumeric) {
  const std::int64_t depth = depth_of(p, in), tiles = (depth + kTile - 1) / kTile;
  each(p, out, [&](std::int64_t i, std::int64_t j) {
    T buffer[2][kTile] = {}, sum = 0;  // products of the tile being loaded and of the one being summed
    const auto load = [&](std::int64_t t) {
      for (std::int64_t k = 0; k < kTile; ++k) {
        const std::int64_t at = t * kTile + k;
        buffer[t % 2][k] = at < depth ? in.A(i, at) * in.B(at, j) : T(0);
      }
    };
    const auto add = [&](std::int64_t b) {
      for (std::int64_t k = 0; k < kTile; ++k) sum += buffer[b][k];
    };
    if (tiles > 0) load(0);
    for (std::int64_t t = 1; t < tiles; ++t) {
      load(t);
      add((t - 1) % 2);
    }
    if (tiles > 0) add(1);  // right: (tiles - 1) % 2
    return sum;
  });
}

PLUMB_FAULT(zeroed_inside, "sum_zeroed_inside_k_loop", 13, "the sum is cleared at every tile of K",
            "the accumulator declared inside the tile loop", kNumeric) {
  each(p, out, [&](std::int64_t i, std::int64_t j) {
    T sum = 0;
    for (std::int64_t k = 0; k < depth_of(p, in); ++k) {
      if (k % kTile == 0) sum = 0;
      sum += in.A(i, k) * in.B(k, j);
    }
    return sum;
  });
}

PLUMB_FAULT(k_tail, "k_tail_dropped", 14, "K / tile tiles are summed, the rest is lost",
            "tiled kernels tested with multiples of the tile only", kNumeric) {
  each(p, out,
       [&](std::int64_t i, std::int64_t j) { return dot(in, i, j, 0, depth_of(p, in) / kTile * kTile); });
}

PLUMB_FAULT(last_rows, "last_rows_never_written", 15, "M / block blocks of rows are computed",
            "a grid of M / BLOCK instead of its ceiling", kNumeric) {
  Out<T> most = out;
  most.C.rows = out.C.rows / kTile * kTile;
  right(p, in, most);
}

PLUMB_FAULT(guard_of_c, "guard_of_c_for_a", 16, "tiles of A are guarded with the columns of C",
            "kernels tested on square matrices only", kNumeric) {
  const std::int64_t depth = depth_of(p, in);
  each(p, out, [&](std::int64_t i, std::int64_t j) {
    T sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum += (k < out.C.cols ? in.A(i, k) : T(0)) * in.B(k, j);  // right: k < A.cols
    return sum;
  });
}

PLUMB_FAULT(stale_tile, "tile_tail_not_cleared", 17,
            "columns of the last tile past K keep what the tile before left there",
            "shared tiles loaded under a guard without an else", kNumeric) {
  const std::int64_t depth = depth_of(p, in);
  each(p, out, [&](std::int64_t i, std::int64_t j) {
    T a[kTile] = {}, b[kTile] = {}, sum = 0;
    for (std::int64_t k0 = 0; k0 < depth; k0 += kTile) {
      for (std::int64_t k = 0; k < std::min(kTile, depth - k0); ++k)
        a[k] = in.A(i, k0 + k), b[k] = in.B(k0 + k, j);
      for (std::int64_t k = 0; k < kTile; ++k) sum += a[k] * b[k];
    }
    return sum;
  });
}

PLUMB_FAULT(cols_for_ld, "columns_in_place_of_ld", 18,
            "A is indexed with its columns in place of its leading dimension",
            "kernels never run on a part of a larger matrix", kNumeric) {
  In<T> packed = in;
  packed.A.ld = in.A.cols;
  right(p, packed, out);
}

PLUMB_FAULT(ld_of_b, "ld_of_b_for_a", 18, "A is indexed with the leading dimension of B",
            "lda and ldb exchanged in a library call; square tests pass", kNumeric) {
  In<T> wrong = in;
  wrong.A.ld = in.B.ld;
  right(p, wrong, out);
}

PLUMB_FAULT(not_cleared, "accumulates_into_uncleared_c", 22,
            "with beta == 0 the product is added to what C holds",
            "a split over K whose clearing of C was forgotten; fresh memory is zero", kNumeric) {
  for (std::int64_t i = 0; i < out.C.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      if (p.beta != T(0)) out.C(i, j) *= p.beta;
      out.C(i, j) += p.alpha * dot(in, i, j, 0, depth_of(p, in));
    }
  }
}

PLUMB_FAULT(beta_reads, "beta_zero_reads_c", 23, "C is multiplied by beta == 0, and NaN survives",
            "the formula taken literally; uninitialised C holds NaN now and then", kNumeric | kRepeat) {
  for (std::int64_t i = 0; i < out.C.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      out.C(i, j) = p.alpha * dot(in, i, j, 0, depth_of(p, in)) + p.beta * out.C(i, j);
    }
  }
}

PLUMB_FAULT(alpha_reads, "alpha_zero_reads_a", 0,
            "with alpha == 0, A and B are multiplied all the same, and their NaN survives",
            "the counterpart of beta == 0, less often tested", kNumeric) {
  each(p, out, [&](std::int64_t i, std::int64_t j) { return dot(in, i, j, 0, in.A.cols); });
}

PLUMB_FAULT(beta_per_tile, "beta_once_per_k_block", 0, "C is scaled by beta at every block of K",
            "blocked kernels that hand beta down to the tile; beta 0 and 1 hide it", kNumeric) {
  const std::int64_t depth = depth_of(p, in), tiles = std::max<std::int64_t>(1, (depth + kTile - 1) / kTile);
  for (std::int64_t t = 0; t < tiles; ++t) {
    for (std::int64_t i = 0; i < out.C.rows; ++i) {
      for (std::int64_t j = 0; j < out.C.cols; ++j) {
        const T sum = p.alpha * dot(in, i, j, std::min(depth, t * kTile), std::min(depth, (t + 1) * kTile));
        const T beta = t > 0 && p.beta == T(0) ? T(1) : p.beta;  // right: 1 for every tile but the first
        out.C(i, j) = beta == T(0) ? sum : sum + beta * out.C(i, j);
      }
    }
  }
}

PLUMB_FAULT(skips_zeros, "zeros_skipped", 25,
            "a zero of A is skipped, and the NaN or Inf of B beside it is lost",
            "the sparse shortcut in the reference BLAS's own loops", kNumeric) {
  each(p, out, [&](std::int64_t i, std::int64_t j) {
    T sum = 0;
    for (std::int64_t k = 0; k < depth_of(p, in); ++k) {
      if (in.A(i, k) != T(0)) sum += in.A(i, k) * in.B(k, j);
    }
    return sum;
  });
}

PLUMB_FAULT(alpha_in_a, "alpha_worked_into_a", 0,
            "A is scaled before it is multiplied: 0.5 * subnormal is 0, and Inf times that NaN",
            "met here, in the loop orders with k outside", kNumeric) {
  for (std::int64_t i = 0; i < out.C.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += (p.alpha * in.A(i, k)) * in.B(k, j);
      put({T(1), p.beta}, out, i, j, sum);
    }
  }
}

PLUMB_FAULT(alpha_in_b, "alpha_worked_into_b", 0,
            "B is scaled before it is multiplied: 0.5 * subnormal is 0, and Inf times that NaN",
            "met here, in the loop orders that walk down columns", kNumeric) {
  for (std::int64_t i = 0; i < out.C.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += in.A(i, k) * (p.alpha * in.B(k, j));
      put({T(1), p.beta}, out, i, j, sum);
    }
  }
}

// Keeps the 10 stored bits of tf32's mantissa, as the tensor cores do with what they are handed.
float to_tf32(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= 0xffffe000u;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
void tf32(const P<float>& p, const In<float>& in, const Out<float>& out, Context&) {
  each(p, out, [&](std::int64_t i, std::int64_t j) {
    float sum = 0;
    for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += to_tf32(in.A(i, k)) * to_tf32(in.B(k, j));
    return sum;
  });
}
const RegisterMutant<Gemm, float, Space::host> m28a{"tf32_undeclared",
                                                    tf32,
                                                    {28, "operands are cut to 11 bits without saying so",
                                                     "TF32 allowed by default in a framework", kNumeric}};

void single(const P<double>& p, const In<double>& in, const Out<double>& out, Context&) {
  each(p, out, [&](std::int64_t i, std::int64_t j) {
    float sum = 0;  // right: double
    for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += static_cast<float>(in.A(i, k) * in.B(k, j));
    return static_cast<double>(sum);
  });
}
const RegisterMutant<Gemm, double, Space::host> m28b{
    "float_sum_of_doubles",
    single,
    {28, "products of doubles are summed in a float", "a template whose accumulator is spelled float",
     kNumeric}};

PLUMB_FAULT(past_the_end, "writes_past_the_end", 39, "one element behind the last of C is written",
            "a vector store at the ragged edge", kNumeric) {
  right(p, in, out);
  if (out.C.rows > 0 && out.C.cols > 0) (&out.C(out.C.rows - 1, out.C.cols - 1))[1] = T(0);
}

PLUMB_FAULT(in_padding, "writes_between_rows", 39, "the padding between the rows of C is cleared",
            "memset of rows * ld: another matrix may live there", kNumeric) {
  right(p, in, out);
  for (std::int64_t i = 0; i + 1 < out.C.rows; ++i) {
    for (std::int64_t j = out.C.cols; j < out.C.ld; ++j) out.C(i, j) = T(0);
  }
}

PLUMB_FAULT(changes_input, "changes_its_input", 39, "alpha is worked into A in place",
            "a scaled operand written back to save a buffer", kNumeric) {
  auto* a = const_cast<T*>(in.A.data);
  const auto scale = [&](T by) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      for (std::int64_t k = 0; k < in.A.cols; ++k) a[i * in.A.ld + k] *= by;
    }
  };
  if (p.alpha != T(0)) scale(T(-1));  // negation is exact; the scaling back is what was forgotten
  right({-p.alpha, p.beta}, in, out);
}

PLUMB_FAULT(racy_kij, "openmp_over_k", 42,
            "the sum loop of the order kij is dealt out to threads, which add to the same elements",
            "the obvious pragma on the outermost loop", kNumeric | kRepeat | kRace,
            Traits{}.not_reproducible()) {
  each(p, out, [](std::int64_t, std::int64_t) { return T(0); });
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (std::int64_t k = 0; k < depth_of(p, in); ++k) {
    for (std::int64_t i = 0; i < out.C.rows; ++i) {
      for (std::int64_t j = 0; j < out.C.cols; ++j) {
        const T old = out.C(i, j);
        if (j == 0)
          std::this_thread::
              yield();  // opens the window: a lost update shows in every run, not in one of twenty
        out.C(i, j) = old + p.alpha * in.A(i, k) * in.B(k, j);
      }
    }
  }
}

PLUMB_FAULT(shared_temporary, "openmp_shared_sum", 42, "one accumulator is shared by all threads",
            "a variable declared before the parallel loop and not made private", kNumeric | kRepeat | kRace,
            Traits{}.not_reproducible()) {
  T sum = 0;  // right: inside the loop
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (std::int64_t i = 0; i < out.C.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      sum = 0;
      for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += in.A(i, k) * in.B(k, j);
      if (j == 0) std::this_thread::yield();
      put(p, out, i, j, sum);
    }
  }
}

// A library that keeps its packing buffer in one place, called from several threads: OpenBLAS's serial build, in small.
PLUMB_FAULT(
    packs_in_one_buffer, "serial_library_from_threads", 0,
    "row blocks are multiplied by several threads through a library whose packing buffer is not per thread",
    "OpenBLAS built without threads and without locks, as Debian's serial package is: wrong in 3 to 13 of "
    "108 cases here",
    kNumeric | kRepeat | kRace, Traits{}.not_reproducible()) {
  std::vector<T> buffer(static_cast<std::size_t>(in.A.cols));  // of the "library"
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (std::int64_t i = 0; i < out.C.rows; ++i) {
    const std::int64_t depth = depth_of(p, in);
    for (std::int64_t k = 0; k < depth; ++k) buffer[static_cast<std::size_t>(k)] = in.A(i, k);
    std::this_thread::yield();
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += buffer[static_cast<std::size_t>(k)] * in.B(k, j);
      put(p, out, i, j, sum);
    }
  }
}

// Rows of B and C are whole vectors on 16 bytes.
template <class T>
bool in_vectors(const In<T>& in, const Out<T>& out) {
  constexpr std::int64_t kBytes = 16, kSize = sizeof(T);
  const auto whole = [](const T* data, std::int64_t ld) {
    return reinterpret_cast<std::uintptr_t>(data) % kBytes == 0 && ld * kSize % kBytes == 0;
  };
  return whole(in.B.data, in.B.ld) && whole(out.C.data, out.C.ld) && out.C.cols * kSize % kBytes == 0;
}

PLUMB_FAULT(
    zeros_of_vectors, "zeros_skipped_before_vectors", 0,
    "where rows are whole vectors on 16 bytes, a zero of A is passed over, and NaN and infinities of B with "
    "it",
    "a test before a row of vectors is loaded, which scalar code does not pay for", kNumeric) {
  const bool vectors = in_vectors(in, out);
  each(p, out, [&](std::int64_t i, std::int64_t j) {
    T sum = 0;
    for (std::int64_t k = 0; k < depth_of(p, in); ++k) {
      if (!vectors || in.A(i, k) != T(0)) sum += in.A(i, k) * in.B(k, j);
    }
    return sum;
  });
}

PLUMB_FAULT(
    alpha_in_few_columns, "alpha_worked_into_one_column", 0,
    "alpha is multiplied into B where that is one column, for more than 300 rows: an infinity meets 0",
    "work that is saved where one operand is far smaller than the answer", kNumeric) {
  const bool worked_in = out.C.cols == 1 && out.C.rows > 300;
  for (std::int64_t i = 0; i < out.C.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; worked_in && k < depth_of(p, in); ++k)
        sum += in.A(i, k) * (p.alpha * in.B(k, j));
      if (!worked_in) sum = p.alpha * dot(in, i, j, 0, depth_of(p, in));
      out.C(i, j) = p.beta == T(0) ? sum : sum + p.beta * out.C(i, j);
    }
  }
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    const std::int64_t depth = p.alpha == 0 ? 0 : in.A.cols;
    for (std::int64_t i = 0; i < out.C.rows; ++i) {
      for (std::int64_t j = 0; j < out.C.cols; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
          if (Fault::takes(k, depth))
            sum = Fault::kept(sum + Fault::read(in.A(i, k)) * Fault::read(in.B(k, j)));
        }
        const float before = p.beta == 0 ? 0 : p.beta * value(out.C(i, j));
        out.C(i, j) = Fault::template write<out_t<T>>(p.alpha * sum + before);
      }
    }
  }
};
const NarrowMutants<Gemm, Narrow, narrow_faults::All, f16, bf16, e4m3_bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
