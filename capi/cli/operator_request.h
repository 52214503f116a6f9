// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What --operator and the options beside it say.
#pragma once

#include <string>
#include <vector>

#include "commands.h"

namespace mercer::cli {

struct OperatorRequest {
  std::string spec;                           // JSON of an operator map, without inputs
  bool field = false;                         // as many targets as inputs
  bool separable = false;                     // Gamma is searched where the spec has none
  std::string shape;                          // a parameter that is searched likewise; empty: none
  bool similarity = false;                    // Gamma from the targets' distances
  std::string graph;                          // a file of weights between targets; empty: none
  std::vector<double> lengthscales, lambdas;  // empty: searched
};

/// Fails naming --operator, or an option that does not go with it.
OperatorRequest read_operator(const FitRequest& request, const std::string& specs);

}  // namespace mercer::cli
