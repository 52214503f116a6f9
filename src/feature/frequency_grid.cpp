// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The trapezoidal rule over the spectral density S (Trefethen, Weideman, "The exponentially
// convergent trapezoidal rule", SIAM Review 2014; for features Dao, De Sa, Re, "Gaussian quadrature
// for kernel features", NIPS 2017). Frequencies are omega_k = h_k (n_k + 1/2) for integers n_k, so
// that none is its own mirror image and pairs +-omega share two columns. With Poisson's formula
//   prod_k h_k sum_n S(omega_n) cos(omega_n'tau) = sum_m (-1)^{m_1 + ... + m_d} k(tau + P m),
// P_k = 2 pi/h_k. What is not k(tau) is aliasing. In one dimension it is two alternating series of
// falling terms for |tau| <= Delta <= P, so at most 2 k(P - Delta); for products of such kernels and
// mixtures of products, as which isotropic kernels with a density here are Gaussians of any scale,
// the product of sums gives
//   |aliasing| <= sum over non-empty sets J of inputs of 2^|J| k(P_j - Delta_j for j in J, else 0).
// At tau = 0 the same product is at most 1, so that what the weights of the F frequencies lack of 1
// is a bound of all others: truncation. The F frequencies of largest weight are taken, since their
// number is what costs. In units of the lengthscale P = Delta + r with the same r for all inputs;
// aliasing falls and truncation grows with r; their sum is least near where they meet.
#include "feature/frequency_grid.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/views.h"
#include "feature/map_entry.h"

namespace mercer::feature {
namespace {

constexpr double kFullTurn = 6.28318530717958647693;
constexpr double kMostLength = 1e300;
constexpr int64_t kMostSigns = 40;  // inputs: 2^39 pairs are more than there may be

/// Entry k of a list that holds one number for all inputs, or one for each.
double entry_at(std::span<const double> numbers, int64_t k) noexcept {
  return numbers.empty() ? 1 : numbers[numbers.size() > 1 ? static_cast<size_t>(k) : 0];
}

/// Weights of frequencies by the odd numbers that they are multiples of, of half a step each.
class CellWeights {
 public:
  CellWeights(const kernel::Kernel& kernel, std::span<const double> step)
      : law_(*kernel.spectral_law()), omega_(step.size()) {
    for (int64_t k = 0; k < std::ssize(step); ++k) {
      step_.push_back(step[k] * entry_at(kernel.lengthscale(), k));
      cell_ *= step_.back();
    }
  }
  /// The weight of the pair, where n[k] = 0, 1, ... stands for n[k] + 1/2.
  double operator()(const int32_t* n) {
    for (size_t k = 0; k < omega_.size(); ++k) omega_[k] = step_[k] * (n[k] + 0.5);
    return 2 * cell_ * law_.density(omega_);
  }

 private:
  const random::Law& law_;
  std::vector<double> step_;  // in units of 1/lengthscale
  std::vector<double> omega_;
  double cell_ = 1;
};

/// Calls use(n, weight) for the frequencies of one orthant from the largest weight on, until it
/// returns false. The density falls along every axis: what comes after n are n and one more step
/// along an axis, of which each is reached from one n, one step back along its last axis that is
/// not 0.
template <class Use>
void for_each_heaviest(const kernel::Kernel& kernel, std::span<const double> step, const Use& use) {
  const size_t d = step.size();
  CellWeights weight(kernel, step);
  std::vector<int32_t> cells(d, 0);
  using Next = std::pair<double, int64_t>;  // minus the cell's number: of equal ones the first
  std::priority_queue<Next> next;
  next.emplace(weight(cells.data()), 0);
  std::vector<int32_t> n(d);
  for (;;) {
    const auto [heaviest, number] = next.top();
    next.pop();
    std::copy_n(cells.begin() - number * std::ssize(step), d, n.begin());
    if (!use(n, heaviest)) return;
    size_t last = d - 1;
    while (last > 0 && n[last] == 0) --last;
    for (size_t k = last; k < d; ++k) {
      cells.insert(cells.end(), n.begin(), n.end());
      int32_t* const child = cells.data() + (cells.size() - d);
      ++child[k];
      next.emplace(weight(child), 1 - std::ssize(cells) / std::ssize(step));
    }
  }
}

/// Pairs +-omega of frequencies with these magnitudes.
int64_t mirrored(int64_t d, int64_t most) {
  return d > kMostSigns ? most : std::min(most, int64_t{1} << (d - 1));
}

double truncation(const kernel::Kernel& kernel, std::span<const double> step, int64_t F) {
  double sum = 0;
  int64_t left = F;
  for_each_heaviest(kernel, step, [&](const std::vector<int32_t>& n, double weight) {
    const int64_t count = mirrored(std::ssize(n), left);
    sum += static_cast<double>(count) * weight;
    left -= count;
    return left > 0;
  });
  return std::max(0.0, 1 - sum);
}

/// The sum above over k(0), gap_k = P_k - Delta_k: for the least gap in units of the lengthscale,
/// where only the size of a set counts.
double aliasing(const kernel::Kernel& kernel, std::span<const double> gap) {
  if (const auto composed = kernel.composition()) {
    double sum = 0, whole = 0;
    for (const auto& part : composed->parts) {
      sum += part->value_at_zero() * aliasing(*part, gap);
      whole += part->value_at_zero();
    }
    return sum / whole;
  }
  const int64_t d = std::ssize(gap);
  double least = kInfinity;
  for (int64_t k = 0; k < d; ++k)
    least = std::min(least, std::max(0.0, gap[k]) / entry_at(kernel.lengthscale(), k));
  const std::vector<double> zero(d, 0.0);
  std::vector<double> x(d, 0.0);
  double sum = 0, sets = 1;  // 2^m of them with m inputs
  for (int64_t m = 1; m <= d; ++m) {
    sets *= 2 * static_cast<double>(d - m + 1) / static_cast<double>(m);
    x[m - 1] = least * entry_at(kernel.lengthscale(), m - 1);
    const double value = kernel.value(d, x.data(), zero.data());
    if (value == 0) break;  // of many inputs there may be infinitely many sets
    sum += sets * value;
  }
  return sum / kernel.value_at_zero();
}

std::vector<double> gaps(std::span<const double> step, std::span<const double> diameter) {
  std::vector<double> gap;
  for (size_t k = 0; k < step.size(); ++k) gap.push_back(kFullTurn / step[k] - diameter[k]);
  return gap;
}

/// Steps for r = 1e-4 * 1.02^i: by + - * / alone, so that a spec means the same grid on every
/// machine unless both errors agree to rounding.
std::vector<double> steps(const kernel::Kernel& kernel, std::span<const double> diameter, int i) {
  double r = 1e-4;
  for (int j = 0; j < i; ++j) r *= 1.02;
  std::vector<double> step;
  for (int64_t k = 0; k < std::ssize(diameter); ++k)
    step.push_back(kFullTurn / (diameter[k] + r * entry_at(kernel.lengthscale(), k)));
  return step;
}

struct BestSteps {
  std::vector<double> step;
  double error;
};
BestSteps best_steps(const kernel::Kernel& kernel, std::span<const double> diameter, int64_t F) {
  std::map<int, std::pair<double, double>> known;  // of many frequencies each takes a while
  const auto errors = [&](int i) {
    const auto [at, is_new] = known.try_emplace(i);
    if (is_new) {
      const std::vector<double> step = steps(kernel, diameter, i);
      at->second = {aliasing(kernel, gaps(step, diameter)), truncation(kernel, step, F)};
    }
    return at->second;
  };
  int low = 0, high = 1200;  // r up to 2e6; the errors meet between
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const auto [aliased, truncated] = errors(middle);
    (aliased <= truncated ? high : low) = middle;
  }
  const auto total = [&](int i) {
    const auto [aliased, truncated] = errors(i);
    return aliased + truncated;
  };
  double least = total(high);
  for (double next = total(high - 1); next < least; next = total(high - 1)) {
    least = next;
    if (--high == 1) break;
  }
  return {steps(kernel, diameter, high), least};
}

/// The fewest frequencies with an error below the tolerance; `most` if there are none.
int64_t fewest(const kernel::Kernel& kernel, std::span<const double> diameter, int64_t most,
               double tolerance) {
  const auto suffice = [&](int64_t F) {
    return best_steps(kernel, diameter, F).error <= tolerance;
  };
  int64_t below = 0, enough = 1;
  while (enough < most && !suffice(enough)) {
    below = enough;
    enough = std::min(most, 2 * enough);
  }
  while (enough - below > 1) {
    const int64_t middle = below + (enough - below) / 2;
    (suffice(middle) ? enough : below) = middle;
  }
  return enough;
}

void check_kernel(const kernel::Kernel& kernel, int64_t d, int64_t F) {
  require(d <= FrequencyGrid::kMostInputs, MERCER_UNSUPPORTED,
          "inputs = %ld, expected at most %ld for projection = grid", d,
          FrequencyGrid::kMostInputs);
  const int64_t most = std::min(FrequencyGrid::kMost, FrequencyGrid::kMostNumbers / d);
  require(F <= most, MERCER_UNSUPPORTED,
          "%ld frequencies of %ld inputs, expected at most %ld for projection = grid", F, d, most);
  const std::vector<double> ones(d, 1.0);
  require(!std::isnan(kernel.spectral_law()->density(ones)), MERCER_UNSUPPORTED,
          "projection = grid of kernel %s at %ld inputs, expected one whose spectral density is "
          "known and falls along every axis, such as gaussian or matern",
          std::string(kernel.name()).c_str(), d);
}

Field lengths_field(const char* key, const char* help) {
  return {.key = key,
          .type = FieldType::number_or_numbers,
          .fallback = kOptional,
          .least = 0,
          .most = kMostLength,
          .help = help};
}

}  // namespace

std::vector<Field> grid_fields() {
  std::vector<Field> fields{
      lengths_field("diameter",
                    "of projection grid: the largest distance of rows in an input, or one number "
                    "for each; none: made from rows"),
      number_above_field("tolerance", kOptional, 0, kUnbounded,
                         "as few of the features as have an error bound below it; none: all"),
      lengths_field("step", "h, between frequencies; none: that of the least error bound"),
      lengths_field("extent",
                    "the largest frequency of each input: set when the map is made, not asked for"),
      number_field("error_bound", kOptional, 0, kUnbounded,
                   "of |k~ - k|/k(0) within the diameter, up to rounding: likewise")};
  fields[2].least_open = true;
  return fields;
}

GridRequest read_grid(const Parameters& own) {
  GridRequest request;
  if (own.find("diameter") != nullptr) request.diameter = own.numbers("diameter");
  if (own.find("step") != nullptr) request.step = own.numbers("step");
  if (own.find("tolerance") != nullptr) request.tolerance = own.number("tolerance");
  require(request.tolerance == 0 || request.step.empty(), MERCER_INVALID_ARGUMENT,
          "tolerance is given, expected it left out beside step");
  return request;
}

void refuse_grid_fields(const Parameters& own) {
  for (const char* const key : {"diameter", "tolerance", "step"})
    require(own.find(key) == nullptr, MERCER_INVALID_ARGUMENT,
            "%s is given, expected it left out without projection = grid", key);
}

std::vector<double> diameters(const Rows& rows, Context& context) {
  const bool sparse = rows.sparse();
  std::vector<double> least(rows.cols(), sparse ? 0 : kInfinity),
      most(rows.cols(), sparse ? 0 : -kInfinity);
  const auto widen = [&](int64_t k, double x) {
    least[k] = std::min(least[k], x);
    most[k] = std::max(most[k], x);
  };
  const auto pass = [&](const auto& X) {
    for (int64_t i = 0; i < X.rows; ++i)
      for_each_stored(X, i, [&](int64_t k, auto x) { widen(k, static_cast<double>(x)); });
  };
  if (sparse) {
    pass(CsrRows(rows, context, "sparse rows in double").view());
  } else {
    rows.visit(pass);
  }
  for (size_t k = 0; k < most.size(); ++k) most[k] = std::max(0.0, most[k] - least[k]);
  return most;
}

FrequencyGrid::FrequencyGrid(std::shared_ptr<const kernel::Kernel> kernel, int64_t d, int64_t F,
                             GridRequest request)
    : kernel_(std::move(kernel)), d_(d) {
  check_kernel(*kernel_, d, F);  // before there is a number for each input
  diameter_ = for_each_input(request.diameter, d, "diameter");
  step_ = for_each_input(request.step, d, "step");
  require(!diameter_.empty() || !step_.empty(), MERCER_UNSUPPORTED,
          "projection = grid is made from rows, expected them, or \"diameter\" or \"step\"");
  if (request.tolerance > 0 && step_.empty()) F = fewest(*kernel_, diameter_, F, request.tolerance);
  if (step_.empty()) step_ = best_steps(*kernel_, diameter_, F).step;
  const double sum = take_heaviest(F);
  require(std::isfinite(sum), MERCER_INVALID_ARGUMENT,
          "step: the weights of the grid add up to %g, expected a smaller step", sum);
  if (diameter_.empty()) return;
  const double bound = std::max(0.0, 1 - sum) + aliasing(*kernel_, gaps(step_, diameter_));
  error_bound_ = std::min(1 + sum, bound);
}

double FrequencyGrid::take_heaviest(int64_t F) {
  double sum = 0;
  for_each_heaviest(*kernel_, step_, [&](const std::vector<int32_t>& n, double weight) {
    const int64_t pairs = mirrored(std::ssize(n), F - count());
    for (int64_t signs = 0; signs < pairs; ++signs) {
      for (int64_t k = 0; k < d_; ++k) {
        const bool negative = k > 0 && k <= kMostSigns && (signs >> (k - 1) & 1) != 0;
        odd_.push_back(negative ? -2 * n[k] - 1 : 2 * n[k] + 1);
      }
      weights_.push_back(weight);
      sum += weight;
    }
    return count() < F;
  });
  return sum;
}

std::vector<double> FrequencyGrid::weights_of(const kernel::Kernel& other) const {
  check_kernel(other, d_, count());
  CellWeights weight(other, step_);
  std::vector<double> all;
  std::vector<int32_t> n(static_cast<size_t>(d_));
  for (int64_t j = 0; j < count(); ++j) {
    for (int64_t k = 0; k < d_; ++k) n[k] = (std::abs(odd_[j * d_ + k]) - 1) / 2;
    all.push_back(weight(n.data()));
  }
  return all;
}

std::vector<int64_t> FrequencyGrid::largest_odd() const {
  std::vector<int64_t> largest(d_, 1);
  for (size_t i = 0; i < odd_.size(); ++i) {
    int64_t& most = largest[i % static_cast<size_t>(d_)];
    most = std::max<int64_t>(most, std::abs(odd_[i]));
  }
  return largest;
}

void FrequencyGrid::write(Parameters& spec) const {
  if (!diameter_.empty()) spec.set("diameter", shortest(diameter_));
  spec.set("step", shortest(step_));
  const std::vector<int64_t> largest = largest_odd();
  std::vector<double> extent;
  for (int64_t k = 0; k < d_; ++k)
    extent.push_back(0.5 * step_[k] * static_cast<double>(largest[k]));
  spec.set("extent", shortest(extent));
  if (!diameter_.empty()) spec.set("error_bound", error_bound_);
}

void FrequencyGrid::fill(int64_t j0, Context&, MatrixView<double> omega) const {
  for (int64_t i = 0; i < omega.rows; ++i)
    for (int64_t k = 0; k < d_; ++k) omega(i, k) = frequency(j0 + i, k);
}

double FrequencyGrid::bias_at(const double* x, const double* y) const {
  double sum = 0;
  for (int64_t j = 0; j < count(); ++j) {
    double angle = 0;
    for (int64_t k = 0; k < d_; ++k) angle += frequency(j, k) * (x[k] - y[k]);
    sum += weights_[j] * std::cos(angle);
  }
  return kernel_->value_at_zero() * sum - kernel_->value(d_, x, y);
}

}  // namespace mercer::feature
