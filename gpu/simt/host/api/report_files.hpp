// What a program on the executor found, in files: JSON and SARIF 2.1.0 for other programs, a page for people.
#pragma once
#include "gpu/simt/executor.hpp"

namespace plumb::simt {

/// Takes the names of the files from PLUMB_SIMT_JSON, PLUMB_SIMT_SARIF and PLUMB_SIMT_HTML, as they are meant at that moment.
void open_report_files(std::uint64_t seed);
bool page_is_asked_for();
void add_to_report_files(const Finding& finding);
/// Writes what there is; a later call writes it anew.
void write_report_files();

}  // namespace plumb::simt
