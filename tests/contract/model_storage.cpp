// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every model of the contract's table, with every kind of outputs, gaps and weights, on the same
// rows however they are stored: dense or sparse, single or double, in memory or from a source. The
// reference is the fit of them dense, double and in memory.
#include "contract/model_cells.h"
#include "kernel/kernel.h"
#include "model/memory_stream.h"
#include "model/predict.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace mercer::test::model_storage {
namespace {

constexpr int64_t kRows = 60, kInputs = 3;

/// A third of the numbers is 0 and not listed in sparse rows; single precision holds all of them.
struct StoredRows {
  explicit StoredRows(Matrix<double>&& X) : f64(std::move(X)), f32(kRows, kInputs) {
    csr64.cols = csr32.cols = kInputs;
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kInputs; ++j) {
        f32(i, j) = (i + j) % 3 == 0 ? 0 : static_cast<float>(f64(i, j));
        f64(i, j) = f32(i, j);
        if (f64(i, j) == 0) continue;
        csr64.add(j, f64(i, j));
        csr32.add(j, f64(i, j));
      }
      csr64.end_row();
      csr32.end_row();
    }
  }
  Matrix<double> f64;
  Matrix<float> f32;
  SparseRows<double, int64_t> csr64;
  SparseRows<float> csr32;
};

struct Storage {
  const char* name;
  Rows (*rows)(const StoredRows& of);
  bool sparse, from_source;
};
Rows dense64(const StoredRows& of) { return of.f64.view(); }
Rows dense32(const StoredRows& of) { return of.f32.view(); }
Rows sparse64(const StoredRows& of) { return of.csr64.view(); }
Rows sparse32(const StoredRows& of) { return of.csr32.view(); }
constexpr Storage kStorages[] = {{"f32", dense32, false, false},
                                 {"CSR f64", sparse64, true, false},
                                 {"CSR f32", sparse32, true, false},
                                 {"source of f64", dense64, false, true},
                                 {"source of f32", dense32, false, true},
                                 {"source of CSR f64", sparse64, true, true},
                                 {"source of CSR f32", sparse32, true, true}};

/// What dense rows in memory are not refused with.
mercer_status refused_with(const ModelCell& cell, const Storage& storage) {
  if (storage.from_source && cell.outputs.is_exact) return MERCER_UNSUPPORTED;  // made from rows
  if (cell.is_classification() && cell.outputs.outputs > 1) {
    // Of a source the kernel is looked at before the first target is there.
    const Parameters spec = cell.spec();
    const bool joined =
        kernel::make_kernel(spec.object("map").object("kernel"))->matrix() != nullptr;
    return storage.from_source && joined && model::find_model(spec.text("model"))->separate_classes
               ? MERCER_UNSUPPORTED
               : MERCER_DIMENSION_MISMATCH;
  }
  if (storage.from_source && cell.outputs.is_learnt) return MERCER_UNSUPPORTED;
  if (storage.from_source && cell.is_local()) return MERCER_UNSUPPORTED;
  if (const mercer_status dense = cell.refused_with(); dense != MERCER_OK) return dense;
  if (storage.sparse && cell.is_local()) return MERCER_UNSUPPORTED;
  const bool centred = cell.standardize && cell.outputs.is_field;  // a field's inputs are
  return storage.sparse && centred ? MERCER_UNSUPPORTED : MERCER_OK;
}

model::Model fit_source(const ModelCell& cell, const Rows& X, MatrixView<const double> Y,
                        const std::vector<double>& weights) {
  Parameters asked = cell.spec();
  if (cell.is_classification()) asked.set("classes", int64_t{2});
  MemoryStream stream(X, Y, {1, 7, 24});
  stream.weights = weights;
  Context context;
  return fit_stream(spec::fit_plan(print_object(asked)), nullptr, stream, kInputs, Y.cols, context);
}

model::Model fit_stored(const ModelCell& cell, const Storage& storage, const StoredRows& X,
                        MatrixView<const double> Y, const std::vector<double>& weights) {
  return storage.from_source ? fit_source(cell, storage.rows(X), Y, weights)
                             : fitted(cell, storage.rows(X), Y, weights);
}

/// Sparse rows are scaled by what they list, and not centred: as dense ones divided beforehand.
Matrix<double> prepared(const Matrix<double>& X, const model::Preparation& by) {
  Matrix<double> inputs = copy(X.view());
  for (int64_t i = 0; i < X.rows() && !by.scale.empty(); ++i)
    for (int64_t j = 0; j < X.cols(); ++j) inputs(i, j) /= by.scale[j];
  return inputs;
}

/// Values, and the variances of a posterior.
Matrix<double> answers(const model::Model& model, const Rows& X) {
  const Matrix<double> values = predictions(model, X);
  if (model.posterior == nullptr) return copy(values.view());
  Context context;
  const Matrix<double> variances = model::variances_of(model, X, context);
  Matrix<double> both(2 * values.rows(), values.cols());
  std::copy_n(values.data(), values.rows() * values.cols(), both.data());
  std::copy_n(variances.data(), values.rows() * values.cols(), both.view().row(values.rows()));
  return both;
}

Matrix<double> reference(const ModelCell& cell, bool sparse, const StoredRows& X,
                         MatrixView<const double> Y, const std::vector<double>& weights) {
  if (!sparse) return answers(fitted(cell, X.f64.view(), Y, weights), X.f64.view());
  const auto by = fitted(cell, X.csr64.view(), Y, weights).preparation;
  const Matrix<double> inputs = prepared(X.f64, by);
  ModelCell plain = cell;
  plain.standardize = false;
  return answers(fitted(plain, inputs.view(), Y, weights), inputs.view());
}

/// Some rows count double or not at all.
std::vector<double> some_weights() {
  std::vector<double> weights(kRows, 1.0);
  for (size_t i = 0; i < weights.size(); i += 5) weights[i] = i % 2 == 0 ? 2.5 : 0;
  return weights;
}

void check_cell(const ModelCell& cell, const std::vector<double>& weights) {
  Problem problem = problem_of(cell);
  const StoredRows X(std::move(problem.X));
  Matrix<double> wanted[2];  // of dense rows, of sparse ones
  for (const Storage& storage : kStorages) {
    INFO(storage.name);
    const auto fit = [&] { return fit_stored(cell, storage, X, problem.y(), weights); };
    if (const mercer_status status = refused_with(cell, storage); status != MERCER_OK) {
      CHECK_REFUSED(status, fit(), "expected");
      continue;
    }
    Matrix<double>& expected = wanted[storage.sparse ? 1 : 0];
    if (expected.rows() == 0) expected = reference(cell, storage.sparse, X, problem.y(), weights);
    CHECK(largest_difference(answers(fit(), storage.rows(X)), expected) <= cell.tolerance());
  }
}

}  // namespace

TEST_CASE("contract: models are those of the same rows dense in memory, however they are stored") {
  for_each_model_cell([&](ModelCell cell) {
    for (const bool standardize : {false, true})
      for (const bool weighted : {false, true}) {
        cell.standardize = standardize;
        INFO(cell.label() << (weighted ? ", weighted" : ""));
        check_cell(cell, weighted ? some_weights() : std::vector<double>());
      }
  });
}

}  // namespace mercer::test::model_storage
