// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Loss functions. Regression losses are sums over the outputs of a function of u = y - s. The
// quantile loss is convolved with the uniform density on [-delta, delta], which smooths its kink
// and moves its minimum by only O(delta^2) (Fernandes, Guerre, Horta 2021).
#include "solver/loss.h"

#include <algorithm>
#include <cmath>

namespace mercer::solver {
namespace {

/// log(1 + e^x) without overflow.
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// -log p of the row's class, p = 1 / (1 + e^-s) for two classes by one score.
LossValue binary_logistic(double s, double y, double& slope) {
  const double p = 1 / (1 + std::exp(-s));
  slope = p - y;
  return {softplus(s) - y * s, p * (1 - p)};
}

/// -log p of the row's class, p = softmax(s).
LossValue logistic(std::span<const double> s, std::span<const double> y, const LossParameters&,
                   std::span<double> slope) {
  if (s.size() == 1) return binary_logistic(s[0], y[0], slope[0]);
  const double most = *std::ranges::max_element(s);
  double own = 0;
  for (size_t k = 0; k < s.size(); ++k) own += y[k] * (s[k] - most);
  double sum = 0;
  for (size_t k = 0; k < s.size(); ++k) sum += slope[k] = std::exp(s[k] - most);
  double curvature = 0;
  for (size_t k = 0; k < s.size(); ++k) {
    const double p = slope[k] / sum;
    curvature += p * (1 - p);
    slope[k] = p - y[k];
  }
  return {std::log(sum) - own, curvature / static_cast<double>(s.size())};
}

/// sum_k max(0, 1 - t_k s_k)^2, t = 1 for the row's class and -1 for others.
LossValue squared_hinge(std::span<const double> s, std::span<const double> y, const LossParameters&,
                        std::span<double> slope) {
  LossValue loss;
  for (size_t k = 0; k < s.size(); ++k) {
    const double t = 2 * y[k] - 1, gap = 1 - t * s[k];
    const double short_of = gap > 0 ? gap : 0 * gap;  // NaN stays
    loss.value += short_of * short_of;
    loss.curvature += gap > 0 ? 2 / static_cast<double>(s.size()) : 0;
    slope[k] = -2 * t * short_of;
  }
  return loss;
}

/// u^2 / 2 up to |u| = delta, delta (|u| - delta / 2) beyond (Huber 1964).
LossValue huber(std::span<const double> s, std::span<const double> y,
                const LossParameters& parameters, std::span<double> slope) {
  LossValue loss;
  const double delta = parameters.delta;
  for (size_t k = 0; k < s.size(); ++k) {
    const double u = y[k] - s[k], size = std::abs(u);
    const bool far = size > delta;
    loss.value += far ? delta * (size - delta / 2) : u * u / 2;
    loss.curvature += far ? 0 : 1 / static_cast<double>(s.size());
    slope[k] = far ? -std::copysign(delta, u) : -u;
  }
  return loss;
}

/// tau u for u > 0, (tau - 1) u for u < 0 (Koenker, Bassett 1978), smoothed within delta.
LossValue quantile(std::span<const double> s, std::span<const double> y,
                   const LossParameters& parameters, std::span<double> slope) {
  LossValue loss;
  const double delta = parameters.delta, tau = parameters.tau;
  for (size_t k = 0; k < s.size(); ++k) {
    const double u = y[k] - s[k];
    const bool far = std::abs(u) > delta;
    const double bend = far ? std::abs(u) / 2 : u * u / (4 * delta) + delta / 4;
    loss.value += bend + (tau - 0.5) * u;
    loss.curvature += far ? 0 : 1 / (2 * delta * static_cast<double>(s.size()));
    slope[k] = -(far ? std::copysign(0.5, u) : u / (2 * delta)) - (tau - 0.5);
  }
  return loss;
}

/// e^s - y s: the negative log likelihood of counts y of mean e^s, without log y!.
LossValue poisson(std::span<const double> s, std::span<const double> y, const LossParameters&,
                  std::span<double> slope) {
  LossValue loss;
  for (size_t k = 0; k < s.size(); ++k) {
    const double mean = std::exp(s[k]);
    loss.value += mean - y[k] * s[k];
    loss.curvature += mean / static_cast<double>(s.size());
    slope[k] = mean - y[k];
  }
  return loss;
}

constexpr Loss kLosses[] = {
    {.name = "logistic",
     .help = "-log of the class's probability, softmax(s)",
     .classes = true,
     .at = logistic,
     .curvature = [](const LossParameters&, bool separate) { return separate ? 0.25 : 0.5; },
     .probabilities = true},
    {.name = "squared_hinge",
     .help = "max(0, 1 - t s)^2, one class against the rest",
     .classes = true,
     .at = squared_hinge,
     .curvature = [](const LossParameters&, bool) { return 2.0; }},
    {.name = "huber",
     .help = "squared up to delta, then absolute",
     .classes = false,
     .at = huber,
     .curvature = [](const LossParameters&, bool) { return 1.0; },
     .delta = Delta::threshold,
     .residuals = true},
    {.name = "quantile",
     .help = "tau u above, (1 - tau) |u| below: the tau quantile",
     .classes = false,
     .at = quantile,
     .curvature = [](const LossParameters& of, bool) { return 1 / (2 * of.delta); },
     .delta = Delta::rounding,
     .reads_tau = true,
     .residuals = true},
    {.name = "poisson",
     .help = "counts of mean exp(s)",
     .classes = false,
     .at = poisson,
     .counts = true},
};

}  // namespace

std::span<const Loss> loss_table() { return kLosses; }

const Loss* find_loss(std::string_view name) noexcept {
  for (const Loss& loss : kLosses)
    if (loss.name == name) return &loss;
  return nullptr;
}

}  // namespace mercer::solver
