// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What maps exist: one entry per map, defined in the file of the map, and from an entry to a map.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "feature/feature_map.h"
#include "kernel/kernel.h"

namespace mercer::feature {

/// What a map is made of beside its parameters: rows to learn from, or what was learnt and kept.
struct MapData {
  std::span<const NumberArray> numbers = {};          // from a file, for "needs":"data"
  const Rows* rows = nullptr;                         // inputs columns; null: none
  const MatrixView<const double>* targets = nullptr;  // one row per row; null: none
  Context* context = nullptr;                         // with rows
};

struct MapArguments {
  const std::string& map;  // the entry's name
  const kernel::Kernel& kernel;
  int64_t inputs;
  int64_t features;
  uint64_t seed;
  const Parameters& own;  // checked against fields, every default filled in
  const MapData& data;
};

/// {"kernel": name}, every other parameter left to its default.
inline Parameters kernel_named(const char* name) { return {{"kernel", name}}; }

/// UNSUPPORTED unless `has`: "kernel ... has no `what` features, expected `expected`".
void require_features(bool has, const kernel::Kernel& kernel, const char* what,
                      const char* expected);

/// Of any map.
inline constexpr int64_t kMostFeatures = 2147483647;

/// The numbers of features that a map can have: least, least + step, ..., most; least alone where
/// step is 0.
struct MapSizes {
  int64_t least;
  int64_t step;
  int64_t most;
};

/// `fields`: the map's own parameters; the table's readers add "map", "kernel", "inputs",
/// "features" and "seed", which every map has.
struct MapEntry {
  const char* name;
  const char* help;
  std::vector<Field> fields = {};
  std::unique_ptr<FeatureMap> (*make)(const MapArguments&);
  /// Spec of the kernel where that is left to whoever reads a spec: one that the map takes.
  Parameters default_kernel = kernel_named("gaussian");
  bool base = false;                // may be the "base" of a composed sketch
  bool needs_rows = false;          // is made from rows, or from the numbers of a file
  bool chooses_projection = false;  // by projection_rules(), where a search is not told which
  bool row_per_feature = false;     // takes one row for each feature: no fewer rows than features
  bool keeps_all_rows = false;      // and all rows: as many features
  /// How a map made of others joins them, for the kernel of its name; none: it is not.
  std::optional<kernel::Composition::Rule> rule = {};
  /// Of maps whose inputs decide how many features they have: that number, whatever the arguments
  /// say of it; 0: these do not.
  int64_t (*only_features)(const MapArguments&) = nullptr;
  /// What features are a multiple of; null: 1.
  int64_t (*features_step)(const MapArguments&) = nullptr;
  /// In place of both, of a map made of others: from canonical Parameters and so many rows. No
  /// kernel of the whole is made: every level would make all below it again.
  MapSizes (*sizes)(const Parameters&, int64_t rows) = nullptr;
  /// What it has besides of kernels of a field, whose spectral density has a root B(omega); none:
  /// it does not serve them.
  std::vector<Field> root_fields = {};
};
/// The inputs may decide how many features such a map has.
inline bool decides_features(const MapEntry& entry) noexcept {
  return entry.only_features != nullptr || entry.sizes != nullptr;
}
/// What exists.
std::span<const MapEntry> map_table();

/// The entry that given["map"] names. Errors: INVALID_ARGUMENT listing what exists.
const MapEntry& map_entry(const Parameters& given, const std::string& path = "");

/// The fields of an entry with those that every map has in front, and its root_fields.
std::vector<Field> map_fields(const MapEntry& entry);

/// May a spec say "needs":"data"? Where refused it is UNSUPPORTED: the spec alone does not make the
/// object.
enum class Data { refused, allowed };

/// Checked against the fields of given["map"], or of its kernel's default map where it names none,
/// defaults filled in, the maps of parts among them, in canonical order, without "mercer". No
/// object is made: nothing large is allocated. `path` stands before keys in messages.
Parameters canonical_map(const Parameters& given, const std::string& path, Data data);
/// A sketch inside a map: "map", a map that may be a base, and the fields of its entry alone.
Parameters canonical_sketch(const Parameters& given, const std::string& path);

/// A part of a map made of others: "map" and the fields of its entry alone.
Parameters canonical_part(const Parameters& given, const std::string& path);

/// From canonical Parameters. Of a kernel k Gamma it is the map of k with a root of Gamma, q
/// columns for each of its own. Errors: those of the map's maker; INVALID_ARGUMENT for numbers without
/// "needs":"data"; DIMENSION_MISMATCH for rows of another width; UNSUPPORTED for a map that needs
/// rows without them, for one that learns from targets without these, for targets of any other, and
/// for a kernel of several outputs that the map does not serve.
std::unique_ptr<FeatureMap> make_map(const Parameters& canonical, const MapData& data = {});
/// The same of the kernel that canonical["kernel"] says.
std::unique_ptr<FeatureMap> make_map_of(std::shared_ptr<const kernel::Kernel> kernel,
                                        const Parameters& canonical, const MapData& data = {});

/// Is the map of these canonical Parameters, or one of its "parts", made from rows?
bool needs_rows(const Parameters& canonical);
/// Does it learn from rows and targets (Field::targets_choice)?
bool learns_from_targets(const Parameters& canonical);

/// Those of a map of these canonical Parameters, made from so many rows. Errors: those of the map's
/// maker.
MapSizes map_sizes(const Parameters& canonical, int64_t rows);

/// The number of features that a map of these canonical Parameters has where `wanted` are wanted:
/// the one that it can have, or of a map made of others the largest not above them, or its least.
/// Errors: those of the map's maker.
int64_t features_near(const Parameters& canonical, int64_t wanted);

/// The largest D that can be made from so many rows. Errors: those of the map's maker.
int64_t most_features(const Parameters& canonical, int64_t rows);

}  // namespace mercer::feature
