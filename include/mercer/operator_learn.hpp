// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_learn.h for C++17.
//
// Example: a field without sources that is near the rows of Y at those of X.
//
//   const double lambda = 1e-3;
//   const auto learnt = mercer::OperatorModel::fit(field, X, Y, mercer_operator_fit_of(&lambda, 1));
//   mercer::Matrix<double> near(X.rows(), field.outputs());
//   learnt.predict(X, near);
#ifndef MERCER_OPERATOR_LEARN_HPP
#define MERCER_OPERATOR_LEARN_HPP

#include <string>
#include <utility>

#include "mercer/io.hpp"
#include "mercer/map.hpp"
#include "mercer/operator.hpp"
#include "mercer/operator_learn.h"

namespace mercer {
inline namespace hpp {

/// Everything searched, Gamma from the outputs' covariance, with a score.
inline mercer_operator_search operator_search(uint64_t seed = 0) {
  return mercer_operator_search_of(seed);
}

/// A learnt function of several outputs.
class OperatorModel
    : public detail::Kept<OperatorModel, mercer_operator_model_load, mercer_operator_model_save,
                          mercer_operator_model_from_bytes, mercer_operator_model_to_bytes> {
  friend Kept;

 public:
  /// found: what was asked for with its answers.
  static OperatorModel fit(const Map& map, const Rows& X, const Rows& Y, mercer_operator_fit how,
                           mercer_operator_fit* found = nullptr, Context* context = nullptr) {
    mercer_operator_model* made = nullptr;
    detail::check(mercer_operator_model_fit(map.get(), X.get(), Y.get(), &how,
                                            detail::handle(context), &made),
                  context);
    if (found != nullptr) *found = how;
    return OperatorModel(Handle(made));
  }
  /// Lengthscale, lambda and shape searched; json: the spec of a map, which may leave much out.
  static OperatorModel search(const std::string& json, const Rows& X, const Rows& Y,
                              const mercer_operator_search& how = operator_search(),
                              Context* context = nullptr) {
    mercer_operator_model* made = nullptr;
    detail::check(mercer_operator_model_search(json.c_str(), X.get(), Y.get(), &how,
                                               detail::handle(context), &made),
                  context);
    return OperatorModel(Handle(made));
  }
  /// JSON: spec, offset, scale, metadata, and what the search found.
  std::string report() const {
    return detail::text(
        [&](auto... buffer) { return mercer_operator_model_report(get(), buffer...); });
  }
  void predict(const Rows& X, const Result& out, mercer_field kind = MERCER_FIELD_VALUE,
               Context* context = nullptr) const {
    detail::check(
        mercer_operator_model_predict(get(), X.get(), kind, detail::handle(context), out.get()),
        context);
  }
  void coefficients(const Result& theta) const {
    check(mercer_operator_model_parts(get(), nullptr, theta.get()));
  }
  mercer_operator_model* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_operator_model, mercer_operator_model_free>;
  explicit OperatorModel(Handle owner) : owner_(std::move(owner)) {}
  Handle owner_;
};

/// The question with its answers.
inline mercer_operator_bound answer(mercer_operator_bound question) {
  check(mercer_operator_frequencies(&question));
  return question;
}

}  // namespace hpp
}  // namespace mercer
#endif
