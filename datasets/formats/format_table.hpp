// Every format of one matrix in a file: how it is recognised, read, described and written. load_matrix, save_matrix, inspect,
// the help texts and the error messages are made from this table; a new format is one entry of it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "datasets/formats/inspect.hpp"
#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

struct FileFormat {
  const char* name;  // what --from and --format say: "mtx"
  const char* what;  // for lists of what is read: "Matrix Market (.mtx)"; empty: not listed
  std::vector<std::string_view> reads;  // endings of names, without .gz
  std::string_view writes;              // the ending it is written under; empty: by is_name, or not at all
  bool (*begins)(std::string_view first) = nullptr;  // recognises the first 512 bytes
  bool (*is_name)(const std::string& path) =
      nullptr;  // recognises a name that endings cannot, such as nN-lK.tsv
  Csr<float> (*load_f32)(ByteSource&) = nullptr;
  Csr<double> (*load_f64)(ByteSource&) = nullptr;
  void (*inspect)(ByteSource&, Inspection&) = nullptr;
  void (*save_f32)(const std::string& path, const Csr<float>&, bool gzip) = nullptr;  // null: not written
  void (*save_f64)(const std::string& path, const Csr<double>&, bool gzip) = nullptr;
  bool writes_gzip = false;  // as NAME.ending.gz
  bool holds_f32 = false;    // values beyond fp32 cannot be written
};

/// In the order in which they are tried: content first, then the names of the challenge, then endings.
[[nodiscard]] const std::vector<FileFormat>& formats();

/// The format called `name`; empty: that of the content, else of the source's name. Takes nothing off the source.
/// Errors: no such name; content and name of no known kind. Both list what is known.
[[nodiscard]] const FileFormat& format_of_input(ByteSource& source, const std::string& name = "");

/// The format to write `path` in: the one called `name`, else by the path's ending; the bool says gzip. Errors: as above.
struct OutputFormat {
  const FileFormat* format;
  bool gzip;
};
[[nodiscard]] OutputFormat format_of_output(const std::string& path, const std::string& name = "");

/// What is read, for help texts and errors: "Matrix Market (.mtx), ..., each also as .gz".
[[nodiscard]] std::string known_inputs();
/// The endings that are written: ".mtx .mtx.gz .npz ...".
[[nodiscard]] const std::string& known_outputs();
/// The names for --from (every format) and --format (those that are written).
[[nodiscard]] std::string input_format_names();
[[nodiscard]] std::string output_format_names();

}  // namespace plumb
