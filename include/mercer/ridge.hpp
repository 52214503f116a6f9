// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/statistics.h and ridge.h for C++17: row statistics and ridge regression.
//
// Example: weights from two blocks of features Z and targets Y.
//
//   mercer::Statistics statistics(Z.cols(), Y.cols());
//   statistics.add(Z, Y);
//   statistics.add(more_Z, more_Y);
//   mercer::Ridge ridge(statistics, true);
//   mercer::Weights weights = ridge.solve(1e-6);
#ifndef MERCER_RIDGE_HPP
#define MERCER_RIDGE_HPP

#include <cstdint>
#include <utility>
#include <vector>

#include "mercer/base.hpp"
#include "mercer/io.hpp"
#include "mercer/view.hpp"

namespace mercer {
inline namespace hpp {

/// Sums over rows, about zero: Z'Z (D x D), Z'Y (D x outputs), and the sums of z, y and y^2.
struct Sums {
  Sums(int64_t D, int64_t outputs)
      : gram(D, D),
        cross(D, outputs),
        z(static_cast<size_t>(D)),
        y(static_cast<size_t>(outputs)),
        y2(static_cast<size_t>(outputs)) {}
  Matrix<double> gram, cross;
  std::vector<double> z, y, y2;
};

namespace detail {

inline mercer_matrix row(std::vector<double>& v) {
  return mercer_matrix_f64(1, static_cast<int64_t>(v.size()), v.data());
}

/// Owns an object with `rows` rows, `columns` features and outputs.
template <class Object, void (*free)(Object*), auto shape_of>
class Shaped {
 public:
  int64_t rows() const { return shape().rows; }
  int64_t features() const { return shape().columns; }
  int64_t outputs() const { return shape().outputs; }
  Object* get() const noexcept { return owner_.get(); }

 protected:
  using Handle = Owner<Object, free>;
  explicit Shaped(Handle owner) : owner_(std::move(owner)) {}
  mercer_shape shape() const { return detail::shape(shape_of, get()); }

 private:
  Handle owner_;
};

}  // namespace detail

/// Z'Z, Z'Y, n and sums over blocks of rows.
class Statistics
    : public detail::Shaped<mercer_statistics, mercer_statistics_free, mercer_statistics_shape>,
      public detail::Kept<Statistics, mercer_statistics_read, mercer_statistics_write> {
  friend Kept;

 public:
  Statistics(int64_t D, int64_t outputs)
      : Shaped(detail::create<Handle>(
            [&](auto out) { return mercer_statistics_create(D, outputs, out); })) {}
  void add(const Rows& Z, const Rows& Y, Context* context = nullptr) {
    detail::check(mercer_statistics_add(get(), 1, Z.get(), Y.get(), detail::handle(context)),
                  context);
  }
  void remove(const Rows& Z, const Rows& Y, Context* context = nullptr) {
    detail::check(mercer_statistics_add(get(), -1, Z.get(), Y.get(), detail::handle(context)),
                  context);
  }
  void merge(const Statistics& other) { check(mercer_statistics_merge(get(), 1, other.get())); }
  void subtract(const Statistics& other) { check(mercer_statistics_merge(get(), -1, other.get())); }
  Sums sums() const {
    const mercer_shape s = shape();
    Sums result(s.columns, s.outputs);
    check(mercer_statistics_get(get(), Result(result.gram).get(), Result(result.cross).get(),
                                detail::row(result.z), detail::row(result.y),
                                detail::row(result.y2)));
    return result;
  }
  /// Replaces the statistics by sums over n rows.
  void set(int64_t n, const Sums& sums) {
    const mercer_shape s = shape();
    const auto is = [](const std::vector<double>& v, int64_t size) {
      return static_cast<int64_t>(v.size()) == size;
    };
    if (sums.gram.rows() != s.columns || sums.gram.cols() != s.columns ||
        sums.cross.rows() != s.columns || sums.cross.cols() != s.outputs ||
        !is(sums.z, s.columns) || !is(sums.y, s.outputs) || !is(sums.y2, s.outputs)) {
      throw Error(MERCER_DIMENSION_MISMATCH,
                  "sums of the statistics' features and outputs expected");
    }
    const auto row = [](const std::vector<double>& v) {
      return mercer_rows_f64(1, static_cast<int64_t>(v.size()), v.data());
    };
    check(mercer_statistics_set(get(), n, Rows(sums.gram).get(), Rows(sums.cross).get(),
                                row(sums.z), row(sums.y), row(sums.y2)));
  }

 private:
  explicit Statistics(Handle owner) : Shaped(std::move(owner)) {}
};

struct Weights {
  Matrix<double> w;               // D x outputs
  std::vector<double> intercept;  // outputs
};

/// Every lambda from one eigendecomposition.
class Ridge : public detail::Shaped<mercer_ridge, mercer_ridge_free, mercer_ridge_shape> {
 public:
  Ridge(const Statistics& statistics, bool center, Context* context = nullptr)
      : Shaped(detail::create<Handle>(
            [&](auto out) {
              return mercer_ridge_create(statistics.get(), center, detail::handle(context), out);
            },
            context)) {}
  Weights solve(double penalty) const {
    const mercer_shape s = shape();
    Weights weights{Matrix<double>(s.columns, s.outputs),
                    std::vector<double>(static_cast<size_t>(s.outputs))};
    check(mercer_ridge_solve(get(), penalty, Result(weights.w).get(),
                             detail::row(weights.intercept)));
    return weights;
  }
  double effective_dimension(double penalty) const {
    double dimension = 0;
    check(mercer_ridge_error(get(), penalty, nullptr, {}, &dimension));
    return dimension;
  }
  std::vector<double> gcv(double penalty) const {
    std::vector<double> result(static_cast<size_t>(outputs()));
    check(mercer_ridge_error(get(), penalty, nullptr, detail::row(result), nullptr));
    return result;
  }
  std::vector<double> held_out_error(double penalty, const Statistics& held_out) const {
    std::vector<double> result(static_cast<size_t>(outputs()));
    check(mercer_ridge_error(get(), penalty, held_out.get(), detail::row(result), nullptr));
    return result;
  }
};

}  // namespace hpp
}  // namespace mercer
#endif
