// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// All monomials of d inputs up to a degree, in the order of map exact_polynomial: those of degree t
// are, for each input k ascending, x_k times those of degree t - 1 whose least input is k or later,
// which are contiguous.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace mercer::feature {

inline constexpr int64_t kMostMonomials = 4000000;

/// C(n, k), or more than kMostMonomials.
inline int64_t binomial(int64_t n, int64_t k) noexcept {
  k = std::min(k, n - k);
  double c = 1;
  for (int64_t i = 1; i <= k && c <= kMostMonomials; ++i)
    c = std::round(c * static_cast<double>(n - k + i) / static_cast<double>(i));
  return c <= kMostMonomials ? static_cast<int64_t>(c) : kMostMonomials + 1;
}

/// Positions among all monomials of degrees 0 to p.
class Monomials {
 public:
  Monomials(int64_t d, int64_t p) : d_(d), begin_{0, 1} {
    for (int64_t t = 1; t <= p; ++t) {
      begin_.push_back(begin_.back() + binomial(d + t - 1, t));
      // Monomials of degree t - 1 whose least input is k or later.
      for (int64_t k = 0; k < d; ++k)
        pieces_.push_back(t == 1 ? 1 : binomial(d - k + t - 2, t - 1));
    }
  }
  int64_t inputs() const noexcept { return d_; }
  int64_t degree() const noexcept { return std::ssize(begin_) - 2; }
  int64_t begin(int64_t t) const noexcept { return begin_[t]; }
  int64_t count() const noexcept { return begin_.back(); }

  /// body(k, from, to, count): monomials [to, to + count) are x_k times [from, from + count), in
  /// order.
  template <class Body>
  void for_each_piece(const Body& body) const {
    const int64_t* count = pieces_.data();
    for (int64_t t = 1, to = 1; t <= degree(); ++t) {
      for (int64_t k = 0; k < d_; to += *count++) body(k++, begin(t) - *count, to, *count);
    }
  }
  /// The same in reverse order.
  template <class Body>
  void for_each_piece_backwards(const Body& body) const {
    const int64_t* count = pieces_.data() + pieces_.size();
    for (int64_t t = degree(), to = begin_.back(); t >= 1; --t) {
      for (int64_t k = d_; k-- > 0;) {
        to -= *--count;
        body(k, begin(t) - *count, to, *count);
      }
    }
  }

 private:
  int64_t d_;
  std::vector<int64_t> begin_;
  std::vector<int64_t> pieces_;
};

}  // namespace mercer::feature
