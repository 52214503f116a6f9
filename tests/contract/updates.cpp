// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Models that keep sums, on every map that can be made: rows that are added later, after a file,
// give the fit of all rows, and taking them away the fit before; other maps are refused.
#include "contract/cells.h"
#include "contract/match.h"
#include "io/object_file.h"
#include "kernel/kernel.h"
#include "model/estimator/model_entry.h"
#include "model/model_problem.h"
#include "model/update.h"
#include "support/fit.h"
#include "support/temporary_directory.h"

namespace mercer::test::updates {
namespace {

constexpr int64_t kAll = 60, kFirst = 41;
constexpr double kRounding = 1e-7;  // of predictions, at lambda = 1e-2 of the features' size

model::FitOptions options_of(const model::ModelEntry& entry, double lambda) {
  model::FitOptions asked;
  asked.estimate.entry = &entry;
  asked.estimate.parameters = model::default_parameters(entry);
  asked.estimate.precision = feature::Precision::f64;
  asked.prepare.standardize = false;
  asked.prepare.extrapolation = model::Extrapolation::free;
  asked.select.selection = model::Selection::fixed;
  asked.select.lambda = lambda;
  asked.keep = model::Keep::sums;
  return asked;
}

bool keeps_sums(const FeatureMap& map) {
  return map.outputs() == 1 && !map.is_complex() && !map.scalar().has_kernel_columns();
}

/// The mean of ||z||^2, so that lambda means alike on every map.
double size_of(const FeatureMap& map, const Matrix<double>& X) {
  const Matrix<double> Z = features_of(map, X);
  double sum = 0;
  for (int64_t k = 0; k < Z.rows() * Z.cols(); ++k) sum += Z.data()[k] * Z.data()[k];
  return std::max(sum / static_cast<double>(Z.rows()), 1e-100);
}

void check_cell(const Cell& cell, const model::ModelEntry& entry, const std::string& path) {
  const int64_t d = cell.inputs(kInputs), D = *cell.features(d, 12);
  const model::GivenMap map = cell.make(d, D, 3);
  const Matrix<double> X = rows_for(cell.row(), kAll, d, 4), Y = random_matrix(kAll, 1, 5);
  const auto some = [&](int64_t first, int64_t last) {
    return model::TargetedRows{X.view().block_rows(first, last), Y.view().block_rows(first, last)};
  };
  Context context;
  if (!keeps_sums(*map)) {
    CHECK_REFUSED(MERCER_UNSUPPORTED,
                  fit(map, options_of(entry, 1e-2), X.view(), Y.view(), context), "keep = sums");
    return;
  }
  const model::FitOptions asked = options_of(entry, 1e-2 * size_of(*map, X));
  const auto fitted = [&](int64_t rows) {
    return fit(map, asked, some(0, rows).X, some(0, rows).Y, context);
  };
  const model::Model first = fitted(kFirst);
  io::save(first, path);
  const model::Model grown = model::update(*io::load_model(path), {}, some(kFirst, kAll), context);
  const Matrix<double> expected = predictions(fitted(kAll), X.view());
  CHECK(largest_difference(predictions(grown, X.view()), expected) < kRounding);
  const model::Model back = model::update(grown, {.remove = true}, some(kFirst, kAll), context);
  CHECK(largest_difference(predictions(back, X.view()), predictions(first, X.view())) < kRounding);
}

}  // namespace

TEST_CASE("contract: models of every map that keep sums are updated as fits of all rows") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  for (const Cell& cell : made_cells()) {
    INFO(cell.label());
    check_cell(cell, model::ridge_model(), path);
    if (cell.is_sampled()) check_cell(cell, model::gp_model(), path);
  }
}

}  // namespace mercer::test::updates
