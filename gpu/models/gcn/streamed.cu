#include "gpu/models/gcn/streamed.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/models/gcn/execution.hpp"
#include "gpu/models/gcn/stream_plan.hpp"
#include "gpu/models/piece_window.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/memory.hpp"
#include "reference/models/gcn/parts.hpp"
#include "reference/ops/log_softmax.hpp"
#include "reference/ops/skinny_gemm.hpp"

namespace plumb {
namespace gcn {

namespace {

class StreamedPieces final : public PieceWindow {
 public:
  StreamedPieces(const CopyRules& rules, std::vector<Piece> pieces, const PiecePlaces& places,
                 std::shared_ptr<DeviceArray<char>> memory, void* stream)
      : PieceWindow(std::move(pieces), places, std::move(memory), stream), rules_(rules) {}

 private:
  void wait_arrived(const DeviceEvent& event, void* stream) const override {
    rules_.wait_arrived(event, stream);
  }
  void wait_released(const DeviceEvent& event, void* stream) const override {
    rules_.wait_released(event, stream);
  }
  const CopyRules& rules_;
};

/// Rows that are computed on the device and belong on the host: two buffers, of which one is stored while the other is written.
class RowsOut {
 public:
  RowsOut(const CopyRules& rules, Index bytes, const char* what, void* stream)
      : rules_(rules), half_(bytes / 2), memory_(bytes, what) {
    // Not every rung writes the columns that fill up packs.
    device_fill(memory_.data(), 0, static_cast<std::size_t>(bytes), stream);
  }

  /// From here on at most so many rows are stored.
  void begin(Index most) {
    storing_ = std::make_unique<DeviceMarks>(2 * most), waiting_ = std::make_unique<DeviceMarks>(2 * most);
    stored_bytes_ = 0, now_ = 0;
  }
  /// The next buffer, which what `stream` does from here on may overwrite.
  char* next(void* stream) {
    now_ = 1 - now_;
    waiting_->mark(stream);
    rules_.wait_stored(stored_.at(static_cast<std::size_t>(now_)), stream);
    waiting_->mark(stream);
    return memory_.data() + now_ * half_;
  }
  /// Stores the buffer that next() gave last, which `stream` has computed.
  void store(HostBytes& to, const HostRows& rows, void* stream) {
    computed_.record(stream);
    rules_.wait_computed(computed_, copies_.get());
    storing_->mark(copies_.get());
    to.copy_from(memory_.data() + now_ * half_, rows, copies_.get());
    storing_->mark(copies_.get());
    stored_.at(static_cast<std::size_t>(now_)).record(copies_.get());
    stored_bytes_ += rows.count * rows.bytes;
  }
  /// What `stream` does from here on comes after all that was stored so far is on the host.
  void wait_on_host(void* stream) {
    on_host_.record(copies_.get());
    rules_.wait_on_host(on_host_, stream);
  }
  [[nodiscard]] std::int64_t stored_bytes() const { return stored_bytes_; }
  [[nodiscard]] StreamedCopies copied() const {
    copies_.wait();
    return {0, sum_of_pairs(*storing_), sum_of_pairs(*waiting_)};
  }

 private:
  const CopyRules& rules_;
  Index half_;
  DeviceArray<char> memory_;
  DeviceStream copies_;
  std::vector<DeviceEvent> stored_ = std::vector<DeviceEvent>(2);
  DeviceEvent computed_, on_host_;
  int now_ = 0;
  std::int64_t stored_bytes_ = 0;
  std::unique_ptr<DeviceMarks> storing_, waiting_;
};

template <class T>
class Streamed {
 public:
  /// `net` and `rules` must outlive this.
  Streamed(const Gcn<T>& net, GcnOrder order, Index memory, LaunchAggregate<T> launch, const CopyRules& rules)
      : begun_(now()),
        net_(net),
        launch_(launch),
        rules_(rules),
        memory_(memory),
        columns_(net.scales),
        plan_(plan_stream(net, columns_, order, memory)),
        finite_(is_finite(net)),
        out_(rules, plan_.out, "rows computed", stream()),
        answers_(rules, plan_.answer, "rows of LogSoftmax", stream()) {
    for (std::size_t l = 0; l < layers(); ++l) {
      w_.emplace_back(net.weights[l], "W", stream());
      std::vector<T> b = net.biases[l];
      if (!b.empty()) b.resize(static_cast<std::size_t>(w_.back().ld));
      b_.emplace_back(b, "bias", stream());
    }
    if (columns_.fit()) {
      scales_ = DeviceArray<T>(net.scales, "scales of A's rows", stream());
      of_columns_ = DeviceArray<T>(columns_.values, "scales of columns", stream());
    }
    for (std::size_t i = 0; i < 2; ++i) operands_.emplace_back(plan_.operands.at(i), "operand of A");
    partial_ = DeviceArray<char>(plan_.partial, "partial sums of long rows");
    arrived_ = DeviceArray<char>(plan_.arrived, "arrivals at long rows");
    device_fill(arrived_.data(), 0, static_cast<std::size_t>(arrived_.bytes()), stream());
    make_windows();
  }
  Streamed(const Streamed&) = delete;
  Streamed& operator=(const Streamed&) = delete;

  /// One run that keeps hidden layers and logits and chooses rungs, then some that are timed.
  [[nodiscard]] GcnRun<T> run() {
    GcnRun<T> result;
    result.hidden.resize(layers() - 1);
    for (std::size_t l = 0; l < layers(); ++l) {
      Dense<T>& rows = last(l) ? result.logits : result.hidden[l];
      rows = make_dense<T>(net_.vertices(), net_.weights[l].cols);
      kept_.push_back(&rows);
    }
    pass();
    stream_.wait();
    result.device.plan = now() - begun_;
    kept_.assign(layers(), nullptr);
    time(result);
    result.log_softmax = make_dense<T>(net_.vertices(), net_.classes());
    for (Index p = 0; p < plan_.pieces(); ++p)
      copy_rows(reinterpret_cast<const T*>(answer_[at(p)].data()), w_.back().ld, p, 0, net_.classes(),
                result.log_softmax);
    result.layers_from_degrees = columns_.fit() ? static_cast<Index>(layers()) : 0;
    return result;
  }

 private:
  using Layer = GcnStreamedLayer;
  [[nodiscard]] std::size_t layers() const { return net_.weights.size(); }
  [[nodiscard]] bool last(std::size_t l) const { return l + 1 == layers(); }
  [[nodiscard]] void* stream() const { return stream_.get(); }
  [[nodiscard]] bool direct(std::size_t l) const { return !last(l) && plan_.layers[l + 1].direct; }
  [[nodiscard]] Index first_row(Index p) const { return plan_.cuts[at(p)]; }

  // ---- operands on the host, and their places on the device

  /// Dense rows in pieces: of `from`, or uninitialised where that is null.
  [[nodiscard]] std::vector<Piece> dense_pieces(const Dense<T>* from, Index columns) const {
    std::vector<Piece> pieces;
    const Index ld = padded<T>(columns);
    for (Index p = 0; p < plan_.pieces(); ++p) {
      Piece piece;
      piece.shape.items = plan_.rows(p), piece.shape.bytes = in_piece(plan_.rows(p) * ld * kSize);
      piece.bytes = HostBytes(piece.shape.bytes, true);
      std::fill_n(piece.bytes.data(), piece.shape.bytes, char{0});
      T* const to = reinterpret_cast<T*>(piece.bytes.data());
      for (Index i = 0; from != nullptr && i < plan_.rows(p); ++i)
        std::copy_n(from->data.begin() + (first_row(p) + i) * columns, columns, to + i * ld);
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }
  struct QuadCounts {
    Index parts = 0, slots = 0;
  };
  /// A sparse matrix in pieces, as the kernel reads them; `counts`: of each.
  [[nodiscard]] std::vector<Piece> quad_pieces(const Csr<T>& m, bool values, const ColumnScales<T>& scales,
                                               std::vector<QuadCounts>& counts) const {
    std::vector<Piece> pieces;
    for (Index p = 0; p < plan_.pieces(); ++p) {
      const QuadRows<T> q(slice_rows(m, first_row(p), first_row(p) + plan_.rows(p)), values, scales,
                          plan_.part_length);
      pieces.push_back(
          pack_piece(plan_.rows(p), true, q.col, q.val, q.plan.part, q.plan.join, q.plan.row, q.plan.slice));
      counts.push_back({static_cast<Index>(q.plan.part.size()), static_cast<Index>(q.plan.row.size())});
    }
    return pieces;
  }
  [[nodiscard]] std::unique_ptr<PieceWindow> window(std::vector<Piece> pieces, bool moves,
                                                    std::shared_ptr<DeviceArray<char>> memory) const {
    const std::vector<PieceShape> shapes = shapes_of(pieces);
    const PiecePlaces places = moves ? PiecePlaces::for_some(shapes, 2) : PiecePlaces::for_all(shapes);
    return std::make_unique<StreamedPieces>(rules_, std::move(pieces), places, std::move(memory), stream());
  }

  void make_windows() {
    const auto n = static_cast<double>(net_.vertices());
    double bytes = 12.0 * static_cast<double>(net_.a.nnz()) + n * static_cast<double>(w_.back().ld * kSize);
    for (const DeviceDense<T>& w : w_) bytes += n * static_cast<double>(padded<T>(w.rows) * kSize);
    require_memory("gcn: operands in memory that copies are made from", bytes);
    a_ = window(quad_pieces(net_.a, !columns_.fit(), columns_, counts_of_a_), !plan_.holds_a,
                std::make_shared<DeviceArray<char>>(plan_.a, "A"));
    const auto inputs = std::make_shared<DeviceArray<char>>(plan_.inputs, "rows from the host");
    inputs_.resize(layers() + 1);
    inputs_[0] =
        window(net_.sparse_features ? quad_pieces(net_.x_sparse, true, ColumnScales<T>({}), counts_of_x_)
                                    : dense_pieces(&net_.x_dense, net_.x_dense.cols),
               true, inputs);
    for (std::size_t l = 0; l < layers(); ++l) {
      const bool several = last(l) && plan_.layers[l].blocks > 1;  // LogSoftmax then needs rows as a whole
      if (several || (!last(l) && !direct(l)))
        inputs_[l + 1] = window(dense_pieces(nullptr, w_[l].cols), true, inputs);
    }
    for (Index p = 0; p < plan_.pieces(); ++p)
      answer_.emplace_back(std::max<Index>(1, plan_.rows(p) * w_.back().ld * kSize), true);
  }

  [[nodiscard]] RowsView<T> quads(const PieceWindow& window, const std::vector<QuadCounts>& counts, Index p,
                                  bool values) const {
    const PieceShape& shape = window.shape(p);
    const char* const base = window.base(p);
    return {shape.array<std::int32_t>(base, 0),
            values ? shape.array<T>(base, 1) : nullptr,
            values ? nullptr : of_columns_.data(),
            values ? ColumnScales<T>({}).shift : columns_.shift,
            shape.array<Part>(base, 2),
            shape.array<Join>(base, 3),
            shape.array<std::int32_t>(base, 4),
            shape.array<std::int32_t>(base, 5),
            counts[at(p)].parts,
            counts[at(p)].slots,
            reinterpret_cast<unsigned*>(arrived_.data()),
            reinterpret_cast<T*>(partial_.data()),
            plan_.widest};
  }

  // ---- a block of columns of one layer

  struct Block {
    std::size_t layer;
    Index begin, width;  // columns of the operand
  };
  [[nodiscard]] static T* rows_of(char* bytes) { return reinterpret_cast<T*>(bytes); }
  [[nodiscard]] T* operand(std::size_t l) const {
    return rows_of(operands_[static_cast<std::size_t>(plan_.place[l])].data());
  }
  [[nodiscard]] Index operand_columns(std::size_t l) const {
    return plan_.layers[l].order == GcnOrder::aggregate_first ? padded<T>(w_[l].rows) : w_[l].ld;
  }
  [[nodiscard]] Block block(std::size_t l, Index b) const {
    const Index begin = b * plan_.layers[l].columns;
    return {l, begin, rules_.width(begin, plan_.layers[l].columns, operand_columns(l))};
  }

  /// Rows [first, first + rows) of the block of X W: of x (rows, features) by a rung, the same in all pieces where it runs.
  void multiply(const Block& b, const T* x, Index first, Index rows) {
    if (rows == 0) return;
    const DeviceDense<T>& w = w_[b.layer];
    if (next_product_ == products_.size()) {
      std::string& rung = rungs_[b.layer];
      products_.push_back(fastest_product<T>(Ladder::ours, {x, rows, w.rows, padded<T>(w.rows)},
                                             {w.data.data() + b.begin, w.rows, b.width, w.ld},
                                             {operand(b.layer) + first * b.width, rows, b.width, b.width},
                                             finite_, stream(), rung));
      if (rung.empty()) rung = products_.back()->name();
    }
    products_[next_product_++]->run();
  }

  /// Piece p of the operand, from the host's rows.
  void fill_rows(const Block& b, Index p) {
    const Index rows = plan_.rows(p);
    const DeviceDense<T>& w = w_[b.layer];
    const PieceWindow& from = *inputs_[b.layer];
    T* const to = operand(b.layer) + first_row(p) * b.width;
    if (plan_.layers[b.layer].order == GcnOrder::aggregate_first) {
      device_copy(to, from.base(p), static_cast<std::size_t>(rows * b.width * kSize), stream());
    } else if (b.layer == 0 && net_.sparse_features) {
      Epilogue<T> e;
      e.columns = e.width = static_cast<int>(b.width), e.z = to;
      launch_(quads(from, counts_of_x_, p, true), w.data.data() + b.begin, w.ld, static_cast<int>(b.width), e,
              stream());
    } else {
      multiply(b, reinterpret_cast<const T*>(from.base(p)), first_row(p), rows);
    }
  }
  void fill(const Block& b) {
    // The row that the kernel gathers for entries that fill up quads.
    device_fill(operand(b.layer) + net_.vertices() * b.width, 0, static_cast<std::size_t>(b.width * kSize),
                stream());
    if (plan_.layers[b.layer].direct) return;
    PieceWindow& from = *inputs_[b.layer];
    from.begin_pass(stream());
    for (Index p = 0; p < plan_.pieces(); ++p) {
      from.wait_for(p, p + 1, stream());
      fill_rows(b, p);
      from.release(p + 1, stream());
    }
  }

  /// What the kernel does with rows of piece p; where they are written is set by the caller.
  [[nodiscard]] Epilogue<T> epilogue(const Block& b, Index p) const {
    const DeviceDense<T>& w = w_[b.layer];
    const bool aggregate_first = plan_.layers[b.layer].order == GcnOrder::aggregate_first;
    Epilogue<T> e;
    if (columns_.fit()) e.scale = scales_.data() + first_row(p);
    if (aggregate_first) e.before = w.weights();
    if (b_[b.layer].size() > 0) e.bias = b_[b.layer].data() + (aggregate_first ? 0 : b.begin);
    e.relu = !last(b.layer);
    e.width = static_cast<int>(aggregate_first ? w.ld : b.width);
    e.columns = static_cast<int>(std::min<Index>(e.width, w.cols - (aggregate_first ? 0 : b.begin)));
    return e;
  }
  /// Piece p of the layer's rows, in these columns.
  void gather_rows(const Block& b, Index p) {
    const std::size_t l = b.layer;
    const Index first = first_row(p), rows = plan_.rows(p);
    const bool whole_last = last(l) && plan_.layers[l].blocks == 1;
    const bool into_operand = direct(l) && plan_.layers[l + 1].order == GcnOrder::aggregate_first;
    Epilogue<T> e = epilogue(b, p);
    if (whole_last) e.log_softmax = rows_of(answers_.next(stream()));
    if (into_operand) {
      e.z = operand(l + 1) + first * e.width;
    } else if (!whole_last || kept_[l] != nullptr) {
      e.z = rows_of(out_.next(stream()));
    }
    launch_(quads(*a_, counts_of_a_, p, !columns_.fit()), operand(l), b.width, static_cast<int>(b.width), e,
            stream());
    if (whole_last) {
      store_answer(p);
    } else if (!direct(l)) {
      out_.store(inputs_[l + 1]->on_host(p), {rows, e.width * kSize, b.begin * kSize, w_[l].ld * kSize},
                 stream());
    } else if (!into_operand) {
      multiply(block(l + 1, 0), e.z, first, rows);
    }
    if (kept_[l] != nullptr) keep(l, e.z, e.width, p, b.begin);
  }
  void store_answer(Index p) {
    const Index bytes = w_.back().ld * kSize;
    answers_.store(answer_[at(p)], {plan_.rows(p), bytes, 0, bytes}, stream());
  }
  void gather(const Block& b) {
    for (Index p = 0; p < plan_.pieces(); ++p) {
      a_->wait_for(p, p + 1, stream());
      gather_rows(b, p);
      a_->release(p + 1, stream());
    }
  }

  void finish_rows(Index p, const T* logits, T* answer) {
    const Index rows = plan_.rows(p), ld = w_.back().ld;
    if (rows == 0) return;
    auto& step = finishes_[at(p)];
    if (step == nullptr) {
      step = fastest_log_softmax<T>({logits, rows, net_.classes(), ld}, {answer, rows, net_.classes(), ld},
                                    finite_, stream(), log_softmax_rung_);
      log_softmax_rung_ = step->name();
    }
    step->run();
  }
  /// LogSoftmax of logits that were computed in several blocks of columns.
  void log_softmax() {
    PieceWindow& from = *inputs_[layers()];
    from.begin_pass(stream());
    for (Index p = 0; p < plan_.pieces(); ++p) {
      from.wait_for(p, p + 1, stream());
      finish_rows(p, reinterpret_cast<const T*>(from.base(p)), rows_of(answers_.next(stream())));
      store_answer(p);
      from.release(p + 1, stream());
    }
  }

  // ---- what is kept, and how long it takes

  /// Rows of piece p from (rows, ld) to columns from `begin` on.
  void copy_rows(const T* from, Index ld, Index p, Index begin, Index count, Dense<T>& to) const {
    for (Index i = 0; i < plan_.rows(p); ++i)
      std::copy_n(from + i * ld, count, to.data.begin() + (first_row(p) + i) * to.cols + begin);
  }
  void keep(std::size_t l, const T* rows, Index ld, Index p, Index begin) const {
    std::vector<T> host(at(plan_.rows(p) * ld));
    device_read(host.data(), rows, host.size() * sizeof(T), stream());
    copy_rows(host.data(), ld, p, begin, std::min(ld, kept_[l]->cols - begin), *kept_[l]);
  }

  void begin_windows() {
    Index blocks = 0;
    for (const Layer& l : plan_.layers) blocks += l.blocks;
    a_->begin(0, plan_.pieces(), blocks);
    for (std::size_t l = 0; l < inputs_.size(); ++l) {
      if (inputs_[l] != nullptr)
        inputs_[l]->begin(0, plan_.pieces(), l < layers() ? plan_.layers[l].blocks : 1);
    }
    out_.begin(plan_.pieces() * blocks), answers_.begin(plan_.pieces());
    next_product_ = 0;
  }
  /// One inference. `ends`: of the steps, where they are timed.
  void pass(DeviceMarks* ends = nullptr) {
    begin_windows();
    const auto end = [&] {
      if (ends != nullptr) ends->mark(stream());
    };
    end();
    for (std::size_t l = 0; l < layers(); ++l) {
      if (inputs_[l] != nullptr && l > 0) out_.wait_on_host(stream());
      for (Index b = 0; b < plan_.layers[l].blocks; ++b) {
        a_->begin_pass(stream());  // its first pieces come while the operand is made
        fill(block(l, b)), end();
        gather(block(l, b)), end();
      }
    }
    if (inputs_.back() != nullptr) out_.wait_on_host(stream()), log_softmax();
    answers_.wait_on_host(stream()), end();
  }

  [[nodiscard]] std::vector<std::string> step_names() const {
    std::vector<std::string> names;
    for (std::size_t l = 0; l < layers(); ++l) {
      const std::string number = std::to_string(l + 1), in = l == 0 ? "X" : "H";
      const bool transform = plan_.layers[l].order == GcnOrder::transform_first;
      const std::string made = transform ? in + " W" + number : in;
      const std::string rung = transform && !rungs_[l].empty() ? " (skinny_gemm " + rungs_[l] + ")" : "";
      names.push_back(made + (plan_.layers[l].direct ? ", made by the layer before" : " from the host") +
                      rung);
      names.push_back(transform ? "A S" + number : "(A " + in + ") W" + number);
    }
    names.emplace_back(inputs_.back() != nullptr ? "LogSoftmax" : "the last rows to the host");
    return names;
  }
  void time(GcnRun<T>& result) {
    const Index runs = device_has_clock() ? 3 : 1;
    GcnDeviceTimes& times = result.device;
    std::vector<std::string> names = step_names();
    for (Index r = 0; r < runs; ++r) {
      Index steps = 1;
      for (const Layer& l : plan_.layers) steps += 2 * l.blocks;
      DeviceMarks ends(steps + 1);
      pass(&ends);
      const std::vector<double> seconds = ends.seconds();
      times.inferences.push_back(0);
      for (const double s : seconds) times.inferences.back() += s;
      times.resident += times.inferences.back() / static_cast<double>(runs);
      if (r + 1 == runs) add_steps(seconds, names, result);
    }
    times.repeats = runs, times.kernels = times.inferences.back();
    result.seconds = times.resident;
    result.streaming = facts();
  }
  /// The last run's, blocks of one layer together.
  void add_steps(const std::vector<double>& seconds, const std::vector<std::string>& names,
                 GcnRun<T>& result) const {
    std::size_t next = 0;
    for (std::size_t l = 0; l < layers(); ++l) {
      double fill = 0, gather = 0;
      for (Index b = 0; b < plan_.layers[l].blocks; ++b) fill += seconds[next++], gather += seconds[next++];
      result.steps.push_back({names[2 * l], fill});
      result.steps.push_back({names[2 * l + 1], gather});
    }
    result.steps.push_back({names.back(), seconds[next]});
  }
  [[nodiscard]] GcnStreaming facts() const {
    GcnStreaming facts;
    facts.memory = memory_, facts.pieces = plan_.pieces(), facts.holds_a = plan_.holds_a;
    facts.layers = plan_.layers;
    facts += a_->copied();
    for (const auto& window : inputs_) {
      if (window != nullptr) facts += window->copied();
    }
    for (const auto* rows : {&out_, &answers_}) {
      facts += rows->copied();
      facts.stored_bytes += rows->stored_bytes();
    }
    return facts;
  }

  static constexpr Index kSize = sizeof(T);
  double begun_;
  const Gcn<T>& net_;
  const LaunchAggregate<T> launch_;
  const CopyRules& rules_;
  Index memory_;
  const ColumnScales<T> columns_;
  const StreamPlan plan_;
  bool finite_;
  DeviceStream stream_;
  std::vector<DeviceDense<T>> w_;
  std::vector<DeviceArray<T>> b_;
  DeviceArray<T> scales_, of_columns_;
  std::vector<DeviceArray<char>> operands_;
  DeviceArray<char> partial_, arrived_;
  RowsOut out_, answers_;
  std::unique_ptr<PieceWindow> a_;
  // Of what each layer's operand is made, and behind the last its logits; null where the layer before makes it.
  std::vector<std::unique_ptr<PieceWindow>> inputs_;
  std::vector<QuadCounts> counts_of_a_, counts_of_x_;
  std::vector<HostBytes> answer_;  // by piece
  std::vector<Dense<T>*> kept_;    // by layer: where its rows are kept; null: they are not
  std::vector<std::string> rungs_ = std::vector<std::string>(net_.weights.size());
  std::string log_softmax_rung_;
  std::vector<std::unique_ptr<RungStep<SkinnyGemm, T>>> products_;  // in the order of an inference
  std::size_t next_product_ = 0;
  std::vector<std::unique_ptr<RungStep<LogSoftmax, T>>> finishes_{at(plan_.pieces())};  // by piece
};

}  // namespace

template <class T>
GcnRun<T> run_streamed(const Gcn<T>& net, GcnOrder order, Index memory, LaunchAggregate<T> launch,
                       const CopyRules& rules) {
  return Streamed<T>(net, order, memory, launch, rules).run();
}

template GcnRun<float> run_streamed(const Gcn<float>&, GcnOrder, Index, LaunchAggregate<float>,
                                    const CopyRules&);
template GcnRun<double> run_streamed(const Gcn<double>&, GcnOrder, Index, LaunchAggregate<double>,
                                     const CopyRules&);

}  // namespace gcn
}  // namespace plumb
