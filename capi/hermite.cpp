// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/derivative.h: models of values and derivatives, derivatives of models.
#include "model/hermite.h"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/size.h"
#include "derivative_arguments.h"
#include "guard.h"
#include "handles.h"
#include "model/model_derivative.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr mercer_observations kNoObservations = {
    sizeof(mercer_observations), 0, 1.0, nullptr, nullptr, nullptr, nullptr};
constexpr uint32_t kObservationsFirstSize = 48;

/// The sets of a Hermite fit, made dense.
class ObservationSets {
 public:
  ObservationSets(const mercer_observations* sets, int64_t count, int64_t d, Context& context) {
    check_not_null("sets", sets, "mercer_observations");
    check_aligned("sets", sets, alignof(mercer_observations));
    for (int64_t s = 0; s < count; ++s) add("sets[" + std::to_string(s) + "]", sets[s], d, context);
  }
  std::span<const model::Observations> sets() const { return sets_; }

 private:
  void add(const std::string& name, const mercer_observations& given, int64_t d, Context& context) {
    require(given.struct_size == sizeof given, MERCER_INVALID_ARGUMENT,
            "%s.struct_size = %u, expected %zu: sets lie one after the other", name.c_str(),
            given.struct_size, sizeof given);
    const auto read = read_options(name.c_str(), &given, kNoObservations, kObservationsFirstSize);
    check_range((name + ".reserved").c_str(), read.reserved, 0, 0);
    const std::string of_X = name + ".X", of_Y = name + ".Y";
    const auto X = read_rows(of_X.c_str(), read.X, d, "the map's inputs", context);
    const auto Y = read_rows(of_Y.c_str(), read.Y, context);
    check_same_rows(Y, X);
    rows_.push_back(std::make_unique<DoubleRows>(X, context));
    const auto inputs = rows_.back()->view();
    rows_.push_back(std::make_unique<DoubleRows>(Y, context));
    model::Observations set{read_optional_index((name + ".partial").c_str(), read.partial, d),
                            read.weight,
                            inputs,
                            rows_.back()->view(),
                            {}};
    if (read.row_weights != nullptr) {
      const auto weights =
          vector((name + ".row_weights").c_str(), read.row_weights, "rows", X.n()).values();
      set.row_weights = weights;
    }
    sets_.push_back(std::move(set));
  }

  std::vector<std::unique_ptr<DoubleRows>> rows_;
  std::vector<model::Observations> sets_;
};

}  // namespace

mercer_status mercer_hermite_fit(const mercer_map* map, const mercer_observations* sets,
                                 int64_t count, double lambda, int32_t center,
                                 mercer_context* context, mercer_model** out) {
  return guard_create_long("mercer_hermite_fit", context, out, [&](Context& running) {
    const auto& phi = checked("map", map).impl;
    check_at_least("count", count, 1);
    check_range("center", center, 0, 1);
    check_not_negative("lambda", lambda);
    const ObservationSets read(sets, count, phi->inputs(), running);
    return mercer_model{model::fit_hermite(phi, read.sets(), {lambda, center == 1}, running)};
  });
}

mercer_status mercer_model_derivative(const mercer_model* model, const mercer_rows* X,
                                      const mercer_derivative* what, mercer_context* context,
                                      const mercer_matrix* out) {
  return guard_long("mercer_model_derivative", context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    const mercer_derivative read = read_derivative(what);
    require(!takes_vectors(read.kind), MERCER_UNSUPPORTED,
            "what->kind = %d of a model, expected PARTIALS, GRADIENT, HESSIAN_DIAGONAL or "
            "LAPLACIAN",
            read.kind);
    const auto rows = read_rows("X", X, fitted.inputs(), "the model's inputs", running);
    const feature::Derivative asked = derivative_of(read, fitted.inputs());
    const Result result(
        "out", out, rows.n(),
        checked_multiply(asked.blocks(fitted.inputs()), fitted.outputs(), "derivatives"), running);
    result.check_apart(rows);
    model::differentiate(fitted, asked, DoubleRows(rows, running).view(), running, result.view());
    result.finish();
  });
}
