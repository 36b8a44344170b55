// The child process that runs variants. It never sees a reference or a report: it is handed staged bytes, runs, and says only how the
// run went. The parent finds everything that the run may have done wrong.
#pragma once
#include <cstddef>

#include "verify/engine/process/request.hpp"

namespace plumb {

/// Runs one request on an image in this process's memory. Never throws: what goes wrong is in the reply.
[[nodiscard]] RunReply serve(const RunRequest&, const OperatorEntry&, std::byte* image, Backend&);

/// Main loop of a child: `verify --worker`. Control socket and image are the descriptors kWire and kImage. Returns main()'s exit code
/// when the socket closes.
int worker_main();

}  // namespace plumb
