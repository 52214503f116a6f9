// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A new kernel of several outputs is a row here.
#include "contract/operator_cells.h"

#define MERCER_ROW_KERNEL R"("kernel":{"kernel":"gaussian","lengthscale":0.9,"variance":1.3})"

namespace mercer::test {

std::span<const OperatorRow> operator_rows() {
  static constexpr OperatorRow kRows[] = {
      {R"({"operator":"decomposable","gamma":[[2,0.5],[0.5,1]],)" MERCER_ROW_KERNEL "}"},
      // Gamma of rank 2; a kernel whose law is not isotropic, and one of warped inputs.
      {R"({"operator":"decomposable","gamma":[[1,2,0],[2,4,0],[0,0,3]],"cutoff":1e-6,)"
       R"("projection":"dense","kernel":{"kernel":"laplacian"}})"},
      {R"({"operator":"decomposable","gamma":[2,0.5,0.5,1],"projection":"dense",)"
       R"("kernel":{"kernel":"skewed_chi2"}})"},
      {R"({"operator":"curl_free",)" MERCER_ROW_KERNEL "}"},
      {R"({"operator":"divergence_free",)" MERCER_ROW_KERNEL "}"},
      {R"({"operator":"helmholtz","alpha":0.3,)" MERCER_ROW_KERNEL "}"},
  };
  return kRows;
}

std::span<const char* const> fields_of_others() {
  static constexpr const char* kFields[] = {
      "form",     "radius", "scramble", "whole_blocks", "weights", "penalty", "pool",
      "diameter", "tolerance", "step",   "extent",   "error_bound",  "scalar",  "variance"};
  return kFields;
}

std::span<const SameEstimateRow> same_estimate_rows() {
  // B of p or p - 1 columns, B B' = |omega|^2 I - omega omega' either way.
  static constexpr SameEstimateRow kRows[] = {
      {R"({"root":"orthonormal"})", R"({"root":"symmetric"})"}};
  return kRows;
}

}  // namespace mercer::test
