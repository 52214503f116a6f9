// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Runs a test program on the SIMD target that MERCER_TEST_TARGET names, for the entries of CTest
// that walk them (tests/CMakeLists.txt). Where the machine has no such target the program says so
// and ends: CTest counts it as skipped.
#include "support/simd_target.h"

#include <hwy/targets.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace mercer::test {

void select_target(int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace mercer::test

namespace {

bool select_named() {
  const char* const name = std::getenv("MERCER_TEST_TARGET");
  if (name == nullptr) return false;
  for (const int64_t target : mercer::transform::supported_targets())
    if (mercer::transform::target_name(target) == name) {
      mercer::test::select_target(target);
      return true;
    }
  std::printf("no SIMD target %s on this machine\n", name);
  std::exit(0);
}

const bool kSelected = select_named();

}  // namespace
