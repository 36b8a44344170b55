// SuiteSparse:GraphBLAS beside the host's fastest pipeline on the Sparse DNN Graph Challenge, in one run. A program of its own,
// built by name where GraphBLAS is installed: nothing else needs the library.
//
//     graphblas_times NEURONS LAYERS REPEATS
//
// Data as `infer sdnn` finds them. GraphBLAS runs the loop of LAGraph_dnn: a product, the bias at stored entries, those above 0 kept,
// the cap; on as many threads as OMP_NUM_THREADS says. Both are timed in turn, the least of REPEATS counts; plans and matrices are made
// before. Exit 0: same categories; 1: others; 2: usage, or a failed call.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

extern "C" {  // the header does not say so
#include <GraphBLAS.h>
}
#include <fmt/format.h>
#include <omp.h>

#include "datasets/networks/sdnn_data.hpp"
#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/parts.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {

namespace {

void require(GrB_Info info, const char* call) {
  if (info != GrB_SUCCESS) throw Error(fmt::format("{} failed with code {}", call, static_cast<int>(info)));
}

/// `m` (rows, cols) by rows, or its transpose where `by_columns`: a row of `m` is then a column. The format in memory is by rows.
GrB_Matrix matrix_of(const Csr<float>& m, bool by_columns) {
  const std::vector<GrB_Index> ptr(m.row_ptr.begin(), m.row_ptr.end()), index(m.col.begin(), m.col.end());
  GrB_Matrix a = nullptr;
  const auto rows = static_cast<GrB_Index>(by_columns ? m.cols : m.rows);
  const auto cols = static_cast<GrB_Index>(by_columns ? m.rows : m.cols);
  require(GrB_Matrix_import_FP32(&a, GrB_FP32, rows, cols, ptr.data(), index.data(), m.val.data(), ptr.size(),
                                 index.size(), m.val.size(), by_columns ? GrB_CSC_FORMAT : GrB_CSR_FORMAT),
          "GrB_Matrix_import");
  require(GxB_Matrix_Option_set(a, GxB_FORMAT, GxB_BY_ROW), "GxB_Matrix_Option_set");
  require(GrB_Matrix_wait(a, GrB_MATERIALIZE), "GrB_Matrix_wait");
  return a;
}

/// The network and its inputs as GraphBLAS holds them.
class GraphBlasDnn {
 public:
  GraphBlasDnn(const SparseDnn& net, const Csr<float>& images)
      : bias_(net.bias), cap_(net.cap), images_(matrix_of(images, false)) {
    for (const Csr<float>& w : net.gather) weights_.push_back(matrix_of(w, true));
  }
  ~GraphBlasDnn() {
    for (GrB_Matrix& w : weights_) GrB_Matrix_free(&w);
    GrB_Matrix_free(&images_);
  }
  GraphBlasDnn(const GraphBlasDnn&) = delete;
  GraphBlasDnn& operator=(const GraphBlasDnn&) = delete;

  /// 1-based ids of the rows with an entry at the end.
  [[nodiscard]] std::vector<std::int32_t> run() const {
    GrB_Index rows = 0, cols = 0;
    require(GrB_Matrix_nrows(&rows, images_), "GrB_Matrix_nrows");
    require(GrB_Matrix_ncols(&cols, images_), "GrB_Matrix_ncols");
    GrB_Matrix y = nullptr;
    require(GrB_Matrix_new(&y, GrB_FP32, rows, cols), "GrB_Matrix_new");
    for (std::size_t l = 0; l < weights_.size(); ++l) {
      require(GrB_mxm(y, nullptr, nullptr, GrB_PLUS_TIMES_SEMIRING_FP32, l == 0 ? images_ : y, weights_[l],
                      nullptr),
              "GrB_mxm");
      require(GrB_Matrix_apply_BinaryOp2nd_FP32(y, nullptr, nullptr, GrB_PLUS_FP32, y, bias_, nullptr),
              "GrB_apply");
      require(GrB_Matrix_select_FP32(y, nullptr, nullptr, GrB_VALUEGT_FP32, y, 0.0F, nullptr), "GrB_select");
      require(GrB_Matrix_apply_BinaryOp2nd_FP32(y, nullptr, nullptr, GrB_MIN_FP32, y, cap_, nullptr),
              "GrB_apply");
    }
    std::vector<std::int32_t> ids = rows_with_entries(y, rows);
    GrB_Matrix_free(&y);
    return ids;
  }

 private:
  static std::vector<std::int32_t> rows_with_entries(GrB_Matrix y, GrB_Index rows) {
    GrB_Vector any = nullptr;
    require(GrB_Vector_new(&any, GrB_FP32, rows), "GrB_Vector_new");
    require(GrB_Matrix_reduce_Monoid(any, nullptr, nullptr, GrB_MAX_MONOID_FP32, y, nullptr), "GrB_reduce");
    GrB_Index count = 0;
    require(GrB_Vector_nvals(&count, any), "GrB_Vector_nvals");
    std::vector<GrB_Index> index(count);
    std::vector<float> value(count);
    require(GrB_Vector_extractTuples_FP32(index.data(), value.data(), &count, any), "GrB_extractTuples");
    GrB_Vector_free(&any);
    std::vector<std::int32_t> ids;
    for (const GrB_Index i : index) ids.push_back(static_cast<std::int32_t>(i) + 1);
    return ids;
  }

  float bias_, cap_;
  GrB_Matrix images_;
  std::vector<GrB_Matrix> weights_;
};

std::int64_t positive_number(const char* text) {
  std::int64_t n = 0;
  const auto [end, fault] = std::from_chars(text, text + std::strlen(text), n);
  if (fault != std::errc() || *end != '\0' || n < 1)
    throw Error(fmt::format("'{}' is no number from 1 on", text));
  return n;
}

int compare(std::int64_t neurons, std::int64_t layers, std::int64_t repeats) {
  SdnnRequest request;
  request.neurons = neurons, request.layers = layers, request.official_terms = true;
  const SdnnSources sources = find_sdnn_sources(request);
  SdnnData data = load_sdnn(sources, request);
  const SparseDnn net{neurons, official_bias(neurons), 32, std::move(data.gather)};
  validate(net);
  validate_inputs(net, data.images);
  fmt::print("data: {}, {}\n", sources.weights_from, sources.images_from);
  const GraphBlasDnn theirs(net, data.images);
  const auto plan = kSdnnCacheBlocked.plan(net);
  std::vector<std::int32_t> want, got;
  double their_seconds = std::numeric_limits<double>::infinity(), our_seconds = their_seconds;
  for (std::int64_t r = 0; r < repeats; ++r) {
    const double start = sdnn::now();
    want = theirs.run();
    const double middle = sdnn::now();
    got = categories(plan->run(data.images, 0, layers).y);
    their_seconds = std::min(their_seconds, middle - start);
    our_seconds = std::min(our_seconds, sdnn::now() - middle);
  }
  fmt::print("{} neurons, {} layers, {} inputs, {} threads, least of {}\n", neurons, layers, data.images.rows,
             omp_get_max_threads(), repeats);
  fmt::print("GraphBLAS {}.{}.{}: {:.4g} s, {}: {:.4g} s, {:.1f} times as fast; {} and {} categories, {}\n",
             GxB_IMPLEMENTATION_MAJOR, GxB_IMPLEMENTATION_MINOR, GxB_IMPLEMENTATION_SUB, their_seconds,
             kSdnnCacheBlocked.name, our_seconds, their_seconds / our_seconds, want.size(), got.size(),
             want == got ? "the same" : "others");
  return want == got ? 0 : 1;
}

}  // namespace

}  // namespace plumb

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw plumb::Error("usage: graphblas_times NEURONS LAYERS REPEATS");
    plumb::require(GrB_init(GrB_NONBLOCKING), "GrB_init");
    const int code = plumb::compare(plumb::positive_number(argv[1]), plumb::positive_number(argv[2]),
                                    plumb::positive_number(argv[3]));
    GrB_finalize();
    return code;
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 2;
  }
}
