// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/data.h for C++17: the data of a fit.
//
// Example: rows that are not in memory, here one block of two matrices, read as often as a fit asks.
//
//   struct OneBlock : mercer::RowSource {
//     mercer::Matrix<double> X, Y;
//     bool read = false;
//     OneBlock(int64_t n, int64_t d) : X(n, d), Y(n, 1) {}
//     int64_t inputs() const override { return X.cols(); }
//     int64_t targets() const override { return Y.cols(); }
//     void rewind() override { read = false; }
//     std::optional<Block> next() override {
//       if (std::exchange(read, true)) return std::nullopt;
//       return Block{X, Y};
//     }
//   };
#ifndef MERCER_DATA_HPP
#define MERCER_DATA_HPP

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base.hpp"
#include "mercer/data.h"
#include "mercer/map.hpp"
#include "mercer/view.hpp"

namespace mercer {
inline namespace hpp {

/// Rows delivered block by block, as often as a fit reads them. Exceptions of these functions are
/// rethrown from the fit.
class RowSource {
 public:
  struct Block {
    Rows X, Y;  // as many rows of each
  };
  virtual ~RowSource() = default;
  virtual int64_t inputs() const = 0;   // columns of X
  virtual int64_t targets() const = 0;  // columns of Y without the row weights
  /// Whether Y has one more column, the last, with the row weights.
  virtual bool weighted() const { return false; }
  /// Starts again at the first row.
  virtual void rewind() = 0;
  /// The next rows, whose arrays stay valid and unchanged until the next call; nullopt at the end.
  virtual std::optional<Block> next() = 0;
  /// Whether several processes share the rows, each with a source of its own: then sum is called.
  virtual bool shared() const { return false; }
  /// Replaces every number by its sum over the processes, the same bits in each.
  virtual void sum(Span<double> numbers) {
    if (numbers.size() > 0) throw Error(MERCER_UNSUPPORTED, "RowSource::sum is not overridden");
  }
  /// mercer_row_source.first_row.
  virtual int64_t first_row() const { return 0; }
  /// mercer_row_source.checkpoint, empty: none, and identity.
  virtual std::string checkpoint() const { return {}; }
  virtual std::string identity() const { return {}; }
  /// After a rewind, goes over that many blocks.
  virtual void skip(int64_t blocks) {
    for (; blocks > 0; --blocks) next();
  }
};

namespace detail {

/// Adapts a RowSource to the C API, for the time of one call.
class SourceCalls {
 public:
  explicit SourceCalls(RowSource& source)
      : source_(source), checkpoint_(source.checkpoint()), identity_(source.identity()) {
    calls_.struct_size = sizeof calls_;
    calls_.d = source.inputs();
    calls_.m = source.targets();
    calls_.weighted = source.weighted() ? 1 : 0;
    calls_.rewind = rewind;
    calls_.next = next;
    calls_.user = this;
    if (source.shared()) calls_.sum = sum;
    calls_.first_row = source.first_row();
    if (checkpoint_.empty()) return;
    calls_.checkpoint = checkpoint_.c_str();
    calls_.identity = identity_.c_str();
    calls_.skip = skip;
  }
  SourceCalls(const SourceCalls&) = delete;
  SourceCalls& operator=(const SourceCalls&) = delete;
  const mercer_row_source* get() const noexcept { return &calls_; }
  /// Rethrows what the source threw.
  void rethrow() {
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  template <class Call>
  int32_t guarded(Call call) noexcept {
    try {
      call();
      return 0;
    } catch (...) {
      thrown_ = std::current_exception();
      return 1;
    }
  }
  static int32_t rewind(void* user) {
    auto& self = *static_cast<SourceCalls*>(user);
    return self.guarded([&] { self.source_.rewind(); });
  }
  static int32_t next(void* user, mercer_rows* X, mercer_rows* Y) {
    auto& self = *static_cast<SourceCalls*>(user);
    return self.guarded([&] {
      const std::optional<RowSource::Block> block = self.source_.next();
      if (!block) return;  // both are empty views
      *X = block->X.get();
      *Y = block->Y.get();
    });
  }
  static int32_t sum(void* user, int64_t n, double* numbers) {
    auto& self = *static_cast<SourceCalls*>(user);
    return self.guarded([&] { self.source_.sum({numbers, n}); });
  }
  static int32_t skip(void* user, int64_t blocks) {
    auto& self = *static_cast<SourceCalls*>(user);
    return self.guarded([&] { self.source_.skip(blocks); });
  }

  RowSource& source_;
  std::string checkpoint_, identity_;
  mercer_row_source calls_{};
  std::exception_ptr thrown_;
};

}  // namespace detail

/// Rows and targets, a source, or sets of observations. It refers to them: they must outlive the
/// fit.
class Data {
 public:
  Data(const Rows& X, const Rows& Y) : Data() {
    data_.X = X.get();
    data_.Y = Y.get();
  }
  /// One target.
  Data(const Rows& X, Span<const double> y)
      : Data(X, MatrixView<const double>(y.data(), y.size(), 1)) {}
  explicit Data(RowSource& source) : Data() {
    source_ = std::make_unique<detail::SourceCalls>(source);
    data_.source = source_->get();
  }
  /// A source that C functions make, such as mercer_arrow_source_create.
  explicit Data(const mercer_row_source& source) : Data() { data_.source = &source; }
  explicit Data(Span<const mercer_observations> sets) : Data() {
    data_.sets = sets.data();
    data_.set_count = sets.size();
  }
  /// Row weights; empty: 1 each.
  Data&& weights(Span<const double> each) && { return std::move(this->weights(each)); }
  Data& weights(Span<const double> each) & {
    weights_ = each.size();
    data_.weights = each.data();
    return *this;
  }
  Data& weights(std::vector<double>&& each) & = delete;  // gone before the fit
  /// A group number for each row: rows of one group are never on both sides of a split.
  Data&& groups(const Rows& each) && { return std::move(this->groups(each)); }
  Data& groups(const Rows& each) & {
    data_.groups = each.get();
    return *this;
  }
  Data&& groups(Span<const double> each) && { return std::move(this->groups(each)); }
  Data& groups(Span<const double> each) & {
    return groups(MatrixView<const double>(each.data(), each.size(), 1));
  }
  Data& groups(std::vector<double>&& each) & = delete;
  /// The features of the fit, in place of the map in its spec.
  Data&& map(const Map& map) && { return std::move(this->map(map)); }
  Data& map(const Map& map) & {
    data_.map = map.get();
    return *this;
  }
  /// D m weights and m intercepts, or none, of another solver, with a map and "lambda".
  Data&& solution(Span<const double> w, Span<const double> intercept = {}) && {
    return std::move(this->solution(w, intercept));
  }
  Data& solution(Span<const double> w, Span<const double> intercept = {}) & {
    data_.w = w.data();
    data_.intercept = intercept.size() > 0 ? intercept.data() : nullptr;
    solution_ = {w.size(), intercept.size()};
    return *this;
  }
  /// Throws unless there are as many weights as rows, and as many of a solution as it takes.
  const mercer_data* get() const {
    if (data_.weights != nullptr && weights_ != data_.X.n)
      throw Error(MERCER_DIMENSION_MISMATCH,
                  std::to_string(weights_) + " weights of " + std::to_string(data_.X.n) + " rows");
    if (data_.w != nullptr && data_.map != nullptr) check_solution();
    return &data_;
  }
  /// Rethrows what a source threw.
  void rethrow() const {
    if (source_ != nullptr) source_->rethrow();
  }

 private:
  Data() { data_.struct_size = sizeof data_; }
  void check_solution() const {
    mercer_map_info info{};
    info.struct_size = sizeof info;
    check(mercer_map_shape(data_.map, &info));
    const int64_t m = data_.source != nullptr ? data_.source->m : data_.Y.d;
    const int64_t rows = (info.is_complex != 0 ? 2 : 1) * info.features;
    if (solution_.first != rows * m || (solution_.second != 0 && solution_.second != m))
      throw Error(MERCER_DIMENSION_MISMATCH,
                  "a solution of " + std::to_string(solution_.first) + " weights and " +
                      std::to_string(solution_.second) + " intercepts, expected " +
                      std::to_string(rows) + " x " + std::to_string(m) + " and " +
                      std::to_string(m) + " or none");
  }
  mercer_data data_{};
  int64_t weights_ = 0;
  std::pair<int64_t, int64_t> solution_{};
  std::unique_ptr<detail::SourceCalls> source_;
};

}  // namespace hpp
}  // namespace mercer
#endif
