// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A learnt function of several outputs, f(x) = Phi(x)'theta.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operator/operator_map.h"

namespace mercer::model {

struct OperatorModel {
  std::shared_ptr<const operators::OperatorMap> map;
  std::vector<double> theta;  // r
  double lambda = 0;          // it was learnt with
  std::string loss;           // of solver::loss_table(), or squares

  MatrixView<const double> coefficients() const {
    return {theta.data(), static_cast<int64_t>(theta.size()), 1};
  }
};

}  // namespace mercer::model
