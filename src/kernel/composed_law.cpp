// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A sum of isotropic omega_i = s_i z_i / l_i is, given the scales s_i, normal with independent
// coordinates of variance sum_i (s_i / l_ik)^2: one normal vector serves all of them. Coordinates
// of product laws come through their inverse distribution functions, a few at a time, so that
// nothing is allocated. Every part draws from a stream of its own, that of the column under a
// child's seed.
#include "kernel/composed_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "random/child_seed.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

constexpr uint64_t kLawPart = 2;
constexpr size_t kTogether = 64;  // coordinates at a time

/// The law of a part: coordinate k of a draw is divided by entry k of the lengthscale.
struct PartLaw {
  std::shared_ptr<const random::Law> law;
  std::vector<double> lengthscale;  // one, or one for each input

  double at(size_t k) const noexcept { return lengthscale[lengthscale.size() > 1 ? k : 0]; }
  /// Of the draw after division; NaN above a few inputs, where nobody asks.
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

class DrawnPart final : public random::Law {
 public:
  explicit DrawnPart(KernelParts parts) {
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
  // Those of the components, at omega in units of their lengthscales.
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

}  // namespace

std::unique_ptr<const random::Law> mixture_of(KernelParts parts) {
  if (!have_laws(parts)) return nullptr;
  return std::make_unique<DrawnPart>(parts);
}

std::unique_ptr<const random::Law> convolution_of(KernelParts parts) {
  std::vector<PartLaw> round, products;
  if (!have_laws(parts) || !collect(parts, round, products)) return nullptr;
  return std::make_unique<Convolution>(std::move(round), std::move(products));
}

}  // namespace mercer::kernel
