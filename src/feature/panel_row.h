// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The arguments of derivatives of one panel of features.
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
