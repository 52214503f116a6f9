// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Eigenfunctions of the Gaussian kernel under normal inputs, as features in order of eigenvalue
// (Zhu, Williams, Rohwer, Morciniec 1998; Rasmussen, Williams 2006, section 4.3.1; the map of Mukuta
// and Harada 2016 with a parametric law). Of one input of mean m and variance s^2, with a = 1/(4
// s^2), b = 1/(2 l^2), c = sqrt(a^2 + 2 a b), A = a + b + c, r = b/A, t = x - m and u = sqrt(2 c) t
//   k(x, y) = sum_n z_n(x) z_n(y), z_n = sqrt(lambda_n) phi_n, lambda_n = sqrt(2 a/A) r^n,
//   z_n = (2 c/A)^{1/4} r^{n/2} exp(-(c - a) t^2) H_n(u)/sqrt(2^n n!),
// E z_m z_n = lambda_n if m = n, else 0. Of several inputs features are products, one function of
// each. The first D of them are the D functions whose error E (k - k~)^2 is least; k~(x, x) <= k(x,
// x).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"

namespace mercer::feature {
namespace {

constexpr const char* kMeans = "means";
constexpr const char* kVariances = "variances";
constexpr const char* kKept = "kept";
constexpr const char* kHermite = "Hermite functions of a row";
constexpr int64_t kMostEigenfunctions = 1000000, kLargestTable = int64_t{1} << 28;
constexpr double kConstant = 1e-8;   // of l^2: rows' variances that change nothing
constexpr double kMostRatio = 1e16;  // likewise: the kernel is that of different rows

/// Of one input.
class HermiteFunctions {
 public:
  HermiteFunctions(double lengthscale, double mean, double variance) : mean_(mean) {
    const double a = 1 / (4 * variance), b = 1 / (2 * lengthscale * lengthscale);
    c_ = std::sqrt(a * a + 2 * a * b);
    ratio_ = b / (a + b + c_);
    decay_ = 2 * a * b / (a + c_);  // c - a
    first_ = std::sqrt(std::sqrt(2 * c_ / (a + b + c_)));
    largest_ = std::sqrt(2 * a / (a + b + c_));
  }

  double largest() const noexcept { return largest_; }  // lambda_0
  double ratio() const noexcept { return ratio_; }      // lambda_{n + 1}/lambda_n

  /// z_0, ..., z_{count - 1} at x.
  void fill(double x, int64_t count, double* z) const noexcept {
    constexpr double kLeastLog = -600, kLarge = 1e150;
    constexpr double kVanishing = -1e100;  // whatever n
    const double t = x - mean_, u = std::sqrt(2 * c_) * t;
    double log = -decay_ * t * t;
    if (log < kVanishing) {
      std::fill_n(z, count, std::isfinite(x) ? 0 : kNaN);
      return;
    }
    // Far out z_n is small for n below u^2/2, not beyond: its logarithm is carried.
    const bool plain = log > kLeastLog;
    double before = 0, now = plain ? first_ * std::exp(log) : first_;
    for (int64_t n = 0; n < count; ++n) {
      z[n] = plain ? now : now * std::exp(log);
      const double next =
          std::sqrt(2 * ratio_ / static_cast<double>(n + 1)) * u * now -
          ratio_ * std::sqrt(static_cast<double>(n) / static_cast<double>(n + 1)) * before;
      before = now;
      now = next;
      if (plain || std::abs(now) < kLarge) continue;
      before /= kLarge;
      now /= kLarge;
      log += std::log(kLarge);
    }
  }

  /// d^{o + 1} from d^o and d^{o - 1} (null for o = 0): with ' = d/dx
  ///   z_n' = -2 (c - a) t z_n + 2 sqrt(c n r) z_{n - 1}.
  void differentiate(double x, int64_t o, int64_t count, const double* lower, const double* z,
                     double* out) const noexcept {
    for (int64_t n = 0; n < count; ++n) {
      const double below = o == 0 ? 0 : static_cast<double>(o) * lower[n];
      out[n] = -2 * decay_ * ((x - mean_) * z[n] + below);
      if (n > 0) out[n] += 2 * std::sqrt(c_ * static_cast<double>(n) * ratio_) * z[n - 1];
    }
  }

 private:
  double mean_, c_, ratio_, decay_, first_, largest_;
};

/// The degrees of D products with the largest eigenvalues, in their order; of equal ones those that
/// were reached first. Each is reached once: from the product with one degree less in its last
/// input, in the order of falling ratios.
class EigenOrder {
 public:
  EigenOrder(const std::vector<HermiteFunctions>& inputs, int64_t D)
      : inputs_(inputs), d_(std::ssize(inputs)), degrees_(D * d_), by_ratio_(d_) {
    for (int64_t k = 0; k < d_; ++k) by_ratio_[k] = k;
    std::ranges::stable_sort(by_ratio_, std::ranges::greater(),
                             [&](int64_t k) { return inputs[k].ratio(); });
    double first = 1;
    for (const HermiteFunctions& one : inputs) first *= one.largest();
    kept_ = first;
    if (D > 1) reach(first, 0, 0);
    for (int64_t j = 1; j < D; ++j) take(j);
  }
  /// Of column j, the degree of each input.
  std::vector<int32_t> degrees() && { return std::move(degrees_); }
  double kept() const noexcept { return kept_; }  // the sum of the eigenvalues

 private:
  struct Reached {
    double eigenvalue;  // of the product
    double of_parent;
    int64_t turn;    // in which it was reached
    int64_t parent;  // a column
    int64_t place;   // in by_ratio_, of the input whose degree is one more
    bool operator<(const Reached& other) const {
      return eigenvalue != other.eigenvalue ? eigenvalue < other.eigenvalue : turn > other.turn;
    }
  };
  void reach(double of_parent, int64_t parent, int64_t place) {
    const double ratio = inputs_[by_ratio_[place]].ratio();
    queue_.push({of_parent * ratio, of_parent, turns_++, parent, place});
  }
  void take(int64_t j) {
    const Reached next = queue_.top();
    queue_.pop();
    std::copy_n(degrees_.begin() + next.parent * d_, d_, degrees_.begin() + j * d_);
    ++degrees_[j * d_ + by_ratio_[next.place]];
    kept_ += next.eigenvalue;
    reach(next.eigenvalue, j, next.place);
    if (next.place + 1 < d_) reach(next.of_parent, next.parent, next.place + 1);
  }

  const std::vector<HermiteFunctions>& inputs_;
  int64_t d_, turns_ = 0;
  std::vector<int32_t> degrees_;
  std::vector<int64_t> by_ratio_;
  std::priority_queue<Reached> queue_;
  double kept_;
};

struct NormalInputs {
  std::vector<double> means, variances;  // one for each input
};

class Eigenfunctions final : public FixedMap, public Derivatives {
 public:
  Eigenfunctions(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D, uint64_t seed,
                 NormalInputs law)
      : FixedMap(std::move(kernel), d, D, seed),
        law_(std::move(law)),
        root_(std::sqrt(this->kernel().variance())) {
    const std::span<const double> l = this->kernel().lengthscale();
    for (int64_t k = 0; k < d; ++k)
      inputs_.emplace_back(l.size() == 1 ? l[0] : l[k], law_.means[k], law_.variances[k]);
    EigenOrder order(inputs_, D);
    kept_ = order.kept();
    places_ = std::move(order).degrees();
    counts_.assign(d, 0);
    for (int64_t j = 0; j < D; ++j)
      for (int64_t k = 0; k < d; ++k)
        counts_[k] = std::max<int64_t>(counts_[k], places_[j * d + k] + 1);
    int64_t first = 0;
    for (int64_t k = 0; k < d; ++k) {
      for (int64_t j = 0; j < D; ++j) places_[j * d + k] += static_cast<int32_t>(first);
      first += counts_[k];
    }
    numbers_ = first;
  }

  std::string_view name() const noexcept override { return "eigenfunctions"; }
  Parameters parameters() const override {
    Parameters spec = FixedMap::parameters();
    spec.set(kMeans, shortest(law_.means));
    spec.set(kVariances, shortest(law_.variances));
    spec.set(kKept, kept_);
    return spec;
  }
  bool is_of_scaled_inputs() const override { return false; }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
      using T = RowNumberOf<decltype(rows)>;
      for_each_table(rows, 0, 0, context, [&](int64_t i, const double* table, double*) noexcept {
        for (int64_t j = c.begin; j < c.end; ++j)
          out(i, j - c.begin) = static_cast<T>(column(j, table));
      });
    });
  }

  const Derivatives* derivatives() const noexcept override { return this; }
  MERCER_DERIVATIVE_CALLS

  double bias_at(const double* x, const double* y) const override {
    std::vector<double> of_x(numbers_), of_y(numbers_);
    fill(x, 0, of_x.data());
    fill(y, 0, of_y.data());
    double sum = 0;
    for (int64_t j = 0; j < features(); ++j) sum += column(j, of_x.data()) * column(j, of_y.data());
    return sum - kernel().value(inputs(), x, y);
  }

 private:
  /// Every function of every input, side by side; then their derivatives up to `orders`.
  template <class T>
  void fill(const T* x, int64_t orders, double* table) const noexcept {
    for (int64_t k = 0; k < inputs(); table += counts_[k++]) {
      const double value = static_cast<double>(x[k]);
      inputs_[k].fill(value, counts_[k], table);
      for (int64_t o = 0; o < orders; ++o)
        inputs_[k].differentiate(value, o, counts_[k],
                                 o == 0 ? nullptr : table + (o - 1) * numbers_,
                                 table + o * numbers_, table + (o + 1) * numbers_);
    }
  }

  /// body(i, table, scratch) for every row, `more` numbers of scratch for a thread.
  template <class T, class Body>
  void for_each_table(MatrixView<const T> X, int64_t orders, int64_t more, Context& context,
                      const Body& body) const {
    if (X.rows == 0) return;
    const int64_t all = checked_multiply(orders + 1, numbers_, kHermite);
    const int64_t each = checked_add(checked_add(all, more, kHermite), 15, kHermite) / 16 * 16;
    const AlignedBuffer<double> buffer(
        checked_multiply(worker_count(context, X.rows), each, kHermite), context, kHermite);
    parallel_for(context, X.rows, [&](int64_t i, int worker) noexcept {
      double* const table = buffer.data() + worker * each;
      fill(X.row(i), orders, table);
      body(i, table, table + all);
    });
  }

  double column(int64_t j, const double* table) const noexcept {
    const int32_t* const at = places_.data() + j * inputs();
    double product = root_;
    for (int64_t k = 0; k < inputs(); ++k) product *= table[at[k]];
    return product;
  }

  /// Of order p: at input k a function's derivative of its order.
  double column(int64_t j, const MultiIndex& p, const double* table) const noexcept {
    const int32_t* const at = places_.data() + j * inputs();
    double product = root_;
    auto next = p.begin();
    for (int64_t k = 0; k < inputs(); ++k) {
      const bool here = next != p.end() && next->input == k;
      product *= table[at[k] + (here ? next->order * numbers_ : 0)];
      if (here) ++next;
    }
    return product;
  }

  /// slopes[k] = dz_j/dx_k, from products over the inputs before k and those after it.
  void gradient(int64_t j, const double* table, double* slopes) const noexcept {
    const int32_t* const at = places_.data() + j * inputs();
    double before = root_, after = 1;
    for (int64_t k = 0; k < inputs(); ++k) {
      slopes[k] = before * table[at[k] + numbers_];
      before *= table[at[k]];
    }
    for (int64_t k = inputs(); k-- > 0;) {
      slopes[k] *= after;
      after *= table[at[k]];
    }
  }

  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const {
    const std::vector<std::vector<MultiIndex>> blocks = partials_of(what, inputs());
    for_each_table(X, what.highest(), 0, context,
                   [&](int64_t i, const double* table, double*) noexcept {
                     T* z = out.row(i);
                     for (const std::vector<MultiIndex>& block : blocks)
                       for (int64_t j = 0; j < features(); ++j) {
                         double sum = 0;
                         for (const MultiIndex& p : block) sum += column(j, p, table);
                         *z++ = static_cast<T>(sum);
                       }
                   });
  }
  template <class T>
  void push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
    for_each_table(X, 1, inputs(), context,
                   [&](int64_t i, const double* table, double* slopes) noexcept {
                     for (int64_t j = 0; j < features(); ++j) {
                       gradient(j, table, slopes);
                       double sum = 0;
                       for (int64_t k = 0; k < inputs(); ++k)
                         sum += slopes[k] * static_cast<double>(V(i, k));
                       out(i, j) = static_cast<T>(sum);
                     }
                   });
  }
  template <class T>
  void pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                      MatrixView<T> out) const {
    const int64_t d = inputs();
    for_each_table(X, 1, 2 * d, context,
                   [&](int64_t i, const double* table, double* slopes) noexcept {
                     double* const sums = slopes + d;
                     std::fill_n(sums, d, 0.0);
                     for (int64_t j = 0; j < features(); ++j) {
                       gradient(j, table, slopes);
                       for (int64_t k = 0; k < d; ++k)
                         sums[k] += slopes[k] * static_cast<double>(G(i, j));
                     }
                     for (int64_t k = 0; k < d; ++k) out(i, k) = static_cast<T>(sums[k]);
                   });
  }

  NormalInputs law_;
  double root_;  // of the kernel's variance
  std::vector<HermiteFunctions> inputs_;
  double kept_;
  std::vector<int32_t> places_;  // of each column, the number of each input's function in a table
  std::vector<int64_t> counts_;  // functions of each input
  int64_t numbers_;              // all of them
};

// The law of the inputs.

bool leaves_law(const Parameters& own) {
  return own.find(kMeans) == nullptr || own.find(kVariances) == nullptr;
}

/// To 20 binary digits of a unit of this size.
double rounded(double x, double size) {
  constexpr int kDigits = 20;
  int exponent = 0;
  std::frexp(size, &exponent);
  return std::ldexp(std::round(std::ldexp(x, kDigits - exponent)), exponent - kDigits);
}

/// Rounded, so that inputs which rows standardised alike are alike: where D cuts through functions
/// of one eigenvalue, rounding errors would choose between them.
NormalInputs law_of_rows(const Rows& X) {
  const auto n = static_cast<double>(X.rows());
  NormalInputs law{std::vector<double>(X.cols()), std::vector<double>(X.cols())};
  const auto add = [&](std::vector<double>& sums, const auto& number) {
    X.visit([&](const auto& rows) {
      std::vector<double> row(rows.cols);
      for (int64_t i = 0; i < rows.rows; ++i) {
        std::ranges::fill(row, 0.0);
        for_each_stored(rows, i, [&](int64_t k, auto x) { row[k] += static_cast<double>(x); });
        for (int64_t k = 0; k < rows.cols; ++k) sums[k] += number(k, row[k]) / n;
      }
    });
  };
  add(law.means, [](int64_t, double x) { return x; });
  add(law.variances, [&](int64_t k, double x) { return (x - law.means[k]) * (x - law.means[k]); });
  for (int64_t k = 0; k < X.cols(); ++k) {
    law.means[k] = rounded(law.means[k], std::sqrt(law.variances[k]));
    law.variances[k] = rounded(law.variances[k], law.variances[k]);
  }
  return law;
}

NormalInputs law_of(const MapArguments& a) {
  NormalInputs law{std::vector<double>(a.inputs, 0.0), std::vector<double>(a.inputs, 1.0)};
  if (leaves_law(a.own) && a.data.rows != nullptr) {
    law = law_of_rows(*a.data.rows);
    const std::span<const double> l = a.kernel.lengthscale();
    for (int64_t k = 0; k < a.inputs; ++k) {
      const double unit = l.size() == 1 ? l[0] : l[k];
      law.variances[k] = std::max(law.variances[k], kConstant * unit * unit);
    }
  }
  if (a.own.find(kMeans) != nullptr)
    law.means = for_each_input(a.own.numbers(kMeans), a.inputs, kMeans);
  if (a.own.find(kVariances) != nullptr)
    law.variances = for_each_input(a.own.numbers(kVariances), a.inputs, kVariances);
  const std::span<const double> l = a.kernel.lengthscale();
  for (int64_t k = 0; k < a.inputs; ++k) {
    const double unit = l.size() == 1 ? l[0] : l[k], ratio = law.variances[k] / unit / unit;
    require(ratio >= kConstant && ratio <= kMostRatio, MERCER_INVALID_ARGUMENT,
            "variances[%ld] = %g beside a lengthscale of %g, expected 1e-8 to 1e16 of its square",
            k, law.variances[k], unit);
  }
  return law;
}

std::unique_ptr<FeatureMap> eigenfunctions_from(const MapArguments& a) {
  require_features(a.kernel.traits().is_gaussian, a.kernel, "eigenfunction", "gaussian");
  a.kernel.check_dimension(a.inputs);
  require(a.features <= kMostEigenfunctions && a.inputs <= kLargestTable / a.features,
          MERCER_UNSUPPORTED,
          "features = %ld of %ld inputs for map eigenfunctions, expected at most %ld features, and "
          "2^28 features times inputs",
          a.features, a.inputs, kMostEigenfunctions);
  return std::make_unique<Eigenfunctions>(a.kernel.copy(), a.inputs, a.features, a.seed, law_of(a));
}

Field law_field(const char* key, double least, const char* help) {
  return {.key = key,
          .type = FieldType::number_or_numbers,
          .fallback = kOptional,
          .least = least,
          .least_open = true,
          .help = help};
}

}  // namespace

MapEntry eigenfunctions_entry() {
  return {.name = "eigenfunctions",
          .help =
              "products of Hermite functions, the eigenfunctions of the gaussian kernel under "
              "normal inputs, in order of eigenvalue: the same for every seed; for a few inputs; "
              "d*D per row",
          .fields = {law_field(kMeans, -kUnbounded,
                               "of the inputs, one for all or one each; absent: of the rows that "
                               "it is made of, 0 where none are given"),
                     law_field(kVariances, 0,
                               "of the inputs, likewise; absent: of the rows, 1 where none are "
                               "given"),
                     number_field(kKept, kOptional, 0, kUnbounded,
                                  "said by the map: the mean of |z(x)|^2 over normal inputs, as a "
                                  "share of k(x, x)")},
          .make = eigenfunctions_from,
          .follows_rows = leaves_law};
}

}  // namespace mercer::feature
