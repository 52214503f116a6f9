// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/loss_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "solver/block_source.h"
#include "solver/block_statistics.h"
#include "solver/primal_system.h"
#include "solver/row_statistics.h"

namespace mercer::solver {
namespace {

constexpr int64_t kRowsPerFeature = 2;  // at most, in the covariance
constexpr double kLeastCurvature = 1e-6;
constexpr double kLeastPivot = 1e-12;  // of the largest: below, a column is others' sum to rounding
// Of a covariance over that of kRowsPerFeature rows for each feature: at most (1 + 1/sqrt(2))^2.
constexpr double kSampleSpread = 3;
constexpr int64_t kScaledSteps = 50;  // before the curvature is measured again
constexpr double kTightening = 0.1;
constexpr double kLeastFall = 1e-6;  // of a function, far above the errors of its values
constexpr int64_t kPasses = 3;       // before the first descent
// The Hessian of coupled outputs is factored up to this order; beyond, that of one column scales all.
constexpr int64_t kMostCoupled = 4096;

int64_t scaling_bytes(int64_t features) {
  return checked_multiply(16, checked_multiply(features, features, "scaling"), "scaling");
}

/// The coupling whose Hessian scales the descent; null: that of one column does.
const Coupling* scaling_coupling(int64_t features, const Coupling* coupling) {
  const bool scales = coupling != nullptr && coupling->coefficients(features) <= kMostCoupled;
  return scales ? coupling : nullptr;
}
int64_t scaled_order(int64_t features, const Coupling* coupling) {
  const Coupling* const scaling = scaling_coupling(features, coupling);
  return scaling == nullptr ? features : scaling->coefficients(features);
}

/// Scaling sums over processes: either all of them do it or none.
bool all_have_room(const BlockSource& source, const Coupling* coupling, const Context& context) {
  const int64_t order = scaled_order(source.features(), coupling);
  double without = context.has_room(scaling_bytes(order)) ? 0 : 1;
  reduce(source, {&without, 1});
  return without == 0;
}

/// At most kRowsPerFeature rows per feature, evenly spread.
RowStatistics sample_statistics(const BlockSource& source, Context& context) {
  const int64_t count = std::min(source.rows(), kRowsPerFeature * source.features());
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(i * source.rows() / count);
  RowStatistics statistics(source.features(), source.outputs(), context);
  add_blocks(*source.subset(rows), statistics, context);
  return take_reduced(source, std::move(statistics));
}

using linalg::Transpose;

constexpr const char* kSpan = "coordinates of rows";
constexpr int64_t kBlockRows = 512;

/// Coordinates of rows, shared with subsets of them.
struct RowCoordinates {
  Matrix<double> C, Y;
  std::vector<double> weights, classes, groups;
  bool complete = true;
};

class Coordinates final : public BlockSource {
 public:
  Coordinates(std::shared_ptr<const RowCoordinates> kept, ChosenRows set)
      : kept_(std::move(kept)), set_(std::move(set)) {}

  int64_t features() const override { return kept_->C.cols(); }
  int64_t outputs() const override { return kept_->Y.cols(); }
  int64_t rows() const override { return set_.count; }
  int64_t block_rows() const override { return std::min(kBlockRows, rows()); }
  bool is_complete() const override { return kept_->complete; }
  std::vector<double> classes() const override { return numbers_of(kept_->classes, set_); }
  std::vector<double> groups() const override { return numbers_of(kept_->groups, set_); }
  std::unique_ptr<BlockSource> subset(RowSet rows) const override {
    return std::make_unique<Coordinates>(kept_, set_.choose(rows));
  }

  void for_each(Context& context, const Body& body) const override {
    const Matrix<double> Z(block_rows(), features(), context, kSpan);
    const Matrix<double> Y(block_rows(), outputs(), context, kSpan);
    const std::vector<double> weights = numbers_of(kept_->weights, set_);
    for (int64_t first = 0; first < rows(); first += block_rows()) {
      context.checkpoint();
      const int64_t count = std::min(block_rows(), rows() - first);
      for (int64_t i = 0; i < count; ++i) {
        std::copy_n(kept_->C.view().row(set_[first + i]), features(), Z.view().row(i));
        std::copy_n(kept_->Y.view().row(set_[first + i]), outputs(), Y.view().row(i));
      }
      FeatureBlock block{
          first, {}, Z.view().block_rows(0, count), Y.view().block_rows(0, count), {}};
      if (!weights.empty()) block.weights = std::span(weights).subspan(first, count);
      body(block);
    }
  }

 private:
  std::shared_ptr<const RowCoordinates> kept_;
  ChosenRows set_;
};

/// ZZ'; also copies targets and weights.
Matrix<double> gram_of(const BlockSource& rows, RowCoordinates& kept, Context& context) {
  const int64_t n = rows.rows();
  kept.Y = Matrix<double>(n, rows.outputs(), context, kSpan);
  const Matrix<double> Z(n, rows.features(), context, kSpan);
  for_each_wide(rows, context, [&](const WideBlock& block) {
    const int64_t last = block.first + block.Z.rows;
    copy_rows(block.Z, Z.view().block_rows(block.first, last));
    copy_rows(block.Y, kept.Y.view().block_rows(block.first, last));
    kept.weights.insert(kept.weights.end(), block.weights.begin(), block.weights.end());
  });
  Matrix<double> K(n, n, context, kSpan);
  linalg::multiply(1.0, Transpose::no, Z.view(), Transpose::yes, Z.view(), 0.0, K.view());
  return K;
}

}  // namespace

/// r := H^{-1} r, H the Hessian of the objective in one column's weights and intercept, of rows of
/// these statistics and of this curvature; of outputs whose features have roots B_c in all weights,
/// where the block of features c and c' is that of one column times B_c'B_c'.
class LossFit::Scaling {
 public:
  Scaling(int64_t features, bool center, const Coupling* coupling, Context& context)
      : center_(center), coupling_(scaling_coupling(features, coupling)), apart_(features) {
    reserve(scaled_order(features, coupling), context);
  }

  /// mean: that of the objective.
  void factor(const RowStatistics& rows, double curvature, std::span<const double> mean,
              double lambda, Context& context) {
    curvature_ = std::max(curvature, kLeastCurvature);
    const MatrixView<const double> G = rows.gram();
    const std::vector<double> shift = mean_about_origin(rows).features;
    const double share = rows.weight() > 0 ? curvature / rows.weight() : 0;
    apart_ = mean_of(rows).features;
    for (size_t j = 0; j < apart_.size(); ++j) apart_[j] -= mean[j];
    const auto curved = [&](int64_t i, int64_t j) {
      const double about_mean = center_ ? 0 : apart_[i] * apart_[j];
      return share * G(i, j) + curvature * (about_mean - shift[i] * shift[j]);
    };
    // Without lambda a root of less than full rank leaves weights open, though not the scores.
    coupled_ = coupling_ != nullptr && lambda > 0;
    const int64_t q = coupled_ ? coupling_->width() : 1;
    reserve(q * G.rows, context);
    for (int64_t i = 0; i < L_.rows(); ++i) {
      for (int64_t j = 0; j <= i; ++j)
        L_(i, j) = curved(i / q, j / q) * (coupled_ ? product_of_roots(*coupling_, i, j) : 1);
      L_(i, i) += lambda;
    }
    jittered_cholesky(L_.view(), context);
    if (lambda == 0) require_independent();
  }
  /// The intercepts are eliminated where each is of one column of weights.
  void apply(std::span<double> r, int64_t columns) const {
    const int64_t D = std::ssize(apart_);
    const MatrixView<double> theta(r.data(), D, columns);
    const std::span<double> b = r.subspan(static_cast<size_t>(D * columns));
    const bool joint = !coupled_ && std::ssize(b) == columns;
    for (int64_t j = 0; j < D && joint; ++j)
      for (int64_t k = 0; k < columns; ++k) theta(j, k) -= apart_[j] * b[k];
    linalg::cholesky_solve(L_.view(),
                           coupled_ ? MatrixView<double>(r.data(), D * columns, 1) : theta);
    for (double& one : b) one /= curvature_;
    for (int64_t j = 0; j < D && joint; ++j)
      for (int64_t k = 0; k < columns; ++k) b[k] -= apart_[j] * theta(j, k);
  }

 private:
  void reserve(int64_t order, Context& context) {
    if (L_.rows() != order) L_ = Matrix<double>(order, order, context, "a Cholesky factor");
  }
  /// Column a of B_c times column b of B_c', i = c q + a and j = c' q + b.
  static double product_of_roots(const Coupling& coupling, int64_t i, int64_t j) {
    const int64_t q = coupling.width();
    double sum = 0;
    for (int64_t o = 0; o < coupling.outputs(); ++o)
      sum += coupling.root(i / q, o, i % q) * coupling.root(j / q, o, j % q);
    return sum;
  }
  /// Without lambda, features that depend on each other leave the optimum open, or there is none.
  void require_independent() const {
    double least = HUGE_VAL, most = 0;
    for (int64_t j = 0; j < L_.rows(); ++j) {
      least = std::min(least, L_(j, j) * L_(j, j));
      most = std::max(most, L_(j, j) * L_(j, j));
    }
    require(
        least > kLeastPivot * most, MERCER_NOT_POSITIVE_DEFINITE,
        "lambda = 0 with features that depend on each other in these rows, expected lambda > 0: "
        "a loss other than squares has no one optimum then");
  }

  bool center_;
  const Coupling* coupling_;  // null: a Hessian of one column
  bool coupled_ = false;      // what was factored last
  Matrix<double> L_;
  std::vector<double> apart_;  // the rows' mean minus the objective's
  double curvature_ = 1;
};

LossFit::LossFit(const BlockSource& source, LossOptions options, Context& context,
                 const RowStatistics* statistics) {
  require(!source.kernel_columns(), MERCER_UNSUPPORTED,
          "another loss than squares with the kernel itself (map exact), expected ridge, or a map "
          "of features");
  Stage stage(context, kPasses);
  cached_ = stage.part(1, [&] { return make_cached(source, context); });
  rows_ = cached_ ? cached_.get() : &source;
  const BlockSource& rows = *rows_;
  const bool center = options.center;
  if (all_have_room(rows, options.coupling, context)) {
    if (statistics == nullptr)
      own_ = stage.part(
          1, [&] { return std::make_unique<RowStatistics>(sample_statistics(rows, context)); });
    statistics_ = statistics == nullptr ? own_.get() : statistics;
    if (statistics_->weight() > 0)
      scaling_ = std::make_unique<Scaling>(rows.features(), center, options.coupling, context);
  }
  stage.share(1);
  objective_ = std::make_unique<LossObjective>(rows, std::move(options), context);
  x_.assign(objective_->size(), 0.0);
}

LossFit::~LossFit() = default;

linalg::LbfgsResult LossFit::run(double lambda, const LossFitOptions& options, Context& context) {
  objective_->set_lambda(lambda);
  const bool measured = options.measured && scaling_;
  const auto most = [&](int64_t done) {
    const int64_t left = options.most_iterations - done;
    return measured ? std::min(left, kScaledSteps) : left;
  };
  // The function has been evaluated at the starting point when it is scaled.
  linalg::LbfgsResult result = descend(
      {options.tolerance, options.gradient_tolerance, most(0)},
      [&] {
        scaling_->factor(*statistics_, std::max(objective_->curvature(), kLeastCurvature),
                         objective_->mean(), lambda, context);
      },
      context);
  if (!measured) return result;
  const double near = options.tolerance / kSampleSpread;
  for (double tolerance = near; result.iterations < options.most_iterations;
       tolerance *= kTightening) {  // L-BFGS took the point before for one within it
    const int64_t done = result.iterations;
    result = descend(
        {tolerance, options.gradient_tolerance, most(done)}, [&] { scale_at_end(lambda, context); },
        context);
    const bool stays = result.iterations == 0, near_enough = result.first_decrement <= near;
    result.iterations += done;
    if (stays) return result;
    if (near_enough && result.end == linalg::LbfgsEnd::iterations)
      result.end = linalg::LbfgsEnd::decrease;
    if (near_enough) return result;
  }
  result.end = linalg::LbfgsEnd::iterations;
  return result;
}

linalg::LbfgsResult LossFit::descend(const LossFitOptions& options,
                                     const std::function<void()>& scale, Context& context) {
  linalg::LbfgsOptions descent{.most_iterations = options.most_iterations,
                               .gradient_tolerance = options.gradient_tolerance,
                               .decrement_tolerance = options.tolerance,
                               .noise = objective_->noise()};
  bool scaled = false;
  if (scaling_)
    descent.preconditioner = [&](std::span<double> r) {
      if (!scaled) scale();
      scaled = true;
      scaling_->apply(r, objective_->width());
    };
  return linalg::minimize_lbfgs(
      [&](std::span<const double> x, std::span<double> gradient) {
        return (*objective_)(x, gradient, context);
      },
      x_, descent, context);
}

void LossFit::scale_at_end(double lambda, Context& context) {
  RowStatistics curved(objective_->features(), 0, context);
  objective_->add_curved(x_, static_cast<double>(kRowsPerFeature * objective_->features()), curved,
                         context);
  curved.release_scratch();
  scaling_->factor(take_reduced(*rows_, std::move(curved)), objective_->curvature(),
                   objective_->mean(), lambda, context);
}

bool LossFit::is_flat(const linalg::LbfgsResult& end, const LossFitOptions& options,
                      Context& context) {
  return linalg::is_flat(end,
                         [&](std::span<const double> x, std::span<double> gradient) {
                           return (*objective_)(x, gradient, context);
                         },
                         x_.size(),
                         {.decrement_tolerance = options.tolerance, .noise = objective_->noise()});
}

bool LossFit::falls_on(const linalg::LbfgsResult& end, Context& context) {
  const auto weights = static_cast<size_t>(objective_->features() * objective_->width());
  std::vector<double> gradient(x_.size());
  // A penalty that is all but 0 holds the weights, not the intercepts.
  for (const size_t from : {size_t{0}, weights}) {
    std::vector<double> beyond(x_);
    for (size_t j = from; j < beyond.size(); ++j) beyond[j] *= 2;
    const double value = (*objective_)(beyond, gradient, context);
    if (value < end.value - kLeastFall * std::abs(end.value)) return true;
  }
  return false;
}

bool RowSpace::pays(const BlockSource& rows, const Context& context) {
  const int64_t n = rows.rows(), D = rows.features();
  if (n == 0 || n > D / 2 || rows.reduction() != nullptr || rows.kernel_columns()) return false;
  const int64_t numbers =
      checked_add(checked_multiply(n, D, kSpan), checked_multiply(3 * n, n, kSpan), kSpan);
  return context.has_room(checked_multiply(8, numbers, kSpan));
}

RowSpace::RowSpace(const BlockSource& rows, Context& context) : rows_(rows) {
  if (!pays(rows, context)) return;
  auto kept = std::make_shared<RowCoordinates>();
  kept->classes = rows.classes();
  kept->groups = rows.groups();
  kept->complete = rows.is_complete();
  const Matrix<double> Q = gram_of(rows, *kept, context);  // row k becomes eigenvector k
  const int64_t n = rows.rows();
  const double squares = std::inner_product(Q.data(), Q.data() + n * n, Q.data(), 0.0);
  if (!std::isfinite(squares)) return;  // fits of the features say what is wrong with them
  std::vector<double> values(n);
  linalg::symmetric_eigen(Q.view(), values, context);
  const double least = static_cast<double>(n) * kEpsilon * std::max(values.back(), 0.0);
  const auto r = std::ranges::count_if(values, [&](double s) { return s > least; });
  if (r == 0) return;
  kept->C = Matrix<double>(n, r, context, kSpan);
  dual_ = Matrix<double>(n, r, context, kSpan);
  for (int64_t k = 0; k < r; ++k) {
    const double root = std::sqrt(values[n - r + k]);
    for (int64_t i = 0; i < n; ++i) {
      kept->C(i, k) = Q(n - r + k, i) * root;
      dual_(i, k) = Q(n - r + k, i) / root;
    }
  }
  reduced_ = std::make_unique<Coordinates>(std::move(kept), ChosenRows(n));
}

Matrix<double> RowSpace::lifted(MatrixView<const double> u, Context& context) const {
  const Matrix<double> A(rows_.rows(), u.cols, context, kSpan);
  linalg::multiply(1.0, Transpose::no, dual_.view(), Transpose::no, u, 0.0, A.view());
  Matrix<double> w(rows_.features(), u.cols, context, kSpan);
  w.fill(0);
  for_each_wide(rows_, context, [&](const WideBlock& block) {
    const auto part = A.view().block_rows(block.first, block.first + block.Z.rows);
    linalg::multiply(1.0, Transpose::yes, block.Z, Transpose::no, part, 1.0, w.view());
  });
  return w;
}

Weights RowSpace::weights(Weights u, Context& context) const {
  if (reduces()) u.w = lifted(u.w.view(), context);
  return u;
}

Matrix<double> RowSpace::basis(Context& context) const {
  const Matrix<double> one(dual_.cols(), dual_.cols(), context, kSpan);
  one.fill(0);
  for (int64_t k = 0; k < one.rows(); ++k) one(k, k) = 1;
  return lifted(one.view(), context);
}

}  // namespace mercer::solver
