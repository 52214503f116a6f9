// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What tests of exact ridges, posteriors and norms of operator-valued kernels ask of.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mercer/operator_analysis.h"
#include "operators.h"
#include "support/reference.h"

namespace mercer::test {

using Numbers = std::vector<double>;

inline Numbers flat(const Reference& rows) {
  Numbers out;
  for (const auto& row : rows)
    for (const auto& entry : row) out.push_back(entry);
  return out;
}

inline double worst(const Numbers& a, const Numbers& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (!(std::fabs(a[i] - b[i]) <= most)) most = std::fabs(a[i] - b[i]);
  return most;
}
inline double worst(const Numbers& a) { return worst(a, Numbers(a.size(), 0.0)); }

/// As make_kernel takes it.
inline std::string field_kernel(const std::string& name, double lengthscale) {
  return '"' + name + R"(","scalar":{"kernel":"gaussian","lengthscale":)" +
         std::to_string(lengthscale) + "}";
}
inline constexpr const char* kJointKernel = R"("decomposable","gamma":[2,1,1,2])";

inline mercer_operator_kernel_fit exact_fit(double lambda, int32_t method,
                                            double tolerance = 1e-13) {
  mercer_operator_kernel_fit fit = mercer_operator_kernel_fit_of(lambda);
  fit.method = method;
  fit.tolerance = tolerance;
  return fit;
}

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A map of two outputs by its spec, and its inputs.
struct OperatorCase {
  const char* map;
  int64_t d;
};
inline constexpr OperatorCase kCases[] = {
    {R"({"kernel":{"kernel":"decomposable","gamma":[2,1,1,2]},"inputs":3,"features":20})", 3},
    {R"({"kernel":{"kernel":"divergence_free"},"inputs":2,"features":24})", 2}};

}  // namespace mercer::test
