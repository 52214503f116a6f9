// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian processes of classes on features: Dirichlet targets, and the variational posterior of
// the logistic likelihood.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/numbers.h"
#include "base/views.h"
#include "solver/block_source.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

// Gaussian processes on features that are independent of each other, one for each class, as
// classifiers have them: f(x) = z(x)'w + intercept, with the variance
//   |L^{-1}(z(x) - mean)|^2 + share,
// L L' the precision of w about the intercept at `mean`.

struct LatentProcess {
  Matrix<double> factor;            // L, lower
  std::vector<double> mean;         // of the features
  Matrix<double> w;                 // D x 1
  double intercept = 0, share = 0;  // share: the intercept's variance
  double precision = 0;             // of the prior of w; 0: unknown, as after loading

  /// Posterior mean and variance of f at rows of Z: rows x 1 each. O(rows D^2).
  void moments(MatrixView<const double> Z, MatrixView<double> f, MatrixView<double> variance) const;
  /// G += dL/dZ of a loss of these moments, given its derivatives in each row's. O(rows D^2).
  void pull_back(MatrixView<const double> Z, std::span<const double> by_mean,
                 std::span<const double> by_variance, MatrixView<double> G) const;
};

/// That of features from one of coordinates c, where rows that it has seen have features R c with
/// orthonormal columns of R: beside these the weights keep their prior. O(D^2 r + D^3).
LatentProcess lifted(const LatentProcess& process, MatrixView<const double> R, Context& context);

class LatentProcesses {
 public:
  explicit LatentProcesses(std::vector<LatentProcess> all) : all_(std::move(all)) {}
  /// From numbers(); INVALID_ARGUMENT unless their count fits.
  LatentProcesses(std::span<const double> numbers, int64_t features, int64_t count);

  int64_t count() const noexcept { return std::ssize(all_); }
  int64_t features() const noexcept { return all_[0].w.rows(); }
  /// Of every process: rows x count() each.
  void moments(MatrixView<const double> Z, MatrixView<double> f, MatrixView<double> variance) const;
  /// As Posterior's, over the processes of known precision; NaN without one.
  double share_of_prior(MatrixView<const double> Z) const;
  /// For each process: L by rows, the features' means, coefficients, intercept and its variance.
  std::vector<double> numbers() const;

 private:
  std::vector<LatentProcess> all_;
};

// Classification by Gaussian process regression (Milios, Camoriano, Michiardi, Rosasco, Filippone
// 2018, equations 4 to 6). A label stands for one gamma variable per class, of shape alpha + 1 for
// its own class and alpha for others. Matching log-normal moments gives each class's process the
// target log(shape) - v/2 with noise variance v = log(1 + 1/shape).

struct DirichletTarget {
  double value, variance;
};
DirichletTarget dirichlet_target(double alpha, bool own);

/// Row statistics of each class, which serve every alpha: 8 K D^2 bytes.
class ClassSums {
 public:
  /// Targets are one-hot codes. One pass over the rows of all processes.
  ClassSums(const BlockSource& rows, Context& context);
  int64_t classes() const noexcept { return std::ssize(of_class_); }
  int64_t features() const noexcept { return of_class_[0].features(); }
  double weight() const noexcept;
  /// Statistics of class k's regression: one output, rows weighed by 1 over their noise variance.
  RowStatistics of_process(int64_t k, double alpha, Context& context) const;

 private:
  std::vector<RowStatistics> of_class_;
};

/// Prior: theta ~ N(0, I / (n lambda)), n the rows' weight; flat for intercepts, if `center`.
/// O(K D^3). Errors: OUT_OF_MEMORY, NOT_POSITIVE_DEFINITE.
LatentProcesses dirichlet_processes(const ClassSums& sums, double alpha, double lambda, bool center,
                                    Context& context);

// Binary classification by a Gaussian process on features: P(y = 1 | f) = sigma(f), f = z'w + b,
// w ~ N(0, I/precision), b flat. The posterior of (w, b) is the Gaussian q of the largest
//   ELBO = sum_i weight_i E_q log p(y_i | f_i) - KL(q || prior),
// a lower bound of the log of the likelihood integrated over the prior (density 1 of b).

/// Natural gradient steps on some rows at a time.
struct RowBatches {
  int64_t rows = 0;  // of a step, at least 1
  int64_t epochs = 1;
  uint64_t seed = 0;
};

/// What a row says of f: exp(pull f - precision f^2 / 2).
struct RowSite {
  double precision = 0, pull = 0;
};

class VariationalProcess {
 public:
  /// y is 1 where column k of the targets, one-hot codes, is. Rows are referred to. watched: rows
  /// that left_out is to be asked for, ascending.
  VariationalProcess(const BlockSource& rows, int64_t k, bool center,
                     std::vector<int64_t> watched = {});

  /// Steps on all rows, from the q before, none of which lowers the ELBO, until one raises it by
  /// less than tolerance for each row. The process and its ELBO; O((n D^2 + D^3) steps).
  void ascend(double precision, double tolerance, Context& context);
  /// Steps on batches of rows, of a rate that falls; then the ELBO on all rows.
  void follow(double precision, const RowBatches& batches, Context& context);
  /// Begins at the q that these say, one of each row, whose features may be another map's than when
  /// they were found.
  void begin(std::vector<RowSite> sites, Context& context);
  /// Of the watched rows.
  const std::vector<RowSite>& sites() const noexcept { return sites_->watched; }
  /// G += dELBO/dZ at q, of all rows.
  void pull_back(Context& context, const MatrixView<double>& G) const;
  /// dELBO / d log precision at q.
  double slope(double precision, Context& context) const;

  const LatentProcess& process() const noexcept { return *process_; }
  double elbo() const noexcept { return elbo_; }
  LatentProcess take() noexcept { return std::move(*process_); }
  /// Calls body(i, mean, variance) of f at each watched row i, left out; `some` are these rows.
  void left_out(const BlockSource& some, Context& context,
                const std::function<void(int64_t row, double mean, double variance)>& body) const;

 private:
  struct Sites {
    RowStatistics sums;
    std::vector<RowSite> watched;

    Sites clone(Context& context) const { return {sums.clone(context), watched}; }
    void scale(double factor);
    /// share of `other` in place of as much of these.
    void mix(Sites&& other, double share);
  };
  struct Pass {
    Sites sites;
    double likelihood = 0, weight = 0;  // of the rows
  };
  /// at: null where there is no q yet: f = 0 for all rows. own: the numbers of `rows`, ascending;
  /// null: they are all.
  Pass pass(const BlockSource& rows, const LatentProcess* at, Context& context,
            const std::vector<int64_t>* own = nullptr, const MatrixView<double>* G = nullptr) const;
  double squared_norm(const LatentProcess& at, Context& context) const;
  LatentProcess process_of(const Sites& sites, double precision, Context& context) const;
  double elbo_of(const Pass& pass, const LatentProcess& at, double precision,
                 Context& context) const;

  const BlockSource& rows_;
  int64_t k_;
  bool center_;
  std::vector<int64_t> watched_;
  std::optional<Sites> sites_;  // q = prior times what rows of these weights and targets say
  std::optional<LatentProcess> process_;
  double elbo_ = kNaN;
};

// Expectations of the logistic function sigma(f) for normal f.

/// E log(1 + e^f), E sigma(f) and E sigma'(f) for f ~ N(mean, variance), variance >= 0.
struct LogisticNormal {
  double softplus, mean, slope;
};

/// Each within 1e-5, 1e-7 and 1e-7, and exactly the first's derivatives: by the mean, and twice
/// that by the variance.
LogisticNormal logistic_normal(double mean, double variance) noexcept;

}  // namespace mercer::solver
