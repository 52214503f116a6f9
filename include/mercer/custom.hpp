// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/custom.h for C++17.
//
// Example: a kernel of rows that are numbers of the caller's texts.
//
//   mercer::Custom custom("texts", [&](int64_t n, int64_t m, int64_t, const double* X,
//                                      const double* Y, double* K) {
//     for (int64_t i = 0; i < n; ++i)
//       for (int64_t j = 0; j < m; ++j) K[i * m + j] = similarity(texts, X[i], Y[j]);
//   });
//   mercer::Kernel kernel = mercer::Kernel::from_spec(R"({"kernel":"custom","name":"texts"})");
#ifndef MERCER_CUSTOM_HPP
#define MERCER_CUSTOM_HPP

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "mercer/base.hpp"

namespace mercer {
inline namespace hpp {

/// A registered name. What its functions throw, the call that they serve throws on their thread.
class Custom {
 public:
  using Gram = std::function<void(int64_t n, int64_t m, int64_t d, const double* X, const double* Y,
                                  double* K)>;
  using Features = std::function<void(int64_t n, int64_t d, const double* X, int64_t D,
                                      uint64_t seed, double* Z)>;

  using Loss = std::function<void(int64_t n, int64_t p, const double* S, const double* Y,
                                  double* value, double* slope, double* curvature)>;

  /// inputs 0: any. An empty gram, features or loss: none; feature_count 0: any.
  explicit Custom(const std::string& name, Gram gram, Features features = {},
                  int64_t feature_count = 0, int64_t inputs = 0, bool concurrent = false,
                  Loss loss = {}) {
    auto own = std::make_unique<Functions>(
        Functions{std::move(gram), std::move(features), std::move(loss)});
    auto options = detail::sized<mercer_custom_options>();
    options.concurrent = concurrent ? 1 : 0;
    options.name = name.c_str();
    options.inputs = inputs;
    if (own->gram) options.gram = compute_gram;
    if (own->features) options.features = compute_features;
    if (own->loss) options.loss = compute_loss;
    options.feature_count = feature_count;
    options.user = own.get();
    options.release = [](void* user) { delete static_cast<Functions*>(user); };
    owner_ = detail::create<Handle>([&](auto out) { return mercer_custom_create(&options, out); });
    own.release();
  }
  mercer_custom* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_custom, mercer_custom_free>;
  struct Functions {
    Gram gram;
    Features features;
    Loss loss;
  };
  template <class Function, class... Arguments>
  static int32_t kept(const Function& function, Arguments... arguments) noexcept {
    try {
      function(arguments...);
      return 0;
    } catch (...) {
      detail::thrown_by_custom() = std::current_exception();
      return 1;
    }
  }
  static int32_t compute_gram(void* user, int64_t n, int64_t m, int64_t d, const double* X,
                              const double* Y, double* K) {
    return kept(static_cast<Functions*>(user)->gram, n, m, d, X, Y, K);
  }
  static int32_t compute_features(void* user, int64_t n, int64_t d, const double* X, int64_t D,
                                  uint64_t seed, double* Z) {
    return kept(static_cast<Functions*>(user)->features, n, d, X, D, seed, Z);
  }
  static int32_t compute_loss(void* user, int64_t n, int64_t p, const double* S, const double* Y,
                              double* value, double* slope, double* curvature) {
    return kept(static_cast<Functions*>(user)->loss, n, p, S, Y, value, slope, curvature);
  }
  Handle owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
