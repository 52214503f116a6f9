// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of maps: one entry for each, defined in the map's own file; and from parameters to a
// map.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "kernel/kernel.h"

namespace mercer::feature {

/// The data that a map is made from beside its parameters: rows to learn from, or numbers from a
/// file.
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

/// Numbers of a spec that holds one for all inputs or one for each: d of them; none of none.
std::vector<double> for_each_input(std::span<const double> numbers, int64_t d, const char* key);
/// And back: a single number where all are equal.
Value shortest(const std::vector<double>& numbers);

/// {"kernel": name}: other parameters have their defaults.
inline Parameters kernel_named(const char* name) { return {{"kernel", name}}; }

/// UNSUPPORTED unless `has`: "kernel ... has no `what` features, expected `expected`".
void require_features(bool has, const kernel::Kernel& kernel, const char* what,
                      const char* expected);

/// The most features of any map.
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
  /// The kernel where a spec names none: one that the map takes.
  Parameters default_kernel = kernel_named("gaussian");
  bool base = false;                // may be the "base" of a composed sketch
  bool needs_rows = false;          // made from rows, or from the numbers in a file
  bool chooses_projection = false;  // a search chooses by projection_rules()
  bool row_per_feature = false;     // at most as many features as rows, times features_step
  bool keeps_all_rows = false;      // exactly as many
  /// For a map made of others, the rule of the kernels that it serves; none: it is not.
  std::optional<kernel::Composition::Rule> rule = {};
  /// The number of features where the inputs decide it; 0: these arguments do not.
  int64_t (*only_features)(const MapArguments&) = nullptr;
  /// The number that features have to be a multiple of; null: 1.
  int64_t (*features_step)(const MapArguments&) = nullptr;
  /// For a map made of others, its sizes from canonical Parameters and a number of rows, in place
  /// of the two above. It makes no kernel of the whole: every level would make all below it again.
  MapSizes (*sizes)(const Parameters&, int64_t rows) = nullptr;
  /// Further fields for kernels of a field, whose spectral density has a root B(omega); none: it
  /// does not serve them.
  std::vector<Field> root_fields = {};
  /// It serves kernels of several outputs as they are, without roots.
  bool of_outputs = false;
  /// Whether these canonical Parameters leave the ranges of inputs to rows, all of which then
  /// count; null: never.
  bool (*learns_ranges)(const Parameters& canonical) = nullptr;
  /// Whether rows, where there are any, decide what these canonical Parameters leave out; null:
  /// never.
  bool (*follows_rows)(const Parameters& canonical) = nullptr;
};
/// Whether the inputs may decide how many features the map has.
inline bool decides_features(const MapEntry& entry) noexcept {
  return entry.only_features != nullptr || entry.sizes != nullptr;
}
/// All maps.
std::span<const MapEntry> map_table();

/// The entry that given["map"] names. Errors: INVALID_ARGUMENT listing what exists.
const MapEntry& map_entry(const Parameters& given, const std::string& path = "");

/// The fields of every map, then the entry's own; its root_fields are last.
std::vector<Field> map_fields(const MapEntry& entry);

/// Whether a spec may say "needs":"data". Where refused that is UNSUPPORTED: the spec alone does
/// not make the object.
enum class Data { refused, allowed };

/// Checks `given` against the fields of its map, or of its kernel's default map where it names
/// none, and fills in defaults, those of parts included; in canonical order, without "mercer".
/// Makes no object and allocates nothing large. `path` stands before keys in messages.
Parameters canonical_map(const Parameters& given, const std::string& path, Data data);
/// A sketch inside a map: "map", a map that may be a base, and the fields of its entry alone.
Parameters canonical_sketch(const Parameters& given, const std::string& path);

/// A part of a map made of others: "map" and the fields of its entry alone.
Parameters canonical_part(const Parameters& given, const std::string& path);

/// Makes a map from canonical Parameters. For a kernel k Gamma that is the map of k with a root of
/// Gamma of q columns, so q features for each of its own. Errors: those of the map's maker;
/// INVALID_ARGUMENT for numbers without "needs":"data"; DIMENSION_MISMATCH for rows of another
/// width; UNSUPPORTED for a map that needs rows or targets and gets none, for targets given to any
/// other, and for a kernel of several outputs that the map does not serve.
std::unique_ptr<FeatureMap> make_map(const Parameters& canonical, const MapData& data = {});
/// As above, with a kernel that has been made from canonical["kernel"].
std::unique_ptr<FeatureMap> make_map_of(std::shared_ptr<const kernel::Kernel> kernel,
                                        const Parameters& canonical, const MapData& data = {});

/// Whether the map of these canonical Parameters, or one of its "parts", is made from rows.
bool needs_rows(const Parameters& canonical);
/// Whether it, or one of its "parts", may be made without rows, but not equally well
/// (MapEntry::follows_rows).
bool takes_rows(const Parameters& canonical);
/// Whether it, or one of its "parts", depends on the ranges of all rows (MapEntry::learns_ranges).
bool learns_ranges(const Parameters& canonical);
/// Whether it learns from rows and targets (Field::targets_choice).
bool learns_from_targets(const Parameters& canonical);

/// The sizes of a map of these canonical Parameters, made from that many rows. Errors: those of the
/// map's maker.
MapSizes map_sizes(const Parameters& canonical, int64_t rows);

/// The number of features that a map of these canonical Parameters has if `wanted` are asked for. A
/// plain map has a fixed number or `wanted`; a map made of others has the largest possible number
/// not above `wanted`, or its least. Errors: those of the map's maker.
int64_t features_near(const Parameters& canonical, int64_t wanted);

/// The largest possible D with that many rows. Errors: those of the map's maker.
int64_t most_features(const Parameters& canonical, int64_t rows);

// Numbers that a kernel does not accept, found where rows are refused: rows that maps learn from,
// and codes.

struct BadInput {
  int64_t row;
  int64_t column;
  double value;
};

/// The first number of rows [begin, end) that is not finite or outside the kernel's domain; in
/// sparse rows among stored numbers, columns that are stored twice added up.
std::optional<BadInput> find_bad_input(const kernel::Kernel& kernel, const Rows& X, int64_t begin,
                                       int64_t end);

/// Throws INVALID_ARGUMENT naming row, column, value and what the kernel takes.
[[noreturn]] void refuse(const kernel::Kernel& kernel, const BadInput& bad);

/// Refuses the first number of X that the kernel does not accept.
void require_inputs(const kernel::Kernel& kernel, const Rows& X);

}  // namespace mercer::feature
