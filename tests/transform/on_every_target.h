// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One body on every instruction set that this machine has.
#pragma once
#include "support/catch.h"
#include "transform/target.h"

namespace mercer::test {

template <class Body>
void on_every_target(const Body& body) {
  for (const int64_t target : transform::supported_targets()) {
    transform::select_target(target);
    CAPTURE(transform::target_name(target));
    body();
  }
  transform::select_target(0);
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
