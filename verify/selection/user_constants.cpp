#include "verify/selection/user_constants.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/user_files.hpp"
#include "verify/selection/source_constants.hpp"

namespace plumb {
namespace {

std::vector<SourceConstant> constants_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return constants_of(std::string{std::istreambuf_iterator<char>(file), {}});
}

std::vector<std::filesystem::path> headers_beside(const std::filesystem::path& source) {
  std::vector<std::filesystem::path> headers;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(source.parent_path(), gone)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".h" || ending == ".hpp" || ending == ".cuh") headers.push_back(entry.path());
  }
  std::sort(headers.begin(), headers.end());
  return headers;
}

// The operators of which this program or `choice` has a variant of that name.
std::set<std::string> operators_of(const std::string& wanted, const VariantChoice& choice) {
  std::set<std::string> ops;
  for (const auto& entry : operators()) {
    for (const VariantInfo& v : entry->variants(Device::gpu)) {
      if (v.name == wanted) ops.insert(v.op);
    }
  }
  for (const VariantInfo& v : choice.more) {
    if (v.name == wanted) ops.insert(v.op);
  }
  return ops;
}

// Gathers constants file by file; each file is read once.
class Gathering {
 public:
  void add(const std::filesystem::path& source, const std::set<std::string>& ops) {
    std::vector<std::filesystem::path> paths = headers_beside(source);
    paths.insert(paths.begin(), source);
    for (const std::filesystem::path& path : paths) {
      const auto [at, fresh] = known_.try_emplace(path);
      if (fresh) at->second = constants_of_file(path);
      if (at->second.empty()) continue;
      if (fresh) notes_.push_back(describe(path.filename().string(), at->second));
      const std::vector<std::int64_t> sizes = sizes_beside(at->second);
      for (const std::string& op : ops) beside_[op].insert(sizes.begin(), sizes.end());
    }
  }
  [[nodiscard]] UserConstants all() const {
    UserConstants all;
    for (const auto& [op, sizes] : beside_) all.beside[op] = {sizes.begin(), sizes.end()};
    all.notes = notes_;
    return all;
  }

 private:
  std::map<std::filesystem::path, std::vector<SourceConstant>> known_;
  std::map<std::string, std::set<std::int64_t>> beside_;
  std::vector<std::string> notes_;
};

}  // namespace

UserConstants user_constants(const VariantChoice& choice) {
  Gathering gathering;
  for (const UserFile& f : user_files()) {
    const std::string variant = fmt::format("user/{}", f.stem);
    if (matches_any(choice.globs, variant)) gathering.add(f.path, operators_of(variant, choice));
  }
  return gathering.all();
}

UserConstants constants_of_files(const std::vector<std::string>& paths) {
  std::set<std::string> ops;
  for (const auto& entry : operators()) ops.insert(entry->name());
  Gathering gathering;
  for (const std::string& path : paths) gathering.add(path, ops);
  return gathering.all();
}

}  // namespace plumb
