// Sparse DNN over the devices of one process: each holds all weights and a share of the inputs. Rows are independent, so that every row is
// computed as one device alone computes it; nothing is exchanged until the answers are put together on the host.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reference/models/sparse_dnn.hpp"
#include "reference/parallel/devices.hpp"

namespace plumb {

/// Of `all` the rows that one of `parts` computes: rows are dealt in turn, row r to part r % parts, so that inputs which become inactive
/// early or late are spread evenly, in whatever order they come.
[[nodiscard]] Csr<float> deal_rows(const Csr<float>& all, int part, int parts);
/// The rows of all parts in their order before they were dealt. Errors: more than 2^31 - 1 entries.
[[nodiscard]] Csr<float> collect_rows(const std::vector<Csr<float>>& parts);

/// What one device did in the last run.
struct SdnnDevicePart {
  std::string name;
  std::int64_t inputs = 0;
  double seconds = 0;           // of its inference
  std::int64_t peak_bytes = 0;  // of device memory, the plan included
};

/// A pipeline's plans, one on each of the devices [0, count). As many threads of the host plan and run them. Of a run `active` is the sum
/// over devices, `layer_seconds` and `seconds` are those of the slowest.
class SdnnDevicesPlan final : public SdnnPlan {
 public:
  /// All must outlive it. Errors: Error, with the number of the device.
  SdnnDevicesPlan(const SdnnPipeline& pipeline, const SparseDnn& net, const DeviceSide& side, int count);
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
