// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// JSON specs to objects and back. The library handles JSON in this folder alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.h"
#include "feature/feature_map.h"
#include "feature/field_fourier.h"
#include "kernel/kernel.h"
#include "model/fit.h"
#include "model/model.h"
#include "model/update.h"

namespace mercer::spec {

/// Errors of all readers: INVALID_ARGUMENT naming key, value and what is allowed; VERSION for a
/// newer "mercer"; UNSUPPORTED for "needs":"data".
std::unique_ptr<kernel::Kernel> kernel_from_spec(std::string_view json);
std::unique_ptr<feature::FeatureMap> map_from_spec(std::string_view json);
/// With the numbers from a file; "needs":"data" is allowed.
std::unique_ptr<feature::FeatureMap> map_from_spec_and_numbers(
    std::string_view json, std::span<const NumberArray> numbers);

/// Inputs of a map that JSON cannot carry: a kernel, rows and targets that it is made from,
/// supplied frequencies with weights and roots (all of them, or none).
struct MapInputs {
  std::shared_ptr<const kernel::Kernel> kernel;
  const Rows* rows = nullptr;
  const MatrixView<const double>* targets = nullptr;
  const feature::SuppliedFrequencies* frequencies = nullptr;
};
/// map_from_spec with these inputs. Errors: DIMENSION_MISMATCH for rows or frequencies of another
/// width than "inputs"; UNSUPPORTED for targets or frequencies that the map does not take; those of
/// the map.
std::unique_ptr<feature::FeatureMap> map_fitted_to_spec(std::string_view json,
                                                        const MapInputs& inputs, Context& context);

/// Canonical text: no spaces, keys in table order, every default filled in, "mercer":1 first.
std::string to_spec(const kernel::Kernel& kernel);
std::string to_spec(const feature::FeatureMap& map);
std::string to_spec(const model::Model& model);

/// {"mercer":1, ...}: the top level of every spec.
Parameters versioned(const Parameters& canonical);
std::string print_versioned(const Parameters& canonical);

/// A file's spec may hold a lengthscale per input and be longer than one that is typed.
inline constexpr int64_t kMostFileSpecBytes = int64_t{1} << 28;
/// feature::canonical_map of a spec from a file: may be long, and have "needs":"data".
Parameters map_parameters_of_file(std::string_view json);

/// All entries as JSON, as documented for mercer_specs in mercer/map.h. name: only the entries of
/// that name (a kernel and a map may share one; INVALID_ARGUMENT if there is none); empty: all.
std::string describe(std::string_view name);

// The specs of fits and of fitted models: JSON to options and back. The options themselves are
// declared in model/fit_options.cpp.

/// The model and the map, how rows are prepared, what is searched and how lambda is chosen. Every
/// key has a default. Errors: INVALID_ARGUMENT naming key, value and what is allowed; VERSION;
/// UNSUPPORTED for "needs":"data".
model::FitPlan fit_plan(std::string_view json);

/// The options of an update of a model. INVALID_ARGUMENT naming key, value and what is allowed.
model::UpdateOptions update_options(std::string_view json);

/// "model" and "map", the entry's own keys, if there is one, and the keys of every fit.
std::vector<Field> fit_fields(const model::ModelEntry* entry);

/// The spec of a fitted model without "mercer": its map's parameters, its options, "needs":"data".
Parameters fitted_parameters(const Parameters& map, const model::FitOptions& fitted);

/// That with "select", as text: what a file of a model holds beside its numbers.
std::string print_fitted(const Parameters& map, const model::FitOptions& fitted);
struct FittedSpec {
  Parameters map;  // canonical
  model::FitOptions fit;
};
/// INVALID_ARGUMENT naming key, value and what is allowed; VERSION.
FittedSpec parse_fitted(std::string_view json);

}  // namespace mercer::spec
