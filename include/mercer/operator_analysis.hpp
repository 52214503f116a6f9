// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_analysis.h for C++17.
//
// Example: what the kernel itself makes of the rows of Y at those of X, and the covariances of what
// features learnt of them, of noise of variance 0.01.
//
//   const auto exact = mercer::Kernel::from_spec(R"({"kernel":"divergence_free"})");
//   mercer::Matrix<double> u(X.rows(), 3);
//   mercer::operator_kernel_ridge(exact, X, Y, mercer_operator_kernel_fit_of(1e-3), u);
//   mercer::Matrix<double> reference(X.rows(), 3);
//   exact.multiply(X, X, u, reference);
//   mercer::Matrix<double> covariances(X.rows(), 9);
//   mercer::covariance(learnt, X, Y, 0.01, X, covariances);
#ifndef MERCER_OPERATOR_ANALYSIS_HPP
#define MERCER_OPERATOR_ANALYSIS_HPP

#include "mercer/map.hpp"
#include "mercer/operator_analysis.h"
#include "mercer/operator_learn.hpp"

namespace mercer {
inline namespace hpp {

/// u of exact ridge: f = sum_i K(., X_i) u_i. What was asked for, with its answers.
inline mercer_operator_kernel_fit operator_kernel_ridge(const Kernel& kernel, const Rows& X,
                                                        const Rows& Y,
                                                        mercer_operator_kernel_fit how,
                                                        const Result& u,
                                                        Context* context = nullptr) {
  detail::check(mercer_operator_kernel_ridge(kernel.get(), X.get(), Y.get(), &how,
                                             detail::handle(context), u.get()),
                context);
  return how;
}

/// The posterior covariance at each row of `at` of a model that was fitted to X and Y.
inline void covariance(const OperatorModel& model, const Rows& X, const Rows& Y, double noise,
                       const Rows& at, const Result& out, Context* context = nullptr) {
  detail::check(mercer_operator_model_covariance(model.get(), X.get(), Y.get(), noise, at.get(),
                                                 detail::handle(context), out.get()),
                context);
}

inline double squared_norm(const OperatorModel& model) {
  double answer = 0;
  check(mercer_operator_model_norms(model.get(), nullptr, nullptr, &answer, nullptr));
  return answer;
}
/// Along the edges of a graph of the outputs.
inline double graph_penalty(const OperatorModel& model, const Rows& weights) {
  double answer = 0;
  check(mercer_operator_model_norms(model.get(), weights.get(), nullptr, nullptr, &answer));
  return answer;
}

struct FeatureEquivalence {
  double residual = 0, seen = 0;
};
/// Whether features learnt what u are the coefficients of.
inline FeatureEquivalence feature_equivalence(const OperatorModel& model, const Rows& X,
                                              const Rows& u, Context* context = nullptr) {
  FeatureEquivalence answer;
  detail::check(
      mercer_operator_model_equivalence(model.get(), X.get(), u.get(), detail::handle(context),
                                        &answer.residual, &answer.seen),
      context);
  return answer;
}

/// Proposition 33's bound of Map::variance.
inline void variance_bound(const Map& map, const Rows& X, const Rows& Y, const Result& out,
                           bool printed = false, Context* context = nullptr) {
  detail::check(mercer_map_variance_bound(map.get(), X.get(), Y.get(), printed ? 1 : 0,
                                          detail::handle(context), out.get()),
                context);
}

}  // namespace hpp
}  // namespace mercer
#endif
