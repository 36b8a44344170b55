#include "reference/core/error.hpp"
#include "reference/models/gcn/metis.hpp"

namespace plumb {

std::string metis_version() { return ""; }

std::vector<std::int32_t> metis_parts(std::vector<std::int32_t>, std::vector<std::int32_t>,
                                      std::vector<std::int32_t>, int) {
  throw Error("METIS is not built in (tools/plumb setup --with metis, then build again)");
}

}  // namespace plumb
