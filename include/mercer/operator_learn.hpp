// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_learn.h for C++17.
//
// Example: coefficients of a field without sources that is near the rows of Y at those of X.
//
//   const double lambda = 1e-3;
//   mercer::Matrix<double> learnt(field.coefficients(), 1);
//   mercer_operator_fit fit = mercer::fit(field, X, Y, mercer_operator_fit_of(&lambda, 1), learnt);
#ifndef MERCER_OPERATOR_LEARN_HPP
#define MERCER_OPERATOR_LEARN_HPP

#include "mercer/operator.hpp"
#include "mercer/operator_learn.h"

namespace mercer {
inline namespace hpp {

/// Writes theta; what was found, beside what was asked for.
inline mercer_operator_fit fit(const OperatorMap& map, const Rows& X, const Rows& Y,
                               mercer_operator_fit how, const Result& theta,
                               Context* context = nullptr) {
  detail::check(mercer_operator_map_fit(map.get(), X.get(), Y.get(), &how, detail::handle(context),
                                        theta.get()),
                context);
  return how;
}

/// The question with its answers.
inline mercer_operator_bound answer(mercer_operator_bound question) {
  check(mercer_operator_frequencies(&question));
  return question;
}

}  // namespace hpp
}  // namespace mercer
#endif
