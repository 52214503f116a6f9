// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every monomial of (gamma x'y + offset)^p, weighted, so that Z Z' is the kernel itself:
//   z_a(x) = sqrt(variance C(p, t) gamma^t offset^(p - t) t! / prod_k a_k!) prod_k x_k^a_k,
// t = |a| from 0 to p, or t = p alone without an offset (the multinomial theorem): C(d + p, p) or
// C(d + p - 1, p) columns, in the order of Monomials.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "feature/tiles.h"
#include "kernel/jet.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"

namespace mercer::feature {
namespace {

// All monomials of d inputs up to a degree, in the order of map exact_polynomial: those of degree t
// are, for each input k ascending, x_k times those of degree t - 1 whose least input is k or later,
// which are contiguous.
constexpr int64_t kMostMonomials = 4000000;

// C(n, k), or some number above kMostMonomials if it is larger than that.
int64_t binomial(int64_t n, int64_t k) noexcept {
  k = std::min(k, n - k);
  double c = 1;
  for (int64_t i = 1; i <= k && c <= kMostMonomials; ++i)
    c = std::round(c * static_cast<double>(n - k + i) / static_cast<double>(i));
  return c <= kMostMonomials ? static_cast<int64_t>(c) : kMostMonomials + 1;
}

// Positions among all monomials of degrees 0 to p.
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

  // body(k, from, to, count): monomials [to, to + count) are x_k times [from, from + count), in
  // order.
  template <class Body>
  void for_each_piece(const Body& body) const {
    const int64_t* count = pieces_.data();
    for (int64_t t = 1, to = 1; t <= degree(); ++t) {
      for (int64_t k = 0; k < d_; to += *count++) body(k++, begin(t) - *count, to, *count);
    }
  }
  // The same in reverse order.
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

// Derivatives of weighted monomials.

// The last D monomials, each times a weight.
template <class T>
struct WeightedMonomials {
  const Monomials& monomials;
  const T* weights;
  int64_t D;
};

// Every monomial is x_k times an earlier one: power series and tangents are computed in that order,
// cotangents in reverse (Griewank, Walther 2008, chapters 3 and 13).
using kernel::Jet;

constexpr const char* kMonomials = "the monomials of all threads";

// Calls body(i, scratch) for every row, with `each` numbers of scratch for a thread.
template <class T, class Body>
void for_each_row(int64_t rows, int64_t each, Context& context, const Body& body) {
  if (rows == 0) return;
  const int64_t padded = checked_add(each, 15, kMonomials) / 16 * 16;
  const AlignedBuffer<T> buffer(checked_multiply(worker_count(context, rows), padded, kMonomials),
                                context, kMonomials);
  parallel_for(context, rows,
               [&](int64_t i, int worker) noexcept { body(i, buffer.data() + worker * padded); });
}

// S: the coefficients of every monomial, one after the other; what the last ones are.
template <class T>
const T* multiply(const Monomials& monomials, const Jet& series, const T* x, T* S) noexcept {
  const int64_t count = monomials.count();
  for (int64_t c = 0; c < series.count; ++c) S[c * count] = static_cast<T>(c == 0);
  monomials.for_each_piece([&](int64_t k, int64_t from, int64_t to, int64_t n) {
    const auto variable = std::find_if(series.p.begin(), series.p.end(),
                                       [k](const PartialFactor& one) { return one.input == k; });
    const auto v = static_cast<size_t>(variable - series.p.begin());
    for (int64_t c = 0; c < series.count; ++c) {
      T* const own = S + c * count;
      for (int64_t j = 0; j < n; ++j) own[to + j] = x[k] * own[from + j];
      if (v == series.p.size() || series.exponent(v, c) == 0) continue;
      const T* const lower = own - series.steps[v] * count;
      for (int64_t j = 0; j < n; ++j) own[to + j] += lower[from + j];
    }
  });
  return S + (series.count - 1) * count;
}

// These are as in Derivatives. UNSUPPORTED for derivatives for which Jet refuses.
template <class T>
void differentiate_monomials(const WeightedMonomials<T>& map, const Derivative& what,
                             MatrixView<const T> X, Context& context, MatrixView<T> out) {
  std::vector<std::vector<Jet>> blocks;
  int64_t most = 1;
  for (const std::vector<MultiIndex>& sum : partials_of(what, X.cols)) {
    blocks.emplace_back();
    for (const MultiIndex& p : sum) most = std::max(most, blocks.back().emplace_back(p).count);
  }
  const int64_t count = map.monomials.count(), skipped = count - map.D;
  for_each_row<T>(X.rows, checked_multiply(most, count, kMonomials), context,
                  [&](int64_t i, T* S) noexcept {
                    T* block = out.row(i);
                    for (const std::vector<Jet>& sum : blocks) {
                      std::fill_n(block, map.D, T{0});
                      for (const Jet& series : sum) {
                        const T* const last = multiply(map.monomials, series, X.row(i), S);
                        const T factorial = static_cast<T>(series.factorial);
                        for (int64_t j = 0; j < map.D; ++j)
                          block[j] += factorial * map.weights[j] * last[skipped + j];
                      }
                      block += map.D;
                    }
                  });
}

template <class T>
void push_forward_monomials(const WeightedMonomials<T>& map, MatrixView<const T> X,
                            MatrixView<const T> V, Context& context, MatrixView<T> out) {
  const int64_t count = map.monomials.count();
  for_each_row<T>(
      X.rows, checked_multiply(2, count, kMonomials), context, [&](int64_t i, T* value) noexcept {
        const T *const x = X.row(i), *const v = V.row(i);
        T* const tangent = value + count;
        value[0] = 1;
        tangent[0] = 0;
        map.monomials.for_each_piece([&](int64_t k, int64_t from, int64_t to, int64_t n) {
          for (int64_t j = 0; j < n; ++j) {
            value[to + j] = x[k] * value[from + j];
            tangent[to + j] = x[k] * tangent[from + j] + v[k] * value[from + j];
          }
        });
        const T* const last = tangent + (count - map.D);
        for (int64_t j = 0; j < map.D; ++j) out(i, j) = map.weights[j] * last[j];
      });
}

template <class T>
void pull_back_monomials(const WeightedMonomials<T>& map, MatrixView<const T> X,
                         MatrixView<const T> G, Context& context, MatrixView<T> out) {
  const int64_t count = map.monomials.count(), skipped = count - map.D;
  for_each_row<T>(
      X.rows, checked_multiply(2, count, kMonomials), context, [&](int64_t i, T* value) noexcept {
        const T* const x = X.row(i);
        T *const cotangent = value + count, *const back = out.row(i);
        value[0] = 1;
        map.monomials.for_each_piece([&](int64_t k, int64_t from, int64_t to, int64_t n) {
          for (int64_t j = 0; j < n; ++j) value[to + j] = x[k] * value[from + j];
        });
        std::fill_n(cotangent, skipped, T{0});
        for (int64_t j = 0; j < map.D; ++j) cotangent[skipped + j] = map.weights[j] * G(i, j);
        std::fill_n(back, X.cols, T{0});
        map.monomials.for_each_piece_backwards([&](int64_t k, int64_t from, int64_t to, int64_t n) {
          T sum = 0;
          for (int64_t j = 0; j < n; ++j) {
            sum += cotangent[to + j] * value[from + j];
            cotangent[from + j] += x[k] * cotangent[to + j];
          }
          back[k] += sum;
        });
      });
}

constexpr int64_t kMonomialNumbers = int64_t{1} << 16;  // of monomials, made by a tile

/// For each monomial of degree t, t! / prod a_k!.
std::vector<double> multinomials(const Monomials& monomials) {
  const auto count = static_cast<size_t>(monomials.count());
  // For each also its least input, and that input's exponent.
  std::vector<double> multinomial(count, 1.0), exponent(count, 0.0);
  std::vector<int64_t> least(count, -1);
  double t = 1;
  int64_t end = monomials.begin(2);
  monomials.for_each_piece([&](int64_t k, int64_t from, int64_t to, int64_t n) {
    if (to >= end) end = monomials.begin(static_cast<int64_t>(++t) + 1);
    for (int64_t i = 0; i < n; ++i) {
      const auto a = static_cast<size_t>(from + i), b = static_cast<size_t>(to + i);
      exponent[b] = (least[a] == k ? exponent[a] : 0) + 1;
      least[b] = k;
      multinomial[b] = multinomial[a] * t / exponent[b];
    }
  });
  return multinomial;
}

/// The weight of each column's monomial.
std::vector<double> weights_of(const Monomials& monomials, const kernel::InnerPower& power,
                               double variance) {
  const std::vector<double> multinomial = multinomials(monomials);
  const int64_t p = power.degree, first = power.offset > 0 ? 0 : p;
  std::vector<double> weights;
  for (int64_t s = first; s <= p; ++s) {
    double factor = variance * std::pow(power.offset, static_cast<double>(p - s));
    for (int64_t i = 1; i <= s; ++i)
      factor *= power.gamma * (static_cast<double>(p - s + i) / static_cast<double>(i));
    for (int64_t j = monomials.begin(s); j < monomials.begin(s + 1); ++j)
      weights.push_back(std::sqrt(factor * multinomial[j]));
  }
  return weights;
}

class ExactPolynomial final : public FixedMap, public Derivatives {
 public:
  ExactPolynomial(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D, uint64_t seed)
      : FixedMap(std::move(kernel), d, D, seed),
        monomials_(d, this->kernel().traits().inner_power->degree),
        weights_(1) {}

  std::string_view name() const noexcept override { return "exact_polynomial"; }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
      using T = RowNumberOf<decltype(rows)>;
      run_tiles(Tiles<T>(*this, weights<T>(context), rows, c, out), context);
    });
  }
  void prepare(Precision precision, Context& context) const override {
    if (precision == Precision::f32) weights<float>(context);
    if (precision == Precision::f64) weights<double>(context);
  }

  const Derivatives* derivatives() const noexcept override { return this; }
  MERCER_DERIVATIVE_CALLS

 private:
  template <class T>
  using Weights = projection::LazyGroups<AlignedBuffer<T>>;

  template <class T>
  WeightedMonomials<T> weighted(Context& context) const {
    return {monomials_, weights<T>(context), features()};
  }
  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const {
    differentiate_monomials(weighted<T>(context), what, X, context, out);
  }
  template <class T>
  void push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
    push_forward_monomials(weighted<T>(context), X, V, context, out);
  }
  template <class T>
  void pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                      MatrixView<T> out) const {
    pull_back_monomials(weighted<T>(context), X, G, context, out);
  }

  /// Made when first used.
  template <class T>
  const T* weights(Context& context) const {
    constexpr const char* kWhat = "the weights of monomials";
    const auto one = static_cast<int64_t>(sizeof(double));
    // For each monomial, while drawing, its multinomial, exponent, least input and weight.
    const projection::GroupCost cost{features() * static_cast<int64_t>(sizeof(T)),
                                     monomials_.count() * 4 * one, kWhat};
    weights_.of<T>().prepare(0, cost, context, [&](int64_t) {
      const auto drawn =
          weights_of(monomials_, *kernel().traits().inner_power, kernel().variance());
      AlignedBuffer<T> made(features());
      std::transform(drawn.begin(), drawn.end(), made.begin(),
                     [](double w) { return static_cast<T>(w); });
      return made;
    });
    const T* const made = weights_.of<T>()[0].data();
    require_finite(made);
    return made;
  }
  /// Refuses infinite weights, which would make NaN of monomials that vanish.
  template <class T>
  void require_finite(const T* weights) const {
    require(std::all_of(weights, weights + features(), [](T w) { return std::isfinite(w); }),
            MERCER_UNSUPPORTED,
            "weights of monomials of degree %ld overflow, expected rows in double precision or a "
            "smaller degree",
            kernel().traits().inner_power->degree);
  }

  // All monomials of a row, then the columns asked for.
  template <class T>
  class Tiles final : public TileWork {
   public:
    Tiles(const ExactPolynomial& map, const T* weights, MatrixView<const T> X, Columns c,
          MatrixView<T> Z)
        : map_(map), weights_(weights), X_(X), c_(c), Z_(Z) {}
    void prepare(Context&) const override {}
    TileCut cut() const override {
      const int64_t count = map_.monomials_.count();
      return {X_.rows,
              kMonomialNumbers / count + 1,
              {0, 1},
              1,
              checked_multiply(count, sizeof(T), "the monomials of a row")};
    }
    void run(const Tile& tile) const noexcept override {
      T* const all = reinterpret_cast<T*>(tile.scratch);
      const T* const own = all + (map_.monomials_.count() - map_.features());
      for (int64_t i = tile.i0; i < tile.i1; ++i) {
        const T* const x = X_.row(i);
        all[0] = 1;
        map_.monomials_.for_each_piece([&](int64_t k, int64_t from, int64_t to, int64_t n) {
          for (int64_t j = 0; j < n; ++j) all[to + j] = x[k] * all[from + j];
        });
        T* const z = Z_.row(i);
        for (int64_t j = c_.begin; j < c_.end; ++j) z[j - c_.begin] = weights_[j] * own[j];
      }
    }

   private:
    const ExactPolynomial& map_;
    const T* weights_;
    MatrixView<const T> X_;
    Columns c_;
    MatrixView<T> Z_;
  };

  Monomials monomials_;
  mutable projection::PerPrecision<Weights> weights_;
};

int64_t monomials_of(const MapArguments& a) {
  const std::optional<kernel::InnerPower> power = a.kernel.traits().inner_power;
  require(power.has_value() && a.kernel.traits().left_inputs == 0, MERCER_UNSUPPORTED,
          "kernel %s has no map of all monomials, expected polynomial",
          std::string(a.kernel.name()).c_str());
  a.kernel.check_dimension(a.inputs);
  const int64_t d = a.inputs, p = power->degree;
  // Lower degrees are computed on the way.
  require(binomial(d + p, p) <= kMostMonomials, MERCER_UNSUPPORTED,
          "%ld inputs have more than %ld monomials of degree up to %ld, the most of map "
          "exact_polynomial, expected a sketch, such as tensor_srht",
          d, kMostMonomials, p);
  return binomial(power->offset > 0 ? d + p : d + p - 1, p);
}

std::unique_ptr<FeatureMap> exact_polynomial_from(const MapArguments& a) {
  const int64_t D = monomials_of(a);
  const kernel::InnerPower power = *a.kernel.traits().inner_power;
  require(a.features == D, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: every monomial of degree %s%ld", a.features, D,
          power.offset > 0 ? "up to " : "", power.degree);
  return std::make_unique<ExactPolynomial>(a.kernel.copy(), a.inputs, D, a.seed);
}

}  // namespace

MapEntry exact_polynomial_entry() {
  return {.name = "exact_polynomial",
          .help =
              "every monomial, weighted, of the kernel polynomial: exact, the same for every seed; "
              "features is C(d + degree, degree), without offset C(d + degree - 1, degree), at "
              "most 4000000",
          .make = exact_polynomial_from,
          .default_kernel = kernel_named("polynomial"),
          .only_features = monomials_of};
}

}  // namespace mercer::feature
