// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The product is in double whatever the precision of the features: with a small lambda coefficients
// are large and cancel.
#include "model/estimator/predictor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "model/estimator/model_entry.h"

namespace mercer::model {
namespace {

class LinearPredictor final : public Predictor {
 public:
  explicit LinearPredictor(solver::Weights weights) : weights_(std::move(weights)) {}

  int64_t features() const override { return weights_.w.rows(); }
  int64_t outputs() const override { return weights_.outputs(); }
  void predict(MatrixView<const double> Z, MatrixView<double> scores) const override {
    solver::linear_scores(weights_, Z, scores);
  }
  std::vector<std::span<const double>> numbers() const override {
    return {{weights_.w.data(), static_cast<size_t>(features() * weights_.w.cols())},
            weights_.intercept};
  }
  void check() const override {
    require(std::ssize(weights_.intercept) == outputs(), MERCER_INVALID_ARGUMENT,
            "intercept has %zu numbers, expected %ld", weights_.intercept.size(), outputs());
    require_finite(weights_.intercept, "intercept");
    require_finite(numbers()[0], "weights");
  }
  const solver::Weights* linear() const override { return &weights_; }

 private:
  solver::Weights weights_;
};

// From the numbers of the sections "weights" and "intercept".
std::shared_ptr<const Predictor> load_linear(std::span<const std::vector<double>> numbers,
                                             int64_t features, int64_t outputs) {
  // By division: the product of hostile sizes could overflow.
  const auto count = static_cast<int64_t>(numbers[0].size());
  const bool by_output =  // one vector for all outputs
      count == features && outputs > 1 && std::ssize(numbers[1]) == outputs;
  require(outputs >= 1 && (by_output || (count % outputs == 0 && count / outputs == features)),
          MERCER_INVALID_ARGUMENT, "weights has %ld numbers, expected %ld x %ld", count, features,
          outputs);
  solver::Weights weights{Matrix<double>(features, by_output ? 1 : outputs), numbers[1]};
  if (count > 0)
    std::memcpy(weights.w.data(), numbers[0].data(), numbers[0].size() * sizeof(double));
  return std::make_shared<LinearPredictor>(std::move(weights));
}

}  // namespace

std::shared_ptr<const Predictor> make_linear(solver::Weights weights) {
  auto predictor = std::make_shared<LinearPredictor>(std::move(weights));
  predictor->check();  // a small lambda with large targets can overflow
  return predictor;
}

ModelEntry linear_entry(ModelEntry own) {
  own.sections = {"weights", "intercept"};
  own.load = load_linear;
  return own;
}

}  // namespace mercer::model
