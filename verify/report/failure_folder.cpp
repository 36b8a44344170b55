#include "verify/report/failure_folder.hpp"

#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "datasets/formats/npy.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

namespace fs = std::filesystem;

template <class T>
void write_segment(const std::string& path, const Segment& s, const std::byte* image) {
  std::vector<T> packed(static_cast<std::size_t>(s.elements()));
  for (std::int64_t i = 0; i < s.rows; ++i) {
    if (s.cols == 0) break;
    std::memcpy(packed.data() + i * s.cols, image + s.offset + i * s.ld * s.element_bytes(),
                static_cast<std::size_t>(s.cols) * sizeof(T));
  }
  write_npy(path, s.rows == 1 ? std::vector<std::int64_t>{s.cols} : std::vector<std::int64_t>{s.rows, s.cols},
            packed);
}

void write_array(const std::string& path, const Segment& s, const std::byte* image) {
  switch (s.kind) {
    case Segment::Kind::f32:
      return write_segment<float>(path, s, image);
    case Segment::Kind::f64:
      return write_segment<double>(path, s, image);
    case Segment::Kind::i32:
      return write_segment<std::int32_t>(path, s, image);
  }
}

std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 120))
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '=' ? c : '_';
  return out;
}

}  // namespace

FailureFolder::FailureFolder(std::string path) : path_(std::move(path)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error || !fs::is_directory(path_))
    throw Error(
        fmt::format("{}: cannot make the folder: {}", path_, error ? error.message() : "not a folder"));
}

void FailureFolder::save(const Failure& f) {
  const std::lock_guard lock(mutex_);
  if (!trouble_.empty()) return;
  std::string folder;
  try {
    const std::string base = fmt::format("{}/{}-{}", path_, plain(f.record.case_id), plain(f.record.variant));
    folder = base;
    for (int n = 2; !fs::create_directory(folder); ++n)
      folder = fmt::format("{}-{}", base, n);  // never over what is there
    std::string listing;
    std::size_t o = 0;
    for (const Segment& s : f.layout.segments()) {
      const std::vector<std::int64_t> shape =
          s.rows == 1 ? std::vector<std::int64_t>{s.cols} : std::vector<std::int64_t>{s.rows, s.cols};
      const std::string file = folder + "/" + plain(s.name);
      if (!s.output || s.source != nullptr) {
        write_array(file + (s.output ? ".initial.npy" : ".npy"), s, f.before);
        listing += fmt::format("    {}{}.npy  {}\n", plain(s.name), s.output ? ".initial" : "",
                               s.output ? "contents before the run" : "input");
      }
      if (!s.output) continue;
      if (f.after != nullptr) {
        write_array(file + ".got.npy", s, f.after);
        listing += fmt::format("    {}.got.npy  what the variant left{}\n", plain(s.name),
                               s.source == nullptr ? "; what it did not write is poison" : "");
      }
      const auto write_numbers = [&](const char* what, const LargeArray<double>& numbers) {
        write_npy(file + what, shape, std::vector<double>(numbers.begin(), numbers.end()));
      };
      write_numbers(".expected.npy", f.prepared.reference().outputs[o].value);
      write_numbers(".bound.npy", f.prepared.bounds(static_cast<int>(o), f.arithmetic));
      listing += fmt::format(
          "    {0}.expected.npy  the oracle's answer\n    {0}.bound.npy  largest allowed |got - expected|; "
          "0: equal\n",
          plain(s.name));
      ++o;
    }
    std::string text =
        fmt::format("{}: {}  {}\n{}\n\nrepro: {}\n\nfiles\n{}", name(f.record.verdict), f.record.case_id,
                    f.record.variant, f.record.reason, f.record.repro, listing);
    if (!f.record.detail.empty()) text += "\ndetails\n";
    for (const std::string& line : f.record.detail) text += "    " + line + "\n";
    std::FILE* readme = std::fopen((folder + "/README").c_str(), "wxe");
    const bool opened = readme != nullptr;
    const bool wrote = opened && std::fwrite(text.data(), 1, text.size(), readme) == text.size();
    const int code = errno;
    if ((opened && std::fclose(readme) != 0) || !wrote)
      throw Error(fmt::format("{}/README: {}", folder, std::strerror(wrote ? errno : code)));
    ++saved_;
  } catch (const std::exception& e) {
    trouble_ = fmt::format("--save-failing: {} ({} failures saved before it)", e.what(), saved_);
    std::error_code ignored;
    if (!folder.empty()) fs::remove_all(folder, ignored);  // half a record is none; the folder was made here
  }
}

}  // namespace plumb
