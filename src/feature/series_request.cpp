// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/series_request.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/size.h"

namespace mercer::feature {
namespace {

constexpr int64_t kMostDrawn = 64;  // of a series without end: beyond, a chance of 2^-64
constexpr int64_t kLeastTop = 2, kMostTop = 10;  // degrees where an optimized series may end

void refuse_key(const Parameters& own, const char* key, Allocation allocation) {
  require(own.find(key) == nullptr, MERCER_UNSUPPORTED, "%s does not apply to allocation = %s", key,
          kAllocation.word(allocation));
}

}  // namespace

SeriesRequest::SeriesRequest(const kernel::Kernel& kernel, int64_t inputs, const Parameters& own)
    : inputs_(inputs),
      own_(own),
      allocation_(kAllocation.read(own)),
      sketch_(sketch_options(own.object("sketch"), 0)) {
  require_features(kernel.series() != nullptr, kernel, "Maclaurin",
                   "dot_product, polynomial, exponential, gaussian, or sums and products of them");
  const kernel::PowerSeries& series = *kernel.series();
  for (int64_t n = 0; n <= series.degree().value_or(degrees_asked()); ++n)
    a_.push_back(series.coefficient(n));
  while (a_.size() > 1 && a_.back() == 0) a_.pop_back();
  check_keys();
}

int64_t SeriesRequest::last() const {
  const int64_t most = std::ssize(a_) - 1;
  return allocation_ == Allocation::given ? std::ssize(columns_) : std::min(most, max_degree(most));
}
int64_t SeriesRequest::max_degree(int64_t otherwise) const {
  return own_.find("max_degree") == nullptr ? otherwise : own_.integer("max_degree");
}
int64_t SeriesRequest::most_top() const { return max_degree(kMostTop); }
int64_t SeriesRequest::least_top() const {
  return own_.find("min_degree") == nullptr ? std::min(kLeastTop, most_top())
                                            : own_.integer("min_degree");
}

std::vector<SeriesTerm> SeriesRequest::sampled() const {
  std::vector<SeriesTerm> terms;
  for (int64_t n = 1; n <= last(); ++n)
    if (is_sketched(n)) terms.push_back({n, a_[n]});
  return terms;
}

MapSizes SeriesRequest::sizes() const {
  const int64_t sketches = least_sketches();
  if (allocation_ == Allocation::given || sketches == 0)
    return {fixed() + sketches, 0, fixed() + sketches};
  const int64_t least = checked_add(fixed(), sketches * step(), "features");
  return {least, step(), least + std::max<int64_t>(kMostFeatures - least, 0) / step() * step()};
}

void SeriesRequest::check_features(int64_t D) const {
  const MapSizes all = sizes();
  require(all.step > 0 || D == all.least, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: those that the degrees have together", D, all.least);
  require(D >= all.least, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected at least %ld: %ld of degrees that are kept exactly, and %ld "
          "for every other degree that has some",
          D, all.least, fixed(), step());
  require(all.step == 0 || (D - all.least) % all.step == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: %ld of degrees that are kept exactly, then pairs", D,
          D + 1, fixed());
}

// Of a series without end.
int64_t SeriesRequest::degrees_asked() const {
  if (allocation_ == Allocation::random) return max_degree(kMostDrawn);
  if (allocation_ == Allocation::optimized) return most_top();
  return own_.find("columns") == nullptr ? 1 : std::ssize(own_.numbers("columns"));
}

// The least number of columns of sketches; a complex_to_real pair counts as one, given ones as
// they are.
int64_t SeriesRequest::least_sketches() const {
  if (allocation_ == Allocation::given)
    return std::accumulate(columns_.begin(), columns_.end(), int64_t{0});
  const int64_t top = allocation_ == Allocation::random ? last() : most_top();
  int64_t count = 0;
  for (int64_t n = 1; n <= top; ++n) {
    if (is_sketched(n)) ++count;
    if (count > 0 && (allocation_ == Allocation::random || n >= least_top())) break;
  }
  return count;
}

void SeriesRequest::check_keys() {
  require(!own_.boolean("exact_linear") || sketch_.field != SketchField::complex,
          MERCER_UNSUPPORTED,
          "exact_linear does not apply to a sketch of field = complex, expected real or "
          "complex_to_real");
  if (allocation_ != Allocation::optimized) refuse_key(own_, "min_degree", allocation_);
  if (allocation_ == Allocation::given) {
    refuse_key(own_, "max_degree", allocation_);
    return read_columns();
  }
  for (const char* key : {"columns", kPredictions[0], kPredictions[1]})
    refuse_key(own_, key, allocation_);
  if (allocation_ == Allocation::optimized) return check_optimized();
  check_drawn();
}

void SeriesRequest::check_drawn() const {
  require(!sketch_.kind->limited, MERCER_UNSUPPORTED,
          "allocation = random with sketch %s of kind %s, which has no more columns than tuples of "
          "inputs, expected another kind",
          projection::family_of(*sketch_.kind).name, sketch_.kind->name);
}

void SeriesRequest::check_optimized() const {
  const projection::SketchKind& kind = *sketch_.kind;
  require(kind.independent || kind.blocks, MERCER_UNSUPPORTED,
          "allocation = optimized with sketch %s of kind %s, whose variance is not convex in its "
          "columns, expected product_sketch, or tensor_srht of kind stacked",
          projection::family_of(kind).name, kind.name);
  require(least_top() <= most_top(), MERCER_INVALID_ARGUMENT,
          "min_degree = %ld, expected at most max_degree = %ld", least_top(), most_top());
}

void SeriesRequest::read_columns() {
  require(own_.find("columns") != nullptr, MERCER_INVALID_ARGUMENT,
          "columns is missing, expected those of degrees 1, 2, ... for allocation = given");
  for (const double value : own_.numbers("columns")) {
    const int64_t n = std::ssize(columns_) + 1;
    require(value == std::floor(value) && std::fmod(value, static_cast<double>(step())) == 0,
            MERCER_INVALID_ARGUMENT, "columns[%ld] = %g, expected an %s", n - 1, value,
            step() == 2 ? "even number" : "integer");
    require(value == 0 || is_sketched(n), MERCER_INVALID_ARGUMENT,
            "columns[%ld] = %g, expected 0: degree %ld has %s", n - 1, value, n,
            coefficient(n) > 0 ? "columns of its own" : "the coefficient 0");
    columns_.push_back(static_cast<int64_t>(value));
  }
  for (const char* key : kPredictions) {
    require(own_.find(key) == nullptr || own_.numbers(key).size() == columns_.size(),
            MERCER_INVALID_ARGUMENT, "%s, expected %zu numbers, one for each of columns", key,
            columns_.size());
  }
}

}  // namespace mercer::feature
