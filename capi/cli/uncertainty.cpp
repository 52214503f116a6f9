// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "uncertainty.h"

#include "failure.h"
#include "table_rows.h"

namespace mercer::cli {

std::vector<std::string> target_names(const LoadedModel& loaded) {
  const std::vector<std::string>& targets = loaded.metadata.targets;
  if (static_cast<int64_t>(targets.size()) == loaded.outputs) return targets;
  std::vector<std::string> names;
  for (int64_t k = 0; k < loaded.outputs; ++k)
    names.push_back(loaded.outputs > 1 ? "y" + std::to_string(k + 1) : "y");
  return names;
}

void check_uncertainty(const LoadedModel& loaded, const ApplyRequest& request) {
  if (request.seed != 0 && request.samples == 0) throw Failure("--seed: is of --samples");
  const char* const asked = request.variance       ? "--variance"
                            : request.interval > 0 ? "--interval"
                            : request.samples > 0  ? "--samples"
                                                   : nullptr;
  if (asked != nullptr && loaded.model.spec().find("\"model\":\"gp\"") == std::string::npos)
    throw Failure(std::string(asked) +
                  ": the model does not know how sure it is: fit it with "
                  "--estimator gp");
}

std::vector<FurtherColumns> uncertainty_of(const LoadedModel& loaded, const Dataset& rows,
                                           const ApplyRequest& request, Session& session) {
  const Rows X = inputs_of(rows, 0, rows.n);
  const std::vector<std::string> targets = target_names(loaded);
  std::vector<FurtherColumns> all;
  const auto ask = [&](const char* what, const std::vector<std::string>& columns,
                       const mercer_predict_options& options) {
    FurtherColumns further{columns, Matrix<double>(rows.n, static_cast<int64_t>(columns.size()))};
    loaded.model.predict(X, what, further.numbers, options, session.context());
    all.push_back(std::move(further));
  };
  const auto named = [&](const std::vector<std::string>& prefixes, bool by_target) {
    std::vector<std::string> names;
    for (size_t i = 0; i < targets.size() * prefixes.size(); ++i)
      names.push_back(by_target ? prefixes[i % prefixes.size()] + targets[i / prefixes.size()]
                                : prefixes[i / targets.size()] + targets[i % targets.size()]);
    return names;
  };
  if (request.variance) ask("predictive_variance", named({"variance_"}, true), predict_options());
  mercer_predict_options options = predict_options();
  if (request.interval > 0) {
    const double levels[] = {(1 - request.interval) / 2, (1 + request.interval) / 2};
    options.quantiles = levels;
    options.quantile_count = 2;
    ask("quantile", named({"lower_", "upper_"}, true), options);
  }
  if (request.samples > 0) {
    options = predict_options();
    options.sample_count = request.samples;
    options.seed = request.seed;
    std::vector<std::string> draws;
    for (int64_t s = 1; s <= request.samples; ++s)
      draws.push_back("sample" + std::to_string(s) + "_");
    ask("sample", named(draws, false), options);
  }
  return all;
}

}  // namespace mercer::cli
