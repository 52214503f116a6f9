// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rounding mode, flush-to-zero and traps of a thread. What a seed or a spec means must not depend
// on the caller's modes: parameters are made under the standard environment, results are computed
// with them under the caller's own, on every thread.
#pragma once

#include <cfenv>

#include "base/non_copyable.h"

namespace mercer {

class FloatEnvironment {
 public:
  /// The environment of the calling thread.
  static FloatEnvironment current() noexcept {
    FloatEnvironment environment;
    std::fegetenv(&environment.values_);
    return environment;
  }
  /// Round to nearest, subnormals kept, nothing trapped.
  static void install_standard() noexcept { std::fesetenv(FE_DFL_ENV); }
  void install() const noexcept { std::fesetenv(&values_); }

 private:
  FloatEnvironment() = default;
  std::fenv_t values_;
};

/// The standard environment until the end of the scope, then the caller's again, flags included.
class StandardRounding : NonCopyable {
 public:
  StandardRounding() noexcept : callers_(FloatEnvironment::current()) {
    FloatEnvironment::install_standard();
  }
  ~StandardRounding() { callers_.install(); }

 private:
  FloatEnvironment callers_;
};

/// Installs a saved environment until the end of the scope: the caller's own, around its callback.
class RoundingOf : NonCopyable {
 public:
  explicit RoundingOf(const FloatEnvironment& kept) noexcept : own_(FloatEnvironment::current()) {
    kept.install();
  }
  ~RoundingOf() { own_.install(); }

 private:
  FloatEnvironment own_;
};

}  // namespace mercer
