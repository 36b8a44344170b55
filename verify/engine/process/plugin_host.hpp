// A user's shared library (--plugin). A child process asks it for its variants, and calls them like any other variant.
#pragma once
#include <string>
#include <vector>

#include "gpu/plugin/plugin_abi.h"
#include "verify/engine/operator/entry.hpp"
#include "verify/engine/process/request.hpp"

namespace plumb {

/// In a worker of another language (tools/python): makes the list of what `path` declares, or returns null and says why in `trouble`. Null
/// elsewhere, where a plug-in is a shared library.
inline const plumb_plugin* (*open_plugin)(const char* path, const char** trouble) = nullptr;

/// The command of the worker for kernels in Python, as VariantInfo::program: `python3 -m plumbline.worker`, by the interpreter that the
/// environment variable PLUMB_PYTHON names, and with the library beside this program where there is one. `on_executor`: a worker whose
/// kernels of Triton's run on the CPU executor (Device::simt).
[[nodiscard]] std::string python_worker(bool on_executor);

/// How plug-ins number what a worker has to know: JSON with "version", "sizes" of the structures, and the numbers of "formats", "dtypes" and
/// "arithmetics" by their names.
[[nodiscard]] std::string plugin_tables();

/// The variants of the plug-in at `path`, named user/NAME. It is opened in a child of `program` ("" for this executable), which will run them.
/// Errors: what gpu/plugin/loader.hpp says; an operator that is not in the list; a library that crashes or hangs when opened.
[[nodiscard]] std::vector<VariantInfo> list_plugin(const std::string& path, const std::string& program = {});

/// In the child: what list_plugin() asks for, a line per variant.
[[nodiscard]] RunReply describe_plugin(const std::string& path);

/// The format that plug-ins number so; Error: none.
[[nodiscard]] Format format_of_number(int number);
/// The type of a case that plug-ins number so; Error: none.
[[nodiscard]] Dtype dtype_of_number(int number);
/// What they declare of their arithmetic: Traits::arithmetic. Error: a number that is none.
[[nodiscard]] Arithmetic arithmetic_of_numbers(int arithmetic, int accumulate);

/// In the child: calls a variant. Returns the reason when it does not support the problem, else "". Throws Error when it failed.
[[nodiscard]] std::string invoke_plugin(const std::string& path, const OperatorEntry&, const Call&);

}  // namespace plumb
