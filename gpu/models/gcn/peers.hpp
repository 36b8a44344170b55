// GCN on several devices: each computes consecutive rows, and sends those that others gather. An operand of A holds a device's own rows,
// then those of the others that its rows gather, by owner. Rows are sent in pieces, so that one piece travels while the next is computed.
#pragma once
#include <algorithm>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device/devices.hpp"
#include "gpu/device/resources.hpp"
#include "gpu/models/gcn/rows.hpp"
#include "reference/parallel/devices.hpp"

namespace plumb {
namespace gcn {

/// Rows of one device that another gathers.
struct Route {
  int to = 0;                      // device
  Index place = 0;                 // in that one's operands: of the first of these rows
  std::vector<std::int32_t> rows;  // of the sender, ascending
};

/// What one device knows of the others. All devices call the same functions in the same order, each from its own thread.
template <class T>
class Peers {
 public:
  explicit Peers(std::vector<Index> pieces) : pieces_(std::move(pieces)) {}
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  virtual ~Peers() = default;

  /// This device's rows [pieces[p], pieces[p + 1]) are piece p.
  [[nodiscard]] const std::vector<Index>& pieces() const { return pieces_; }
  /// Where the operand (rows, ld) of layer l lies, which is ready to be written to. Returns when all devices have called it.
  virtual void set_operand(Index l, T* operand, Index ld) = 0;
  /// Begins an inference: what `stream` does from here on comes after all that the others did before.
  virtual void begin(void* stream) = 0;
  /// Sends piece p of layer l's operand, which `stream` has computed, beside what `stream` does next.
  virtual void send(Index l, Index p, void* stream) = 0;
  /// What `stream` does from here on comes after the others' rows are there.
  virtual void receive(Index l, void* stream) = 0;
  /// Returns when what this device sent has left its operands. With what it received (receive()), nothing is under way then.
  virtual void wait_sent() = 0;
  /// What device 0 said.
  [[nodiscard]] virtual std::string agreed(const std::string& mine) = 0;
  /// The largest that any device said.
  [[nodiscard]] virtual double largest(double mine) = 0;

 private:
  std::vector<Index> pieces_;
};

/// Rows of `from` (.., ld) one after the other to `to` (count, ld), of each the first `width` elements; whole packs of 16 bytes.
template <class T>
void pack_rows(const T* from, Index ld, Index width, const std::int32_t* rows, Index count, T* to,
               void* stream);

/// What a test may replace, to see that a mistake there is found.
struct Faithful {
  static void wait_computed(const DeviceEvent& event, void* stream) { event.wait(stream); }
  static void wait_arrived(const DeviceEvent& event, void* stream) { event.wait(stream); }
  static void wait_begun(const DeviceEvent& event, void* stream) { event.wait(stream); }
  static Index operand(Index l) { return l; }
  static Index place(Index row) { return row; }
  template <class T>
  static Index width(Index ld) {
    return ld;
  }
};

template <class T, class Policy>
class PeerRows;

/// What the devices of one network share.
template <class T, class Policy>
struct PeerBoard {
  DeviceTeam& team;
  std::vector<PeerRows<T, Policy>*> all;  // by device
  std::string said;                       // by device 0
  std::vector<double> told;               // by device
};

/// By packing kernels and copies between devices, on a stream for each receiver.
template <class T, class Policy = Faithful>
class PeerRows final : public Peers<T> {
 public:
  /// On the device's thread; `routes` has one to each other device. `board.all` has a place for each device.
  PeerRows(PeerBoard<T, Policy>& board, int device, Index layers, std::vector<Index> pieces,
           const std::vector<Route>& routes)
      : Peers<T>(std::move(pieces)),
        board_(board),
        device_(device),
        operands_(static_cast<std::size_t>(layers)) {
    for (const Route& route : routes) {
      direct_ = connect_devices(route.to) && direct_;
      ways_.emplace_back(route, this->pieces(), layers);
    }
    board_.all[static_cast<std::size_t>(device)] = this;
    board_.team.meet();
  }

  /// Whether copies to all others go straight.
  [[nodiscard]] bool direct() const { return direct_; }
  /// Bytes of rows in one inference.
  [[nodiscard]] std::int64_t sent_to(int other) const {
    std::int64_t elements = 0;
    for (const Operand& o : operands_) elements += o.ld;
    for (const Way& way : ways_) {
      if (way.to == other) return elements * way.rows.size() * static_cast<std::int64_t>(sizeof(T));
    }
    return 0;
  }

  void set_operand(Index l, T* operand, Index ld) override {
    operands_[static_cast<std::size_t>(l)] = {operand, ld};
    for (Way& way : ways_) {
      if (way.packed.size() >= way.longest * ld) continue;
      way.stream.wait();
      way.packed = DeviceArray<T>(way.longest * ld, "rows for another device");
    }
    board_.team.meet();
  }

  void begin(void* stream) override {
    begins_.record(stream);
    board_.team.meet();
    for (const PeerRows* other : board_.all) {
      if (other != this) Policy::wait_begun(other->begins_, stream);
    }
  }

  void send(Index l, Index p, void* stream) override {
    const Operand from = operands_[static_cast<std::size_t>(Policy::operand(l))];
    const auto at = static_cast<std::size_t>(l), piece = static_cast<std::size_t>(p);
    computed_.record(stream);
    for (Way& way : ways_) {
      const Index begin = way.begins[piece], count = way.begins[piece + 1] - begin;
      if (count > 0) {
        Policy::wait_computed(computed_, way.stream.get());
        pack_rows(from.data, from.ld, Policy::template width<T>(from.ld), way.rows.data() + begin, count,
                  way.packed.data(), way.stream.get());
        const Operand to = board_.all[static_cast<std::size_t>(way.to)]->operands_[at];
        device_copy(to.data + Policy::place(way.place + begin) * to.ld, way.packed.data(),
                    static_cast<std::size_t>(count * to.ld) * sizeof(T), way.stream.get());
      }
      if (piece + 2 == this->pieces().size()) way.arrived[at].record(way.stream.get());
    }
  }

  void receive(Index l, void* stream) override {
    board_.team.meet();  // all have recorded their events
    for (const PeerRows* other : board_.all) {
      for (const Way& way : other->ways_) {
        if (way.to == device_) Policy::wait_arrived(way.arrived[static_cast<std::size_t>(l)], stream);
      }
    }
  }

  void wait_sent() override {
    for (const Way& way : ways_) way.stream.wait();
  }

  [[nodiscard]] double largest(double mine) override {
    board_.told[static_cast<std::size_t>(device_)] = mine;
    board_.team.meet();
    const double most = *std::max_element(board_.told.begin(), board_.told.end());
    board_.team.meet();  // all have read them
    return most;
  }

  [[nodiscard]] std::string agreed(const std::string& mine) override {
    if (device_ == 0) board_.said = mine;
    board_.team.meet();
    std::string said = board_.said;
    board_.team.meet();  // all have read it
    return said;
  }

 private:
  struct Operand {
    T* data = nullptr;
    Index ld = 0;
  };
  /// To one other device.
  struct Way {
    Way(const Route& route, const std::vector<Index>& pieces, Index layers)
        : to(route.to),
          place(route.place),
          rows(route.rows, "rows that another device gathers", stream.get()) {
      for (const Index cut : pieces) {
        begins.push_back(std::lower_bound(route.rows.begin(), route.rows.end(), cut) - route.rows.begin());
        if (begins.size() > 1) longest = std::max(longest, begins.back() - begins[begins.size() - 2]);
      }
      arrived.resize(static_cast<std::size_t>(layers));
    }
    DeviceStream stream{StreamPriority::ahead};  // before all that uses it
    int to;
    Index place, longest = 0;  // longest: rows of a piece
    DeviceArray<std::int32_t> rows;
    std::vector<Index> begins;         // of each piece in `rows`, and their end
    DeviceArray<T> packed;             // the piece under way
    std::vector<DeviceEvent> arrived;  // by layer
  };

  PeerBoard<T, Policy>& board_;
  const int device_;
  bool direct_ = true;
  std::vector<Operand> operands_;  // by layer; null: not exchanged
  std::list<Way> ways_;
  DeviceEvent begins_, computed_;
};

}  // namespace gcn
}  // namespace plumb
