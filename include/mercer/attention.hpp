// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/attention.h for C++17.
//
// Example: causal attention of one head, and its error against the kernel itself.
//
//   mercer::Matrix<float> out(X.rows(), X.cols());
//   mercer_tokens tokens = mercer::causal_tokens(X, X, X);
//   mercer::attend(map, tokens, out);
//   double error = mercer::attention_error(map, tokens, MERCER_KERNEL_ERROR_MEASURED);
#ifndef MERCER_ATTENTION_HPP
#define MERCER_ATTENTION_HPP

#include <cstdint>
#include <utility>

#include "mercer/attention.h"
#include "mercer/map.hpp"

namespace mercer {
inline namespace hpp {

/// Of one sequence and head; batch and heads may be set afterwards.
inline mercer_tokens causal_tokens(const Rows& Q, const Rows& K, const Rows& V) {
  auto tokens = detail::sized<mercer_tokens>();
  tokens.causal = 1;
  tokens.Q = Q.get();
  tokens.K = K.get();
  tokens.V = V.get();
  return tokens;
}

inline void attend(const Map& map, const mercer_tokens& tokens, const Result& out,
                   Context* context = nullptr) {
  detail::check(mercer_attend(map.get(), &tokens, detail::handle(context), out.get()), context);
}
/// Fills in the gradients of Q, K and V.
inline void attend_vjp(const Map& map, const mercer_tokens& tokens, const Rows& G, const Result& dQ,
                       const Result& dK, const Result& dV, Context* context = nullptr) {
  detail::check(mercer_attend_vjp(map.get(), &tokens, G.get(), detail::handle(context), dQ.get(),
                                  dK.get(), dV.get()),
                context);
}
inline double attention_error(const Map& map, const mercer_tokens& tokens,
                              mercer_kernel_error which, Context* context = nullptr) {
  double error = 0;
  detail::check(mercer_attention_error(map.get(), &tokens, which, detail::handle(context), &error),
                context);
  return error;
}

/// The sums over keys so far.
class Attention : public detail::Kept<Attention, mercer_attention_read, mercer_attention_write> {
  friend Kept;

 public:
  Attention(const Map& map, int64_t batch, int64_t heads, int64_t values)
      : owner_(detail::create<Handle>([&](auto out) {
          return mercer_attention_create(map.get(), batch, heads, values, out);
        })) {}
  /// Adds keys, answers queries; out may be left out without queries.
  void step(const mercer_tokens& tokens, Context* context = nullptr) {
    detail::check(mercer_attention_step(get(), &tokens, detail::handle(context), mercer_matrix{}),
                  context);
  }
  void step(const mercer_tokens& tokens, const Result& out, Context* context = nullptr) {
    detail::check(mercer_attention_step(get(), &tokens, detail::handle(context), out.get()),
                  context);
  }
  mercer_attention* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_attention, mercer_attention_free>;
  explicit Attention(Handle owner) : owner_(std::move(owner)) {}
  Handle owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
