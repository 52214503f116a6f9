// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/landmarks.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "random/distributions.h"

namespace mercer::feature {

std::vector<int64_t> uniform_rows(int64_t rows, int64_t count, uint64_t seed) {
  std::vector<int64_t> chosen(count);
  random::Cursor cursor(random::Stream(seed, random::Tag::sample, 0));
  random::sample_without_replacement(cursor, rows, chosen);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

namespace {

void require_inside(const kernel::Kernel& kernel, int64_t i, int64_t d, const double* x) {
  const double k = kernel.value(d, x, x);
  require(std::isfinite(k), MERCER_INVALID_ARGUMENT,
          "X: kernel %s of row %ld (counted from 0) with itself is %g, expected rows for "
          "which it does not overflow",
          std::string(kernel.name()).c_str(), i, k);
}

}  // namespace

Matrix<double> copied_rows(const kernel::Kernel& kernel, const Rows& rows,
                           std::span<const int64_t> chosen, Context& context) {
  Matrix<double> out(std::ssize(chosen), rows.cols(), context, "landmarks");
  out.fill(0);
  rows.visit([&](const auto& X) {
    for (int64_t l = 0; l < out.rows(); ++l) {
      const int64_t i = chosen[l];
      for_each_listed(X, i, [&](int64_t j, auto value) { out(l, j) += value; });
      require_inside(kernel, i, X.cols, out.view().row(l));
    }
  });
  return out;
}

ListedRows listed_rows(const kernel::Kernel& kernel, const Rows& rows,
                       std::span<const int64_t> chosen, Context& context) {
  int64_t numbers = 0;
  for (const int64_t i : chosen) numbers += listed_numbers(rows.block_rows(i, i + 1));
  ListedRows out(std::ssize(chosen), rows.cols(), numbers, context, "landmarks");
  rows.visit([&](const auto& X) {
    for (const int64_t i : chosen) out.add([&](const auto& put) { for_each_listed(X, i, put); });
  });
  const CsrView<double> listed = out.view();
  for (int64_t l = 0; l < listed.rows; ++l) {
    const int64_t i = chosen[l], first = listed.begin(l);
    const int64_t length = listed.end(l) - first;
    const double zero = 0;
    require_inside(kernel, i, std::max<int64_t>(length, 1),
                   length > 0 ? listed.values + first : &zero);
  }
  return out;
}

namespace {

constexpr int64_t kPoolPerLandmark = 16, kPoolOfFactor = 4;
constexpr int64_t kLeastPool = 10000;
constexpr int64_t kChunk = 256;  // rows whose distances a worker updates at a time

// The squared distance of every row of a pool from the nearest landmark so far.
class Distances {
 public:
  explicit Distances(const LandmarkPool& pool)
      : pool_(pool), own_(pool.rows.rows), nearest_(own_.size()) {
    for (size_t i = 0; i < own_.size(); ++i) {
      const double* const x = pool.rows.row(static_cast<int64_t>(i));
      own_[i] = pool.kernel.value(pool.rows.cols, x, x);
      nearest_[i] = kInfinity;
    }
  }

  /// Makes row l a landmark, which is marked by a distance below 0.
  void add(int64_t l) {
    const auto body = [&](int64_t chunk, int) noexcept {
      const int64_t end = std::min(pool_.rows.rows, (chunk + 1) * kChunk);
      for (int64_t i = chunk * kChunk; i < end; ++i) update(i, l);
    };
    parallel_for(pool_.context, (pool_.rows.rows - 1) / kChunk + 1, body, 0);
    nearest_[l] = -1;
  }
  std::span<const double> nearest() const noexcept { return nearest_; }

 private:
  void update(int64_t i, int64_t l) noexcept {
    double& nearest = nearest_[i];
    const double k = pool_.kernel.value(pool_.rows.cols, pool_.rows.row(i), pool_.rows.row(l));
    const double distance = own_[i] + own_[l] - 2 * k;
    nearest = std::min(nearest, std::max(distance, 0.0));
  }

  const LandmarkPool& pool_;
  std::vector<double> own_;
  std::vector<double> nearest_;
};

// Chooses landmarks one after the other; next(nearest) is the index of each but the first.
template <class Next>
std::vector<int64_t> greedily(const LandmarkPool& pool, int64_t D, random::Cursor& cursor,
                              const Next& next) {
  Distances distances(pool);
  std::vector<int64_t> chosen{
      static_cast<int64_t>(random::uniform_below(cursor, static_cast<uint64_t>(pool.rows.rows)))};
  Stage stage(pool.context, D);
  while (std::ssize(chosen) < D) {
    distances.add(chosen.back());
    stage.advance(1);
    pool.context.checkpoint();
    chosen.push_back(next(distances.nearest()));
  }
  return chosen;
}

int64_t farthest(std::span<const double> nearest) {
  return std::max_element(nearest.begin(), nearest.end()) - nearest.begin();
}

}  // namespace

std::vector<int64_t> kmeans_landmarks(const LandmarkPool& pool, int64_t D) {
  random::Cursor cursor(random::Stream(pool.seed, random::Tag::sample, 1));
  return greedily(pool, D, cursor, [&](std::span<const double> nearest) {
    double total = 0;
    for (const double distance : nearest) total += std::max(distance, 0.0);
    double left = random::uniform(cursor.next()) * total;
    for (size_t i = 0; i < nearest.size() && total > 0; ++i) {
      left -= std::max(nearest[i], 0.0);
      if (left < 0 && nearest[i] > 0) return static_cast<int64_t>(i);
    }
    return farthest(nearest);  // all others equal landmarks, or rounding of `left`
  });
}

std::vector<int64_t> farthest_landmarks(const LandmarkPool& pool, int64_t D) {
  random::Cursor cursor(random::Stream(pool.seed, random::Tag::sample, 1));
  return greedily(pool, D, cursor, farthest);
}

namespace {

struct Chooser {
  const char* name;
  std::vector<int64_t> (*choose)(const LandmarkPool&, int64_t D);
  int64_t pool = kPoolPerLandmark;  // rows
};
constexpr const char* kSuppliedRows = "supplied";
constexpr Chooser kFromPool[] = {{"kmeans", kmeans_landmarks},
                                 {"farthest", farthest_landmarks},
                                 {"leverage", leverage_landmarks},
                                 {"rpcholesky", cholesky_landmarks, kPoolOfFactor}};

}  // namespace

std::vector<const char*> landmark_choices() {
  std::vector<const char*> names{"uniform"};
  for (const Chooser& choice : kFromPool) names.push_back(choice.name);
  names.push_back(kSuppliedRows);
  return names;
}

bool landmarks_from_pool(std::string_view choice) noexcept {
  return std::ranges::find(kFromPool, choice, &Chooser::name) != std::end(kFromPool);
}

std::vector<int64_t> choose_landmarks(const std::string& choice, const kernel::Kernel& kernel,
                                      const Rows& rows, int64_t D, uint64_t seed,
                                      Context& context) {
  require(choice != kSuppliedRows || rows.rows() == D, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: the rows, which are the landmarks", D, rows.rows());
  for (const Chooser& from_pool : kFromPool) {
    if (choice != from_pool.name) continue;
    const int64_t most = std::max(checked_multiply(from_pool.pool, D, "rows"), kLeastPool);
    const std::vector<int64_t> drawn = uniform_rows(rows.rows(), std::min(rows.rows(), most), seed);
    const Matrix<double> pool = copied_rows(kernel, rows, drawn, context);
    std::vector<int64_t> chosen = from_pool.choose({kernel, pool.view(), seed, context}, D);
    for (int64_t& l : chosen) l = drawn[l];
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }
  return uniform_rows(rows.rows(), D, seed);
}

}  // namespace mercer::feature
