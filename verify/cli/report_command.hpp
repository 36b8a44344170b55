// verify report trend FILES: what stored reports say together.
#pragma once

namespace plumb {

/// The words behind `verify`: report trend FILE... [--html F] [--badge F]. Returns an exit code: 1 where the last run failed.
[[nodiscard]] int report_main(int argc, char** argv);

}  // namespace plumb
