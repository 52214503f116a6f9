// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Texts through a reader of specs.
#pragma once

#include <string>

#include "spec/spec.h"
#include "support/refusal.h"

namespace mercer::test {

/// read: spec::kernel_from_spec or spec::map_from_spec.
template <auto read>
struct SpecDoor {
  static std::string printed(const std::string& text) { return spec::to_spec(*read(text)); }

  template <class... Part>
  static std::string refused(mercer_status status, const std::string& json, const Part&... parts) {
    return refusal_fault(
        status, [&] { read(json); }, parts...);
  }
};

}  // namespace mercer::test
