// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/rows_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/fields.h"
#include "base/parameters.h"
#include "base/size.h"
#include "base/views.h"
#include "statistic/two_sample.h"

namespace mercer::spec {
namespace {

constexpr int64_t kRowsBetweenChecks = int64_t{1} << 16;
constexpr int64_t kWorkOfAnswer = 1024;  // rows whose features take as long

std::vector<int64_t> whole_numbers(std::span<const double> counts) {
  std::vector<int64_t> out;
  for (const double count : counts) {
    require(count >= 0 && count <= 0x1p53 && count == std::floor(count), MERCER_INVALID_ARGUMENT,
            "a group has %g rows, expected a count", count);
    out.push_back(static_cast<int64_t>(count));
  }
  return out;
}

/// Rows that differ most by the kernel of the most deviations.
void set_witnesses(Parameters& found, const RowsSums& sums, std::span<const Rows> samples,
                   Context& context) {
  const int64_t count = rows_asked(found);
  if (count == 0) return;
  const ObjectList& kernels = found.objects("by_kernel");
  const auto best = std::ranges::max_element(
      kernels, {}, [](const auto& one) { return one->number("deviations"); });
  const auto k = static_cast<size_t>(best - kernels.begin());
  const std::vector<double> difference =
      statistic::mean_difference(sums.of(0, k), sums.of(1, k), context);
  Stage stage(context, 2);
  for (const int64_t s : {0, 1}) {
    const statistic::Witness rows = stage.part(1, [&] {
      return statistic::witnesses(sums.map(k), samples[s], difference, count, s == 0 ? 1 : -1,
                                  context);
    });
    found.set(s == 0 ? "x_rows" : "y_rows", rows.rows);
    found.set(s == 0 ? "x_witness" : "y_witness", rows.values);
  }
}

}  // namespace

RowsSums::RowsSums(TestRequest test, const SampleSizes& sizes, statistic::Scales scales)
    : test_(std::move(test)), sizes_(sizes), scales_(std::move(scales)) {
  require_summed(test_);
  plan_ = test_.entry->summed->plan(test_.asked, sizes_, scales_);
  test_.asked = check_fields(test_.asked, test_fields(*test_.entry), "");  // in the table's order
  for (size_t k = 0; k < plan_.kernels.size(); ++k)
    maps_.push_back(test_map(plan_.kernels[k], sizes_.inputs, test_.asked.integer("features"),
                             test_map_seed(test_.asked, k)));
}

void RowsSums::clear(Context& context) {
  samples_.clear();
  for (int64_t s = 0; s < 2; ++s) {
    std::vector<statistic::GroupSums> sums;
    for (const auto& map : maps_)
      sums.push_back(statistic::empty_sums(sizes_.rows[s], groups()[s], map->features(), context));
    samples_.push_back({std::move(sums), std::vector<int64_t>(groups()[s].count + 1), new_draw(s)});
  }
}

/// Groups of the samples are drawn by streams of their own.
statistic::GroupDraw RowsSums::new_draw(int64_t sample) const {
  return {sizes_.rows[sample], groups()[sample],
          random::Stream(asked().seed("seed"), random::Tag::split, static_cast<uint64_t>(sample))};
}

statistic::GroupDraw RowsSums::draw_from(int64_t sample, int64_t first, Context& context) const {
  const Sample& at = samples_[sample];
  const bool ahead = first >= at.next;
  statistic::GroupDraw draw = ahead ? at.draw : new_draw(sample);
  for (int64_t i = ahead ? at.next : 0; i < first; ++i) {
    draw.next();
    if (i % kRowsBetweenChecks == 0) context.checkpoint();
  }
  return draw;
}

int64_t RowsSums::room(int64_t sample, int64_t group) const {
  const statistic::Grouping& in = groups()[sample];
  return group < in.count ? in.size : sizes_.rows[sample] - in.size * in.count;
}

/// The counts, if no group has more rows than it can have.
std::vector<int64_t> RowsSums::checked(int64_t sample, std::vector<int64_t> counts) const {
  for (int64_t g = 0; g < std::ssize(counts); ++g)
    require(counts[g] >= 0 && counts[g] <= room(sample, g), MERCER_INVALID_ARGUMENT,
            "%s would have %ld rows in its group %ld, expected 0 to %ld: a row is there twice, or "
            "was never added",
            kSampleNames[sample], counts[g], g, room(sample, g));
  return counts;
}

void RowsSums::add(int64_t sample, int64_t first, const Rows& X, Context& context) {
  require_whole();
  const int64_t all = sizes_.rows[sample];
  require(first >= 0 && first <= all && X.rows() <= all - first, MERCER_INVALID_ARGUMENT,
          "first = %ld with %ld rows, expected numbers below %ld, the rows of %s", first, X.rows(),
          all, kSampleNames[sample]);
  require(X.cols() == sizes_.inputs, MERCER_DIMENSION_MISMATCH,
          "X.d = %ld, expected %ld as in the pilot", X.cols(), sizes_.inputs);
  require_summable("X", X);
  Sample& to = samples_[sample];
  const statistic::GroupDraw draw = draw_from(sample, first, context);
  statistic::GroupDraw ahead = draw;
  std::vector<int64_t> counts = to.counts;
  for (int64_t i = 0; i < X.rows(); ++i) ++counts[ahead.next()];
  to.counts = checked(sample, std::move(counts));
  whole_ = false;
  Stage stage(context, std::ssize(maps_));
  for (size_t k = 0; k < maps_.size(); ++k)
    stage.part(1, [&] { statistic::add_rows(*maps_[k], X, draw, to.sums[k], context); });
  to.draw = std::move(ahead);
  to.next = first + X.rows();
  whole_ = true;
}

void RowsSums::merge(int sign, const RowsSums& other) {
  require_whole();
  other.require_whole();
  require(print_test(*this) == print_test(other) && scales_ == other.scales_,
          MERCER_INVALID_ARGUMENT,
          "other has the test, sizes and scales %s, expected %s and the same scales",
          print_test(other).c_str(), print_test(*this).c_str());
  std::array<std::vector<int64_t>, 2> counts = {samples_[0].counts, samples_[1].counts};
  for (int64_t s = 0; s < 2; ++s) {
    for (size_t g = 0; g < counts[s].size(); ++g)
      counts[s][g] += sign * other.samples_[s].counts[g];
    counts[s] = checked(s, std::move(counts[s]));
  }
  for (int64_t s = 0; s < 2; ++s) {
    samples_[s].counts = std::move(counts[s]);
    for (size_t k = 0; k < maps_.size(); ++k) {
      const Matrix<double>&to = of(s, k).sums, &from = other.of(s, k).sums;
      for (int64_t g = 0; g < to.rows(); ++g)
        for (int64_t j = 0; j < to.cols(); ++j)  // of no rows nothing is left, not even rounding
          to(g, j) = samples_[s].counts[g] == 0 ? 0 : to(g, j) + sign * from(g, j);
    }
  }
}

Parameters RowsSums::answer(Context& context) const {
  require_whole();
  for (int64_t s = 0; s < 2; ++s)
    require(added(s) == sizes_.rows[s], MERCER_INVALID_ARGUMENT,
            "%ld rows of %s have been added, expected all %ld", added(s), kSampleNames[s],
            sizes_.rows[s]);
  return test_.entry->summed->answer(asked(), *this, context);
}

int64_t RowsSums::added(int64_t sample) const {
  const std::vector<int64_t>& counts = samples_[sample].counts;
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

std::vector<double> RowsSums::counts() const {
  std::vector<double> out;
  for (const Sample& one : samples_) out.insert(out.end(), one.counts.begin(), one.counts.end());
  return out;
}

std::vector<double> RowsSums::numbers() const {
  std::vector<double> out;
  for (const Sample& one : samples_)
    for (const statistic::GroupSums& of : one.sums)
      out.insert(out.end(), of.sums.data(), of.sums.data() + of.sums.rows() * of.sums.cols());
  return out;
}

int64_t RowsSums::count_of_counts() const {
  return checked_add(groups()[0].count + 1, groups()[1].count + 1, "groups");
}

int64_t RowsSums::count_of_numbers() const {
  int64_t out = 0;
  for (const auto& map : maps_)
    out =
        checked_add(out, checked_multiply(count_of_counts(), map->features() + 1, "sums"), "sums");
  return out;
}

void RowsSums::set(std::span<const double> counts, std::span<const double> numbers) {
  const int64_t of_x = groups()[0].count + 1;
  std::vector<int64_t> x = checked(0, whole_numbers(counts.first(of_x))),
                       y = checked(1, whole_numbers(counts.subspan(of_x)));
  samples_[0].counts = std::move(x);
  samples_[1].counts = std::move(y);
  auto next = numbers.begin();
  for (int64_t s = 0; s < 2; ++s)
    for (size_t k = 0; k < maps_.size(); ++k) {
      const Matrix<double>& sums = of(s, k).sums;
      for (int64_t g = 0; g < sums.rows(); ++g, next += sums.cols())
        std::transform(next, next + sums.cols(), sums.view().row(g),
                       [&](double sum) { return samples_[s].counts[g] == 0 ? 0 : sum; });
    }
}

void RowsSums::require_whole() const {
  require(whole_, MERCER_INVALID_ARGUMENT,
          "the sums hold a part of some rows, whose addition failed, expected ones that are whole");
}

std::string print_test(const RowsSums& sums) {
  Parameters out = sums.asked();
  out.set("x_rows", sums.sizes().rows[0]);
  out.set("y_rows", sums.sizes().rows[1]);
  out.set("inputs", sums.sizes().inputs);
  return print_object(out);
}

RowsSums rows_sums(TestRequest test, const std::array<int64_t, 2>& rows,
                   std::span<const Rows> pilot, Context& context) {
  statistic::Scales scales;
  if (needs_scales(test.asked)) {
    require(pilot[0].rows() + pilot[1].rows() >= 1, MERCER_INVALID_ARGUMENT,
            "X.n + Y.n = 0, expected rows that lengthscales are found with, or kernels that are "
            "given");
    scales = asked_scales(test.asked, pilot, context);
  }
  RowsSums out(std::move(test), {rows, pilot[0].cols()}, std::move(scales));
  out.clear(context);
  return out;
}

Parameters answer_by_sums(TestRequest test, const Rows& X, const Rows& Y, Context& context) {
  const std::array samples = {X, Y};
  const int64_t all = X.rows() + Y.rows();
  Stage stage(context, 3 * all + kWorkOfAnswer);
  RowsSums sums = rows_sums(std::move(test), {X.rows(), Y.rows()}, samples, context);
  for (int64_t s = 0; s < 2; ++s)
    stage.part(samples[s].rows(), [&] { sums.add(s, 0, samples[s], context); });
  Parameters found = stage.part(kWorkOfAnswer, [&] { return sums.answer(context); });
  stage.part(2 * all, [&] { set_witnesses(found, sums, samples, context); });
  return found;
}

}  // namespace mercer::spec
