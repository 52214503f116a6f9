// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = f(||tau||), f given by a table of its values at some radii and between them by cubics. A
// positive definite k of m inputs is a mixture of the waves Lambda(s r) = E cos(s r z_1), z uniform
// on the unit sphere of R^m (Schoenberg 1938), and the distribution of s is that of ||omega||: the
// Hankel transform of f. Of a table that transform is ill posed: what lies between and beyond its
// radii decides the law's tail, more so the larger m. Hence not the integral but the distribution
// whose waves are closest to f, by non-negative least squares: it is a law whatever the table, and
// how far its waves are from f says whether f is positive definite, to the table's own accuracy.
#include <algorithm>
#include <cmath>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "kernel/entry.h"
#include "kernel/stationary.h"
#include "linalg/non_negative.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kMostRadii = 4096, kMostInputs = 4096;
constexpr double kLeastEnd = 1e-150, kMostRadius = 1e150, kMostValue = 1e150;
constexpr double kLeastStep = 1e-9;  // of the last radius, so that slopes are numbers of use

/// f, beyond the last radius the last value.
class Table {
 public:
  Table(std::vector<double> radii, std::vector<double> values)
      : radii_(std::move(radii)), values_(std::move(values)) {
    check();
    for (int64_t i = 0; i < count(); ++i) slopes_.push_back(slope_at(i));
  }

  int64_t count() const noexcept { return std::ssize(radii_); }
  double radius(int64_t i) const noexcept { return radii_[i]; }
  double last() const noexcept { return radii_.back(); }
  double at_zero() const noexcept { return values_.front(); }
  /// The least step between radii.
  double closest() const noexcept {
    double least = last();
    for (int64_t i = 1; i < count(); ++i) least = std::min(least, radii_[i] - radii_[i - 1]);
    return least;
  }

  /// f(r) and f'(r), r >= 0 or NaN.
  std::pair<double, double> at(double r) const noexcept {
    if (!(r < last())) return {std::isnan(r) ? r : values_.back(), std::isnan(r) ? r : 0};
    const auto i = std::upper_bound(radii_.begin(), radii_.end(), r) - radii_.begin() - 1;
    const double h = radii_[i + 1] - radii_[i], t = (r - radii_[i]) / h;
    const double rise = values_[i + 1] - values_[i];
    const double a = h * slopes_[i] - rise, b = rise - h * slopes_[i + 1];
    const double bend = a + t * (b - a);
    return {values_[i] + t * (rise + (1 - t) * bend),
            (rise + (1 - 2 * t) * bend + t * (1 - t) * (b - a)) / h};
  }

 private:
  void check() const {
    require(count() >= 2 && count() <= kMostRadii, MERCER_INVALID_ARGUMENT,
            "radii = a list of %ld numbers, expected 2 to %ld", count(), kMostRadii);
    require(values_.size() == radii_.size(), MERCER_INVALID_ARGUMENT,
            "values = a list of %zu numbers, expected %ld, as many as radii", values_.size(),
            count());
    require(radii_[0] == 0, MERCER_INVALID_ARGUMENT, "radii[0] = %g, expected 0", radii_[0]);
    require(values_[0] > 0, MERCER_INVALID_ARGUMENT, "values[0] = %g, expected a number above 0",
            values_[0]);
    for (int64_t i = 1; i < count(); ++i)
      require(radii_[i] > radii_[i - 1] && radii_[i] - radii_[i - 1] >= kLeastStep * last(),
              MERCER_INVALID_ARGUMENT,
              "radii[%ld] = %g after %g, expected ascending radii that differ by at least 1e-9 of "
              "the last one, %g",
              i, radii_[i], radii_[i - 1], last());
    require(last() >= kLeastEnd, MERCER_INVALID_ARGUMENT,
            "radii[%ld] = %g, the last, expected at least %g", count() - 1, last(), kLeastEnd);
    for (int64_t i = 1; i < count(); ++i)
      require(std::fabs(values_[i]) <= values_[0], MERCER_INVALID_ARGUMENT,
              "values[%ld] = %g, expected no more than values[0] = %g in size, as of a positive "
              "definite function",
              i, values_[i], values_[0]);
  }
  // Of the polynomial through the radius and its up to three neighbours, by Newton's form.
  double slope_at(int64_t i) const {
    const int64_t n = std::min<int64_t>(4, count());
    const int64_t first = std::clamp<int64_t>(i - 1, 0, count() - n);
    double difference[4], slope = 0, product = 1, derivative = 0;
    for (int64_t k = 0; k < n; ++k) difference[k] = values_[first + k];
    for (int64_t order = 1; order < n; ++order) {
      const double step = radii_[i] - radii_[first + order - 1];
      derivative = derivative * step + product;
      product *= step;
      for (int64_t k = 0; k + order < n; ++k)
        difference[k] =
            (difference[k + 1] - difference[k]) / (radii_[first + k + order] - radii_[first + k]);
      slope += difference[0] * derivative;
    }
    return slope;
  }

  std::vector<double> radii_, values_, slopes_;
};

/// The second integral of Lambda from 0, where u Lambda'' + (m - 1) Lambda' + u Lambda = 0, to about
/// 1e-13: near 0 by the power series, further on by Taylor series about the multiples of a step,
/// whose recursion multiplies rounding by at most e^{m step / u}.
class WaveIntegral {
 public:
  WaveIntegral(int64_t m, double most)
      : half_(0.5 * static_cast<double>(m)), start_(std::max(4.0, half_ / 8)) {
    double wave, slope, once, twice;
    sum(start_, wave, slope, once, twice);
    for (double u = start_; u < most; u += kStep) {
      double c[kTerms + 2] = {twice, once, 0.5 * wave};
      expand(u, wave, slope, c);
      pieces_.insert(pieces_.end(), c, c + kTerms + 2);
      // The values at the next multiple, from the polynomial and its derivatives.
      double d[4] = {};
      for (int n = kTerms + 1; n >= 0; --n)
        for (int k = 3; k >= 0; --k) d[k] = d[k] * kStep + (k > 0 ? k * d[k - 1] : c[n]);
      twice = d[0], once = d[1], wave = d[2], slope = d[3];
    }
  }

  double operator()(double u) const noexcept {
    if (u < start_) {
      double wave, slope, once, twice;
      sum(u, wave, slope, once, twice);
      return twice;
    }
    const auto pieces = std::ssize(pieces_) / (kTerms + 2);
    const int64_t i = std::min(static_cast<int64_t>((u - start_) / kStep), pieces - 1);
    const double h = u - (start_ + kStep * static_cast<double>(i));
    const double* const c = &pieces_[i * (kTerms + 2)];
    double value = c[kTerms + 1];
    for (int n = kTerms; n >= 0; --n) value = value * h + c[n];
    return value;
  }

 private:
  static constexpr double kStep = 0.25;
  static constexpr int kTerms = 14;  // 0.25^14 / 14! < 1e-19

  // Lambda(u) = sum_k (-u^2/4)^k / (k! (m/2) (m/2 + 1) ... (m/2 + k - 1)).
  void sum(double u, double& wave, double& slope, double& once, double& twice) const noexcept {
    const double square = -0.25 * u * u;
    double term = 1;
    wave = slope = once = twice = 0;
    for (int k = 0; k < 1000; ++k) {
      const double n = 2.0 * k;
      wave += term;
      if (k > 0) slope += term * n / u;
      once += term * u / (n + 1);
      twice += term * u * u / ((n + 1) * (n + 2));
      const double factor = square / ((k + 1) * (half_ + k));
      term *= factor;
      if (std::fabs(term) < 1e-19 && std::fabs(factor) < 0.5) break;
    }
  }
  // Coefficients of h^2, h^3, ... of the second integral from those of Lambda(u + h).
  void expand(double u, double wave, double slope, double* c) const noexcept {
    double before = 0, now = wave, next = slope;
    for (int n = 0; n < kTerms; ++n) {
      c[n + 2] = now / ((n + 1) * (n + 2));
      const double after =
          -((n + 1) * (n + 2 * half_ - 1) * next + u * now + before) / (u * (n + 2) * (n + 1));
      before = now;
      now = next;
      next = after;
    }
  }

  double half_, start_;
  std::vector<double> pieces_;  // kTerms + 2 coefficients each
};

/// A distribution of s >= 0: 0 with some probability, otherwise of a density that is linear between
/// nodes.
struct RadialDensity {
  int64_t m = 0;
  std::vector<double> nodes = {}, heights = {};
  std::vector<double> upto = {};  // the probability of s <= each node, the first that of 0

  /// The s of probability u below it.
  double quantile(double u) const noexcept {
    if (u <= upto.front()) return 0;
    const auto found = std::lower_bound(upto.begin(), upto.end(), u) - upto.begin();
    const int64_t i = std::min(found, std::ssize(upto) - 1) - 1;
    const double rest = std::max(u - upto[i], 0.0), width = nodes[i + 1] - nodes[i];
    const double rise = (heights[i + 1] - heights[i]) / width;
    const double root = std::sqrt(std::max(heights[i] * heights[i] + 2 * rest * rise, 0.0));
    if (!(heights[i] + root > 0)) return nodes[i];
    return std::min(nodes[i] + 2 * rest / (heights[i] + root), nodes[i + 1]);
  }
};

// The least squares. Their unknowns are the probabilities of s = 0 and of hats about the nodes, which
// lie evenly up to the 33rd and then 3 % apart: far out f resolves ratios of s. Even hats of width
// w have waves that return at 2 pi / w, here 16 times the last radius; up to half of that they are
// held to f's last value.
constexpr double kReach = 8, kRatio = 0.03;
constexpr int64_t kInside = 256, kGraded = 384, kBeyond = 96;
constexpr double kMostTurns = 1e6;  // s times the last radius
constexpr double kMostAngle =
    16000;  // times s r beyond which hats are so wide that their waves are 0
constexpr double kSteepest = 1e-15;

class Hats {
 public:
  Hats(const Table& table, int64_t m) {
    const double pi = 3.14159265358979323846, step = pi / (kReach * table.last());
    const double growth = std::max(1.0, 0.25 * std::sqrt(static_cast<double>(m)));
    const double end = growth * std::min(30 * pi / table.closest(), kMostTurns / table.last());
    nodes_.push_back(0);
    while (nodes_.back() < end || nodes_.size() < 3)
      nodes_.push_back(nodes_.back() + std::max(step, kRatio * nodes_.back()));
    most_ = std::min(growth * kMostAngle, nodes_.back() * kReach * table.last());
    integral_ = std::make_unique<const WaveIntegral>(m, most_);
  }
  /// Unknowns: 1, and one for each node but the last.
  int64_t count() const noexcept { return std::ssize(nodes_); }

  /// The waves at r > 0, count() numbers: second differences of the second integral.
  void waves(double r, double* out) const noexcept {
    std::fill_n(out, count(), 0.0);
    out[0] = 1;
    const double square = r * r;
    double here = 0, slope = 0;
    for (int64_t i = 0; i + 1 < count() && nodes_[i + 1] * r <= most_; ++i) {
      const double next = (*integral_)(nodes_[i + 1] * r) / square;
      const double rise = (next - here) / (nodes_[i + 1] - nodes_[i]);
      out[i + 1] =
          i == 0 ? 2 * rise / nodes_[1] : 2 * (rise - slope) / (nodes_[i + 1] - nodes_[i - 1]);
      here = next;
      slope = rise;
    }
  }

  RadialDensity density(int64_t m, std::span<const double> probabilities) const {
    RadialDensity made{m, nodes_, std::vector<double>(nodes_.size(), 0.0), {probabilities[0]}};
    for (int64_t i = 0; i + 1 < count(); ++i)
      made.heights[i] = 2 * probabilities[i + 1] / (nodes_[i + 1] - (i == 0 ? 0 : nodes_[i - 1]));
    for (int64_t i = 0; i + 1 < count(); ++i)
      made.upto.push_back(made.upto.back() + 0.5 * (made.heights[i] + made.heights[i + 1]) *
                                                 (nodes_[i + 1] - nodes_[i]));
    for (double& one : made.upto) one /= made.upto.back();
    return made;
  }

 private:
  std::vector<double> nodes_;
  double most_ = 0;
  std::unique_ptr<const WaveIntegral> integral_;
};

/// Where the least squares look: as many distances between any two radii as between others; a fixed
/// ratio apart from a fourth of the least step on, since far hats turn there, and they stand a
/// fixed ratio apart; and evenly beyond the last radius.
std::vector<double> fitted_distances(const Table& table) {
  std::vector<double> distances;
  for (int64_t j = 1; j <= kInside; ++j) {
    const double place = static_cast<double>(j * (table.count() - 1)) / double{kInside};
    const int64_t i = std::min(static_cast<int64_t>(place), table.count() - 2);
    const double t = place - static_cast<double>(i);
    distances.push_back(table.radius(i) + t * (table.radius(i + 1) - table.radius(i)));
  }
  const double first = 0.25 * table.closest();
  const double ratio = random::portable_exp(random::portable_log(table.last() / first) / kGraded);
  double r = first;
  for (int64_t j = 0; j < kGraded; ++j, r *= ratio) distances.push_back(r);
  for (int64_t j = 1; j <= kBeyond; ++j)
    distances.push_back(table.last() *
                        (1 + (kReach - 1) * static_cast<double>(j) / double{kBeyond}));
  return distances;
}

/// The probabilities p of least ||sum_i p_i (waves_i - f/f(0))||^2, as in sphere_polynomial.cpp.
std::vector<double> fitted(const Table& table, const Hats& hats) {
  const int64_t n = hats.count();
  const std::vector<double> distances = fitted_distances(table);
  const Matrix<double> G(n, n);
  G.fill(1);
  std::vector<double> wave(n);
  for (const double r : distances) {
    hats.waves(r, wave.data());
    const double f = table.at(r).first / table.at_zero();
    for (double& one : wave) one -= f;
    for (int64_t i = 0; i < n; ++i) {
      const double weighted = wave[i] / static_cast<double>(distances.size());
      for (int64_t j = 0; j < n; ++j) G(i, j) += weighted * wave[j];
    }
  }
  std::vector<double> p =
      linalg::non_negative_least_squares(G.view(), std::vector<double>(n, 1.0), kSteepest);
  double sum = 0;
  for (const double one : p) sum += one;
  for (double& one : p) one /= sum;
  return p;
}

struct TableFit {
  RadialDensity density;
  double difference = 0, radius = 0;  // the largest over f(0), and where it is
};

TableFit fit_table(const Table& table, int64_t m) {
  const Hats hats(table, m);
  const std::vector<double> p = fitted(table, hats);
  TableFit fit{hats.density(m, p)};
  std::vector<double> wave(p.size());
  const auto compare = [&](double r) {
    hats.waves(r, wave.data());
    double sum = 0;
    for (size_t i = 0; i < p.size(); ++i) sum += p[i] * wave[i];
    const double difference = std::fabs(sum - table.at(r).first / table.at_zero());
    if (!(difference <= fit.difference)) fit.difference = difference, fit.radius = r;
  };
  for (int64_t i = 1; i < table.count(); ++i) {
    compare(0.5 * (table.radius(i - 1) + table.radius(i)));
    compare(table.radius(i));
  }
  for (int64_t j = 1; j <= 4 * kBeyond; ++j)
    compare(table.last() * (1 + (kReach - 1) * static_cast<double>(j) / double{4 * kBeyond}));
  return fit;
}

/// The last fits asked for, since every copy of a kernel asks again. A fork while another thread
/// holds the lock leaves it locked in the child, which then fits anew.
std::shared_ptr<const TableFit> cached_fit(const Parameters& own, const Table& table) {
  using Key = std::tuple<int64_t, std::vector<double>, std::vector<double>>;
  static std::mutex mutex;
  static std::list<std::pair<Key, std::shared_ptr<const TableFit>>> last;
  const Key key{own.integer("most_inputs"), own.numbers("radii"), own.numbers("values")};
  {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (lock.owns_lock())
      for (const auto& [known, fit] : last)
        if (known == key) return fit;
  }
  auto made = std::make_shared<const TableFit>(fit_table(table, std::get<0>(key)));
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock.owns_lock()) return made;
  last.emplace_front(key, made);
  if (last.size() > 8) last.pop_back();
  return made;
}

/// omega = s z, z uniform on the unit sphere of R^m, in d < m inputs its first d coordinates; for m
/// = 1 a product.
class RadialLaw final : public random::Law {
 public:
  explicit RadialLaw(std::shared_ptr<const TableFit> fit) : fit_(std::move(fit)) {}
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    if (is_product()) {
      random::fill_uniform(stream, 0, omega);
      for (double& w : omega) w = quantile(w);
      return;
    }
    random::Cursor cursor(stream);
    const double s = density().quantile(random::uniform(cursor.next()));
    double squares = 0;
    for (double& w : omega) {
      w = random::normal(cursor);
      squares += w * w;
    }
    const double factor = s / std::sqrt(squares + rest(cursor, std::ssize(omega)));
    for (double& w : omega) w *= factor;
  }
  bool isotropic() const noexcept override { return false; }
  bool has_uniform_direction() const noexcept override { return true; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    if (d > density().m) return kNaN;
    random::Cursor cursor(stream);
    const double s = density().quantile(random::uniform(cursor.next()));
    if (d == density().m) return s;
    const double squares = random::chi_squared(cursor, static_cast<double>(d));
    return s * std::sqrt(squares / (squares + rest(cursor, d)));
  }
  bool is_product() const noexcept override { return density().m == 1; }
  bool is_mixture() const noexcept override { return false; }
  double quantile(double u) const noexcept override {
    if (!is_product()) return kNaN;
    return u < 0.5 ? -density().quantile(1 - 2 * u) : density().quantile(2 * u - 1);
  }

 private:
  const RadialDensity& density() const noexcept { return fit_->density; }
  /// The squares of the coordinates of a normal vector after its first d.
  double rest(random::Cursor& cursor, int64_t d) const noexcept {
    const int64_t others = density().m - d;
    return others > 0 ? random::chi_squared(cursor, static_cast<double>(others)) : 0;
  }
  std::shared_ptr<const TableFit> fit_;
};

class Radial final : public RadialKernel<Radial, SpectralKernel<Radial, Sum, RadialLaw>> {
 public:
  explicit Radial(const Parameters& canonical)
      : Radial(canonical, Table(canonical.numbers("radii"), canonical.numbers("values"))) {}
  double value_at_zero() const noexcept override { return variance() * table_.at_zero(); }
  double finish(double squared) const noexcept { return table_.at(std::sqrt(squared)).first; }
  // Of one slope: f' / 2r, infinite at 0 where f has a kink.
  void slopes(double squared, int64_t count, double* f) const noexcept {
    const double r = std::sqrt(squared);
    const auto [value, slope] = table_.at(r);
    std::fill_n(f, count, 0.0);
    f[0] = value;
    if (count > 1 && r > 0) f[1] = slope / (2 * r);
  }

 private:
  Radial(const Parameters& canonical, Table table)
      : Radial(canonical, cached_fit(canonical, table), std::move(table)) {}
  Radial(const Parameters& canonical, std::shared_ptr<const TableFit> fit, Table&& table)
      : RadialKernel(canonical, fit), table_(std::move(table)) {
    traits_.most_inputs = canonical.integer("most_inputs");
    traits_.value_error = fit->difference * value_at_zero();
    const double tolerance = canonical.number("tolerance");
    require(fit->difference <= tolerance, MERCER_INVALID_ARGUMENT,
            "values is not positive definite in %ld inputs: at radius %g it differs by %.3g of "
            "values[0] from what was found closest, expected at most tolerance = %g",
            traits_.most_inputs, fit->radius, fit->difference, tolerance);
  }

  Table table_;
};

}  // namespace

KernelEntry radial_entry() {
  return entry_of<Radial>(
      "radial", "f(||tau|| / l) of a table of f, between its radii cubic, then constant",
      {count_field("most_inputs", {}, double{kMostInputs},
                   "the most inputs of rows: the table has to be positive definite in so many"),
       {.key = "radii",
        .type = FieldType::numbers,
        .fallback = {},
        .least = 0,
        .most = kMostRadius,
        .help = "2 to 4096 ascending numbers, the first 0"},
       {.key = "values",
        .type = FieldType::numbers,
        .fallback = {},
        .least = -kMostValue,
        .most = kMostValue,
        .help = "f at each of them"},
       number_field("tolerance", 1e-3, 1e-9, 0.1,
                    "the largest difference, over f(0), of f and the mean of its features"),
       lengthscale_field()});
}

}  // namespace mercer::kernel
