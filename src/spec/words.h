// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is one of a few in the specs and files of models, and how rows are prepared, in these words.
#pragma once

#include <vector>

#include "base/choice.h"
#include "model/model.h"

namespace mercer::spec {

inline constexpr const char* kTasks[] = {"regression", "classification"};
inline constexpr const char* kPrecisions[] = {"f32", "f64"};
inline constexpr const char* kSelections[] = {"fixed", "held_out", "kfold",
                                              "gcv",   "loo",      "evidence"};
inline constexpr const char* kExtrapolations[] = {"clip", "free", "refuse"};
inline constexpr const char* kScales[] = {"standard", "robust", "center", "common"};
inline constexpr const char* kMissingWords[] = {"refuse", "fill", "flag"};
inline constexpr const char* kTransforms[] = {"none", "log", "rank"};

inline constexpr Choice<model::Task> kTask{"task", kTasks,
                                           "what the outputs are: numbers or classes"};
inline constexpr Choice<feature::Precision> kPrecision{
    "precision", kPrecisions, "of the features; sums and weights are always double"};
/// Of files; a spec says it by "lambda".
inline constexpr Choice<model::Selection> kSelection{"selection", kSelections};
inline constexpr Choice<model::Scale> kScale{
    "scale", kScales,
    "how inputs are standardised: mean and deviation, median and quartiles, mean alone, mean and "
    "one unit for all, the default of fields; but for common inputs of 0 and 1 stay as they are"};
inline constexpr Choice<model::Missing> kMissing{
    "missing", kMissingWords,
    "inputs of NaN: refused, filled with the median, or that and a flag of 0 and 1 for each input "
    "that missed some in training"};
inline constexpr Choice<model::Transform> kTransform{
    "transform", kTransforms, "of inputs: log of skewed ones, or normal ranks"};
inline constexpr Choice<model::Transform> kTargetTransform{
    "target_transform", kTransforms,
    "of a regression's targets, undone in predictions, which are then about medians"};
inline constexpr Choice<model::Extrapolation> kExtrapolation{
    "extrapolation", kExtrapolations, "what becomes of inputs outside their training range"};

/// The keys of how rows are prepared and guarded, the same in specs and files.
std::vector<Field> preparation_fields();
void set_preparation(const model::Fitting& fitted, Parameters& to);
void read_preparation(const Parameters& from, model::Fitting& fit);

/// How outputs are learnt together. "auto" is covariance, of a kernel with several outputs its own,
/// where independent outputs are tried, too.
inline constexpr const char* kStructures[] = {"independent", "covariance", "graph",
                                              "similarity",  "given",      "auto"};
inline constexpr const char* kStructureHelp[] = {
    "I: each output by itself",
    "(1 - w) I + w C of the targets' correlations C",
    "(I + w L)^-1 of the Laplacian L of the graph whose weights are the matrix, over its mean "
    "degree",
    "exp(-w S) of the mean squared distances S of the targets in units of their deviations",
    "the matrix, positive semi-definite",
    "covariance or, of a field, its kernel, or independent where that is no worse"};
std::vector<Field> outputs_fields();
/// The same with what that one of kStructures reads alone.
std::vector<Field> structure_fields(size_t at);
Parameters outputs_parameters(const model::Outputs& outputs);
model::Outputs read_outputs(const Parameters& from);

}  // namespace mercer::spec
