// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What derivatives of one panel of features are taken of.
#pragma once

#include <cstdint>

namespace mercer::feature {

template <class T>
struct PanelRow {
  const T* x;      // the row
  const T* W;      // inputs x columns (transform/dense_panel.h)
  int64_t inputs;  // d
};

}  // namespace mercer::feature
