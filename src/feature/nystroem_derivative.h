// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of Nystroem features Z = K(X, L) B: those of the kernel in x, times the same
// root.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"
#include "feature/derivative_calls.h"
#include "feature/nystroem_panels.h"

namespace mercer::feature {

struct NystroemParts {
  const kernel::Kernel& kernel;
  MatrixView<const double> landmarks;
  MatrixView<const double> root;
  const NystroemPanels<double>& panels;  // of these landmarks
  Matrix<double> dense = {};             // storage of `landmarks` where the map keeps them sparse
};

/// As in Derivatives; computed in double.
MERCER_DERIVATIVES(NystroemParts)

}  // namespace mercer::feature
