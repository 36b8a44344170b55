// What a program on the executor found, for other programs: JSON and SARIF 2.1.0.
#pragma once
#include "gpu/simt/executor.hpp"

namespace plumb::simt {

/// Takes the names of the files from PLUMB_SIMT_JSON and PLUMB_SIMT_SARIF, as they are meant at that moment.
void open_report_files(std::uint64_t seed);
void add_to_report_files(const Finding& finding);
/// Writes what there is; a later call writes it anew.
void write_report_files();

}  // namespace plumb::simt
