// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel/composed_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "kernel/jet.h"
#include "kernel/kernel.h"
#include "random/distributions.h"
#include "random/scalar_math.h"
#include "random/stream.h"

namespace mercer::kernel {
namespace {

// Spectral laws of sums and products of shift-invariant kernels: a mixture, since Fourier
// transforms add up, and the law of a sum of frequencies, since those of products are convolved.
using KernelParts = std::span<const std::shared_ptr<const Kernel>>;

// A sum of isotropic omega_i = s_i z_i / l_i is, given the scales s_i, normal with independent
// coordinates of variance sum_i (s_i / l_ik)^2: one normal vector serves all of them. Coordinates
// of product laws come through their inverse distribution functions, a few at a time, so that
// nothing is allocated. Every part draws from a stream of its own, that of the column under a
// child's seed.
constexpr uint64_t kLawPart = 2;
constexpr size_t kTogether = 64;  // coordinates at a time

/// The law of a part: coordinate k of a draw is divided by entry k of the lengthscale.
struct PartLaw {
  std::shared_ptr<const random::Law> law;
  std::vector<double> lengthscale;  // one, or one for each input

  double at(size_t k) const noexcept { return lengthscale[lengthscale.size() > 1 ? k : 0]; }
  /// The density of the draw after division; NaN above a few inputs, where no caller needs it.
  double density(std::span<const double> omega) const noexcept {
    std::array<double, kTogether> scaled;
    if (omega.size() > kTogether) return kNaN;
    double factor = 1;
    for (size_t k = 0; k < omega.size(); ++k) {
      scaled[k] = omega[k] * at(k);
      factor *= at(k);
    }
    return factor * law->density({scaled.data(), omega.size()});
  }
  /// Whether omega is isotropic after division by the lengthscale, too.
  bool is_round() const noexcept {
    return law->isotropic() && lengthscale.size() == 1 && !std::isnan(law->scale_quantile(0.5));
  }
};

PartLaw term_of(const std::shared_ptr<const Kernel>& part) {
  PartLaw term{{part, part->spectral_law()},
               {part->lengthscale().begin(), part->lengthscale().end()}};
  if (term.lengthscale.empty()) term.lengthscale.push_back(1);
  return term;
}

bool have_laws(KernelParts parts) {
  return std::ranges::all_of(parts, [](const auto& part) { return part->is_shift_invariant(); });
}

random::Stream child(const random::Stream& stream, uint64_t part) noexcept {
  random::Stream own = stream;
  own.seed = random::child_seed(stream.seed, kLawPart, part);
  return own;
}

double first_uniform(const random::Stream& stream) noexcept {
  return random::uniform(stream.block(0));
}

class PartSampler final : public random::Law {
 public:
  explicit PartSampler(KernelParts parts) {
    double sum = 0;
    for (const auto& part : parts) {
      terms_.push_back(term_of(part));
      sum += part->value_at_zero();
      ends_.push_back(sum);
    }
    isotropic_ = std::ranges::all_of(terms_, &PartLaw::is_round);
    mixture_ = std::ranges::all_of(
        terms_, [](const PartLaw& one) { return one.law->is_product() || one.law->is_mixture(); });
  }

  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    const size_t i = component(stream);
    terms_[i].law->draw(child(stream, 1), omega);
    for (size_t k = 0; k < omega.size(); ++k) omega[k] /= terms_[i].at(k);
  }
  bool isotropic() const noexcept override { return isotropic_; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    if (!isotropic()) return kNaN;
    const PartLaw& term = terms_[component(stream)];
    return term.law->radius(child(stream, 1), d) / term.at(0);
  }
  // Quantile function of the scale, component by component rather than ascending.
  double scale_quantile(double u) const noexcept override {
    if (!isotropic()) return kNaN;
    const Place place = place_of(u);
    return terms_[place.term].law->scale_quantile(place.u) / terms_[place.term].at(0);
  }
  bool is_product() const noexcept override { return false; }
  bool is_mixture() const noexcept override { return mixture_; }
  /// The scale, or the component plus a uniform number for the component's own m.
  double mixing(double u) const noexcept override {
    if (isotropic()) return scale_quantile(u);
    const Place place = place_of(u);
    return static_cast<double>(place.term) + place.u;
  }
  double quantile_given(double m, int64_t k, double u) const noexcept override {
    if (isotropic()) return m * random::normal_quantile(u);
    const double whole = std::floor(m);
    const PartLaw& term = terms_[whole];
    const random::Law& law = *term.law;
    const double omega =
        law.is_product() ? law.quantile(u) : law.quantile_given(law.mixing(m - whole), k, u);
    return omega / term.at(static_cast<size_t>(k));
  }
  // The densities of the components, at omega in units of their lengthscales.
  double density(std::span<const double> omega) const noexcept override {
    double sum = 0;
    for (size_t i = 0; i < terms_.size(); ++i) {
      const double weight = ends_[i] - (i == 0 ? 0 : ends_[i - 1]);
      sum += weight / ends_.back() * terms_[i].density(omega);
    }
    return sum;
  }

 private:
  /// A component, and the position of a uniform number inside it, which is uniform again.
  struct Place {
    size_t term;
    double u;
  };
  Place place_of(double u) const noexcept {
    constexpr double kLeast = 0x1p-40;
    const double at = u * ends_.back();
    const size_t i = term_at(at);
    const double begin = i == 0 ? 0 : ends_[i - 1];
    return {i, std::clamp((at - begin) / (ends_[i] - begin), kLeast, 1 - kLeast)};
  }
  size_t term_at(double at) const noexcept {
    size_t i = 0;
    while (i + 1 < ends_.size() && at >= ends_[i]) ++i;
    return i;
  }
  size_t component(const random::Stream& stream) const noexcept {
    return term_at(first_uniform(child(stream, 0)) * ends_.back());
  }

  std::vector<PartLaw> terms_;
  std::vector<double> ends_;  // of their weights, added up
  bool isotropic_;
  bool mixture_;
};

class Convolution final : public random::Law {
 public:
  /// Isotropic terms, then those that are products alone.
  Convolution(std::vector<PartLaw> round, std::vector<PartLaw> products)
      : round_(std::move(round)), products_(std::move(products)) {
    for (size_t i = 0; i < round_.size(); ++i) {
      if (!round_[i].law->is_product()) random_.push_back(i);
    }
    // One number cannot determine two random scales.
    isotropic_ =
        products_.empty() && random_.size() <= 1 && std::ranges::all_of(round_, &PartLaw::is_round);
  }

  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    if (round_.empty()) {
      std::ranges::fill(omega, 0.0);
    } else {
      random::fill_normal(stream, 0, omega);
      spread(stream, omega);
    }
    for (size_t i = 0; i < products_.size(); ++i)
      add(products_[i], child(stream, round_.size() + i), omega);
  }

  bool isotropic() const noexcept override { return isotropic_; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    if (!isotropic()) return kNaN;
    double one = 1;
    spread(stream, {&one, 1});
    random::Cursor cursor(stream);
    return one * random::chi(cursor, static_cast<double>(d));
  }
  double fixed_radius(int64_t d) const noexcept override {
    return isotropic() && random_.empty() ? std::sqrt(static_cast<double>(d)) * scale_quantile(0.5)
                                          : kNaN;
  }
  double scale_quantile(double u) const noexcept override {
    return isotropic() ? scale_given(random_scale(u), 0) : kNaN;
  }
  bool is_product() const noexcept override { return false; }

  /// m is the one scale that is random.
  bool is_mixture() const noexcept override { return products_.empty() && random_.size() <= 1; }
  double mixing(double u) const noexcept override { return is_mixture() ? random_scale(u) : kNaN; }
  double quantile_given(double m, int64_t k, double u) const noexcept override {
    return scale_given(m, static_cast<size_t>(k)) * random::normal_quantile(u);
  }

 private:
  double random_scale(double u) const noexcept {
    return random_.empty() ? 1 : round_[random_.front()].law->scale_quantile(u);
  }
  /// The scale of coordinate k, given the one random scale.
  double scale_given(double m, size_t k) const noexcept {
    double square = 0;
    for (size_t i = 0; i < round_.size(); ++i) {
      const bool is_random = !random_.empty() && random_.front() == i;
      const double s = (is_random ? m : round_[i].law->scale_quantile(0.5)) / round_[i].at(k);
      square += s * s;
    }
    return std::sqrt(square);
  }

  /// Normal numbers times the scales of their coordinates.
  void spread(const random::Stream& stream, std::span<double> omega) const noexcept {
    for (size_t begin = 0; begin < omega.size(); begin += kTogether) {
      const size_t count = std::min(kTogether, omega.size() - begin);
      std::array<double, kTogether> square{};
      for (size_t i = 0; i < round_.size(); ++i) {
        const double s = round_[i].law->scale_quantile(first_uniform(child(stream, i)));
        for (size_t k = 0; k < count; ++k) {
          const double own = s / round_[i].at(begin + k);
          square[k] += own * own;
        }
      }
      for (size_t k = 0; k < count; ++k) omega[begin + k] *= std::sqrt(square[k]);
    }
  }

  static void add(const PartLaw& term, const random::Stream& stream,
                  std::span<double> omega) noexcept {
    std::array<double, kTogether> u;
    for (size_t begin = 0; begin < omega.size(); begin += kTogether) {
      const size_t count = std::min(kTogether, omega.size() - begin);
      random::fill_uniform(stream, begin, {u.data(), count});
      for (size_t k = 0; k < count; ++k)
        omega[begin + k] += term.law->quantile(u[k]) / term.at(begin + k);
    }
  }

  std::vector<PartLaw> round_, products_;
  std::vector<size_t> random_;  // of round_ those whose scale is random
  bool isotropic_;
};

/// Also collects the terms of nested products; false if a part has no law to add.
bool collect(KernelParts parts, std::vector<PartLaw>& round, std::vector<PartLaw>& products) {
  for (const auto& part : parts) {
    const std::optional<Composition> inner = part->composition();
    if (inner && inner->rule == Composition::Rule::product) {
      if (!collect(inner->parts, round, products)) return false;
      continue;
    }
    PartLaw term = term_of(part);
    const bool sampled = term.law->isotropic() && !std::isnan(term.law->scale_quantile(0.5));
    if (!sampled && !term.law->is_product()) return false;
    (sampled ? round : products).push_back(std::move(term));
  }
  return true;
}

// The law of a part drawn with probability k_i(0) / sum_j k_j(0); isotropic where all parts are,
// over one lengthscale each, and a mixture of products where they are products or mixtures. Null
// unless every part has a spectral law and takes rows as they are.
std::unique_ptr<const random::Law> mixture_of(KernelParts parts) {
  if (!have_laws(parts)) return nullptr;
  return std::make_unique<PartSampler>(parts);
}

// The law of the sum of one frequency per part; isotropic where all parts are, over one
// lengthscale each, and at most one of their scales is random. Null if a part has no spectral law,
// changes its rows, or has a law that is neither isotropic nor a product.
std::unique_ptr<const random::Law> convolution_of(KernelParts parts) {
  std::vector<PartLaw> round, products;
  if (!have_laws(parts) || !collect(parts, round, products)) return nullptr;
  return std::make_unique<Convolution>(std::move(round), std::move(products));
}

// Power series of sums and products of kernels.

// Every part has the form g(x) g(y) sum_j p_j(s) exp(c_j s), s = x'y, with polynomials p_j. Sums
// and products keep it: exponents add up, and polynomials are multiplied by Cauchy's rule; all
// coefficients are >= 0, so nothing cancels.
constexpr size_t kMostProductDegree = 1024, kMostTerms = 1024;

struct Term {
  double rate;                     // c_j
  std::vector<double> polynomial;  // of p_j, its last not 0 but for the zero polynomial
};

struct Form {
  std::vector<Term> terms;
  double radial;
};

void add(std::vector<Term>& terms, Term more) {
  const auto same = std::find_if(terms.begin(), terms.end(),
                                 [&](const Term& term) { return term.rate == more.rate; });
  if (same == terms.end()) return terms.push_back(std::move(more));
  if (same->polynomial.size() < more.polynomial.size()) same->polynomial.swap(more.polynomial);
  for (size_t n = 0; n < more.polynomial.size(); ++n) same->polynomial[n] += more.polynomial[n];
}

Term product_of(const Term& a, const Term& b) {
  Term product{a.rate + b.rate,
               std::vector<double>(a.polynomial.size() + b.polynomial.size() - 1, 0.0)};
  for (size_t i = 0; i < a.polynomial.size(); ++i)
    for (size_t j = 0; j < b.polynomial.size(); ++j)
      product.polynomial[i + j] += a.polynomial[i] * b.polynomial[j];
  return product;
}

std::optional<Form> join(const Form& a, const Form& b, Composition::Rule rule) {
  Form joined{{}, a.radial + b.radial};
  if (rule == Composition::Rule::sum) {
    if (a.radial != b.radial) return std::nullopt;
    joined = a;
    for (const Term& term : b.terms) add(joined.terms, term);
    return joined;
  }
  for (const Term& u : a.terms) {
    for (const Term& v : b.terms) {
      if (joined.terms.size() > kMostTerms ||
          u.polynomial.size() + v.polynomial.size() > kMostProductDegree + 2)
        return std::nullopt;
      add(joined.terms, product_of(u, v));
    }
  }
  return joined;
}

/// The part's series in unscaled rows.
std::optional<Form> form_of_leaf(const Kernel& kernel) {
  const PowerSeries* const series = kernel.series();
  const auto lengthscale = kernel.lengthscale();
  if (series == nullptr || lengthscale.size() > 1) return std::nullopt;
  const double c = lengthscale.empty() ? 1 : 1 / (lengthscale[0] * lengthscale[0]);
  Form form{{}, c * series->radial()};
  if (series->is_exponential()) {
    form.terms.push_back({c, {series->coefficient(0)}});
    return form;
  }
  if (!series->degree()) return std::nullopt;
  Term term{0, {}};
  double power = 1;
  for (int64_t n = 0; n <= *series->degree(); ++n, power *= c)
    term.polynomial.push_back(series->coefficient(n) * power);
  form.terms.push_back(std::move(term));
  return form;
}

std::optional<Form> form_of(const Composition& composition, double variance);

std::optional<Form> form_of(const Kernel& kernel) {
  const std::optional<Composition> composition = kernel.composition();
  return composition ? form_of(*composition, kernel.variance()) : form_of_leaf(kernel);
}

std::optional<Form> form_of(const Composition& composition, double variance) {
  std::optional<Form> whole;
  for (const auto& part : composition.parts) {
    const std::optional<Form> own = form_of(*part);
    if (!own) return std::nullopt;
    whole = whole ? join(*whole, *own, composition.rule) : own;
    if (!whole) return std::nullopt;
  }
  for (Term& term : whole->terms)
    for (double& a : term.polynomial) a *= variance;
  return whole;
}

bool is_finite(const Form& form) {
  return std::isfinite(form.radial) &&
         std::all_of(form.terms.begin(), form.terms.end(), [](const Term& term) {
           return std::isfinite(term.rate) &&
                  std::all_of(term.polynomial.begin(), term.polynomial.end(),
                              [](double a) { return std::isfinite(a); });
         });
}

class ComposedSeries final : public PowerSeries {
 public:
  explicit ComposedSeries(Form form) : form_(std::move(form)) {}

  double coefficient(int64_t n) const noexcept override {
    double sum = 0;
    for (const Term& term : form_.terms) {
      for (int64_t m = 0; m < std::min(n + 1, std::ssize(term.polynomial)); ++m) {
        double a = term.polynomial[m];  // times c^i / i!, i = n - m
        for (int64_t i = 1; i <= n - m && a > 0; ++i) a *= term.rate / static_cast<double>(i);
        sum += a;
      }
    }
    return sum;
  }
  std::optional<int64_t> degree() const noexcept override {
    int64_t most = 0;
    for (const Term& term : form_.terms) {
      if (term.rate != 0) return std::nullopt;
      most = std::max<int64_t>(most, std::ssize(term.polynomial) - 1);
    }
    return most;
  }
  double radial() const noexcept override { return form_.radial; }

 private:
  Form form_;
};

// The power series of a composed kernel in unscaled rows. Null if a part has none or has a
// lengthscale per input, if summands have different radial factors, or if it would take a degree
// above 1,024, more than 1,024 exponentials, or numbers that are not finite.
std::unique_ptr<const PowerSeries> composed_series(const Composition& composition,
                                                   double variance) {
  std::optional<Form> form = form_of(composition, variance);
  if (!form || !is_finite(*form)) return nullptr;
  return std::make_unique<const ComposedSeries>(std::move(*form));
}

// k(x, y) = variance sum_i k_i(x, y): the Gram matrix costs those of the parts,
// each value of which is added where it is computed. Outside the domain of a part it is NaN.
class SumKernel final : public ComposedKernel {
 public:
  explicit SumKernel(const Parameters& canonical)
      : ComposedKernel(canonical, Composition::Rule::sum) {}

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    double sum = 0;
    for (const auto& part : parts()) sum += part->value(d, x, y);
    return variance() * sum;
  }

  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    std::vector<std::shared_ptr<const Differential>> own;
    for (const auto& part : parts()) own.push_back(part->differential(p, q));
    return make_differential(
        [this, own = std::move(own)](int64_t d, const double* x, const double* y) {
          double sum = 0;
          for (const auto& part : own) sum += part->at(d, x, y);
          return variance() * sum;
        });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    for (const auto& part : parts()) part->add_gradient(factor * variance(), d, x, y, out);
  }
};

// k(x, y) = variance prod_i k_i(x, y), of parts as in a sum.

// Derivatives of the parts of every order up to p in x and q in y, as jets in both, multiplied.
class ProductDifferential final : public Differential {
 public:
  ProductDifferential(std::span<const std::shared_ptr<const Kernel>> parts, const MultiIndex& p,
                      const MultiIndex& q, double variance)
      : jet_(joint_index(p, q)), variance_(variance) {
    for (int64_t c = 0; c < jet_.count; ++c) {
      const auto [a, b] = apart(jet_.order(c));
      for (const auto& part : parts) differentials_.push_back(part->differential(a, b));
      double factorial = 1;
      for (size_t v = 0; v < jet_.p.size(); ++v)
        for (int64_t n = 2; n <= jet_.exponent(v, c); ++n) factorial *= static_cast<double>(n);
      inverse_.push_back(1 / factorial);
    }
    parts_ = std::ssize(parts);
  }

  double at(int64_t d, const double* x, const double* y) const noexcept override {
    double product[Jet::kMost] = {1}, own[Jet::kMost];
    for (int64_t part = 0; part < parts_; ++part) {
      for (int64_t c = 0; c < jet_.count; ++c) {
        const auto at = static_cast<size_t>(c);
        own[c] = inverse_[at] *
                 differentials_[at * static_cast<size_t>(parts_) + static_cast<size_t>(part)]->at(
                     d, x, y);
      }
      jet_.multiply(product, own);
    }
    return variance_ * jet_.factorial * product[jet_.count - 1];
  }

 private:
  static std::pair<MultiIndex, MultiIndex> apart(const MultiIndex& joint) {
    std::pair<MultiIndex, MultiIndex> two;
    for (const PartialFactor& one : joint) {
      if (one.input < kOfSecond) two.first.push_back(one);
      if (one.input >= kOfSecond) two.second.push_back({one.input - kOfSecond, one.order});
    }
    return two;
  }

  Jet jet_;
  int64_t parts_;
  std::vector<std::unique_ptr<const Differential>> differentials_;  // of a coefficient, every part
  std::vector<double> inverse_;                                     // of its factorials
  double variance_;
};

class ProductKernel final : public ComposedKernel {
 public:
  explicit ProductKernel(const Parameters& canonical)
      : ComposedKernel(canonical, Composition::Rule::product) {}

  // Where a part over- or underflows, other parts may compensate: logarithms are added.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    double product = 1;
    bool is_extreme = false, is_negative = false;
    for (const auto& part : parts()) {
      const double own = part->value(d, x, y);
      product *= own;
      is_extreme = is_extreme || !std::isnormal(own);
      is_negative = is_negative != (own < 0);
    }
    if (!is_extreme && std::isnormal(product)) return variance() * product;
    const double size = std::exp(log_size(d, x, y));
    return is_negative ? -size : size;
  }
  double log_size(int64_t d, const double* x, const double* y) const noexcept override {
    double sum = std::log(variance());
    for (const auto& part : parts()) sum += part->log_size(d, x, y);
    return sum;
  }

  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return std::make_unique<const ProductDifferential>(parts(), p, q, variance());
  }
  // Products of the parts before and after each one, so that nothing is divided.
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const size_t count = parts().size();
    double behind[kMostParts + 1];
    behind[count] = factor * variance();
    for (size_t i = count; i-- > 0;) behind[i] = behind[i + 1] * parts()[i]->value(d, x, y);
    double before = 1;
    for (size_t i = 0; i < count; ++i) {
      parts()[i]->add_gradient(before * behind[i + 1], d, x, y, out);
      before *= parts()[i]->value(d, x, y);
    }
  }
};

}  // namespace

ComposedKernel::ComposedKernel(const Parameters& canonical, Composition::Rule rule)
    : Kernel(canonical), rule_(rule) {
  for (const auto& spec : canonical.objects("parts")) {
    parts_.push_back(make_kernel(*spec));
    std::optional<InputBound>& strictest = traits_.input_bound;
    const std::optional<InputBound> bound = parts_.back()->traits().input_bound;
    if (bound) strictest = strictest ? stricter(*strictest, *bound) : *bound;
    take_calls(*parts_.back(), traits_);
  }
  series_ = composed_series({rule_, parts_}, variance());
  law_ = rule_ == Composition::Rule::sum ? mixture_of(parts_) : convolution_of(parts_);
}

// Of parts that are callbacks: the values of each part in turn.
void ComposedKernel::compute(MatrixView<const double> X, MatrixView<const double> Y,
                             MatrixView<double> K) const {
  if (traits().calls == Calls::none) return Kernel::compute(X, Y, K);
  const bool adds = rule_ == Composition::Rule::sum;
  const Matrix<double> own(K.rows, K.cols);
  for (int64_t i = 0; i < K.rows; ++i) std::fill_n(K.row(i), K.cols, adds ? 0.0 : variance());
  for (const auto& part : parts_) {
    part->compute(X, Y, own.view());
    for (int64_t i = 0; i < K.rows; ++i)
      for (int64_t j = 0; j < K.cols; ++j)
        K(i, j) = adds ? K(i, j) + variance() * own(i, j) : K(i, j) * own(i, j);
  }
}

template <class Of>
double ComposedKernel::joined(const Of& of) const noexcept {
  const bool adds = rule_ == Composition::Rule::sum;
  double whole = adds ? 0 : 1;
  for (const auto& part : parts_) whole = adds ? whole + of(*part) : whole * of(*part);
  return variance() * whole;
}

double ComposedKernel::value_at_zero() const noexcept {
  return joined([](const Kernel& part) { return part.value_at_zero(); });
}

double ComposedKernel::value_at_multiple(double multiple, int64_t d, const double* x,
                                         const double* y) const noexcept {
  if (law_ == nullptr) return Kernel::value_at_multiple(multiple, d, x, y);
  return joined([=](const Kernel& part) { return part.value_at_multiple(multiple, d, x, y); });
}

int64_t ComposedKernel::most_derivatives() const noexcept {
  int64_t least = parts_.front()->most_derivatives();
  for (const auto& part : parts_) least = std::min(least, part->most_derivatives());
  return least;
}

Field parts_field(const char* help) {
  return {.key = "parts",
          .type = FieldType::kernels,
          .fallback = {},
          .least = 2,
          .most = kMostParts,
          .help = help,
          .canonical = canonical_scalar_kernel};
}

KernelEntry sum_entry() {
  KernelEntry entry = composed_entry<SumKernel>(
      "sum",
      "sum_i k_i(x, y) of the parts; where some have several outputs, a part k of one is k I",
      "the kernels that are added, each with its own parameters");
  entry.fields.front().canonical = canonical_kernel;
  entry.make = [](const Parameters& canonical) -> std::unique_ptr<Kernel> {
    if (output_count(canonical) != OutputCount::one) return make_output_sum(canonical);
    return std::make_unique<SumKernel>(canonical);
  };
  return entry;
}

KernelEntry product_entry() {
  return composed_entry<ProductKernel>(
      "product", "prod_i k_i(x, y) of the parts",
      "the kernels that are multiplied, each with its own parameters");
}

// Sums of kernels of which some have several outputs: K = sum_i K_i (Brault, Heinonen, d'Alche-Buc
// 2016, section 2.3: sums of operator-valued kernels are such kernels), a part k of one output
// being k I, the same function of each output apart.

namespace {

constexpr const char* kBlock = "a block of a Gram matrix";
constexpr int64_t kRows = 64;  // of X at a time

class OutputSum final : public MatrixKernel {
 public:
  explicit OutputSum(const Parameters& canonical) : MatrixKernel(canonical, nullptr) {
    for (const auto& spec : canonical.objects("parts")) {
      parts_.push_back(make_kernel(*spec));
      take_traits(*parts_.back());
    }
  }

  std::optional<Composition> composition() const noexcept override {
    return Composition{Composition::Rule::sum, parts_};
  }
  /// That of the parts with several, which is the same.
  int64_t outputs(int64_t d) const override {
    int64_t p = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      int64_t own = 0;
      try {
        own = parts_[i]->outputs(d);
      } catch (const Error& error) {
        throw error.within("parts[" + std::to_string(i) + "]");
      }
      if (parts_[i]->matrix() == nullptr) continue;
      require(p == 0 || own == p, MERCER_DIMENSION_MISMATCH,
              "parts[%zu]: kernel %s has %ld outputs, expected the %ld of the parts before", i,
              std::string(parts_[i]->name()).c_str(), own, p);
      p = own;
    }
    return p;
  }
  bool is_of_directions() const noexcept override {
    return std::ranges::any_of(parts_, [](const auto& part) {
      return part->matrix() != nullptr && part->matrix()->is_of_directions();
    });
  }

  void gram_rows(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                 MatrixView<double> K) const override {
    const int64_t p = outputs(X.cols);
    const Matrix<double> storage(checked_multiply(std::min(kRows, X.rows), p, kBlock),
                                 checked_multiply(Y.rows, p, kBlock), context, kBlock);
    for (int64_t i = 0; i < K.rows; ++i) std::fill_n(K.row(i), K.cols, 0.0);
    Stage stage(context, X.rows);
    for (int64_t first = 0; first < X.rows; first += kRows) {
      const int64_t last = std::min(X.rows, first + kRows), rows = last - first;
      for (const auto& part : parts_) {
        const int64_t own = part->outputs(X.cols), blocks = own == p && part->matrix() != nullptr;
        const MatrixView<double> k(storage.data(), blocks ? rows * p : rows,
                                   blocks ? Y.rows * p : Y.rows);
        gram(*part, X.block_rows(first, last), Y, context, k);
        add(k, blocks ? 1 : p, K.block_rows(first * p, last * p));
      }
      stage.advance(rows);
      context.checkpoint();
    }
  }

  void multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                     MatrixView<const double> U, Context& context,
                     MatrixView<double> out) const override {
    const Matrix<double> own(X.rows, U.cols, context, "products of one part");
    for (int64_t i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    for (const auto& part : parts_) {
      gram_multiply(*part, X, Y, U, context, own.view());  // of one output: column by column
      for (int64_t i = 0; i < out.rows; ++i)
        for (int64_t j = 0; j < out.cols; ++j) out(i, j) += variance() * own(i, j);
    }
  }

 private:
  /// K += variance k (x) I_copies.
  void add(MatrixView<const double> k, int64_t copies, MatrixView<double> K) const noexcept {
    for (int64_t i = 0; i < k.rows; ++i)
      for (int64_t o = 0; o < copies; ++o)
        for (int64_t j = 0; j < k.cols; ++j)
          K(i * copies + o, j * copies + o) += variance() * k(i, j);
  }
  void take_traits(const Kernel& part) {
    take_calls(part, traits_);
    const std::optional<InputBound> bound = part.traits().input_bound;
    std::optional<InputBound>& strictest = traits_.input_bound;
    if (bound) strictest = strictest ? stricter(*strictest, *bound) : *bound;
  }

  std::vector<std::shared_ptr<const Kernel>> parts_;
};

}  // namespace

std::unique_ptr<Kernel> make_output_sum(const Parameters& canonical) {
  return std::make_unique<OutputSum>(canonical);
}

}  // namespace mercer::kernel
