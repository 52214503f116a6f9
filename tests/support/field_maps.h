// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of kernels of several outputs through the table, and what they do as plain matrices.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "base/aligned.h"
#include "feature/feature_operator.h"
#include "feature/field_map.h"
#include "feature/map_entry.h"
#include "kernel/matrix_kernel.h"
#include "support/matrix_kernels.h"

namespace mercer::test {

/// A map's spec from all that tests vary of it, in one list: "operator" names the kernel, "kernel"
/// is its scalar one, and what is the kernel's own goes to it; "features" stays.
inline Parameters field_spec(const Parameters& flat) {
  static constexpr std::string_view kOfKernel[] = {"gamma", "structure", "cutoff", "alpha"};
  Parameters kernel{{"kernel", flat.text("operator")}}, map{{"map", "fourier"}};
  for (const auto& [key, value] : flat.entries()) {
    if (key == "operator") continue;
    if (key == "kernel")
      kernel.set("scalar", value);
    else if (std::ranges::find(kOfKernel, key) != std::end(kOfKernel))
      kernel.set(key, value);
    else
      map.set(key, value);
  }
  map.set("kernel", std::make_shared<const Parameters>(kernel));
  return map;
}

/// "features" counts columns of the map of the scalar kernel: the map has q times as many.
inline Parameters with_root_columns(const Parameters& spec) {
  Parameters canonical = feature::canonical_map(spec, "", feature::Data::refused);
  const auto kernel = kernel::make_kernel(canonical.object("kernel"));
  const kernel::OutputRoot* const root = kernel->matrix()->root();
  const int64_t q = root != nullptr ? root->B.cols() : feature::map_sizes(canonical, 1).step / 2;
  canonical.set("features", q * canonical.integer("features"));
  return canonical;
}

inline std::unique_ptr<const feature::FieldMap> made_field(const Parameters& canonical) {
  std::unique_ptr<const feature::FeatureMap> map = feature::make_map(canonical);
  const feature::FieldMap* const field = map->field();
  if (field != nullptr) map.release();
  return std::unique_ptr<const feature::FieldMap>(field);
}
inline std::unique_ptr<const feature::FieldMap> made_operator(const Parameters& flat) {
  return made_field(with_root_columns(field_spec(flat)));
}

inline Matrix<double> variance_of(const feature::FeatureMap& map, const Matrix<double>& X,
                                  const Matrix<double>& Y) {
  Matrix<double> out(X.rows(), map.outputs() * map.outputs());
  Context context;
  map.variances(X.view(), Y.view(), context, out.view());
  return out;
}

inline Matrix<double> matrix_of(const feature::FeatureMap& map, const Rows& X, int threads = 0) {
  Matrix<double> phi(X.rows() * map.outputs(), map.features());
  Context context;
  context.threads = threads;
  map.apply(X, {0, map.features()}, context, phi.view());
  return phi;
}

inline Matrix<double> field_of(const feature::FeatureMap& map, MatrixView<const double> X,
                               const Matrix<double>& theta,
                               feature::FieldKind kind = feature::FieldKind::value,
                               int threads = 0) {
  Matrix<double> out(X.rows,
                     theta.cols() * feature::field_numbers(kind, map.outputs(), map.inputs()));
  Context context;
  context.threads = threads;
  multiply(map, X, theta.view(), kind, context, out.view());
  return out;
}

inline Matrix<double> adjoint_of(const feature::FeatureMap& map, MatrixView<const double> X,
                                 const Matrix<double>& Y, int threads = 0) {
  Matrix<double> theta(map.features(), Y.cols() / map.outputs());
  Context context;
  context.threads = threads;
  adjoint(map, X, Y.view(), context, theta.view());
  return theta;
}

}  // namespace mercer::test
