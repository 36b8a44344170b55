// What rung 5 chooses from, and what each would do for a matrix, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/bias_relu/column.hpp"
#include "gpu/bias_relu/costs.hpp"
#include "gpu/bias_relu/element.hpp"
#include "gpu/bias_relu/vector_loads.hpp"
#include "gpu/common/adaptive.hpp"
#include "gpu/device/memory.hpp"

namespace plumb {
namespace bias_relu {

enum class Kernel : std::uint8_t { elements, columns, one_vector, four_vectors };
constexpr int kCandidates = 4;
constexpr const char* kNames[kCandidates] = {"a thread per element", "a thread per column",
                                             "a vector per thread", "four vectors per thread"};

/// Of the matrix: what the terms are made of.
struct Features {
  double rows, cols, size, out_size;  // sizes: bytes of an element of x, of y
  bool on_vectors;                    // bases and leading dimensions on 16 bytes
};

template <class T>
bool on_vectors(const In<T>& in, const Out<T>& out) {
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(in.x.data) |
                              reinterpret_cast<std::uintptr_t>(out.y.data) |
                              reinterpret_cast<std::uintptr_t>(in.b.data) |
                              static_cast<std::uintptr_t>(in.x.ld * static_cast<Index>(sizeof(in_t<T>)) |
                                                          out.y.ld * static_cast<Index>(sizeof(out_t<T>)));
  return bits % 16 == 0;
}

/// What a candidate does.
struct Work {
  double warps, moves;  // moves of a thread, one after the other
  double loads;         // by all warps
};

inline Work work_of(Kernel kernel, const Features& f) {
  const double vectors = f.rows * std::ceil(f.cols * f.size / 16), across = std::ceil(f.cols / kColumns);
  const double down = std::ceil(f.rows / (kRows * kRowsPerThread));
  switch (kernel) {
    case Kernel::columns:
      return {across * down * kRows, kRowsPerThread, across * f.rows};
    case Kernel::one_vector:
      return {vectors / 32, 1, vectors / 32};
    case Kernel::four_vectors:
      return {vectors / 4 / 32, 1, vectors / 32};
    case Kernel::elements:
      break;
  }
  return {f.rows * f.cols / 32, 1, f.rows * f.cols / 32};
}

/// The terms: a start; no further launches; moves one after the other, in all rounds of blocks; thousands of warps of a multiprocessor;
/// megabytes through the second-level cache; megabytes beyond it; thousands of loads by the warps of a multiprocessor; none.
inline Terms terms_of(Kernel kernel, const Features& f) {
  if (f.rows * f.cols == 0 || (kernel >= Kernel::one_vector && !f.on_vectors)) return {};
  constexpr double kMega = 1e6, kThousand = 1e3, kResident = 64;  // warps of a multiprocessor
  const Work w = work_of(kernel, f);
  const double many = device_multiprocessors(), held = f.rows * f.cols * (f.size + f.out_size) / kMega,
               cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6;
  return {true,
          {1, 0, w.moves * std::ceil(w.warps / (kResident * many)), w.warps / many / kThousand, held,
           held > cache ? held - cache : 0, w.loads / many / kThousand, 0}};
}

template <class T>
struct Candidates : CandidateList<BiasRelu, T> {
  static constexpr auto& kNames = bias_relu::kNames;
  static constexpr auto& kModels = Costs<scalar_t<T>>::model;
  struct Kept {};

  Candidates(const Problem<T>&, const In<T>& in, const Out<T>& out, Context&)
      : f{static_cast<double>(in.x.rows), static_cast<double>(in.x.cols), sizeof(in_t<T>), sizeof(out_t<T>),
          on_vectors(in, out)} {}
  Terms terms(int c) const { return terms_of(static_cast<Kernel>(c), f); }
  Kept keep(int, Context&) const { return {}; }
  static void run(int c, const Kept&, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    switch (static_cast<Kernel>(c)) {
      case Kernel::elements:
        return run_elements(p, in, out, context);
      case Kernel::columns:
        return run_columns(p, in, out, context);
      case Kernel::one_vector:
        return run_vectors<1>(p, in, out, context);
      case Kernel::four_vectors:
        return run_vectors<4>(p, in, out, context);
    }
  }

  Features f;
};

}  // namespace bias_relu
}  // namespace plumb
