// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tests of rows as entries: MMD, block MMD, KID and HSIC, their keys and answers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/parameters.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "statistic/two_sample.h"

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

/// Canonical kernels to compare rows with.
struct KernelCandidate {
  std::shared_ptr<const Parameters> kernel;  // as it is told, of columns that have been scaled
  std::shared_ptr<const Parameters> used;
  const char* map = nullptr;  // its default map
};

// All that a test of two samples keeps of their rows: sums of features over groups. Rows are known
// by their numbers, which alone say to what group they belong, so that they may come in any blocks
// and to any number of such sums that are added up later.

/// Rows of either sample, all of them, and their columns.
struct SampleSizes {
  std::array<int64_t, 2> rows;
  int64_t inputs = 0;
};

/// What a test sums.
struct SumsPlan {
  std::vector<KernelCandidate> kernels;
  std::array<statistic::Grouping, 2> groups;
};

/// A test for which sums are enough.
struct SumsTest {
  /// Fills in what `asked` leaves open. The scales are of kernels that are not given.
  SumsPlan (*plan)(Parameters& asked, const SampleSizes& sizes, const statistic::Scales& scales);
  /// The asked parameters followed by the answers.
  Parameters (*answer)(Parameters asked, const RowsSums& sums, Context& context);
};

class RowsSums {
 public:
  /// UNSUPPORTED for a test that needs its rows. Nothing is summed before clear().
  RowsSums(TestRequest test, const SampleSizes& sizes, statistic::Scales scales);
  /// Makes room: sums over no rows.
  void clear(Context& context);

  /// Rows first, first + 1, ... of a sample. INVALID_ARGUMENT for numbers that are not theirs, or of
  /// which a group has no room: nothing changes then. After any other error the sums are useless,
  /// and say so.
  void add(int64_t sample, int64_t first, const Rows& X, Context& context);
  /// Adds others, or takes them away again (sign -1). INVALID_ARGUMENT if they are of another test,
  /// or some group has not so many rows.
  void merge(int sign, const RowsSums& other);
  /// INVALID_ARGUMENT unless each row has been added.
  Parameters answer(Context& context) const;

  const Parameters& asked() const { return test_.asked; }
  const SampleSizes& sizes() const { return sizes_; }
  const statistic::Scales& scales() const { return scales_; }
  const std::vector<KernelCandidate>& kernels() const { return plan_.kernels; }
  const std::array<statistic::Grouping, 2>& groups() const { return plan_.groups; }
  const feature::FeatureMap& map(size_t kernel) const { return *maps_[kernel]; }
  const statistic::GroupSums& of(int64_t sample, size_t kernel) const {
    return samples_[sample].sums[kernel];
  }
  int64_t added(int64_t sample) const;

  /// The counts of rows of all groups, and all sums, in one order; and the inverse: INVALID_ARGUMENT,
  /// and nothing is changed, for counts that groups cannot have.
  std::vector<double> counts() const;
  std::vector<double> numbers() const;
  /// How many there are, known before clear(). OUT_OF_MEMORY if they cannot be counted.
  int64_t count_of_counts() const;
  int64_t count_of_numbers() const;
  void set(std::span<const double> counts, std::span<const double> numbers);
  /// INVALID_ARGUMENT after an addition that failed half-way.
  void require_whole() const;

 private:
  struct Sample {
    std::vector<statistic::GroupSums> sums;  // of each kernel
    std::vector<int64_t> counts;             // rows of each group
    statistic::GroupDraw draw;
    int64_t next = 0;  // the row that it draws next
  };
  statistic::GroupDraw new_draw(int64_t sample) const;
  statistic::GroupDraw draw_from(int64_t sample, int64_t first, Context& context) const;
  int64_t room(int64_t sample, int64_t group) const;
  std::vector<int64_t> checked(int64_t sample, std::vector<int64_t> counts) const;

  TestRequest test_;
  SampleSizes sizes_;
  statistic::Scales scales_;
  SumsPlan plan_;
  std::vector<std::shared_ptr<const feature::FeatureMap>> maps_;
  std::vector<Sample> samples_;
  bool whole_ = true;
};

inline constexpr const char* kSampleNames[] = {"X", "Y"};

/// The test and the sizes, as text.
std::string print_test(const RowsSums& sums);

/// Of a test in JSON for samples of these sizes. Kernels that are not given have the scales of the
/// pilot's rows of both samples together.
RowsSums rows_sums(TestRequest test, const std::array<int64_t, 2>& rows,
                   std::span<const Rows> pilot, Context& context);

/// Of rows in memory, which a test may also ask for.
Parameters answer_by_sums(TestRequest test, const Rows& X, const Rows& Y, Context& context);

}  // namespace mercer::spec
