// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of several outputs, where others are refused.
#pragma once

#include <memory>
#include <string>

#include "feature/field/field_map.h"
#include "guard.h"
#include "handles.h"

namespace mercer::capi {

/// UNSUPPORTED for a map of a kernel of one output.
inline std::shared_ptr<const feature::FieldMap> field_map(const mercer_map* map) {
  const auto& phi = checked("map", map).impl;
  require(phi->field() != nullptr, MERCER_UNSUPPORTED,
          "map %s of kernel %s has one output, expected a map of a kernel of several",
          std::string(phi->name()).c_str(), std::string(phi->kernel().name()).c_str());
  return {phi, phi->field()};
}

}  // namespace mercer::capi
