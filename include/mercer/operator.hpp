// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator.h for C++17.
//
// Example: Gamma of the covariance of Y's columns, and the kernel of outputs that belong together so.
//
//   mercer::Matrix<double> gamma(Y.cols(), Y.cols());
//   mercer::output_structure(MERCER_STRUCTURE_COVARIANCE, Y, gamma);
//   const auto joint = mercer::Kernel::decomposable(mercer::Kernel::gaussian(1.0), gamma);
#ifndef MERCER_OPERATOR_HPP
#define MERCER_OPERATOR_HPP

#include "mercer/kernel.hpp"
#include "mercer/operator.h"

namespace mercer {
inline namespace hpp {

/// Gamma or a simplex code; the latter has no data.
inline void output_structure(mercer_structure kind, const Rows& data, const Result& out,
                             double scale = 0, Context* context = nullptr) {
  detail::check(
      mercer_output_structure(kind, &data.get(), scale, detail::handle(context), &out.get()),
      context);
}
inline void simplex_code(const Result& code, Context* context = nullptr) {
  detail::check(mercer_output_structure(MERCER_STRUCTURE_SIMPLEX, nullptr, 0,
                                        detail::handle(context), &code.get()),
                context);
}

}  // namespace hpp
}  // namespace mercer
#endif
