// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sizes against the machine's memory.
#include "cli_files.h"
#include "support/catch.h"

namespace mercer::test::memory_test {
namespace {

TEST_CASE("what the machine cannot hold is refused with both numbers", "[cli]") {
  constexpr int64_t kMachine = 8000000000;
  CHECK(refusal([] { cli::require_memory("a table", 8e9, kMachine); }) == "accepted");
  CHECK(refusal([] { cli::require_memory("a table", 8.5e9, kMachine); }) ==
        "a table needs 8.5 GB, this machine has 8");
  CHECK(refusal([] { cli::require_memory("a table", 1e30, 0); }) == "accepted");  // not known
  CHECK(refusal([] { cli::require_memory("a table", 1e30); }).find("a table needs 1e+21 GB") == 0);
  CHECK(cli::physical_memory() > 0);
}

}  // namespace
}  // namespace mercer::test::memory_test
