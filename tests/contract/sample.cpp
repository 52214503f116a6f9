// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "contract/sample.h"

#include <algorithm>
#include <cmath>

#include "support/statistic.h"

namespace mercer::test {
namespace {

// Standard error of the mean over the mean.
double relative_error(const std::vector<double>& sample) {
  double mean = 0, squares = 0;
  const double n = static_cast<double>(sample.size());
  for (const double x : sample) mean += x / n;
  for (const double x : sample) squares += (x - mean) * (x - mean) / (n - 1);
  return std::sqrt(squares / n) / std::fabs(mean);
}

// The z-score of the mean, or 0 if all are `expected` to 1e-9 of `scale`: squares that do not vary
// have no score.
double score(const std::vector<double>& sample, double expected, double scale) {
  double worst = 0;
  for (const double x : sample) worst = std::max(worst, std::fabs(x - expected));
  return worst <= 1e-9 * scale ? 0 : studentised_z_score(sample, expected);
}

std::string text(const char* what, double z, double expected) {
  return std::string(what) + ": z-score " + std::to_string(z) + " against " +
         std::to_string(expected) + "; ";
}

}  // namespace

std::complex<double> inner_product(MatrixView<const double> Z, bool is_complex) {
  double real = 0, imaginary = 0;
  for (int64_t j = 0; j < Z.cols; ++j) real += Z(0, j) * Z(1, j);
  for (int64_t j = 0; is_complex && j < Z.cols; j += 2)
    imaginary += Z(0, j + 1) * Z(1, j) - Z(0, j) * Z(1, j + 1);
  return {real, imaginary};
}

Sample::Sample(const Cell& cell, int64_t d, int64_t D)
    : cell_(cell), law_(cell.law()), X_(two_rows(cell.row(), d)), D_(D) {
  const auto map = cell.make_other(law_, d, D, 0);
  k_ = map->estimated_kernel(X_.view().row(0), X_.view().row(1));
  is_complex_ = map->is_complex();
  const MatrixView<const double> rows = X_.view();
  map->variance(rows.block_rows(0, 1), rows.block_rows(1, 2), std::span(&variance_, 1));
  map->pseudo_variance(rows.block_rows(0, 1), rows.block_rows(1, 2), std::span(&pseudo_, 1));
  map->bias(rows.block_rows(0, 1), rows.block_rows(1, 2), std::span(&bias_, 1));
  if (law_.law != Law::fixed) k_ += bias_;  // the mean
  const kernel::Kernel& kernel = cell.kernel();
  largest_bias_ = law_.bias * (is_stationary(kernel) ? kernel.value_at_zero() : kernel.variance());
  const Parameters said = map->parameters();
  if (said.find("error_bound") != nullptr)
    largest_bias_ = said.number("error_bound") * kernel.value_at_zero();
}

bool Sample::is_exact() const { return variance_ < 1e-13 * k_ * k_; }

void Sample::extend(int64_t count) {
  for (auto r = static_cast<int64_t>(real_.size()); r < count; ++r) {
    const auto map = cell_.make(X_.cols(), D_, static_cast<uint64_t>(7000 + r));
    const auto at = inner_product(features_of(*map, X_).view(), is_complex_);
    const double deviation = at.real() - k_;
    real_.push_back(at.real());
    deviation_.push_back(deviation * deviation);
    squared_.push_back(deviation * deviation - at.imag() * at.imag());
  }
}

bool Sample::draw(int64_t least, double sharpness, int64_t most) {
  extend(law_.law == Law::fixed ? 2 : law_.law == Law::mean ? 5 * least : least);
  if (is_exact() || law_.law == Law::fixed || law_.law == Law::mean) return true;
  for (int round = 0; round < 6; ++round) {
    const double wanted = std::pow(relative_error(deviation_) / sharpness, 2);
    const auto have = static_cast<int64_t>(real_.size());
    if (wanted <= 1) return true;
    if (have >= most) return false;
    extend(std::min(most, static_cast<int64_t>(1.2 * wanted * static_cast<double>(have)) + 1));
  }
  return false;
}

std::string Sample::fixed_fault() const {
  const double said = std::fabs(real_[0] - k_ - bias_), off = std::fabs(real_[0] - k_);
  if (variance_ != 0 || pseudo_ != 0 || real_[0] != real_[1]) return "nothing is drawn, but varies";
  if (!(said <= 1e-13 * std::fabs(k_))) return "bias() is off by " + std::to_string(said);
  return off <= largest_bias_ + 1e-13 * std::fabs(k_) ? "" : "off by " + std::to_string(off);
}

std::string Sample::fault(double z) const {
  if (law_.law == Law::fixed) return fixed_fault();
  if (is_exact()) {
    double worst = 0;
    for (const double one : real_) worst = std::max(worst, std::fabs(one - k_));
    return worst <= 1e-6 * std::fabs(k_) ? "" : "exact, but off by " + std::to_string(worst);
  }
  std::string faults;
  const bool exact = law_.law == Law::exact;
  const double spread = std::sqrt(variance_);
  const double below = score(real_, k_ + largest_bias_, spread),
               above = score(real_, k_ - largest_bias_, spread);
  if (!(below <= z && above >= -z)) faults += text("mean", below > z ? below : above, k_);
  if (law_.law == Law::mean) return faults;
  const double variance = score(deviation_, law_.multiple * variance_, variance_);
  if (!((exact ? std::fabs(variance) : variance) <= z))
    faults += text("variance", variance, law_.multiple * variance_);
  if (!exact) return faults;
  if (!is_complex_) return pseudo_ == variance_ ? faults : faults + "pseudo-variance of a real map";
  const double pseudo = score(squared_, pseudo_, variance_);
  if (!(std::fabs(pseudo) <= z)) faults += text("pseudo-variance", pseudo, pseudo_);
  return faults;
}

}  // namespace mercer::test
