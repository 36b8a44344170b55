#include "datasets/formats/load_matrix.hpp"

#include <filesystem>

#include "datasets/formats/format_table.hpp"
#include "reference/core/error.hpp"

namespace plumb {

template <class T>
ReadMatrix<T> read_matrix(const std::string& path, const ReadOptions& options) {
  if (std::filesystem::is_directory(path)) {
    throw input_error(path, 0, "a folder is not a matrix; known formats: " + known_inputs());
  }
  const auto source = open_source(path);
  Csr<T> a = load_as<T>(format_of_input(*source, options.format), *source, options);
  return {std::move(a), source->findings()};
}

template ReadMatrix<float> read_matrix(const std::string&, const ReadOptions&);
template ReadMatrix<double> read_matrix(const std::string&, const ReadOptions&);

}  // namespace plumb
