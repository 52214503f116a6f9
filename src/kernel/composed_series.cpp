// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every part has the form g(x) g(y) sum_j p_j(s) exp(c_j s), s = x'y, with polynomials p_j. Sums
// and products keep it: exponents add up, and polynomials are multiplied by Cauchy's rule; all
// coefficients are >= 0, so nothing cancels.
#include "kernel/composed_series.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace mercer::kernel {
namespace {

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

}  // namespace

std::unique_ptr<const PowerSeries> composed_series(const Composition& composition,
                                                   double variance) {
  std::optional<Form> form = form_of(composition, variance);
  if (!form || !is_finite(*form)) return nullptr;
  return std::make_unique<const ComposedSeries>(std::move(*form));
}

}  // namespace mercer::kernel
