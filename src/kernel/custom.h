// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Callbacks of the caller's that are a kernel, a feature map, or both, and the names that they are
// registered under.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/non_copyable.h"
#include "base/views.h"
#include "kernel/kernel.h"
#include "mercer/custom.h"

namespace mercer::kernel {

struct FiniteRows;

/// Checked callbacks. Calls fail with CALLBACK for a result other than 0, and for numbers that are
/// not finite, naming the place.
class Custom : NonCopyable {
 public:
  /// INVALID_ARGUMENT: see mercer_custom_create.
  explicit Custom(const mercer_custom_options& options);
  ~Custom();
  /// The destructor calls it.
  void release_by(mercer_custom_release release) noexcept { options_.release = release; }

  const std::string& name() const noexcept { return name_; }
  int64_t inputs() const noexcept { return options_.inputs; }
  bool is_kernel() const noexcept {
    return options_.gram != nullptr || options_.features != nullptr;
  }
  bool has_loss() const noexcept { return options_.loss != nullptr; }
  bool has_features() const noexcept { return options_.features != nullptr; }
  int64_t feature_count() const noexcept { return options_.feature_count; }
  Calls calls() const noexcept {
    return options_.concurrent != 0 ? Calls::at_once : Calls::in_turn;
  }

  /// K(i, j) = k(X_i, Y_j); NaN in rows and columns of rows that are not finite, which the callback
  /// does not see.
  void gram(MatrixView<const double> X, MatrixView<const double> Y, MatrixView<double> K) const;
  /// Likewise features [begin, begin + Z.cols) of D.
  template <class T>
  void features(MatrixView<const T> X, int64_t D, uint64_t seed, int64_t begin, double factor,
                MatrixView<T> Z) const;

  /// Value, slope and curvature of n x p scores at their targets: none NaN, no curvature below 0.
  void loss(int64_t n, int64_t p, const double* S, const double* Y, double* value, double* slope,
            double* curvature) const;

 private:
  template <class Call>
  void call(const char* what, const Call& callback) const;
  void compute_inner_products(const FiniteRows& x, const FiniteRows& y, int64_t d,
                              double* values) const;
  void compute_features(int64_t n, int64_t d, const double* X, int64_t D, uint64_t seed,
                        double* Z) const;

  mercer_custom_options options_;
  std::string name_;
  mutable std::recursive_mutex mutex_;  // a callback may use its own kernel
};

/// INVALID_ARGUMENT if the name is taken.
void register_custom(std::shared_ptr<const Custom> custom);
void unregister_custom(const Custom& custom) noexcept;
/// NOT_REGISTERED, naming what is registered.
std::shared_ptr<const Custom> find_custom(const std::string& name, const char* what = "kernel");

/// While it lives, this thread also finds what a kernel is made of, or what was registered when it
/// was made, by their names: a copy of a kernel is made of its spec, and a fit of one spec makes
/// many.
class CustomPin : NonCopyable {
 public:
  CustomPin();
  explicit CustomPin(const Kernel& kernel);
  ~CustomPin();

 private:
  friend std::shared_ptr<const Custom> find_custom(const std::string& name, const char* what);
  std::vector<std::shared_ptr<const Custom>> found_;
  const CustomPin* outer_;
};

/// body(i) for i < count, one after the other, checking for cancellation, or in parallel; what it
/// throws, this throws.
void run_calls(Calls calls, int64_t count, Context& context,
               const std::function<void(int64_t i)>& body);

/// The most features of one row that values of this kernel are made of.
int64_t features_of_calls(const Kernel& kernel);

/// What the calls that run at once hold, of `count` calls with so many numbers each.
[[nodiscard]] MemoryCharge charge_calls(Calls calls, int64_t count, int64_t numbers,
                                        Context& context);

/// Rows for one call: few enough for 16 MiB of numbers, at most `most`.
int64_t rows_of_call(int64_t numbers, int64_t most) noexcept;

}  // namespace mercer::kernel
