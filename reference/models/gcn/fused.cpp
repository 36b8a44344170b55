// GCN, the host's fast pipeline: three passes over rows, and nothing between them goes to memory that the
// next pass does not read.
//
// Change    fused: bias, ReLU and the next layer's H W run on the row just summed, LogSoftmax on the row of
//           logits.
// Traffic   X once; per edge one row of X W1 (or of X) and one of H W2 (or of H); H, logits and the answer
//           written once.
//           Where the values of A follow from its degrees, and every layer is A (X W): 4 bytes per entry of A and
//           layer less (fp64: 8), as the rows of X W and of A (X W) are scaled while they are in the cache.
// Limits    widths of 8 to 64 fit a few vectors; rows are dealt out dynamically, as degrees follow a power
//           law.
// Fails at  a vertex that holds most edges: its row is one thread's work.
#include <algorithm>
#include <cstdint>

#include "reference/models/gcn/fused.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/models/gcn/panels.hpp"
#include "reference/models/gcn/parts.hpp"

namespace plumb {

namespace {

using gcn::gather;
using gcn::make_dense;
using gcn::Panels;
using gcn::RowSums;

template <class T>
void scale_row(T scale, std::int64_t width, T* row) {
#pragma omp simd
  for (std::int64_t j = 0; j < width; ++j) row[j] *= scale;
}

constexpr int kRows = Panels<float>::kRows;  // at a time

/// Calls rows(first, count) for rows [0, n), kRows or fewer at a time, on all threads.
template <class Rows>
void each_few(std::int64_t n, const Rows& rows) {
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t first = 0; first < n; first += kRows)
    rows(first, static_cast<int>(std::min<std::int64_t>(kRows, n - first)));
}

/// S = X W, the rows of X dense or sparse, and scaled where the pattern alone is multiplied; then place for `more` rows.
template <class T>
Dense<T> transform(const Gcn<T>& net, const Panels<T>& panels, bool from_degrees, std::int64_t more) {
  const Dense<T>& w = net.weights[0];
  Dense<T> s = RowSums<T>::operand_of(net.vertices() + more, w.cols);
  each_few(net.vertices(), [&](std::int64_t first, int count) {
    const T* x[kRows] = {};
    T* y[kRows] = {};
    for (int r = 0; r < count; ++r) {
      y[r] = s.data.data() + (first + r) * w.cols;
      if (net.sparse_features) {
        gather(net.x_sparse, first + r, w, y[r]);
      } else {
        x[r] = net.x_dense.data.data() + (first + r) * w.rows;
      }
    }
    if (!net.sparse_features) panels.times(x, y, count);
    for (int r = 0; r < count && from_degrees; ++r)
      scale_row(net.scales[static_cast<std::size_t>(first + r)], w.cols, y[r]);
  });
  return s;
}

/// The operands and results of the passes: X W1 where the first layer is A (X W), then a pass for each layer.
template <class T>
class FusedPasses {
 public:
  FusedPasses(const Gcn<T>& net, const GcnOrders& orders, GcnBoundary<T>* boundary)
      : net_(net),
        orders_(orders),
        boundary_(boundary),
        more_(boundary == nullptr ? 0 : boundary->rows()),
        from_degrees_(!net.scales.empty() &&
                      std::all_of(orders.begin(), orders.end(),
                                  [](GcnOrder o) { return o == GcnOrder::transform_first; })),
        panels_(net.weights.begin(), net.weights.end()) {}

  GcnRun<T> run() {
    if (from_degrees_) run_.layers_from_degrees = static_cast<std::int64_t>(layers());
    gcn::StepClock clock(run_.steps);
    if (transforms(0)) {
      s_ = transform(net_, panels_[0], from_degrees_, more_);
      clock.step("X W1");
    }
    run_.hidden.resize(layers() - 1);
    for (std::size_t l = 0; l < layers(); ++l) {
      pass(l);
      clock.step(name_of(l));
    }
    for (Dense<T>& h : run_.hidden) drop_rows_beyond(net_.vertices(), h);
    run_.seconds = clock.total();
    return std::move(run_);
  }

 private:
  static void drop_rows_beyond(std::int64_t rows, Dense<T>& m) {
    m.rows = rows;
    m.data.resize(static_cast<std::size_t>(rows * m.cols));
  }
  [[nodiscard]] std::size_t layers() const { return net_.weights.size(); }
  [[nodiscard]] bool last(std::size_t l) const { return l + 1 == layers(); }
  [[nodiscard]] bool transforms(std::size_t l) const { return orders_[l] == GcnOrder::transform_first; }
  /// The pass of layer l also computes H W of the next.
  [[nodiscard]] bool transforms_on(std::size_t l) const { return !last(l) && transforms(l + 1); }

  [[nodiscard]] T scale(std::int64_t i) const { return net_.scales[static_cast<std::size_t>(i)]; }

  [[nodiscard]] std::string name_of(std::size_t l) const {
    const std::string number = std::to_string(l + 1), input = l == 0 ? "X" : "H";
    std::string name = transforms(l) ? "A S" + number : "(A " + input + ") W" + number;
    if (last(l)) return name + ", LogSoftmax";
    name += ", ReLU";
    return transforms_on(l) ? name + ", H W" + std::to_string(l + 2) : name;
  }

  /// Layer l, with all that can be done while a row is in the cache.
  void pass(std::size_t l) {
    const std::int64_t n = net_.vertices();
    const Dense<T>& w = net_.weights[l];
    Dense<T>& z = last(l) ? run_.logits : run_.hidden[l];
    z = make_dense<T>(last(l) ? n : n + more_, w.cols);
    if (last(l)) run_.log_softmax = make_dense<T>(n, w.cols);
    Dense<T> next;
    if (transforms_on(l)) next = RowSums<T>::operand_of(n + more_, net_.weights[l + 1].cols);
    Dense<T>* const operand = transforms(l) ? &s_ : l > 0 ? &run_.hidden[l - 1] : nullptr;
    each_few_rows(operand, w.rows, [&](const std::int64_t* rows, int count, T* gathered) {
      T* row[kRows] = {};
      for (int r = 0; r < count; ++r) row[r] = z.data.data() + rows[r] * w.cols;
      sum_rows(l, rows, count, gathered, row);
      for (int r = 0; r < count; ++r) last(l) ? finish(rows[r]) : activate(net_.biases[l], w.cols, row[r]);
      if (!transforms_on(l)) return;
      T* of_next[kRows] = {};
      for (int r = 0; r < count; ++r) of_next[r] = next.data.data() + rows[r] * next.cols;
      panels_[l + 1].times(row, of_next, count);
      for (int r = 0; r < count && from_degrees_; ++r) scale_row(scale(rows[r]), next.cols, of_next[r]);
    });
    s_ = std::move(next);
  }

  /// Rows of A (H W) or (A H) W; `gathered` (kRows, rows of W) is scratch.
  [[gnu::always_inline]] void sum_rows(std::size_t l, const std::int64_t* rows, int count, T* gathered,
                                       T* const* row) const {
    if (transforms(l)) {
      for (int r = 0; r < count; ++r) gather_transformed(rows[r], row[r]);
      return;
    }
    const T* sums[kRows] = {};
    for (int r = 0; r < count; ++r) {
      T* const sum = gathered + r * net_.weights[l].rows;
      gather_input(l, rows[r], sum);
      sums[r] = sum;
    }
    panels_[l].times(sums, row, count);
  }

  /// Row i of A S.
  [[gnu::always_inline]] void gather_transformed(std::int64_t i, T* row) const {
    if (from_degrees_) {
      RowSums<T>::template gather<true>(net_.a, i, s_, row);
      return scale_row(scale(i), s_.cols, row);
    }
    RowSums<T>::template gather<false>(net_.a, i, s_, row);
  }

  /// Row i of A H, or of A X.
  [[gnu::always_inline]] void gather_input(std::size_t l, std::int64_t i, T* sum) const {
    if (l > 0) {
      gather(net_.a, i, run_.hidden[l - 1], sum);
    } else if (net_.sparse_features) {
      gather(net_.a, i, net_.x_sparse, sum);
    } else {
      gather(net_.a, i, net_.x_dense, sum);
    }
  }

  static void activate(const std::vector<T>& bias, std::int64_t width, T* row) {
    for (std::int64_t j = 0; j < width; ++j)
      row[j] = gcn::relu(bias.empty() ? row[j] : row[j] + bias[static_cast<std::size_t>(j)]);
  }

  /// Calls few(rows, count, gathered) until every row of A has been among the `count` ones, in any order and on all threads; `gathered`
  /// is scratch (kRows, width). Rows that gather others' rows of `operand` come after those have arrived. No operand: it is there.
  template <class Few>
  void each_few_rows(Dense<T>* operand, std::int64_t width, const Few& few) {
    const auto some = [&](const std::int32_t* which, std::int64_t first, std::int64_t last) {
#pragma omp parallel
      {
        std::vector<T> gathered(static_cast<std::size_t>(kRows * width));
#pragma omp for schedule(dynamic, 16)
        for (std::int64_t i = first; i < last; i += kRows) {
          std::int64_t rows[kRows] = {};
          const auto count = static_cast<int>(std::min<std::int64_t>(kRows, last - i));
          for (int r = 0; r < count; ++r) rows[r] = which == nullptr ? i + r : which[i + r];
          few(rows, count, gathered.data());
        }
      }
    };
    if (boundary_ == nullptr || operand == nullptr) return some(nullptr, 0, net_.vertices());
    boundary_->begin(*operand);
    const auto inner = static_cast<std::int64_t>(boundary_->inner().size());
    constexpr std::int64_t kTurns = 16;  // at the end of each, messages are looked after
    for (std::int64_t turn = 0; turn < kTurns; ++turn) {
      some(boundary_->inner().data(), inner * turn / kTurns, inner * (turn + 1) / kTurns);
      boundary_->advance();
    }
    boundary_->end();
    some(boundary_->outer().data(), 0, static_cast<std::int64_t>(boundary_->outer().size()));
  }

  /// Bias and LogSoftmax of a row of logits.
  void finish(std::int64_t i) {
    const std::int64_t width = run_.logits.cols;
    T* const z = run_.logits.data.data() + i * width;
    const std::vector<T>& bias = net_.biases.back();
    if (!bias.empty()) {
      for (std::int64_t j = 0; j < width; ++j) z[j] += bias[static_cast<std::size_t>(j)];
    }
    gcn::log_softmax_row(z, run_.log_softmax.data.data() + i * width, width);
  }

  const Gcn<T>& net_;
  const GcnOrders& orders_;
  GcnBoundary<T>* const boundary_;       // null: all rows are here
  const std::int64_t more_;              // rows of others
  const bool from_degrees_;              // A by its pattern and net.scales
  const std::vector<Panels<T>> panels_;  // of each layer's weights
  Dense<T> s_;                           // X W or H W of the layer at hand
  GcnRun<T> run_;
};

template <class T>
GcnRun<T> run_fused(const Gcn<T>& net, GcnOrder order) {
  const GcnOrders orders = orders_of(net, order);
  return FusedPasses<T>(net, orders, nullptr).run();
}

}  // namespace

template <class T>
GcnOrders orders_of(const Gcn<T>& net, GcnOrder order) {
  GcnOrders orders;
  for (std::size_t l = 0; l < net.weights.size(); ++l)
    orders.push_back(order == GcnOrder::by_cost ? cheaper_order(net, static_cast<std::int64_t>(l)) : order);
  return orders;
}

template <class T>
GcnRun<T> run_fused_part(const Gcn<T>& part, const GcnOrders& orders, GcnBoundary<T>& boundary) {
  return FusedPasses<T>(part, orders, &boundary).run();
}

template GcnOrders orders_of(const Gcn<float>&, GcnOrder);
template GcnOrders orders_of(const Gcn<double>&, GcnOrder);
template GcnRun<float> run_fused_part(const Gcn<float>&, const GcnOrders&, GcnBoundary<float>&);
template GcnRun<double> run_fused_part(const Gcn<double>&, const GcnOrders&, GcnBoundary<double>&);

const GcnPipeline kGcnFused = {"fused",
                               Space::host,
                               "one fused pass over rows for each layer, OpenMP",
                               []() -> const char* { return nullptr; },
                               run_fused<float>,
                               run_fused<double>};

}  // namespace plumb
