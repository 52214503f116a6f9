// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The steps of the readers in spec.h, for files and the search.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.h"
#include "feature/map_entry.h"
#include "kernel/kernel.h"
#include "model/estimator/model_entry.h"
#include "model/model.h"

namespace mercer::spec {

/// feature::canonical_map of a spec from a file: may be long, and have "needs":"data".
Parameters map_parameters_of_file(std::string_view json);

/// "model" and "map", the model's own keys, and the keys of every fit.
std::vector<Field> model_fields(const model::ModelEntry& entry);
/// model_fields without the model's own keys.
std::vector<Field> fit_fields();
/// The keys of "select" that kSelectWays[at] reads, preceded by "by".
std::vector<Field> select_way_fields(size_t at);
/// Whether this way of choosing lambda reads that key of "select".
bool selection_reads(model::Selection by, std::string_view key);

/// The entry that "model" names in `given`. Errors: INVALID_ARGUMENT listing the models.
const model::ModelEntry& model_entry(const Parameters& given);

/// Values of "model" and of transforms that leave the choice to the search.
inline constexpr const char* kAutomaticModel = "auto";
inline constexpr const char* kAutomaticTransform = "auto";
/// Values of "select"."by": "auto", then model::Selection from held_out on.
inline constexpr const char* kSelectWays[] = {"auto", "held_out",      "folds",
                                              "gcv",  "leave_one_out", "evidence"};
inline constexpr const char* kSelectHelp[] = {
    "leave_one_out; held_out for other losses than squares",
    "loss on one held-out part of the rows",
    "loss on every row, held out with its fold",
    "generalised cross-validation: leave-one-out with the mean leverage in place of each row's",
    "loss on every row by the fit without it, in closed form",
    "the marginal likelihood of all rows, with lambda as the noise"};
/// In the order of model::PerInput.
inline constexpr const char* kEffortWords[] = {"full", "quick"};
inline constexpr const char* kSpectrumWords[] = {"drawn", "learnt"};
inline constexpr const char* kArdWords[] = {"auto", "off", "on"};

/// The entry's own parameters except lambda, from canonical ones.
Parameters own_parameters(const model::ModelEntry& entry, const Parameters& canonical);

/// The spec of a fitted model without "mercer": its map's parameters, its options, "needs":"data".
Parameters model_parameters(const Parameters& map, const model::Fitting& fitted);

/// {"model":NAME, its own parameters except lambda}: the kind of model in a file.
std::string print_model_kind(const model::Estimating& estimating);
model::Estimating parse_model_kind(std::string_view json);

/// {"mercer":1, ...}: the top level of every spec.
Parameters versioned(const Parameters& canonical);
std::string print_versioned(const Parameters& canonical);

}  // namespace mercer::spec
