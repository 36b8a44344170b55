// Sparse DNN, the reference: every layer in fp64 with the band of values that an honest fp32 computation may
// have instead. Compiled without contraction. Plain loops over neurons, edges and rows; rows innermost, so
// that they also vectorise.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/cases/operator.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/parts.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {

namespace {

constexpr std::int64_t kJudgedRows = 64;  // per task: the scratch of a task stays in cache
constexpr std::int64_t kBatchElements = std::int64_t{1} << 22;
constexpr double kLargestFp32 = std::numeric_limits<float>::max();

/// min(cap, max(0, x)), NaN kept.
double clamp_to_cap(double x, double cap) {
  x = x <= 0 ? 0 : x;
  return x > cap ? cap : x;
}

/// Rows of a batch, few enough that the activations of all of them are held at once.
std::int64_t batch_rows(const SparseDnn& net) {
  return std::clamp(kBatchElements / std::max<std::int64_t>(net.neurons, 1), kJudgedRows, std::int64_t{4096});
}

bool surely_inactive(const SdnnBand& y, std::int64_t r) {
  for (std::int64_t i = 0; i < y.neurons; ++i) {
    const std::int64_t at = i * y.rows + r;
    if (!(y.low[at] == 0 && y.high[at] == 0)) return false;
  }
  return true;
}

/// Some element cannot be 0. NaN is a non-zero.
bool surely_active(const SdnnBand& y, std::int64_t r) {
  for (std::int64_t i = 0; i < y.neurons; ++i) {
    const std::int64_t at = i * y.rows + r;
    if (!(y.low[at] <= 0) && !(!y.or_zero.empty() && y.or_zero[at] != 0)) return true;
  }
  return false;
}

/// Keeps the rows named in `keep`.
void select_rows(SdnnBand& y, const std::vector<std::int64_t>& keep) {
  const auto n = static_cast<std::int64_t>(keep.size());
  for (std::int64_t i = 0; i < y.neurons; ++i) {
    for (std::int64_t r = 0; r < n; ++r) {  // in place: the target is never behind the source
      const std::int64_t to = i * n + r, from = i * y.rows + keep[static_cast<std::size_t>(r)];
      y.value[to] = y.value[from];
      y.low[to] = y.low[from];
      y.high[to] = y.high[from];
      if (!y.or_zero.empty()) y.or_zero[to] = y.or_zero[from];
    }
  }
  y.rows = n;
  const auto size = static_cast<std::size_t>(n * y.neurons);
  y.value.resize(size);
  y.low.resize(size);
  y.high.resize(size);
  if (!y.or_zero.empty()) y.or_zero.resize(size);
}

}  // namespace

SdnnBand SdnnBand::exact(const Csr<float>& y, std::int64_t first, std::int64_t last) {
  SdnnBand band;
  band.rows = last - first;
  band.neurons = y.cols;
  band.value.assign(static_cast<std::size_t>(band.rows * band.neurons), 0.0);
  for (std::int64_t r = 0; r < band.rows; ++r) {
    for (std::int32_t k = y.row_ptr[first + r]; k < y.row_ptr[first + r + 1]; ++k) {
      band.value[y.col[k] * band.rows + r] += static_cast<double>(y.val[k]);
    }
  }
  band.low = band.high = band.value;
  return band;
}

namespace {

// The sums of one neuron over its inputs, for every row: in fp64, the ends of their intervals, and the sum of
// the magnitudes.
struct NeuronSums {
  explicit NeuronSums(std::int64_t rows) : z(static_cast<std::size_t>(rows)), low(z), high(z), magnitude(z) {}
  std::vector<double> z, low, high, magnitude;
};

// exact_input: the ends of the inputs' intervals are equal.
void sum_inputs(const Csr<float>& w, std::int64_t j, const SdnnBand& y, bool exact_input, NeuronSums& sums) {
  const std::int64_t rows = y.rows;
  auto& [z, low, high, magnitude] = sums;
  for (std::vector<double>* of : {&z, &low, &high, &magnitude}) std::fill(of->begin(), of->end(), 0.0);
  for (std::int32_t k = w.row_ptr[j]; k < w.row_ptr[j + 1]; ++k) {
    const double a = static_cast<double>(w.val[k]), size = std::fabs(a);
    const double* const value = y.value.data() + w.col[k] * rows;
    if (exact_input) {
      for (std::int64_t r = 0; r < rows; ++r) {
        z[r] += a * value[r];
        magnitude[r] += size * std::fabs(value[r]);
      }
      continue;
    }
    // Activations are never negative below the first layer; inputs may be, hence the larger of both ends.
    const double* const y_low = y.low.data() + w.col[k] * rows;
    const double* const y_high = y.high.data() + w.col[k] * rows;
    const double* const at_low = a >= 0 ? y_low : y_high;
    const double* const at_high = a >= 0 ? y_high : y_low;
    for (std::int64_t r = 0; r < rows; ++r) {
      z[r] += a * value[r];
      low[r] += a * at_low[r];
      high[r] += a * at_high[r];
      magnitude[r] += size * std::max(std::fabs(y_low[r]), std::fabs(y_high[r]));
    }
  }
  if (exact_input) low = high = z;
}

}  // namespace

SdnnBand reference_layer(const SparseDnn& net, std::int64_t l, const SdnnBand& y) {
  const std::shared_ptr<const Csr<float>> layer = net.layer(l);
  const Csr<float>& w = *layer;
  const std::int64_t rows = y.rows;
  const bool everywhere = !net.biases.empty();
  const double cap = static_cast<double>(net.cap);
  const bool exact_input = y.low == y.high && y.or_zero.empty();
  SdnnBand out;
  out.rows = rows;
  out.neurons = y.neurons;
  out.value.resize(static_cast<std::size_t>(rows * y.neurons));
  out.low.resize(out.value.size());
  out.high.resize(out.value.size());
  if (!everywhere && net.bias > 0) out.or_zero.assign(out.value.size(), 0);

  NeuronSums sums(rows);
  const auto& [z, low, high, magnitude] = sums;
  for (std::int64_t j = 0; j < y.neurons; ++j) {
    sum_inputs(w, j, y, exact_input, sums);
    const std::int64_t terms = w.row_ptr[j + 1] - w.row_ptr[j] + 1;  // the bias is one
    const double bias = static_cast<double>(
        everywhere ? net.biases[static_cast<std::size_t>(l)][static_cast<std::size_t>(j)] : net.bias);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = j * rows + r;
      const double activated = everywhere || z[r] != 0 ? z[r] + bias : 0;
      out.value[at] = clamp_to_cap(activated, cap);
      if (magnitude[r] == 0) {  // every product is 0: so is Z, in any arithmetic
        out.low[at] = out.high[at] = out.value[at];
        continue;
      }
      // a user's weights may be equal, and so may inputs: at the cap they are
      const Tolerance fp32{Fill::few, Arithmetic::native, Dtype::f32};
      const double slack = sum_bound(fp32, activated, magnitude[r] + std::fabs(bias), terms);
      out.low[at] = clamp_to_cap(low[r] - slack + bias, cap);
      out.high[at] = clamp_to_cap(high[r] + slack + bias, cap);
      if (out.high[at] > kLargestFp32) out.high[at] = std::numeric_limits<double>::infinity();
      // Z may be 0: then there is no bias. For bias <= 0 that ends at 0 all the same, which the interval
      // already holds.
      if (!out.or_zero.empty() && low[r] - slack <= 0 && high[r] + slack >= 0) out.or_zero[at] = 1;
    }
  }
  return out;
}

void SdnnLayerVerdict::merge(const SdnnLayerVerdict& other) {
  compared += other.compared;
  misses += other.misses;
  undecided_rows += other.undecided_rows;
  if (other.row >= 0 && (row < 0 || other.worst > worst)) {
    worst = other.worst;
    row = other.row;
    neuron = other.neuron;
    got = other.got;
    want = other.want;
    low = other.low;
    high = other.high;
  }
}

SdnnLayerVerdict judge_layer(const SparseDnn& net, std::int64_t l, const Csr<float>& y, const Csr<float>& got,
                             std::int64_t first, std::int64_t last) {
  const SdnnBand want = reference_layer(net, l, SdnnBand::exact(y, first, last));
  const SdnnBand have = SdnnBand::exact(got, first, last);
  SdnnLayerVerdict verdict;
  verdict.compared = want.rows * want.neurons;
  for (std::int64_t j = 0; j < want.neurons; ++j) {
    for (std::int64_t r = 0; r < want.rows; ++r) {
      const std::int64_t at = j * want.rows + r;
      const double g = have.value[at], v = want.value[at], low = want.low[at], high = want.high[at];
      const bool nan_expected = std::isnan(v) || std::isnan(low) || std::isnan(high);
      const bool zero_allowed = !want.or_zero.empty() && want.or_zero[at] != 0;
      bool good = nan_expected ? std::isnan(g) : g >= low && g <= high;
      if (!good && zero_allowed && g == 0) good = true;
      const double side = g < v ? v - low : high - v, room = std::max(v - low, high - v);
      double ratio = 0;
      if (!good) {
        ++verdict.misses;
        ratio =
            side > 0 && !std::isnan(g) ? std::fabs(g - v) / side : std::numeric_limits<double>::infinity();
      } else if (room > 0 && !nan_expected && !(zero_allowed && g == 0)) {
        ratio = std::fabs(g - v) / room;  // beside a kink one side is cut short: the room is the uncut one
      }
      if (verdict.row < 0 || ratio > verdict.worst) {
        verdict.worst = ratio;
        verdict.row = first + r;
        verdict.neuron = j;
        verdict.got = g;
        verdict.want = v;
        verdict.low = low;
        verdict.high = high;
      }
    }
  }
  for (std::int64_t r = 0; r < want.rows; ++r) {
    if (!surely_inactive(want, r) && !surely_active(want, r)) ++verdict.undecided_rows;
  }
  return verdict;
}

SdnnAnswer reference_run(const SparseDnn& net, const RowSource& images,
                         const std::function<void(std::int64_t)>& progress) {
  validate_inputs(net, images);
  // Blocks large enough that a block still fills vectors when 97 of 100 rows have died, small enough to lie
  // in L3.
  const std::int64_t block = std::clamp(kBatchElements / 8 / std::max<std::int64_t>(net.neurons, 1),
                                        std::int64_t{16}, std::int64_t{512});
  const std::int64_t blocks = (images.rows() + block - 1) / block;
  const bool rows_end = net.keeps_zero_rows();
  SdnnAnswer answer;
  std::int64_t done = 0;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t first = b * block, last = std::min(images.rows(), first + block);
    SdnnBand y = SdnnBand::exact(images.make(first, last), 0, last - first);
    std::vector<std::int64_t> id(static_cast<std::size_t>(last - first));
    for (std::size_t r = 0; r < id.size(); ++r) id[r] = first + static_cast<std::int64_t>(r);
    for (std::int64_t l = 0; l < net.layers() && y.rows > 0; ++l) {
      std::vector<std::int64_t> keep;
      for (std::int64_t r = 0; r < y.rows; ++r) {
        if (!rows_end || !surely_inactive(y, r)) keep.push_back(r);
      }
      if (static_cast<std::int64_t>(keep.size()) < y.rows) {
        for (std::size_t r = 0; r < keep.size(); ++r) id[r] = id[static_cast<std::size_t>(keep[r])];
        id.resize(keep.size());
        select_rows(y, keep);
        if (keep.empty()) break;
      }
      y = reference_layer(net, l, y);
      for (std::size_t at = 0; at < y.or_zero.size(); ++at) {  // kept as one interval that begins at 0
        if (y.or_zero[at] != 0) y.low[at] = 0;
      }
      y.or_zero.clear();
    }
#pragma omp critical(plumb_sdnn_reference)
    {
      for (std::int64_t r = 0; r < y.rows; ++r) {
        bool active = false;
        for (std::int64_t i = 0; i < y.neurons && !active; ++i) active = y.value[i * y.rows + r] != 0;
        const auto one_based = static_cast<std::int32_t>(id[static_cast<std::size_t>(r)] + 1);
        if (active) answer.ids.push_back(one_based);
        if (!surely_inactive(y, r) && !surely_active(y, r)) answer.undecidable.push_back(one_based);
      }
      done += last - first;
      if (progress) progress(done);
    }
  }
  std::sort(answer.ids.begin(), answer.ids.end());
  std::sort(answer.undecidable.begin(), answer.undecidable.end());
  return answer;
}

SdnnCheck check_run(const SparseDnn& net, SdnnPlan& plan, const RowSource& images,
                    const std::function<void(std::int64_t)>& progress) {
  validate_inputs(net, images);
  SdnnCheck check;
  check.layers.resize(static_cast<std::size_t>(net.layers()));
  const bool rows_end = net.keeps_zero_rows();
  const std::int64_t batch = batch_rows(net);
  for (std::int64_t first = 0; first < images.rows(); first += batch) {
    const std::int64_t last = std::min(images.rows(), first + batch);
    Csr<float> y = images.make(first, last);
    for (std::int64_t l = 0; l < net.layers(); ++l) {
      Csr<float> next = plan.run(y, l, l + 1).y;
      if (next.rows != y.rows || next.cols != y.cols) {
        throw Error("sparse DNN: the pipeline's answer has another shape than its input");
      }
      // Where rows of zeros answer zeros, only their answer is looked at, not their products.
      std::vector<std::int64_t> live;
      SdnnLayerVerdict& verdict = check.layers[static_cast<std::size_t>(l)];
      for (std::int64_t r = 0; r < y.rows; ++r) {
        if (!rows_end || y.row_ptr[r] < y.row_ptr[r + 1] || next.row_ptr[r] < next.row_ptr[r + 1])
          live.push_back(r);
      }
      verdict.compared += (y.rows - static_cast<std::int64_t>(live.size())) * net.neurons;
      const auto count = static_cast<std::int64_t>(live.size());
      Csr<float> live_in, live_out;
      const auto gather_rows = [&](const Csr<float>& from, Csr<float>& to) {
        to.rows = count;
        to.cols = from.cols;
        to.row_ptr.assign(1, 0);
        for (const std::int64_t r : live) {
          to.col.insert(to.col.end(), from.col.begin() + from.row_ptr[r],
                        from.col.begin() + from.row_ptr[r + 1]);
          to.val.insert(to.val.end(), from.val.begin() + from.row_ptr[r],
                        from.val.begin() + from.row_ptr[r + 1]);
          to.row_ptr.push_back(static_cast<std::int32_t>(to.col.size()));
        }
      };
      gather_rows(y, live_in);
      gather_rows(next, live_out);
#pragma omp parallel for schedule(dynamic)
      for (std::int64_t begin = 0; begin < count; begin += kJudgedRows) {
        SdnnLayerVerdict part =
            judge_layer(net, l, live_in, live_out, begin, std::min(count, begin + kJudgedRows));
        part.row = part.row < 0 ? -1 : first + live[static_cast<std::size_t>(part.row)];
#pragma omp critical(plumb_sdnn_judge)
        verdict.merge(part);
      }
      y = std::move(next);
    }
    for (const std::int32_t id : categories(y)) check.ids.push_back(static_cast<std::int32_t>(id + first));
    for (const float v : y.val) check.unsaturated += v != 0 && v != net.cap;
    if (progress) progress(last);
  }
  return check;
}

}  // namespace plumb
