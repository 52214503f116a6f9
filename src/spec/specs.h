// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The steps that the readers of spec.h are made of, for files and the search, which need them one
// by one.
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

/// feature::canonical_map of a spec that a file carries: "needs":"data" is allowed, and a
/// lengthscale per input may make it long.
Parameters map_parameters_of_file(std::string_view json);

/// "model" and "map", the model's own keys, and those of every fit.
std::vector<Field> model_fields(const model::ModelEntry& entry);
/// The same without the model's own.
std::vector<Field> fit_fields();
/// Those of "select" that this one of kSelectWays reads, with "by" in front.
std::vector<Field> select_way_fields(size_t at);
/// Whether a way of choosing lambda reads that key of "select".
bool selection_reads(model::Selection by, std::string_view key);

/// The row of the key that names it in `given`. Errors: INVALID_ARGUMENT listing what exists.
const model::ModelEntry& model_entry(const Parameters& given);

/// "auto": no entry's name; of a transform, no enumerator's.
inline constexpr const char* kAutomaticModel = "auto";
inline constexpr const char* kAutomaticTransform = "auto";
/// Of "select"."by", after "auto" in the order of model::Selection from held_out on.
inline constexpr const char* kSelectWays[] = {"auto", "held_out",      "folds",
                                              "gcv",  "leave_one_out", "evidence"};
inline constexpr const char* kSelectHelp[] = {
    "leave_one_out, of other losses than squares held_out",
    "loss on rows held out once",
    "loss on every row, held out in one of the folds",
    "generalised cross-validation: leave-one-out with the mean leverage in place of each row's",
    "loss on every row of the fit without it, in closed form",
    "the marginal likelihood of all rows, lambda being the noise"};
/// In the order of model::PerInput.
inline constexpr const char* kArdWords[] = {"auto", "off", "on"};

/// The entry's own values but lambda, out of canonical ones.
Parameters own_parameters(const model::ModelEntry& entry, const Parameters& canonical);

/// What a fitted model prints, less "mercer": its map's parameters, its options, "needs":"data".
Parameters model_parameters(const Parameters& map, const model::Fitting& fitted);

/// {"model":NAME, its own parameters but lambda}: which kind a file holds, beside the options.
std::string print_model_kind(const model::Estimating& estimating);
model::Estimating parse_model_kind(std::string_view json);

/// {"mercer":1, ...}: what every spec looks like at the top.
Parameters versioned(const Parameters& canonical);
std::string print_versioned(const Parameters& canonical);

}  // namespace mercer::spec
