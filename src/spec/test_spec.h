// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tests of rows as entries: MMD, block MMD, KID and HSIC, their keys and answers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/parameters.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "statistic/pooled_scales.h"

namespace mercer::spec {

// Tests on two sets of rows: {"test": NAME, ...}. The statistics are in statistic/; here are the
// keys, and the kernels, bandwidths and numbers of features that are taken where none are given.

class RowsSums;
struct SumsTest;

struct TestEntry {
  const char* name;
  const char* help;
  std::vector<Field> fields;
  bool pairs = false;  // row i of X belongs to row i of Y; else both have the same columns
  /// The asked parameters followed by the answers; null of a test that sums answer.
  Parameters (*answer)(Parameters asked, const Rows& X, const Rows& Y, Context& context) = nullptr;
  const SumsTest* summed = nullptr;
};
std::span<const TestEntry> test_table();
/// The entry's fields, preceded by "test", which names it.
std::vector<Field> test_fields(const TestEntry& entry);

struct TestRequest {
  const TestEntry* entry;
  Parameters asked;  // canonical
};
TestRequest parse_test(std::string_view json);
/// UNSUPPORTED for a test that sums cannot answer.
void require_summed(const TestRequest& test);
/// How many rows it wants in the answer.
int64_t rows_asked(const Parameters& asked);
/// Whether its kernels depend on the scales of rows.
bool needs_scales(const Parameters& asked);

/// The canonical spec with its answers. Errors: INVALID_ARGUMENT naming key, value and what is
/// allowed, an empty sample, or an entry that is not finite; DIMENSION_MISMATCH.
std::string answer_test(std::string_view json, const Rows& X, const Rows& Y, Context& context);

TestEntry mmd_entry();
TestEntry block_mmd_entry();
TestEntry kid_entry();
TestEntry hsic_entry();

// Keys of more than one entry.
Field kernels_field(const char* key);
Field scale_field();
Field features_field(const char* help);
Field permutations_field(int64_t fallback);
Field test_seed_field();

/// A number, or null where it is not finite.
Value number_or_null(double value);

/// The map of a polynomial kernel without error, of as many features as it takes.
inline constexpr const char* kMonomials = "exact_polynomial";

/// Canonical kernels to compare rows with.
struct KernelCandidate {
  std::shared_ptr<const Parameters> kernel;  // as it is told, of columns that have been scaled
  std::shared_ptr<const Parameters> used;
  const char* map = nullptr;  // its default map
};
/// Gaussian at the median distance times each of `factors`, and then, unless `gaussian_only`,
/// Laplacian.
std::vector<KernelCandidate> kernels_at(const statistic::Scales& scales,
                                        std::span<const double> factors, bool gaussian_only);
/// The kernels under this key.
std::vector<KernelCandidate> given_kernels(const Parameters& asked, const char* key);
/// Scales of the rows as `asked` wants them.
statistic::Scales asked_scales(const Parameters& asked, std::span<const Rows> samples,
                               Context& context);

/// The default map of a kernel, real, with about so many features.
std::unique_ptr<feature::FeatureMap> test_map(const KernelCandidate& tried, int64_t inputs,
                                              int64_t features, uint64_t seed);
/// Seeds of the maps of different kernels, and of what else is drawn.
uint64_t test_map_seed(const Parameters& asked, size_t kernel);

}  // namespace mercer::spec
