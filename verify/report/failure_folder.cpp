#include "verify/report/failure_folder.hpp"

#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "datasets/formats/npy.hpp"
#include "reference/core/error.hpp"
#include "verify/judge/choices.hpp"

namespace plumb {
namespace {

namespace fs = std::filesystem;

std::vector<std::int64_t> shape_of(const Segment& s) {
  if (s.rows == 1) return {s.cols};
  return {s.rows, s.cols};
}

// T holds every number of the segment's format.
template <class T>
void write_segment(const std::string& path, const Segment& s, const std::byte* image) {
  std::vector<T> packed(static_cast<std::size_t>(s.elements()));
  for_each_element(s, image, 0, s.elements(), [&](std::int64_t i, const std::byte* at) {
    T& value = packed[static_cast<std::size_t>(i)];
    if (s.kind == kFormat<T>)
      std::memcpy(&value, at, sizeof(T));  // with the payload of a NaN
    else
      value = static_cast<T>(decode(s.kind, at));
  });
  write_npy(path, shape_of(s), packed);
}

// Formats that .npy files do not have are written as float32, which holds their numbers.
void write_array(const std::string& path, const Segment& s, const std::byte* image) {
  if (s.kind == Format::i32) return write_segment<std::int32_t>(path, s, image);
  if (s.kind == Format::f64) return write_segment<double>(path, s, image);
  write_segment<float>(path, s, image);
}

std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 120))
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '=' ? c : '_';
  return out;
}

// A new folder beside those that are there.
std::string make_folder(const std::string& base) {
  std::string folder = base;
  for (int n = 2; !fs::create_directory(folder); ++n) folder = fmt::format("{}-{}", base, n);
  return folder;
}

// Writes what there is of one array; of an output, of number `output`, what is expected too. Returns its lines of the list.
std::string write_files(const std::string& folder, const Segment& s, const Failure& f, std::size_t output,
                        const ChosenAnswer& answer) {
  const std::string array = plain(s.name), file = folder + "/" + array;
  std::string listing;
  if (!s.output || s.source != nullptr) {
    const char* const initial = s.output ? ".initial" : "";
    write_array(file + initial + ".npy", s, f.before);
    listing +=
        fmt::format("    {}{}.npy  {}\n", array, initial, s.output ? "contents before the run" : "input");
  }
  if (!s.output) return listing;
  if (f.after != nullptr) {
    write_array(file + ".got.npy", s, f.after);
    listing += fmt::format("    {}.got.npy  what the variant left{}\n", array,
                           s.source == nullptr ? "; what it did not write is poison" : "");
  }
  const auto write_numbers = [&](const char* what, const LargeArray<double>& numbers) {
    write_npy(file + what, shape_of(s), std::vector<double>(numbers.begin(), numbers.end()));
  };
  write_numbers(".expected.npy", answer.output(output).value);
  write_numbers(".bound.npy", f.prepared.bounds(static_cast<int>(output), f.arithmetic, f.tensor_cores));
  return listing + fmt::format(
                       "    {0}.expected.npy  the oracle's answer\n    {0}.bound.npy  largest allowed |got - "
                       "expected|; 0: equal\n",
                       array);
}

void write_readme(const std::string& folder, const Record& record, const std::string& listing) {
  std::string text = fmt::format("{}: {}  {}\n{}\n\nrepro: {}\n\nfiles\n{}", name(record.verdict),
                                 record.case_id, record.variant, record.reason, record.repro, listing);
  if (!record.detail.empty()) text += "\ndetails\n";
  for (const std::string& line : record.detail) text += "    " + line + "\n";
  std::FILE* readme = std::fopen((folder + "/README").c_str(), "wxe");
  const bool opened = readme != nullptr;
  const bool wrote = opened && std::fwrite(text.data(), 1, text.size(), readme) == text.size();
  const int code = errno;
  if ((opened && std::fclose(readme) != 0) || !wrote)
    throw Error(fmt::format("{}/README: {}", folder, std::strerror(wrote ? errno : code)));
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
  if (!write_error_.empty()) return;
  std::string folder;
  try {
    folder = make_folder(fmt::format("{}/{}-{}", path_, plain(f.record.case_id), plain(f.record.variant)));
    std::string listing;
    std::vector<WrittenOutput> written;  // none where the variant did not return
    for (const Segment& s : f.layout.segments()) {
      if (s.output && f.after != nullptr) written.push_back({&s, f.after});
    }
    const ChosenAnswer answer(f.prepared.reference(), written);
    std::size_t output = 0;
    for (const Segment& s : f.layout.segments()) {
      listing += write_files(folder, s, f, output, answer);
      output += s.output ? 1 : 0;
    }
    write_readme(folder, f.record, listing);
    ++saved_;
  } catch (const std::exception& e) {
    write_error_ = fmt::format("--save-failing: {} ({} failures saved before it)", e.what(), saved_);
    std::error_code ignored;
    if (!folder.empty())
      fs::remove_all(folder, ignored);  // half a record is worthless; this function made the folder
  }
}

}  // namespace plumb
