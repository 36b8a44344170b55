#include "reference/models/sparse_dnn/drawn.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "reference/core/random.hpp"

namespace plumb {

namespace {

class NetworkDraw {
 public:
  NetworkDraw(std::uint64_t seed, std::int64_t widest, std::int64_t most_inputs)
      : seed_(seed), widest_(widest), most_inputs_(most_inputs) {}

  DrawnNetwork draw() {
    const std::vector<std::int64_t> widths = draw_widths();
    const std::string degree = one_of("degree", {"few", "one", "some", "all", "any"});
    const std::string sign = one_of("weights", {"both", "positive", "negative", "equal"});
    std::vector<Csr<float>> gather;
    for (std::size_t l = 1; l < widths.size(); ++l)
      gather.push_back(draw_layer(widths[l], widths[l - 1], degree, sign));
    const float cap = draw_cap();
    const std::string bias =
        one_of("bias", {"none", "negative", "at_nonzeros", "positive", "each_negative", "each", "by_layer"});
    if (bias == "at_nonzeros") {
      out_.net = square_network(std::move(gather), static_cast<float>(unit() * 0.3), cap);
    } else {
      out_.net = square_network(std::move(gather), draw_biases(bias, widths), cap);
    }
    draw_inputs(widths.front());
    return out_;
  }

 private:
  double unit() { return random_unit(seed_, 1, at_++); }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_below(seed_, 2, at_++, static_cast<std::uint64_t>(n)));
  }
  std::string one_of(const std::string& property, const std::vector<std::string>& classes) {
    const std::string& one =
        classes[static_cast<std::size_t>(below(static_cast<std::int64_t>(classes.size())))];
    out_.classes.push_back(property + ":" + one);
    return one;
  }

  std::vector<std::int64_t> draw_widths() {
    const std::string layers = one_of("layers", {"one", "two", "several"});
    const std::string shape = one_of("shape", {"square", "rectangular", "power_of_two"});
    const std::int64_t sizes[] = {1, 2, 3, 7, 16, 17, 31, 32, 33, 37, 63, 65, 100, 130, 1100, 1300};
    const auto end = std::upper_bound(std::begin(sizes), std::end(sizes), widest_);
    const auto size = [&] { return sizes[below(end - std::begin(sizes))]; };
    std::int64_t width = size();
    if (shape == "power_of_two")
      width = std::int64_t{1} << below(std::ilogb(static_cast<double>(widest_)) + 1);
    std::vector<std::int64_t> widths{width};
    const std::int64_t count = layers == "one" ? 1 : layers == "two" ? 2 : 3 + below(4);
    for (std::int64_t l = 0; l < count; ++l) widths.push_back(shape == "rectangular" ? size() : width);
    return widths;
  }

  /// W transposed. Weights are small enough that values neither explode nor all end at the cap.
  Csr<float> draw_layer(std::int64_t outputs, std::int64_t inputs, const std::string& degree,
                        const std::string& sign) {
    Csr<float> w;
    w.rows = outputs;
    w.cols = inputs;
    for (std::int64_t j = 0; j < outputs; ++j) {
      const bool all = degree == "all" || (degree == "any" && below(4) == 0);
      const std::int64_t count = all                ? inputs
                                 : degree == "few"  ? below(3)
                                 : degree == "one"  ? 1
                                 : degree == "some" ? below(10)
                                                    : below(inputs + 1);
      const double scale = 2 / std::sqrt(static_cast<double>(std::max<std::int64_t>(count, 1)));
      for (std::int64_t k = 0; k < count;
           ++k) {  // repeated columns and any order unless all inputs are taken
        w.col.push_back(static_cast<std::int32_t>(all ? k : below(inputs)));
        const double u = sign == "equal" ? 0.375 : sign == "both" ? 2 * unit() - 1 : unit();
        w.val.push_back(static_cast<float>((sign == "negative" && below(8) != 0 ? -u : u) * scale));
      }
      w.row_ptr.push_back(static_cast<std::int32_t>(w.col.size()));
    }
    return w;
  }

  float draw_cap() {
    const std::string cap = one_of("cap", {"none", "32", "below_one", "zero"});
    if (cap == "none") return std::numeric_limits<float>::infinity();
    if (cap == "zero" && below(3) == 0) return 0;  // every answer is 0: a few will do
    return cap == "below_one" ? 0.3F : 32;
  }

  std::vector<std::vector<float>> draw_biases(const std::string& bias,
                                              const std::vector<std::int64_t>& widths) {
    const float one = bias == "negative" ? -0.1F : bias == "positive" ? 0.2F : 0.0F;
    std::vector<std::vector<float>> biases;
    for (std::size_t l = 1; l < widths.size(); ++l) {
      const auto of_layer = static_cast<float>(unit() - 0.6);
      std::vector<float>& layer = biases.emplace_back(static_cast<std::size_t>(widths[l]), one);
      for (float& b : layer) {
        if (bias == "by_layer") b = of_layer;
        if (bias == "each_negative") b = static_cast<float>(-0.3 * unit());
        if (bias == "each") b = static_cast<float>(unit() - 0.6);
      }
    }
    return biases;
  }

  void draw_inputs(std::int64_t width) {
    const std::string density = one_of("density", {"empty", "sparse", "half", "dense"});
    const std::string count = one_of("inputs", {"one", "several"});
    const bool negative = one_of("values", {"positive", "both"}) == "both";
    const double share = density == "empty" ? 0 : density == "sparse" ? 0.1 : density == "half" ? 0.5 : 1;
    Csr<float>& y = out_.y;
    y.cols = out_.net.neurons;
    y.rows = count == "one" ? 1 : 2 + below(most_inputs_ - 1);
    for (std::int64_t i = 0; i < y.rows; ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        if (share < 1 && unit() >= share) continue;
        y.col.push_back(static_cast<std::int32_t>(j));
        y.val.push_back(static_cast<float>(3 * unit() - (negative ? 1.5 : 0)));
      }
      y.row_ptr.push_back(static_cast<std::int32_t>(y.col.size()));
    }
  }

  std::uint64_t seed_, at_ = 0;
  std::int64_t widest_, most_inputs_;
  DrawnNetwork out_;
};

}  // namespace

DrawnNetwork draw_network(std::uint64_t seed, std::int64_t widest, std::int64_t most_inputs) {
  return NetworkDraw(seed, widest, most_inputs).draw();
}

}  // namespace plumb
