// Lines of the source language that a compiler made PTX of: findings name them, and the line of PTX beside them.
#pragma once
#include <cstddef>
#include <string>

#include "gpu/simt/executor.hpp"

namespace plumb::simt {

namespace ptx {
struct Table;
}

/// The places that a module's table has, for its lines, which are called lines of `name`.
void know_source_places(const std::string& name, const ptx::Table& table);
/// The place that one in a module of PTX came of; any other as it is.
Place in_source(Place place);

}  // namespace plumb::simt
