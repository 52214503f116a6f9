// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One body on every instruction set that this machine has.
#pragma once
#include <cstdint>

#include "support/catch.h"
#include "transform/target.h"

namespace mercer::test {

/// Makes every later call use this target; 0 restores the best. Not thread-safe.
void select_target(int64_t target);

template <class Body>
void on_every_target(const Body& body) {
  for (const int64_t target : transform::supported_targets()) {
    select_target(target);
    CAPTURE(transform::target_name(target));
    body();
  }
  select_target(0);
}

/// The same for numbers of both types: body(float{}), body(double{}).
template <class Body>
void on_every_target_in_both(const Body& body) {
  on_every_target([&] {
    body(float{});
    body(double{});
  });
}

}  // namespace mercer::test
