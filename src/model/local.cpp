// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/local.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "model/estimator/gp_model.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/prepare/row_coding.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"

namespace mercer::model {
namespace {

constexpr double kTheta = 2;  // lengthscales: more centres gain little (Wacker 2022, Fig. 5.10)
constexpr int64_t kMostCenters = 1000;
constexpr const char* kRowsPrepared = "prepared rows of centers";

/// Prepared inputs count from the centre.
Preparation moved(Preparation by, std::span<const double> center) {
  by.mean.resize(center.size(), 0.0);
  by.scale.resize(center.size(), 1.0);
  for (size_t j = 0; j < center.size(); ++j) by.mean[j] += center[j] * by.scale[j];
  return by;
}

/// Lambda and noise are those of the fit about the mean, which has been asked for them.
LocalFit fit_about(const Model& model, const Local& local, std::span<const double> center,
                   Context& context) {
  const Preparation by = moved({}, center);
  FeatureRows rows(*model.map, by, model.fit.coding, model.fit.estimate.precision,
                   {local.X.view(), local.Y.view(), local.weights});
  if (!model.fit.estimate.entry->least_squares) rows.take_real_parts();
  EstimatorFit learned = model.fit.estimate.entry->fit(rows, model.fit.estimate, model.fit.coding,
                                                       model.fit.select, context);
  return {
      {center.begin(), center.end()}, std::move(learned.predictor), std::move(learned.posterior)};
}

/// The model of one fit.
Model about(const Model& model, const LocalFit& fit) {
  Model near = model;
  near.local = nullptr;
  near.preparation = moved(std::move(near.preparation), fit.center);
  near.predictor = fit.predictor;
  near.posterior = fit.posterior;
  return near;
}

/// In units of the lengthscales.
double squared_distance(std::span<const double> l, const double* x, const double* y) {
  double sum = 0;
  for (size_t j = 0; j < l.size(); ++j) sum += (x[j] - y[j]) * (x[j] - y[j]) / (l[j] * l[j]);
  return sum;
}

/// A lengthscale for each prepared input.
std::vector<double> lengthscales_of(const feature::FeatureMap& map) {
  std::vector<double> l(map.kernel().lengthscale().begin(), map.kernel().lengthscale().end());
  l.resize(map.inputs(), l.empty() ? 1.0 : l.back());
  return l;
}

std::vector<double> mean_of(const Local& local) {
  std::vector<double> mean(local.X.cols(), 0.0);
  double all = 0;
  for (int64_t i = 0; i < local.X.rows(); ++i) {
    const double weight = local.weights.empty() ? 1 : local.weights[i];
    all += weight;
    for (size_t j = 0; j < mean.size(); ++j) mean[j] += weight * local.X(i, j);
  }
  for (double& one : mean) one /= all;
  return mean;
}

/// Farthest-point clustering.
std::vector<std::vector<double>> centers_of(const Model& model, const Local& local, double theta) {
  const std::vector<double> l = lengthscales_of(*model.map);
  std::vector<std::vector<double>> centers = {mean_of(local)};
  std::vector<double> nearest(local.X.rows(), kInfinity);
  for (size_t i = 0; i < local.weights.size(); ++i)
    if (local.weights[i] == 0) nearest[i] = 0;  // a row of weight 0 needs no centre
  while (true) {
    for (size_t i = 0; i < nearest.size(); ++i)
      nearest[i] =
          std::min(nearest[i], squared_distance(l, local.X.view().row(i), centers.back().data()));
    const auto farthest = std::ranges::max_element(nearest);
    if (!(*farthest > theta * theta)) return centers;
    require(std::ssize(centers) < kMostCenters, MERCER_INVALID_ARGUMENT,
            "theta = %g lengthscales needs more than %ld centers, expected a larger one", theta,
            kMostCenters);
    const double* const row = local.X.view().row(farthest - nearest.begin());
    centers.emplace_back(row, row + local.X.cols());
  }
}

/// Rows that are predicted about the same centre.
std::vector<std::vector<int64_t>> groups_of(const Model& model, MatrixView<const double> X) {
  const std::vector<double> l = lengthscales_of(*model.map);
  const std::vector<LocalFit>& fits = model.local->fits;
  std::vector<std::vector<int64_t>> groups(fits.size());
  for (int64_t i = 0; i < X.rows; ++i) {
    size_t best = 0;
    double least = kInfinity;
    for (size_t k = 0; k < fits.size(); ++k) {
      const double distance = squared_distance(l, X.row(i), fits[k].center.data());
      if (distance < least) least = distance, best = k;
    }
    groups[best].push_back(i);
  }
  return groups;
}

}  // namespace

void check_local_rows(const Parameters& own, const feature::FeatureMap& map, const Rows& X) {
  if (!asks_local(own)) return;
  const char* const way = own.text("local").c_str();
  const kernel::Kernel& kernel = map.kernel();
  require(!map.has_kernel_columns(), MERCER_UNSUPPORTED,
          "local = \"%s\" of the kernel itself (map exact), expected \"off\": it is the same about "
          "every centre",
          way);
  require(!X.sparse(), MERCER_UNSUPPORTED, "local = \"%s\" of sparse rows, expected dense ones",
          way);
  require(kernel.is_shift_invariant() && !kernel.lengthscale().empty() && map.field() == nullptr,
          MERCER_UNSUPPORTED,
          "local = \"%s\" of kernel %s, expected one of x - y and one output, with a lengthscale: "
          "others are not the same about every centre",
          way, std::string(kernel.name()).c_str());
}

void fit_local(Model& model, const TargetedRows& rows, Context& context) {
  const Parameters& own = model.fit.estimate.parameters;
  if (!asks_local(own)) return;
  auto local = std::make_shared<Local>();
  local->X = dense_prepared_rows(model.preparation, rows.X, context, kRowsPrepared);
  local->Y = copied_targets(rows.Y, RowSet(rows.Y.rows), context);
  local->weights.assign(rows.weights.begin(), rows.weights.end());
  if (asks_clusters(own)) {
    const Value* const theta = own.find("theta");
    const auto centers =
        centers_of(model, *local, theta == nullptr ? kTheta : std::get<double>(*theta));
    Stage stage(context, std::ssize(centers));
    for (const std::vector<double>& center : centers) {
      stage.share(1);
      local->fits.push_back(fit_about(model, *local, center, context));
      stage.advance(1);
    }
    local->X = Matrix<double>();
    local->Y = Matrix<double>();
    local->weights.clear();
  }
  model.local = std::move(local);
}

void predict_locally(const Model& model, const Rows& X, Context& context, MatrixView<double> out,
                     const LocalBody& body) {
  const Matrix<double> prepared = dense_prepared_rows(model.preparation, X, context, kRowsPrepared);
  const Local& local = *model.local;
  const auto predict_rows = [&](const LocalFit& fit, const std::vector<int64_t>& rows) {
    const CopiedRows part(X, rows, context);
    const Matrix<double> found(std::ssize(rows), out.cols, context, "local predictions");
    body(about(model, fit), part.rows(), found.view());
    for (size_t k = 0; k < rows.size(); ++k)
      std::copy_n(found.view().row(static_cast<int64_t>(k)), out.cols, out.row(rows[k]));
  };
  if (!local.fits.empty()) {
    const auto groups = groups_of(model, prepared.view());
    for (size_t k = 0; k < groups.size(); ++k)
      if (!groups[k].empty()) predict_rows(local.fits[k], groups[k]);
    return;
  }
  for (int64_t i = 0; i < X.rows(); ++i) {
    const std::span<const double> row(prepared.view().row(i), static_cast<size_t>(prepared.cols()));
    const bool known = std::ranges::none_of(row, [](double x) { return std::isnan(x); });
    const std::vector<double> origin(row.size(), 0.0);  // NaN stays in its row
    predict_rows(fit_about(model, local, known ? row : std::span(origin), context), {i});
  }
}

void require_one_center(const Model& model, const char* what) {
  if (model.local == nullptr) return;
  fail(MERCER_UNSUPPORTED,
       "%s of a model with local = \"%s\", whose parts are different processes, expected local = "
       "\"off\"",
       what, model.fit.estimate.parameters.text("local").c_str());
}

// Local fits in files: all centres, then the numbers of each fit side by side.

namespace {

std::vector<double> learnt_numbers(const Predictor& predictor) {
  std::vector<double> all;
  for (const auto part : predictor.numbers()) all.insert(all.end(), part.begin(), part.end());
  return all;
}

template <class Numbers>
NumberArray side_by_side(const char* name, const Local& local, const Numbers& numbers) {
  std::vector<double> all;
  for (const LocalFit& fit : local.fits) {
    const auto own = numbers(fit);
    all.insert(all.end(), own.begin(), own.end());
  }
  const int64_t count = std::ssize(local.fits);
  return {name, {count, std::ssize(all) / count}, std::move(all)};
}

NumberArray array_of(const char* name, const Matrix<double>& A) {
  std::vector<double> all;
  for (int64_t i = 0; i < A.rows(); ++i)
    all.insert(all.end(), A.view().row(i), A.view().row(i) + A.cols());
  return {name, {A.rows(), A.cols()}, std::move(all)};
}

Matrix<double> matrix_of(std::span<const double> numbers, int64_t columns) {
  Matrix<double> A(std::ssize(numbers) / columns, columns);
  for (int64_t i = 0; i < A.rows(); ++i)
    std::copy_n(numbers.begin() + i * columns, columns, A.view().row(i));
  return A;
}

/// The array of that name as rows of `columns` numbers, or of any length if that is negative.
std::span<const double> rows_of(std::span<const NumberArray> arrays, const char* name, int64_t rows,
                                int64_t columns, Gaps gaps = Gaps::refused) {
  return find_doubles(arrays, name, std::array{rows, columns}, gaps);
}

/// A predictor from the numbers of its sections, one behind the other, as many as the model's.
std::shared_ptr<const Predictor> predictor_of(std::span<const double> numbers, const Model& model) {
  std::vector<std::vector<double>> parts;
  for (const auto part : model.predictor->numbers()) {
    parts.emplace_back(numbers.begin(), numbers.begin() + std::ssize(part));
    numbers = numbers.subspan(part.size());
  }
  return model.fit.estimate.entry->load(parts, model.predictor->features(), model.outputs());
}

/// Fits about every predicted row.
std::shared_ptr<const Local> rows_kept(std::span<const NumberArray> arrays, const Model& model,
                                       int64_t inputs) {
  const bool classes = model.fit.coding.task == Task::classification;
  const int64_t columns = classes ? 1 : model.outputs();
  auto local = std::make_shared<Local>();
  local->X = matrix_of(rows_of(arrays, "inputs", -1, inputs), inputs);
  local->Y =
      matrix_of(rows_of(arrays, "targets", local->X.rows(), columns, Gaps::allowed), columns);
  if (classes) check_targets(model.fit.coding, local->Y.view());
  local->weights = find_doubles(arrays, "row_weights", std::array{int64_t{-1}});
  require(local->X.rows() >= 2, MERCER_INVALID_ARGUMENT, "_local has %ld rows, expected at least 2",
          local->X.rows());
  require(local->weights.empty() || std::ssize(local->weights) == local->X.rows(),
          MERCER_INVALID_ARGUMENT, "_local has %zu weights for %ld rows", local->weights.size(),
          local->X.rows());
  return local;
}

}  // namespace

std::vector<NumberArray> numbers_of(const Local& local) {
  if (local.fits.empty()) {
    std::vector<NumberArray> rows = {array_of("inputs", local.X), array_of("targets", local.Y)};
    rows.push_back({"row_weights", {std::ssize(local.weights)}, local.weights});
    return rows;
  }
  std::vector<NumberArray> fits = {
      side_by_side("centers", local, [](const LocalFit& fit) { return fit.center; }),
      side_by_side("weights", local,
                   [](const LocalFit& fit) { return learnt_numbers(*fit.predictor); })};
  if (local.fits[0].posterior != nullptr)
    fits.push_back(side_by_side("posteriors", local,
                                [](const LocalFit& fit) { return fit.posterior->numbers(); }));
  return fits;
}

std::shared_ptr<const Local> local_of(std::span<const NumberArray> arrays, const Model& model,
                                      int64_t inputs) {
  if (arrays.size() == 3 && arrays[0].name == "inputs") return rows_kept(arrays, model, inputs);
  auto local = std::make_shared<Local>();
  const int64_t D = model.predictor->features(), p = model.outputs();
  const std::span<const double> centers = rows_of(arrays, "centers", -1, inputs);
  const int64_t count = std::ssize(centers) / inputs;
  require(count >= 1, MERCER_INVALID_ARGUMENT, "_local has no centre, expected at least one");
  const auto numbers = std::ssize(learnt_numbers(*model.predictor));
  const std::span<const double> weights = rows_of(arrays, "weights", count, numbers);
  std::span<const double> posteriors;
  if (model.posterior != nullptr) posteriors = rows_of(arrays, "posteriors", count, -1);
  const size_t each = posteriors.size() / static_cast<size_t>(count);
  Context context;
  for (int64_t k = 0; k < count; ++k) {
    const auto center = centers.subspan(k * inputs, inputs);
    LocalFit fit{{center.begin(), center.end()},
                 predictor_of(weights.subspan(k * numbers, numbers), model)};
    if (model.posterior != nullptr)
      fit.posterior = std::make_shared<const solver::Posterior>(
          posteriors.subspan(static_cast<size_t>(k) * each, each), D, p, context);
    local->fits.push_back(std::move(fit));
  }
  return local;
}

}  // namespace mercer::model
