// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels, maps and models between parsed Parameters, canonical Parameters and objects: the steps
// that the readers of spec.h are made of, for files and the search, which need them one by one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.h"
#include "feature/feature_map.h"
#include "kernel/kernel.h"
#include "model/model.h"
#include "model/model_entry.h"

namespace mercer::spec {

/// May a spec say "needs":"data"? Where refused it is UNSUPPORTED: the spec alone does not make the
/// object.
enum class Data { refused, allowed };

/// Checked against the tables, defaults filled in, in canonical order, without "mercer". No object
/// is made: nothing large is allocated. `path` stands before keys in messages.
Parameters canonical_kernel(const Parameters& given, const std::string& path);
Parameters canonical_map(const Parameters& given, const std::string& path, Data data);
/// A sketch inside a map: "map", one of sketch_names(), and the fields of its row alone.
Parameters canonical_sketch(const Parameters& given, const std::string& path);

/// The maps that may be a base of composed sketches.
std::vector<const char*> sketch_names();

/// canonical_map of a spec that a file carries: "needs":"data" is allowed, and a lengthscale per
/// input may make it long.
Parameters map_parameters_of_file(std::string_view json);

/// From canonical Parameters.
std::unique_ptr<kernel::Kernel> make_kernel(const Parameters& canonical);
std::unique_ptr<feature::FeatureMap> make_map(const Parameters& canonical,
                                              std::span<const double> numbers);

/// The table of a kernel, map or model with the keys that all of its kind have in front.
std::vector<Field> kernel_fields(const kernel::KernelEntry& entry);
std::vector<Field> map_fields(const feature::MapEntry& entry);
std::vector<Field> model_fields(const model::ModelEntry& entry);

/// The row of the key that names it in `given`. Errors: INVALID_ARGUMENT listing what exists.
const kernel::KernelEntry& kernel_entry(const Parameters& given, const std::string& path);
const feature::MapEntry& map_entry(const Parameters& given, const std::string& path);
const model::ModelEntry& model_entry(const Parameters& given);

/// What a fitted model prints, less "mercer": its map's parameters, its options, "needs":"data".
Parameters model_parameters(const Parameters& map, const model::FitOptions& options);

/// {"model":NAME, its own parameters but lambda}: which kind a file holds, beside the options.
std::string print_model_kind(const model::FitOptions& options);
void parse_model_kind(std::string_view json, model::FitOptions& options);

/// {"mercer":1, ...}: what every spec looks like at the top.
Parameters versioned(const Parameters& canonical);
std::string print_versioned(const Parameters& canonical);

/// The words of specs and files.
const char* task_name(model::Task task) noexcept;
const char* precision_name(feature::Precision precision) noexcept;

}  // namespace mercer::spec
