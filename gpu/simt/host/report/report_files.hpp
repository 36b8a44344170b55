// What a program on the executor found, in files: JSON and SARIF 2.1.0 for other programs, a page for people. A file is whole at every
// moment, and says whether the program has ended by itself. Processes that the program forks or starts add to the same files.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "gpu/simt/executor.hpp"

namespace plumb::simt {

/// Takes the names of the files from PLUMB_SIMT_JSON, PLUMB_SIMT_SARIF and PLUMB_SIMT_HTML, as they are meant at that moment.
void open_report_files(std::uint64_t seed);
bool page_is_asked_for();
bool files_are_asked_for();
/// False: one that a line of the files stands for already, unless that one was a note and this one is not.
bool add_to_report_files(const Finding& finding);
/// Writes what there is; a later call writes it anew. `ended`: how the program ended, as "exit" or "SIGTERM"; null: it has not.
void write_report_files(const char* ended);
/// A finding as the JSON file has it.
nlohmann::json to_json(const Finding& finding);
/// In a process that another one has forked.
void forget_own_findings();

}  // namespace plumb::simt
