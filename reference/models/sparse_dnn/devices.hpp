// Sparse DNN over the devices of one process: each holds all weights and a share of the inputs. Rows are independent, so that every row is
// computed as one device alone computes it; nothing is exchanged until the answers are put together on the host.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/parallel/devices.hpp"

namespace plumb {

/// The rows of a matrix that each of several parts computes, in ascending order.
using RowShares = std::vector<std::vector<std::int64_t>>;

/// Rows are dealt by their numbers of entries, most first, back and forth over the parts: a row of more entries takes longer, and is likelier
/// to stay active. So the balance does not depend on the order of the inputs. (Of the official ones every second row, as they stand, is half
/// as likely to stay active: dealt in turn, one of two GPUs had 59 % of the work.)
[[nodiscard]] RowShares deal_rows(const Csr<float>& all, int parts);
/// Of `all` these rows, in their order.
[[nodiscard]] Csr<float> take_rows(const Csr<float>& all, const std::vector<std::int64_t>& rows);
/// The rows of all parts, as they were before they were dealt. Errors: more than 2^31 - 1 entries.
[[nodiscard]] Csr<float> collect_rows(const std::vector<Csr<float>>& parts, const RowShares& shares);

/// What one device did in the last run.
struct SdnnDevicePart {
  std::string name;
  std::vector<std::int64_t> inputs;  // their rows
  double seconds = 0;                // of its inference
  std::int64_t peak_bytes = 0;       // of device memory, the plan included
};

/// Makes a plan of one network by one pipeline; what it refers to must outlive the plan.
using SdnnPlanMaker = std::function<std::unique_ptr<SdnnPlan>()>;

/// Plans alike, one on each of the devices [0, count). As many threads of the host plan and run them. Of a run `active` is the sum
/// over devices, `layer_seconds` and `seconds` are those of the slowest.
class SdnnDevicesPlan final : public SdnnPlan {
 public:
  /// `make_plan` is called on each device. Errors: Error, with the number of the device.
  SdnnDevicesPlan(const SdnnPlanMaker& make_plan, const DeviceSide& side, int count);
  ~SdnnDevicesPlan() override;
  [[nodiscard]] SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override;

  [[nodiscard]] const std::vector<SdnnDevicePart>& parts() const { return parts_; }
  /// Of the last run, from inputs on the host until the answer is put together there.
  [[nodiscard]] double host_to_host() const { return host_to_host_; }

 private:
  void release();

  const DeviceSide& side_;
  DeviceTeam team_;
  std::vector<std::unique_ptr<SdnnPlan>> plans_;  // made, used and released by the device's thread
  std::vector<SdnnDevicePart> parts_;
  double host_to_host_ = 0;
};

}  // namespace plumb
