// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The product rule over inputs: a term for every q with least(p_k) <= q_k <= p_k. Monomials that
// several blocks share, as the blocks of a gradient share the value, are listed once.
#include "feature/derivative_terms.h"

#include <map>
#include <utility>

#include "base/error.h"

namespace mercer::feature {
namespace {

constexpr int64_t kMostTerms = 4096;  // most terms of a multi-index

class Expansion {
 public:
  Expansion(int64_t d, const transform::RowDerivative* rows) : d_(d), rows_(rows) {
    made_.first.push_back(0);
  }

  void add(const MultiIndex& p) {
    check(p);
    MultiIndex q(p);
    std::vector<RowFactor> factors;
    add_terms(p, 0, q, factors);
  }
  /// The Laplacian sum_k d^2/dx_k^2 of functions of omega'x: one monomial sum.
  void add_plain_laplacian() {
    MonomialSum squares;
    for (int64_t k = 0; k < d_; ++k) squares.push_back({{k, 2}});
    made_.terms.push_back({{}, std::ssize(made_.monomials)});
    made_.monomials.push_back(std::move(squares));
  }
  void end_block() { made_.first.push_back(std::ssize(made_.terms)); }
  DerivativeTerms take() { return std::move(made_); }

 private:
  int64_t least(int64_t p) const noexcept { return rows_ == nullptr ? p : rows_->least(p); }

  void check(const MultiIndex& p) const {
    int64_t count = 1;
    for (const PartialFactor& one : p) {
      count *= one.order - least(one.order) + 1;
      require(count <= kMostTerms, MERCER_UNSUPPORTED,
              "a derivative of order %ld has more than %ld terms by the product rule, expected "
              "lower orders or fewer inputs in one multi-index",
              total_order(p), kMostTerms);
    }
  }

  // Entries of q before `at` are fixed.
  void add_terms(const MultiIndex& p, size_t at, MultiIndex& q, std::vector<RowFactor>& factors) {
    if (at == p.size()) {
      made_.terms.push_back({factors, number_of(q)});
      return;
    }
    const PartialFactor& one = p[at];
    for (int64_t order = one.order; order >= least(one.order); --order) {
      q[at].order = order;
      if (rows_ != nullptr) factors.push_back({one.input, one.order, order});
      add_terms(p, at + 1, q, factors);
      if (rows_ != nullptr) factors.pop_back();
    }
  }

  int64_t number_of(const MultiIndex& q) {
    std::vector<std::pair<int64_t, int64_t>> key;
    for (const PartialFactor& one : q)
      if (one.order > 0) key.emplace_back(one.input, one.order);
    const auto [place, is_new] = numbers_.try_emplace(key, std::ssize(made_.monomials));
    if (is_new) {
      MultiIndex monomial;
      for (const auto& [input, order] : key) monomial.push_back({input, order});
      made_.monomials.push_back({std::move(monomial)});
    }
    return place->second;
  }

  int64_t d_;
  const transform::RowDerivative* rows_;
  DerivativeTerms made_;
  std::map<std::vector<std::pair<int64_t, int64_t>>, int64_t> numbers_;
};

}  // namespace

std::vector<std::vector<MultiIndex>> partials_of(const Derivative& what, int64_t d) {
  using Kind = Derivative::Kind;
  std::vector<std::vector<MultiIndex>> blocks;
  for (const MultiIndex& p : what.partials) blocks.push_back({p});
  if (what.kind == Kind::laplacian) blocks.emplace_back();
  for (int64_t k = 0; k < d && what.kind != Kind::partials; ++k) {
    if (what.kind != Kind::laplacian) blocks.emplace_back();
    blocks.back().push_back({{k, what.kind == Kind::gradient ? 1 : 2}});
  }
  return blocks;
}

DerivativeTerms expand(const Derivative& what, int64_t d, const transform::RowDerivative* rows) {
  Expansion made(d, rows);
  if (what.kind == Derivative::Kind::laplacian && rows == nullptr) {
    made.add_plain_laplacian();
    made.end_block();
    return made.take();
  }
  for (const std::vector<MultiIndex>& block : partials_of(what, d)) {
    for (const MultiIndex& p : block) made.add(p);
    made.end_block();
  }
  return made.take();
}

}  // namespace mercer::feature
