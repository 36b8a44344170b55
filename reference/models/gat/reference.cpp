// GAT: each layer in numbers that carry their bound, by the rules of formulas, and the judgement of a run by them.
#include <algorithm>
#include <string>
#include <utility>

#include "reference/arithmetic/bounded.hpp"
#include "reference/models/gat/gat.hpp"

namespace plumb {

namespace gat {
namespace {

using Row = std::vector<Bounded>;

/// (rows, cols) of numbers with bounds.
struct Carried {
  std::int64_t rows = 0, cols = 0;
  Row data;
  Carried(std::int64_t r, std::int64_t c) : rows(r), cols(c), data(static_cast<std::size_t>(r * c)) {}
  [[nodiscard]] Bounded& at(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i * cols + j)];
  }
  [[nodiscard]] const Bounded& at(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * cols + j)];
  }
};

template <class T>
Bounded exact(T v) {
  return {static_cast<double>(v), 0, 0};
}

template <class T>
Carried exactly(const Dense<T>& x) {
  Carried c(x.rows, x.cols);
  std::transform(x.data.begin(), x.data.end(), c.data.begin(), [](T v) { return exact(v); });
  return c;
}

/// The layers of one network in the arithmetic of T.
template <class T>
class GatReference {
 public:
  explicit GatReference(const Gat<T>& net) : net_(net), compute_(kFormat<T>) {}

  /// Layer l on `before`, which is not looked at where X is sparse and l is 0.
  [[nodiscard]] Carried layer(std::size_t l, const Carried& before) const {
    const GatLayerOf<T>& of = net_.layers[l];
    const Carried h = transform(l, before);
    const Carried s = scores(of, h, of.source), t = scores(of, h, of.target);
    Carried y(net_.vertices(), of.outputs());
#pragma omp parallel for schedule(dynamic, 16)
    for (std::int64_t i = 0; i < y.rows; ++i) {
      Row heads;
      for (std::int64_t k = 0; k < of.heads; ++k) attend(of, h, s, t, i, k, heads);
      for (std::int64_t j = 0; j < y.cols; ++j) y.at(i, j) = finished(l, heads, j);
    }
    return y;
  }

  [[nodiscard]] Carried log_softmax(const Carried& z) const {
    Carried y(z.rows, z.cols);
#pragma omp parallel for schedule(dynamic, 16)
    for (std::int64_t i = 0; i < z.rows; ++i) compute_.log_softmax(&z.at(i, 0), z.cols, &y.at(i, 0));
    return y;
  }

 private:
  // What is taken from all of a row before exponentials: which number it is makes no difference but for rounding.
  static Bounded shift(const Bounded* row, std::int64_t count) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::int64_t j = 0; j < count; ++j) most = std::max(most, row[j].value);
    return {-most, 0, 0};
  }

  [[nodiscard]] Carried transform(std::size_t l, const Carried& x) const {
    const Dense<T>& w = net_.layers[l].w;
    const bool sparse = l == 0 && net_.sparse_features;
    Carried h(net_.vertices(), w.cols);
#pragma omp parallel for schedule(dynamic, 16)
    for (std::int64_t i = 0; i < h.rows; ++i) {
      Row terms;
      for (std::int64_t j = 0; j < w.cols; ++j) {
        terms.clear();
        const auto take = [&](std::int64_t k, const Bounded& v) {
          terms.push_back(Compute::product_term(v, exact(w.data[static_cast<std::size_t>(k * w.cols + j)])));
        };
        if (sparse) {
          const Csr<T>& m = net_.x_sparse;
          for (std::int32_t e = m.row_ptr[static_cast<std::size_t>(i)];
               e < m.row_ptr[static_cast<std::size_t>(i) + 1]; ++e)
            take(m.col[static_cast<std::size_t>(e)], exact(m.val[static_cast<std::size_t>(e)]));
        } else {
          for (std::int64_t k = 0; k < x.cols; ++k) take(k, x.at(i, k));
        }
        h.at(i, j) = summed(terms, true);
      }
    }
    return h;
  }

  [[nodiscard]] Carried scores(const GatLayerOf<T>& of, const Carried& h, const std::vector<T>& by) const {
    Carried s(h.rows, of.heads);
#pragma omp parallel for schedule(dynamic, 64)
    for (std::int64_t i = 0; i < h.rows; ++i) {
      Row terms;
      for (std::int64_t k = 0; k < of.heads; ++k) {
        terms.clear();
        for (std::int64_t c = k * of.width(); c < (k + 1) * of.width(); ++c)
          terms.push_back(Compute::product_term(h.at(i, c), exact(by[static_cast<std::size_t>(c)])));
        s.at(i, k) = summed(terms, true);
      }
    }
    return s;
  }

  // Appends head k of row i.
  void attend(const GatLayerOf<T>& of, const Carried& h, const Carried& s, const Carried& t, std::int64_t i,
              std::int64_t k, Row& heads) const {
    const auto begin = net_.a.col.begin() + net_.a.row_ptr[static_cast<std::size_t>(i)],
               end = net_.a.col.begin() + net_.a.row_ptr[static_cast<std::size_t>(i) + 1];
    Row shares, terms;
    for (auto j = begin; j != end; ++j)
      shares.push_back(compute_.leaky_relu(compute_.add(t.at(i, k), s.at(*j, k)), compute_.constant(0.2)));
    const Bounded by =
        shares.empty() ? Bounded{} : shift(shares.data(), static_cast<std::int64_t>(shares.size()));
    for (Bounded& share : shares) share = compute_.exp(compute_.add(share, by));
    const Bounded weight = summed(shares, false);
    for (std::int64_t c = k * of.width(); c < (k + 1) * of.width(); ++c) {
      terms.clear();
      for (auto j = begin; j != end; ++j)
        terms.push_back(Compute::product_term(shares[static_cast<std::size_t>(j - begin)], h.at(*j, c)));
      heads.push_back(begin == end ? Bounded{} : compute_.divide(summed(terms, true), weight));
    }
  }

  [[nodiscard]] Bounded finished(std::size_t l, const Row& heads, std::int64_t j) const {
    const GatLayerOf<T>& of = net_.layers[l];
    Bounded y = heads[static_cast<std::size_t>(j)];
    if (of.averages()) {
      Row all;
      for (std::int64_t k = 0; k < of.heads; ++k)
        all.push_back(heads[static_cast<std::size_t>(k * of.width() + j)]);
      y = compute_.divide(summed(all, false), exact(static_cast<double>(of.heads)));
    }
    if (!of.bias.empty()) y = compute_.add(y, exact(of.bias[static_cast<std::size_t>(j)]));
    if (l + 1 == net_.layers.size()) return y;
    if (net_.activation == GatActivation::relu) return larger(y, Bounded{});
    return chosen(less(Bounded{}, y, false), y, compute_.add(compute_.exp(y), exact(-1.0)));
  }

  [[nodiscard]] Bounded summed(const Row& terms, bool products) const {
    return compute_.sum(terms.data(), static_cast<std::int64_t>(terms.size()), products);
  }

  const Gat<T>& net_;
  Compute compute_;
};

constexpr const char* kOwnInput = "the reference on the run's own values before";
constexpr const char* kWhole = "the reference of the whole network";

template <class T>
GcnCheck check_of(const std::string& key, const std::string& what, const char* against, const Dense<T>& got,
                  const Carried& want) {
  Dense<double> value{want.rows, want.cols, {}}, bound = value;
  for (const Bounded& b : want.data) value.data.push_back(b.value + b.low), bound.data.push_back(b.error);
  return {key, what, against, judge_matrix(got, value, bound)};
}

template <class T>
GcnJudgement judge(const Gat<T>& net, const GatRun<T>& run,
                   const std::function<void(const char*)>& progress) {
  const GatReference<T> reference(net);
  GcnJudgement judgement;
  Carried whole = exactly(net.x_dense);
  for (std::size_t l = 0; l < net.layers.size(); ++l) {
    const std::string number = std::to_string(l + 1);
    if (progress) progress(("layer " + number + " ...").c_str());
    const Carried own = reference.layer(l, l == 0 ? whole : exactly(run.outputs.at(l - 1)));
    judgement.checks.push_back(
        check_of("layer_" + number, "layer " + number, kOwnInput, run.outputs.at(l), own));
    whole = l == 0 ? own : reference.layer(l, whole);
  }
  judgement.checks.push_back(check_of("logits", "logits", kWhole, run.outputs.back(), whole));
  judgement.checks.push_back(check_of("log_softmax", "log-softmax", kOwnInput, run.log_softmax,
                                      reference.log_softmax(exactly(run.outputs.back()))));
  return judgement;
}

}  // namespace
}  // namespace gat

template <class T>
GcnJudgement judge_gat(const Gat<T>& net, const GatRun<T>& run,
                       const std::function<void(const char*)>& progress) {
  return gat::judge(net, run, progress);
}

template GcnJudgement judge_gat<float>(const Gat<float>&, const GatRun<float>&,
                                       const std::function<void(const char*)>&);
template GcnJudgement judge_gat<double>(const Gat<double>&, const GatRun<double>&,
                                        const std::function<void(const char*)>&);

}  // namespace plumb
