// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "fitting.h"

#include <algorithm>

#include "message.h"
#include "scoring.h"

namespace mercer::cli {

Json spec_of_rows(const LearnRequest& request, const TrainingSet& set) {
  Json spec = request.spec;
  spec["prepare"]["standardize"] = set.standardize;
  spec["seed"] = request.seed;
  if (set.K > 0) spec.update({{"task", "classification"}, {"classes", set.K}});
  return spec;
}

Json fit_spec(const FitRequest& request, const Plan& plan, const TrainingSet& set, bool assess) {
  Json spec = spec_of_rows(request.learn, set);
  spec["map"] = parse_json(plan.map);
  if (plan.open && plan.lengthscale == 0 && request.operation.empty()) spec["map"].erase("kernel");
  if (request.features) spec["map"]["features"] = *request.features;
  spec["assess"] = assess;
  if (!request.learn.loss().empty()) spec["model"] = "logistic";
  if (request.learn.ordered) spec["ordered"] = true;
  if (plan.lambda >= 0) spec["lambda"] = plan.lambda;
  if (plan.lengthscale > 0) spec["lengthscale"] = plan.lengthscale;
  add_operator(read_operator(request.operation, specs()), set, &spec);
  return spec;
}

Plan checked_plan(const FitRequest& request) {
  const OperatorOption joins = read_operator(request.operation, specs());
  Plan plan = read_plan(request.learn.plan);
  if (joins.kernel.is_null()) check_plan(plan, request.features.value_or(kFeatures));
  return plan;
}

void tell_trials(Session& session, const TrialCallback& tell) {
  session.context()->tell_trials(
      tell ? Context::Trial([&](const std::string& trial) { tell(parse_json(trial)); })
           : Context::Trial());
}

Model fit_rows(const Json& spec, const TrainingSet& set, int64_t n, Session& session,
               const TrialCallback& tell) {
  tell_trials(session, tell);
  const Dataset& data = set.data;
  return in_words_of(
      data.name, input_names(set.metadata),
      [&] {
        Data rows = Data(inputs_of(data, 0, n), targets_of(data, 0, n))
                        .weights({data.weights.data(), data.weights.empty() ? 0 : n});
        if (!data.groups.empty())
          std::move(rows).groups(MatrixView<const double>(data.groups.data(), n, 1));
        return Model::fit(json_text(spec), rows, session.context());
      },
      data.file_rows);
}

double score_rows(const Model& model, const TrainingSet& set, int64_t first, int64_t count,
                  Session& session) {
  return model.score(inputs_of(set.data, first, count), targets_of(set.data, first, count),
                     scoring_of(model).options(score_options_of(set.data.weights, first)),
                     session.context());
}

Json certificate_of(const Model& model, const Dataset& data, int64_t first, int64_t count,
                    Session& session) {
  constexpr int64_t kRows = 4096, kNumbers = int64_t{1} << 25;
  const Map map = model.map();
  const int64_t rows = std::min({count, kRows, 1 + kNumbers / map.inputs()});
  try {
    Matrix<double> X(rows, map.inputs());
    model.predict(inputs_of(data, first, rows), "prepared", X, predict_options(),
                  session.context());
    return parse_json(map.certify(X, R"({"rows":128})", session.context()));
  } catch (const Error& error) {
    if (error.status() != MERCER_INVALID_ARGUMENT && error.status() != MERCER_UNSUPPORTED) throw;
    return nullptr;
  }
}

}  // namespace mercer::cli
