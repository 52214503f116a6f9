// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Enumerated values in the specs and files of models, and the keys of preparation.
#pragma once

#include <vector>

#include "base/fields.h"
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
    "precision", kPrecisions, "of the features; sums and coefficients are always double"};
/// In files; a spec has "lambda" and "select".
inline constexpr Choice<model::Selection> kSelection{"selection", kSelections};
inline constexpr Choice<model::Scale> kScale{
    "scale", kScales,
    "how inputs are standardised: mean and deviation; median and quartiles; mean alone; mean and "
    "one unit for all (the default of fields). Inputs of 0 and 1 stay as they are, except by "
    "common"};
inline constexpr Choice<model::Missing> kMissing{
    "missing", kMissingWords,
    "NaN inputs are refused, filled with the median, or filled and flagged by a further input of 0 "
    "and 1 for each input that was missing in training"};
inline constexpr Choice<model::Transform> kTransform{
    "transform", kTransforms, "of each input: logarithm if skewed, or normal ranks"};
inline constexpr Choice<model::Transform> kTargetTransform{
    "target_transform", kTransforms,
    "of regression targets, undone in predictions, which are then about medians"};
inline constexpr Choice<model::Extrapolation> kExtrapolation{
    "extrapolation", kExtrapolations, "how inputs outside their training range are treated"};

/// The keys of preparation and clipping, the same in specs and files.
std::vector<Field> preparation_fields();
void set_preparation(const model::Fitting& fitted, Parameters& to);
void read_preparation(const Parameters& from, model::Fitting& fit);

/// How outputs are learnt together. "auto": covariance, or the structure of a kernel with several
/// outputs; independent outputs are tried, too.
inline constexpr const char* kStructures[] = {"independent", "covariance", "graph",
                                              "similarity",  "given",      "auto"};
inline constexpr const char* kStructureHelp[] = {
    "I: each output by itself",
    "(1 - w) I + w C of the targets' correlations C",
    "(I + w L)^-1, L the Laplacian of the graph with weights matrix, divided by its mean degree",
    "exp(-w S), S the mean squared distances of the targets in units of their deviations",
    "the matrix, positive semi-definite",
    "covariance (for a field its kernel), or independent if that is no worse"};
std::vector<Field> outputs_fields();
/// outputs_fields that kStructures[at] reads.
std::vector<Field> structure_fields(size_t at);
Parameters outputs_parameters(const model::Outputs& outputs);
model::Outputs read_outputs(const Parameters& from);

}  // namespace mercer::spec
