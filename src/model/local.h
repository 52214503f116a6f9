// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Localised Gaussian processes: features of x - c, fitted to all rows about several centres c. Each
// row is predicted by the fit about the nearest (Wacker 2022, Algorithm 7), or about itself (his
// section 5.5.1): features of a power series vanish far from their centre, and f with them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/parameters.h"
#include "model/model.h"
#include "model/rows/row_sets.h"

namespace mercer::model {

/// A fit of the shared map about a centre in prepared inputs.
struct LocalFit {
  std::vector<double> center;
  std::shared_ptr<const Predictor> predictor;
  std::shared_ptr<const solver::Posterior> posterior =
      nullptr;  // null: the predictor's, of classes
};

struct Local {
  std::vector<LocalFit>
      fits;             // about clusters; none: about each predicted row, from the rows below
  Matrix<double> X, Y;  // prepared
  std::vector<double> weights;
};

/// UNSUPPORTED for parameters that ask for fits about centres and rows, or a map, that exclude them.
void check_local_rows(const Parameters& own, const feature::FeatureMap& map, const Rows& X);
/// Sets model.local if its parameters ask for it; checked by check_local_rows. Centres: the mean, then
/// the row farthest from all before, until none is farther than theta lengthscales (Gonzalez 1985).
/// INVALID_ARGUMENT for more than 1,000 centres.
void fit_local(Model& model, const TargetedRows& rows, Context& context);

/// Calls body(fit about the nearest centre, its rows of X, its rows of out) and puts the results
/// together.
using LocalBody = std::function<void(const Model& near, const Rows& X, MatrixView<double> out)>;
void predict_locally(const Model& model, const Rows& X, Context& context, MatrixView<double> out,
                     const LocalBody& body);

/// UNSUPPORTED, naming `what`, for a model with several centres.
void require_one_center(const Model& model, const char* what);

/// For files; numbers are those of local_of.
std::vector<NumberArray> numbers_of(const Local& local);
std::shared_ptr<const Local> local_of(std::span<const NumberArray> numbers, const Model& model,
                                      int64_t inputs);

}  // namespace mercer::model
