// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Searches of rows that come block by block: a uniform sample chooses, all rows are fitted, rows that
// neither has seen are scored; against rows in memory, and against ridge written out plainly.
#include <functional>

#include "memory_stream.h"
#include "model/fit.h"
#include "model/stream_sample.h"
#include "model_problem.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/fit.h"
#include "support/measured_memory.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/statistic.h"
#include "support/thread_reduction.h"

namespace stream_search_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

constexpr int64_t kSample = 3000, kUnseen = kSample / 4;
const std::string kQuick = R"({"effort":"quick","map":{"features":32},"precision":"f64"})";

FitPlan plan_of(const std::string& json, int64_t sampled = kSample) {
  FitPlan plan = spec::fit_plan(json);
  plan.sampled = sampled;
  return plan;
}

/// Rows from `first` to `last`, in blocks, in one of several processes.
class SharedStream final : public MemoryStream {
 public:
  SharedStream(Rows X, MatrixView<const double> Y, solver::Reduction* reduction)
      : MemoryStream(X, Y, {700, 33, 1000}), reduction_(reduction) {}
  solver::Reduction* reduction() const override { return reduction_; }

 private:
  solver::Reduction* reduction_;
};

Model fit_all(const FitPlan& plan, MemoryStream& stream, const Rows& X,
              MatrixView<const double> Y) {
  Context context;
  return fit_stream(plan, nullptr, stream, X.cols(), Y.cols, context);
}

TEST_CASE("a search of a stream of few rows is that of the rows in memory") {
  Problem problem = smooth_problem(300, 3, 2, 0.1, 1);
  const auto check = [&](const std::string& json, const Rows& X, MatrixView<const double> Y,
                         std::span<const double> weights = {}) {
    CAPTURE(json);
    const FitPlan plan = plan_of(json, 300);
    Context context;
    const Model whole = fit(plan, nullptr, X, Y, weights, context);
    MemoryStream stream(X, Y, {1, 7, 120, 33});
    stream.weights = weights;
    const Model streamed = fit_all(plan, stream, X, Y);
    CHECK(stream.passes == 1);
    CHECK(streamed.rows == whole.rows);
    CHECK(streamed.fit.select.lambda == whole.fit.select.lambda);
    CHECK(streamed.report.assessment.score == whole.report.assessment.score);
    CHECK(streamed.report.warnings == whole.report.warnings);
    CHECK(largest_difference(predictions(streamed, X), predictions(whole, X)) == 0);
  };
  check(kQuick, problem.x(), problem.y());
  check(R"({"map":{"features":32},"ard":"off"})", problem.x(), problem.y().block_cols(0, 1));
  std::vector<double> weights;
  for (int64_t i = 0; i < 300; ++i) weights.push_back(static_cast<double>(i % 4));
  check(kQuick, problem.x(), problem.y(), weights);
  const auto sparse = sparse_rows<float>(300, 9, 5, 4);
  check(R"({"effort":"quick","map":{"features":32}})", sparse.view(), problem.y());
  for (int64_t i = 0; i < 300; ++i) problem.Y(i, 0) = problem.Y(i, 0) > 0.3 ? 2 : i % 2;
  check(R"({"effort":"quick","task":"classification"})", problem.x(), problem.y().block_cols(0, 1));
}

/// The sample that a fit by this plan takes.
struct Sampled {
  FitOptions checks;
  StreamSample sample;
  Sampled(const FitPlan& plan, RowStream& stream, int64_t inputs, int64_t targets, Context& context)
      : checks(plan.search.fit),
        sample(CheckedStream(checks, stream, inputs, targets),
               {plan.sampled, kUnseenShare, kUnseen}, checks.select.seed, context) {}
};

/// How far the model is from ridge on the features of all rows but these, at its lambda.
double distance_from_ridge(const Model& model, const Problem& problem,
                           const std::vector<int64_t>& unseen) {
  const std::vector<int64_t> kept = rows_without(problem.X.rows(), unseen);
  const Matrix<double> X = rows_of(problem.X, kept), Y = rows_of(problem.Y, kept);
  const Matrix<double> Z = plain_features(*model.map, X.view(), model.preparation);
  const double shift = static_cast<double>(kept.size()) * model.fit.select.lambda;
  return largest_difference(predictions(model, Rows(X.view())), plain_ridge(Z, Y, shift, Z));
}

TEST_CASE("of a long stream all rows but the unseen ones are fitted as a sample has chosen") {
  const Problem problem = smooth_problem(20000, 3, 1, 0.3, 2);
  const FitPlan plan = plan_of(kQuick);
  MemoryStream stream(problem.x(), problem.y(), {700, 33, 1000});
  const Model model = fit_all(plan, stream, problem.x(), problem.y());
  CHECK(stream.passes == 3);  // sample, ranges, sums
  Context context;
  const Sampled sampled(plan, stream, 3, 1, context);
  const std::vector<int64_t>& unseen = sampled.sample.own_unseen();
  REQUIRE(unseen.size() == kUnseen);
  CHECK(model.rows == 20000 - kUnseen);
  CHECK(distance_from_ridge(model, problem, unseen) < 1e-7);
  // The score is that of these rows.
  const Assessment& score = model.report.assessment;
  REQUIRE(score.kind == AssessmentRows::unseen);
  CHECK(score.rows == kUnseen);
  const Matrix<double> X = rows_of(problem.X, unseen), y = rows_of(problem.Y, unseen);
  const Matrix<double> predicted = predictions(model, Rows(X.view()));
  double mean = 0, total = 0, left = 0;
  for (int64_t i = 0; i < kUnseen; ++i) mean += y(i, 0) / kUnseen;
  for (int64_t i = 0; i < kUnseen; ++i) {
    total += (y(i, 0) - mean) * (y(i, 0) - mean);
    left += (y(i, 0) - predicted(i, 0)) * (y(i, 0) - predicted(i, 0));
  }
  CHECK(std::abs(score.score - (1 - left / total)) < 1e-9);
  CHECK(score.linear < score.score);
  // As good as the search of all rows in memory, to the errors of both scores.
  const Model whole = fit(plan, nullptr, problem.x(), problem.y(), {}, context);
  CHECK(std::abs(whole.report.assessment.score - score.score) <
        4 * std::hypot(score.standard_error, whole.report.assessment.standard_error));
  CHECK(model.report.trials.back().stage == kScoreStage);
  CHECK(model.report.trials.back().score == 1 - score.score);

  const FitPlan plain = plan_of(R"({"effort":"quick","map":{"features":32},"assess":false})");
  const Model all = fit_all(plain, stream, problem.x(), problem.y());
  CHECK(all.rows == 20000);
  CHECK(all.report.assessment.kind == AssessmentRows::none);
}

TEST_CASE("a long stream of classes, of weights, of sparse rows, or with missing targets") {
  Problem problem = smooth_problem(9000, 3, 1, 0.1, 5);
  Context context;
  std::vector<double> weights;
  for (int64_t i = 0; i < 9000; ++i) weights.push_back(static_cast<double>(i % 3));
  MemoryStream weighted(problem.x(), problem.y(), {1000});
  weighted.weights = weights;
  const FitPlan quick = plan_of(kQuick);
  const Model of_weighted = fit_all(quick, weighted, problem.x(), problem.y());
  CHECK(of_weighted.report.assessment.rows == 600);  // of 6,000 rows of positive weight
  CHECK(of_weighted.report.assessment.score > 0.9);
  CHECK(weighted.passes == 4);  // one more for the sum of the weights
  for (int64_t i = 0; i < 9000; i += 3) problem.Y(i, 0) = std::nan("");
  MemoryStream missing(problem.x(), problem.y(), {1000});
  const Model of_missing = fit_all(quick, missing, problem.x(), problem.y());
  CHECK(of_missing.report.assessment.score > 0.9);
  CHECK(of_missing.fit.select.selection == Selection::leave_one_out);
  const auto said = std::ranges::count_if(of_missing.report.warnings, [](const std::string& one) {
    return one.find("3000 of 9000 targets are NaN") != std::string::npos;
  });
  CHECK(said == 1);
  // Of rows that are all in the sample, and miss their only target, too.
  const Problem few{test::copy(problem.X.view().block_rows(0, 300)),
                    test::copy(problem.Y.view().block_rows(0, 300))};
  MemoryStream whole(few.x(), few.y(), {100});
  const Model of_few = fit_all(quick, whole, few.x(), few.y());
  CHECK(std::ranges::count_if(of_few.report.warnings, [](const std::string& one) {
          return one.starts_with("100 of 300 targets are NaN");
        }) == 1);
  for (int64_t i = 0; i < 9000; ++i)
    problem.Y(i, 0) = i == 8998 ? 3 : problem.X(i, 0) > 0.4 ? 2 : problem.X(i, 1) > 0 ? 1 : 0;
  MemoryStream classes(problem.x(), problem.y(), {1000});
  const std::string task = R"({"effort":"quick","map":{"features":64},"task":"classification")";
  const Model of_classes = fit_all(plan_of(task + "}"), classes, problem.x(), problem.y());
  CHECK(of_classes.fit.coding.classes == 4);
  CHECK(of_classes.report.assessment.score > 0.9);
  CHECK(!of_classes.calibration.empty());
  const Model logistic =
      fit_all(plan_of(task + R"(,"model":"logistic"})"), classes, problem.x(), problem.y());
  CHECK(logistic.report.assessment.score > 0.93);
  CHECK(!logistic.calibration.empty());
  const auto sparse = sparse_rows<double>(9000, 9, 5, 4);
  Matrix<double> sums(9000, 1);
  for (int64_t i = 0; i < 9000; ++i) {
    sums(i, 0) = 0;
    for (int64_t p = sparse.view().begin(i); p < sparse.view().end(i); ++p)
      sums(i, 0) += sparse.view().values[p];
  }
  MemoryStream of_sparse(sparse.view(), sums.view(), {1000});
  CHECK(fit_all(plan_of(R"({"effort":"quick","map":{"features":256}})"), of_sparse, sparse.view(),
                sums.view())
            .report.assessment.score > 0.8);
}

TEST_CASE("numbers far beyond the sample's, and the score that comes of them, are warned of") {
  Problem problem = smooth_problem(20000, 3, 1, 0.1, 12);
  const auto warns = [&](const char* of) {
    MemoryStream stream(problem.x(), problem.y(), {5000});
    const Model model = fit_all(plan_of(kQuick), stream, problem.x(), problem.y());
    return std::ranges::count_if(model.report.warnings, [of](const std::string& one) {
      return one.find(of) != std::string::npos;
    });
  };
  CHECK(warns("far beyond") == 0);
  problem.Y(12345, 0) = 1e9;  // of a row that is not sampled
  CHECK(warns("target 0 reaches") == 1);
  CHECK(warns("does not beat") >= 1);
}

TEST_CASE("other choices of a search hold for a long stream") {
  const Problem problem = smooth_problem(9000, 3, 1, 0.1, 5);
  Context context;
  for (const char* json :
       {R"({"map":{"features":64},"model":"gp"})", R"({"map":{"features":64},"ard":"on"})",
        R"({"map":{"features":64},"prepare":{"transform":"rank","missing":"flag"},"ard":"off"})",
        R"({"map":{"map":"nystroem","features":64},"effort":"quick"})",
        R"({"map":{"features":64},"effort":"quick","model":"logistic","loss":"huber"})",
        R"({"map":{"features":64},"effort":"quick","lambda":1e-5})"}) {
    CAPTURE(json);
    MemoryStream stream(problem.x(), problem.y(), {1000});
    const Model model = fit_all(plan_of(json), stream, problem.x(), problem.y());
    CHECK(model.rows == 9000 - kUnseen);
    CHECK(model.report.assessment.score > 0.9);
    CHECK((model.posterior != nullptr) == (std::string(json).find("gp") != std::string::npos));
    if (std::string(json).find("lambda") != std::string::npos)
      CHECK(model.fit.select.lambda == 1e-5);
  }
}

// Pearson's statistic of the numbers of sampled rows in 100 equal parts of the stream; those of a
// sample without replacement vary less.
TEST_CASE("the sample is uniform over the stream, and does not depend on its blocks") {
  constexpr int64_t kAll = 200000, kCells = 100;
  const Matrix<double> X = filled(kAll, 1, [](int64_t i, int64_t) { return i; });
  const SampleSize size{40000, 0.1, 10000};
  FitOptions checks;
  Context context;
  const auto sample_of = [&](uint64_t seed, std::vector<int64_t> blocks) {
    MemoryStream stream(X.view(), X.view(), std::move(blocks));
    return StreamSample(CheckedStream(checks, stream, 1, 1), size, seed, context);
  };
  const auto count = [&](const StreamSample& sample, bool unseen) {
    std::vector<int64_t> counts(kCells, 0);
    const auto rows = sample.rows();
    const auto among = unseen ? sample.unseen() : all_rows(rows.X.rows());
    for (const int64_t i : among) ++counts[static_cast<size_t>(rows.Y(i, 0)) * kCells / kAll];
    return counts;
  };
  for (const uint64_t seed : {0, 1, 2}) {
    const StreamSample sample = sample_of(seed, {1000});
    REQUIRE(sample.rows().X.rows() == 40000);
    CHECK(sample.unseen().size() == 10000);
    const double bound = chi_square_threshold(kCells - 1, kFailure, 6);
    CHECK(chi_square_uniform(count(sample, false)) < bound);
    CHECK(chi_square_uniform(count(sample, true)) < bound);
    for (int64_t i = 1; i < 40000; ++i) REQUIRE(sample.rows().Y(i - 1, 0) < sample.rows().Y(i, 0));
  }
  const StreamSample one = sample_of(5, {1000}), other = sample_of(5, {7, 40000});
  CHECK(one.own_unseen() == other.own_unseen());
  CHECK(count(one, false) == count(other, false));
  CHECK(sample_of(6, {1000}).own_unseen() != one.own_unseen());
}

/// What each of several processes, which have the rows between these bounds, comes to.
template <class Body>
void in_processes(const Problem& problem, const std::vector<int64_t>& bounds, const Body& body) {
  ThreadJob(static_cast<int>(bounds.size()) - 1)
      .run([&](solver::Reduction& reduction, int process) {
        const int64_t first = bounds[process], last = bounds[static_cast<size_t>(process) + 1];
        SharedStream rows(problem.x().block_rows(first, last), problem.y().block_rows(first, last),
                          &reduction);
        body(rows, static_cast<size_t>(process), first);
      });
}

TEST_CASE("processes that share a long stream search one sample and get one model") {
  const Problem problem = smooth_problem(12000, 3, 1, 0.3, 2);
  const FitPlan plan = plan_of(kQuick);
  for (const std::vector<int64_t>& bounds :
       {std::vector<int64_t>{0, 3000, 12000}, {0, 0, 7000, 11990, 12000}}) {
    const size_t processes = bounds.size() - 1;
    std::vector<Model> models(processes);
    std::vector<std::vector<int64_t>> unseen(processes);
    std::vector<std::vector<double>> samples(processes);
    in_processes(problem, bounds, [&](SharedStream& rows, size_t process, int64_t first) {
      Context context;
      models[process] = fit_stream(plan, nullptr, rows, 3, 1, context);
      const Sampled sampled(plan, rows, 3, 1, context);
      for (const int64_t i : sampled.sample.own_unseen()) unseen[process].push_back(first + i);
      const TargetedRows all = sampled.sample.rows();
      for (int64_t i = 0; i < all.Y.rows; ++i) samples[process].push_back(all.Y(i, 0));
    });
    std::vector<int64_t> all_unseen;
    for (const auto& part : unseen) all_unseen.insert(all_unseen.end(), part.begin(), part.end());
    CHECK(all_unseen.size() == kUnseen);
    for (size_t p = 0; p < processes; ++p) {  // in proportion to the rows
      const double share = static_cast<double>(bounds[p + 1] - bounds[p]) / 12000;
      CHECK(std::abs(static_cast<double>(unseen[p].size()) - kUnseen * share) <= 1);
      CHECK(samples[p] == samples[0]);
      CHECK(samples[p].size() == kSample);
      CHECK(models[p].report.assessment.score == models[0].report.assessment.score);
      CHECK(largest_difference(predictions(models[p], problem.x()),
                               predictions(models[0], problem.x())) == 0);
    }
    CHECK(models[0].rows == 12000 - kUnseen);
    CHECK(models[0].report.assessment.rows == kUnseen);
    CHECK(distance_from_ridge(models[0], problem, all_unseen) < 1e-7);
  }
}

TEST_CASE("processes whose rows are few search all of them") {
  const Problem problem = smooth_problem(400, 3, 1, 0.1, 2);
  const FitPlan plan = plan_of(kQuick);
  std::vector<Model> models(2);
  in_processes(problem, {0, 150, 400}, [&](SharedStream& rows, size_t process, int64_t) {
    Context context;
    models[process] = fit_stream(plan, nullptr, rows, 3, 1, context);
  });
  CHECK(models[0].rows == 400);
  CHECK(largest_difference(predictions(models[0], problem.x()),
                           predictions(models[1], problem.x())) == 0);
  // In one process, in either order of the two parts.
  double least = INFINITY;
  for (const bool swapped : {false, true}) {
    std::vector<int64_t> order = all_rows(400);
    if (swapped) std::ranges::rotate(order, order.begin() + 150);
    const Matrix<double> X = rows_of(problem.X, order), Y = rows_of(problem.Y, order);
    MemoryStream alone(X.view(), Y.view(), {100});
    const Model one = fit_all(plan, alone, X.view(), Y.view());
    least = std::min(least, largest_difference(predictions(one, problem.x()),
                                               predictions(models[0], problem.x())));
  }
  CHECK(least == 0);
}

/// Loses a target before the second pass.
class LosingStream final : public RowStream {
 public:
  LosingStream(RowStream& rows, double& target) : rows_(rows), target_(target) {}
  void rewind() override {
    if (passes_++ == 1) target_ = std::nan("");
    rows_.rewind();
  }
  Block next() override { return rows_.next(); }

 private:
  RowStream& rows_;
  double& target_;
  int64_t passes_ = 0;
};

TEST_CASE("searches of streams are refused, or end, with a reason") {
  Problem problem = smooth_problem(9000, 3, 1, 0.1, 5);
  Context context;
  const auto refused = [&](mercer_status status, const std::string& json, auto... parts) {
    MemoryStream stream(problem.x(), problem.y(), {1000});
    return refusal_fault(
        status, [&] { fit_all(plan_of(json), stream, problem.x(), problem.y()); }, parts...);
  };
  CHECK(refused(MERCER_UNSUPPORTED, R"({"model":"sparse_inputs"})", "sparse_inputs",
                "rows that are not in memory") == "");
  CHECK(refused(MERCER_UNSUPPORTED, R"({"model":"dirichlet","task":"classification","classes":2})",
                "dirichlet") == "");
  CHECK(refused(MERCER_UNSUPPORTED, R"({"ordered":true})", "ordered = true of a search") == "");
  CHECK(refused(MERCER_UNSUPPORTED, R"({"outputs":"covariance"})", "outputs of a search") == "");
  CHECK(refused(MERCER_UNSUPPORTED, R"({"map":"exact"})", "map exact of a search") == "");
  CHECK(refused(MERCER_UNSUPPORTED, R"({"search":false,"ard":"on"})", "ard",
                "it left out: it is of a search") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, R"({"task":"classification"})",
                "the block after 0 rows: Y") == "");
  MemoryStream shorter(problem.x(), problem.y(), {1000});
  shorter.drop_after_first = 3;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                fit_all(plan_of(kQuick), shorter, problem.x(), problem.y()),
                "9000 rows, and 8997 when it began again");
  Problem lost = smooth_problem(9000, 3, 1, 0.1, 14);
  MemoryStream kept(lost.x(), lost.y(), {1000});
  LosingStream losing(kept, lost.Y(8000, 0));
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                fit_stream(plan_of(kQuick), nullptr, losing, 3, 1, context),
                "targets that are NaN when it began again");
  MemoryStream one(problem.x().block_rows(0, 1), problem.y().block_rows(0, 1), {20});
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fit_all(plan_of(kQuick), one, problem.x(), problem.y()),
                "source.n = 1");
  std::vector<std::string> faults(2);
  ThreadJob(2).run([&](solver::Reduction& reduction, int process) {
    SharedStream rows(problem.x(), problem.y(), &reduction);  // all of them, in both
    faults[process] = refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { fit_all(plan_of(kQuick), rows, problem.x(), problem.y()); },
        "two of the 2 processes that share the rows deliver the same ones");
  });
  CHECK(faults == std::vector<std::string>(2));
  problem.X(8333, 1) = std::nan("");
  CHECK(refused(MERCER_INVALID_ARGUMENT, kQuick,
                "the block after 8000 rows: X: row 333, column 1 is nan") == "");
}

/// Rows that are made when they are asked for.
class MadeStream final : public RowStream {
 public:
  explicit MadeStream(int64_t rows) : rows_(rows), X_(4096, 3), Y_(4096, 1) {}
  void rewind() override {
    at_ = 0;
    words_.seed(1);
  }
  Block next() override {
    const int64_t n = std::min<int64_t>(4096, rows_ - at_);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < 3; ++j)
        X_(i, j) = static_cast<double>(words_() >> 11) * 0x1p-52 - 1.0;
      Y_(i, 0) = X_(i, 0) * X_(i, 1) + X_(i, 2);
    }
    at_ += n;
    return {X_.view().block_rows(0, n), Y_.view().block_rows(0, n)};
  }

 private:
  int64_t rows_, at_ = 0;
  Matrix<double> X_, Y_;
  std::mt19937_64 words_;
};

// Of more than 2^20 targets at most as many, in a sample, give the ranges.
TEST_CASE("a search of a stream takes as much memory whatever the number of rows") {
  if (!measures_memory()) return;
  std::vector<double> peaks;
  for (const int64_t rows : {1500000, 3000000}) {
    MadeStream stream(rows);
    Context context;
    const MemoryPeak peak;
    const Model model = fit_stream(plan_of(kQuick), nullptr, stream, 3, 1, context);
    CHECK(model.rows == rows - kUnseen);
    peaks.push_back(static_cast<double>(peak.bytes()));
  }
  CHECK(peaks[1] < 1.05 * peaks[0] + 0x1p20);
}

}  // namespace stream_search_test
