// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Runs a test program on the SIMD target that MERCER_TEST_TARGET names, for the entries of CTest
// that walk them (tests/CMakeLists.txt). Where the machine has no such target the program says so
// and ends: CTest counts it as skipped.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "transform/target.h"

namespace {

bool select_named() {
  const char* const name = std::getenv("MERCER_TEST_TARGET");
  if (name == nullptr) return false;
  for (const int64_t target : mercer::transform::supported_targets())
    if (mercer::transform::target_name(target) == name) {
      mercer::transform::select_target(target);
      return true;
    }
  std::printf("no SIMD target %s on this machine\n", name);
  std::exit(0);
}

const bool kSelected = select_named();

}  // namespace
