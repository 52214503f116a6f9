// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every combination of map, choices of its fields and kernel: each a cell that is held to the
// contract, or refused for a reason that the table of refusals names.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "contract/tables.h"
#include "support/map_calls.h"
#include "support/refusal.h"

namespace mercer::test {

class Cell {
 public:
  Cell(const KernelRow& row, std::shared_ptr<const kernel::Kernel> kernel, Parameters spec);

  const KernelRow& row() const { return *row_; }
  const kernel::Kernel& kernel() const { return *kernel_; }
  const Parameters& spec() const { return spec_; }  // without inputs, features and seed
  const std::string& label() const { return label_; }
  /// Of its label: what is chosen by it stays the same where tables gain rows.
  size_t number() const;

  std::unique_ptr<FeatureMap> make(int64_t d, int64_t D, uint64_t seed) const;
  /// The number of features nearest to `wanted` that a map of d inputs has: some forms need an even
  /// one, some sketches have a largest. Of several, the one above. Each number passed over has to
  /// be refused with INVALID_ARGUMENT; a refusal that names the one number that there is (features
  /// = 8, expected 18: ...) is believed. None: d is too small for the map, or too large for a test.
  std::optional<int64_t> features(int64_t d, int64_t wanted) const;
  /// Of making it with kInputs and kFeatures or the number that the refusal names.
  Outcome attempt() const;
  /// d or, where the kernel needs more, what it needs.
  int64_t inputs(int64_t d) const { return std::max(d, row_->least_inputs); }
  /// The map without this cell's options, as the law's row says.
  std::unique_ptr<FeatureMap> make_other(const LawRow& law, int64_t d, int64_t D,
                                         uint64_t seed) const;
  const LawRow& law() const;
  /// Its moments are to be sampled.
  bool is_estimate() const { return law().law != Law::same && law().law != Law::none; }
  /// One of these rows speaks of it.
  bool is_among(std::span<const char* const> rows) const;
  /// A map made of other maps.
  bool is_composed() const {
    return spec_.find("base") != nullptr || spec_.find("sketch") != nullptr;
  }
  /// Which rows are landmarks, or which sketch the degrees of a series have, makes no difference to
  /// what is done with them.
  bool has_first_parts() const {
    if (has_landmarks()) return spec_.text("landmarks") == "uniform";
    const Value* const sketch = spec_.find("sketch");
    if (sketch == nullptr) return true;
    const Value* const kind = spec_.object("sketch").find("kind");
    return kind != nullptr && *kind == Value(std::string("rademacher"));
  }
  /// Another seed makes another map.
  bool draws(const FeatureMap& map) const {
    return dynamic_cast<const feature::FixedMap*>(&map) == nullptr && law().law != Law::fixed &&
           spec_.text("map") != "exact" &&
           (!has_landmarks() || spec_.text("landmarks") != "supplied");
  }
  /// Long tests of the default run take this cell.
  bool is_sampled() const {
    return row_->sampled <= (is_composed() ? Sampled::always : Sampled::plain_maps) &&
           has_first_parts();
  }

 private:
  bool has_landmarks() const { return spec_.find("landmarks") != nullptr; }
  const KernelRow* row_;
  std::shared_ptr<const kernel::Kernel> kernel_;
  Parameters spec_;
  std::string label_;
};

/// What cells are tried with: as many columns as there are tuples of one of 6 inputs, padded.
inline constexpr int64_t kInputs = 6, kFeatures = 8;

/// All cells, and those of them that exist.
const std::vector<Cell>& all_cells();
const std::vector<Cell>& made_cells();

/// n rows of d entries for a kernel, the same on every machine.
Matrix<double> rows_for(const KernelRow& row, int64_t n, int64_t d, uint64_t seed);

/// Two rows at a distance of 0.5 to 1 of the kernel row's scale.
Matrix<double> two_rows(const KernelRow& row, int64_t d);

/// The k-th of some values, of numbers of inputs for instance: all cells together, by their numbers, see
/// every one with every choice.
inline int64_t cycled(std::initializer_list<int64_t> values, size_t k) {
  return values.begin()[k % values.size()];
}

}  // namespace mercer::test
