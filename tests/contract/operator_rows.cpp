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
      // Of other smooth kernels: isotropic, a product, and one of another value at 0 than 1.
      {R"({"operator":"curl_free","projection":"orthogonal","bounded":false,)"
       R"("kernel":{"kernel":"rational_quadratic","alpha":9,"lengthscale":1.2}})"},
      {R"({"operator":"divergence_free","projection":"dense","bounded":false,)"
       R"("kernel":{"kernel":"generalized_gaussian_spectrum","order":2,"lengthscale":1.1}})"},
      {R"({"operator":"helmholtz","alpha":0.3,"projection":"dense","bounded":false,"kernel":)"
       R"({"kernel":"spectral_mixture","weights":[0.7,1.2],"means":[0.4,-1],)"
       R"("variances":[1.5,0.4],"variance":0.8}})"},
  };
  return kRows;
}

std::span<const char* const> fields_of_others() {
  static constexpr const char* kFields[] = {
      "form",     "radius",    "scramble", "whole_blocks", "weights",     "penalty", "pool",
      "diameter", "tolerance", "step",     "extent",       "error_bound", "scalar",  "variance"};
  return kFields;
}

std::span<const SameEstimateRow> same_estimate_rows() {
  // B of p or p - 1 columns, B B' = |omega|^2 I - omega omega' either way.
  static constexpr SameEstimateRow kRows[] = {
      {R"({"root":"orthonormal"})", R"({"root":"symmetric"})"}};
  return kRows;
}

}  // namespace mercer::test
