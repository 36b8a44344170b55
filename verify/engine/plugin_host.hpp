// A user's shared library (--plugin). A child process asks it for its variants, and calls them like any other variant.
#pragma once
#include <string>
#include <vector>

#include "verify/engine/entry.hpp"
#include "verify/engine/request.hpp"

namespace plumb {

/// The variants of the plug-in at `path`, named user/NAME. The library is opened in a child of `program` ("" for this executable).
/// Errors: what gpu/plugin/loader.hpp says; an operator that is not in the list; a library that crashes or hangs when opened.
[[nodiscard]] std::vector<VariantInfo> list_plugin(const std::string& path, const std::string& program = {});

/// In the child: what list_plugin() asks for, a line per variant.
[[nodiscard]] RunReply describe_plugin(const std::string& path);

/// In the child: calls a variant. Returns the reason when it does not support the problem, else "". Throws Error when it failed.
[[nodiscard]] std::string invoke_plugin(const std::string& path, const OperatorEntry&, const Call&);

}  // namespace plumb
