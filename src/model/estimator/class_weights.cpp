// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/estimator/class_weights.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace mercer::model {
namespace {

class ClassWeightedRows final : public solver::DerivedRows {
 public:
  ClassWeightedRows(const solver::BlockSource& rows, std::vector<double> factors)
      : DerivedRows(rows), factors_(std::move(factors)) {}
  ClassWeightedRows(std::unique_ptr<solver::BlockSource> part, std::vector<double> factors)
      : DerivedRows(std::move(part)), factors_(std::move(factors)) {}
  std::unique_ptr<solver::BlockSource> subset(solver::RowSet rows) const override {
    return std::make_unique<ClassWeightedRows>(rows_.subset(rows), factors_);
  }
  void for_each(Context& context, const Body& body) const override {
    std::vector<double> weights;
    rows_.for_each(context, [&](const solver::FeatureBlock& block) {
      weights.assign(block.weights.begin(), block.weights.end());
      weigh(block.Y, weights);
      solver::FeatureBlock weighed = block;
      weighed.weights = weights;
      body(weighed);
    });
  }
  bool add_to(solver::RowStatistics& statistics, Context& context, const solver::RowsDone& done,
              const Weigh& more) const override {
    return rows_.add_to(statistics, context, done,
                        [&](MatrixView<const double> Y, std::vector<double>& weights) {
                          weigh(Y, weights);
                          if (more) more(Y, weights);
                        });
  }

 private:
  void weigh(MatrixView<const double> Y, std::vector<double>& weights) const {
    weights.resize(Y.rows, 1.0);
    for (int64_t i = 0; i < Y.rows; ++i) weights[i] *= factors_[class_of_code(Y.row(i), Y.cols)];
  }
  std::vector<double> factors_;
};

}  // namespace

size_t class_of_code(const double* code, int64_t classes) {
  return static_cast<size_t>(std::max_element(code, code + classes) - code);
}

bool is_balanced(const Parameters& own) {
  return own.find(kClassWeight.key) != nullptr && kClassWeight.read(own) == ClassWeight::balanced;
}

void check_class_weight(const Parameters& own, const TargetOptions& coding) {
  require(!is_balanced(own) || coding.task == Task::classification, MERCER_INVALID_ARGUMENT,
          "class_weight = \"balanced\" is of classification, the task is regression");
}

std::vector<double> balanced_factors(std::span<const double> weight_of_class) {
  const double n = std::accumulate(weight_of_class.begin(), weight_of_class.end(), 0.0);
  const auto present = std::ranges::count_if(weight_of_class, [](double w) { return w > 0; });
  std::vector<double> factors;
  for (const double w : weight_of_class)
    factors.push_back(w > 0 ? n / (static_cast<double>(present) * w) : 0.0);
  return factors;
}

std::vector<double> class_factors(const Parameters& own, int64_t classes,
                                  MatrixView<const double> Y, std::span<const double> weights,
                                  solver::RowSet rows) {
  if (!is_balanced(own)) return {};
  std::vector<double> of_class(classes, 0.0);
  for (int64_t i = 0; i < rows.count; ++i)
    of_class[Y(rows[i], 0)] += weights.empty() ? 1.0 : weights[rows[i]];
  return balanced_factors(of_class);
}

std::vector<double> class_weighted(MatrixView<const double> Y, std::span<const double> weights,
                                   std::span<const double> factors) {
  std::vector<double> result(weights.begin(), weights.end());
  if (factors.empty()) return result;
  result.resize(Y.rows, 1.0);
  for (int64_t i = 0; i < Y.rows; ++i) result[i] *= factors[Y(i, 0)];
  return result;
}

std::vector<double> weight_of_classes(const solver::BlockSource& rows, Context& context) {
  std::vector<double> of_class(rows.outputs(), 0.0);
  rows.for_each_target(context, [&](MatrixView<const double> Y, std::span<const double> weights) {
    for (int64_t i = 0; i < Y.rows; ++i)
      of_class[class_of_code(Y.row(i), Y.cols)] += weights.empty() ? 1.0 : weights[i];
  });
  solver::reduce(rows, of_class);
  return of_class;
}

void require_two_classes(std::span<const double> weight_of_class) {
  const auto present = std::ranges::count_if(weight_of_class, [](double w) { return w > 0; });
  require(present >= 2, MERCER_INVALID_ARGUMENT,
          "rows of %ld of the %zu classes, expected at least two classes to tell apart", present,
          weight_of_class.size());
}

std::vector<double> class_factors(const Parameters& own, const solver::BlockSource& rows,
                                  Context& context) {
  return is_balanced(own) ? balanced_factors(weight_of_classes(rows, context))
                          : std::vector<double>();
}

std::unique_ptr<solver::BlockSource> class_weighted(const solver::BlockSource& rows,
                                                    std::vector<double> factors) {
  return std::make_unique<ClassWeightedRows>(rows, std::move(factors));
}

}  // namespace mercer::model
