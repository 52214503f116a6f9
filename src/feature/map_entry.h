// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What maps exist: one entry per map, defined in the file of the map, and from an entry to a map.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "feature/feature_map.h"
#include "kernel/kernel.h"

namespace mercer::feature {

/// What a map is made of.
struct MapArguments {
  const std::string& map;  // the entry's name
  const kernel::Kernel& kernel;
  int64_t inputs;
  int64_t features;
  uint64_t seed;
  const Parameters& own;                 // checked against fields, every default filled in
  std::span<const double> numbers = {};  // from a file, for "needs":"data"
};

/// {"kernel": name}, every other parameter left to its default.
inline Parameters kernel_named(const char* name) { return {{"kernel", name}}; }

/// `fields`: the map's own parameters; the table's readers add "map", "kernel", "inputs",
/// "features" and "seed", which every map has.
struct MapEntry {
  const char* name;
  const char* help;
  std::vector<Field> fields;
  std::unique_ptr<FeatureMap> (*make)(const MapArguments&);
  /// Spec of the kernel where that is left to whoever reads a spec: one that the map takes.
  Parameters default_kernel = kernel_named("gaussian");
  bool base = false;  // may be the "base" of a composed sketch
};
/// What exists.
std::span<const MapEntry> map_table();

/// The fields of an entry with those that every map has in front.
std::vector<Field> map_fields(const MapEntry& entry);

/// May a spec say "needs":"data"? Where refused it is UNSUPPORTED: the spec alone does not make the
/// object.
enum class Data { refused, allowed };

/// Checked against the fields of given["map"], defaults filled in, in canonical order, without
/// "mercer". No object is made: nothing large is allocated. `path` stands before keys in messages.
Parameters canonical_map(const Parameters& given, const std::string& path, Data data);
/// A sketch inside a map: "map", a map that may be a base, and the fields of its entry alone.
Parameters canonical_sketch(const Parameters& given, const std::string& path);

/// From canonical Parameters. Errors: those of the map's maker; INVALID_ARGUMENT for numbers
/// without "needs":"data".
std::unique_ptr<FeatureMap> make_map(const Parameters& canonical, std::span<const double> numbers);

}  // namespace mercer::feature
