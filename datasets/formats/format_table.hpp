// Every format of one matrix in a file: how it is recognised, read, described and written. load_matrix, save_matrix, inspect,
// the help texts and the error messages are made from this table; a new format is one entry of it.
#pragma once
#include <cstdint>
#include <optional>
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
  bool writes_gzip = false;               // as NAME.ending.gz
  bool holds_f32 = false;                 // values beyond fp32 cannot be written
  bool is_edge_list = false;              // read by read_edges (load_ and inspect are null), with options
  std::optional<std::int64_t> base = {};  // of an edge list's ids, where the format says it
};

/// In the order in which they are tried: content first, then the names of the challenge, then endings.
[[nodiscard]] const std::vector<FileFormat>& formats();

/// The format called `name`; empty: that of the content, else of the source's name. Takes nothing off the source but a byte order mark.
/// Errors: no such name; content and name of no known kind. Both list what is known. Text in UTF-16 or UTF-32.
[[nodiscard]] const FileFormat& format_of_input(ByteSource& source, const std::string& name = "");

/// The matrix in a source of that format. T is float or double. Errors: the reader's; require_no_edge_options.
template <class T>
[[nodiscard]] Csr<T> load_as(const FileFormat& format, ByteSource& source, const ReadOptions& options);
/// What holds for an edge list of that format: options given, then what the format says.
[[nodiscard]] EdgeListOptions edge_list_options(const FileFormat& format, const ReadOptions& options);
/// Errors: columns or a base of ids given for a file that is no edge list.
void require_no_edge_options(const FileFormat& format, const ByteSource& source, const ReadOptions& options);

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
