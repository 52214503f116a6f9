// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Test entry point. Raises oneTBB's limit so that tests may ask for more threads than the machine
// has cores.
#define CATCH_CONFIG_RUNNER
#include "support/catch.h"

#ifdef MERCER_TEST_TBB
#include <oneapi/tbb/global_control.h>
#endif

int main(int argc, char** argv) {
#ifdef MERCER_TEST_TBB
  oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, 8);
#endif
  return Catch::Session().run(argc, argv);
}
