// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Class weights: factors of the row weights that give all classes the same total weight.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/fields.h"
#include "base/parameters.h"
#include "base/views.h"
#include "model/prepare/preparation.h"
#include "solver/block_source.h"

namespace mercer::model {

/// The parameter "class_weight" of models of classes, in EstimatorOptions::parameters.
enum class ClassWeight { none, balanced };
inline constexpr const char* kClassWeights[] = {"none", "balanced"};
inline constexpr Choice<ClassWeight> kClassWeight{
    "class_weight", kClassWeights,
    "for classification; balanced: all classes have the same total weight"};
bool is_balanced(const Parameters& own);
/// INVALID_ARGUMENT for class_weight of a regression.
void check_class_weight(const Parameters& own, const TargetOptions& coding);

/// n / (K' n_k) for the K' classes that have rows, n and n_k sums of weights; 0 for an empty class.
std::vector<double> balanced_factors(std::span<const double> weight_of_class);

/// Balanced factors of `rows` with class numbers Y and weights (none: 1 each); empty unless
/// class_weight is balanced.
std::vector<double> class_factors(const Parameters& own, int64_t classes,
                                  MatrixView<const double> Y, std::span<const double> weights,
                                  solver::RowSet rows);
/// Every row's weight times the factor of its class; unchanged without factors.
std::vector<double> class_weighted(MatrixView<const double> Y, std::span<const double> weights,
                                   std::span<const double> factors);

/// The weight of each class's rows, of coded targets, in one pass.
std::vector<double> weight_of_classes(const solver::BlockSource& rows, Context& context);
/// INVALID_ARGUMENT unless two classes have rows.
void require_two_classes(std::span<const double> weight_of_class);
/// class_factors for a source of coded targets, in one pass.
std::vector<double> class_factors(const Parameters& own, const solver::BlockSource& rows,
                                  Context& context);
/// The source with weights times class factors. It is referred to.
std::unique_ptr<solver::BlockSource> class_weighted(const solver::BlockSource& rows,
                                                    std::vector<double> factors);
/// The class of a one-hot code.
size_t class_of_code(const double* code, int64_t classes);

}  // namespace mercer::model
