// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "fit_data.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "arguments.h"
#include "base/size.h"
#include "derivative_arguments.h"
#include "handles.h"
#include "model/estimator/predictor.h"
#include "spec/report_spec.h"
#include "spec/spec.h"

namespace mercer::capi {
namespace {

constexpr uint32_t kDataFirstSize = offsetof(mercer_data, groups);

std::span<const double> weights_of(const mercer_data& data, int64_t n) {
  if (data.weights == nullptr) return {};
  return vector("data->weights", data.weights, "data->X.n", n).values();
}

void tell_trial(void* context, const model::SearchCandidate& trial) {
  const Context& running = *static_cast<const Context*>(context);
  running.trial(running.user, spec::print_trial(trial).c_str());
}

RowsArgument no_targets(const mercer_rows& Y, int64_t n) {
  require(!is_given(Y), MERCER_INVALID_ARGUMENT,
          "data->Y of a model without targets, expected it absent, all zeros");
  return {"Y", Rows(MatrixView<const double>{nullptr, n, 0}), {}};
}

}  // namespace

mercer_data read_data(const mercer_data* data) {
  check_struct("data", data, "a mercer_data");
  mercer_data read{};
  read_struct("data", data, kDataFirstSize, sizeof read, &read);
  check_range("data->reserved", read.reserved, 0, 0);
  const bool rows = is_given(read.X), source = read.source != nullptr, sets = read.sets != nullptr;
  require(rows + source + sets == 1, MERCER_INVALID_ARGUMENT,
          "data has %sX, %ssource and %ssets, expected one of the three", rows ? "" : "no ",
          source ? "" : "no ", sets ? "" : "no ");
  require(
      rows || (!is_given(read.Y) && read.weights == nullptr), MERCER_INVALID_ARGUMENT,
      "data->Y or data->weights without data->X, expected none: a source and sets bring theirs");
  require(rows || !is_given(read.groups), MERCER_UNSUPPORTED,
          "data->groups of rows that are not in memory, expected none");
  if (source) check_struct("data->source", read.source, "a mercer_row_source");
  require(read.w == nullptr || !sets, MERCER_UNSUPPORTED,
          "data->w beside data->sets, expected rows");
  check_range("data->set_count", read.set_count, sets ? 1 : 0, sets ? INT64_MAX : 0);
  return read;
}

model::FitPlan plan_of(const char* json, Context& running) {
  model::FitPlan plan = spec::fit_plan(check_text("json", json));
  if (running.trial == nullptr) return plan;
  plan.search.report = tell_trial;
  plan.search.user = &running;
  return plan;
}

std::shared_ptr<const feature::FeatureMap> map_of(const mercer_data& data) {
  return data.map == nullptr ? nullptr : checked("data->map", data.map).impl;
}

std::shared_ptr<const model::Predictor> given_of(const mercer_data& data, int64_t m,
                                                 Context& context) {
  require(data.w != nullptr || data.intercept == nullptr, MERCER_INVALID_ARGUMENT,
          "data->intercept without data->w, expected both, or none");
  if (data.w == nullptr) return nullptr;
  require(data.map != nullptr, MERCER_INVALID_ARGUMENT,
          "data->w without data->map, expected the map that these weights are of");
  const int64_t D = checked("data->map", data.map).impl->row_length();
  solver::Weights given{Matrix<double>(D, m, context, "weights"), std::vector<double>(m, 0.0)};
  const auto take = [](const char* name, const double* from, int64_t count, double* to) {
    const auto numbers = vector(name, from, "its length", count).values();
    require(std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }),
            MERCER_INVALID_ARGUMENT, "%s has NaN or Inf, expected finite numbers", name);
    std::ranges::copy(numbers, to);
  };
  take("data->w", data.w, checked_multiply(D, m, "weights"), given.w.data());
  if (data.intercept != nullptr) take("data->intercept", data.intercept, m, given.intercept.data());
  return model::make_linear(std::move(given));
}

GroupNumbers::GroupNumbers(const mercer_data& data, const RowsArgument& X, Context& context) {
  if (!is_given(data.groups)) return;
  const auto rows = read_rows("data->groups", data.groups, 1, "one number for each row", context);
  check_same_rows(rows, X);
  const DoubleRows numbers(rows, context);
  for (int64_t i = 0; i < X.n(); ++i) values.push_back(numbers.view()(i, 0));
}

TrainingSet::TrainingSet(const mercer_data& data, bool has_targets, Context& context)
    : X(read_rows("X", data.X, context)),
      Y(has_targets ? read_rows("Y", data.Y, context) : no_targets(data.Y, X.n())),
      y(Y, context),
      weights(weights_of(data, X.n())),
      groups(data, X, context) {
  check_at_least("X.n", X.n(), 1);
  check_at_least("X.d", X.d(), 1);
  check_at_least("Y.d", Y.d(), has_targets ? 1 : 0);
  check_same_rows(Y, X);
}

ObservationSets::ObservationSets(const mercer_data& data, int64_t inputs, Context& context) {
  check_aligned("data->sets", data.sets, alignof(mercer_observations));
  if (inputs == 0) inputs = data.sets[0].X.d;  // of a map that is to be made; add() checks the view
  for (int64_t s = 0; s < data.set_count; ++s)
    add("sets[" + std::to_string(s) + "]", data.sets[s], inputs, context);
}

void ObservationSets::add(const std::string& name, const mercer_observations& given, int64_t inputs,
                          Context& context) {
  require(given.struct_size == sizeof given, MERCER_INVALID_ARGUMENT,
          "%s.struct_size = %u, expected %zu: sets lie one after the other", name.c_str(),
          given.struct_size, sizeof given);
  check_range((name + ".reserved").c_str(), given.reserved, 0, 0);
  const std::string of_X = name + ".X", of_Y = name + ".Y";
  check_at_least((of_X + ".d").c_str(), inputs, 1);
  const auto X = read_rows(of_X.c_str(), given.X, inputs, "the map's inputs", context);
  const auto Y = read_rows(of_Y.c_str(), given.Y, context);
  check_same_rows(Y, X);
  rows_.push_back(std::make_unique<DoubleRows>(X, context));
  const auto at = rows_.back()->view();
  rows_.push_back(std::make_unique<DoubleRows>(Y, context));
  model::Observations set{read_optional_index((name + ".partial").c_str(), given.partial, inputs),
                          given.weight,
                          at,
                          rows_.back()->view(),
                          {}};
  if (given.row_weights != nullptr)
    set.row_weights =
        vector((name + ".row_weights").c_str(), given.row_weights, "rows", X.n()).values();
  sets_.push_back(std::move(set));
}

}  // namespace mercer::capi
