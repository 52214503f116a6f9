// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A reservoir by hashes: each row is kept if its hash is among the smallest (bottom-k sampling,
// Cohen, Kaplan 2007), so that a sample depends on row numbers, not on blocks. Processes have sums
// alone to tell each other apart: each takes a place at random, by a hash of its rows, until all
// places are different. Where they know the numbers of their rows among all, hashes are of these,
// and all keep what one process with all rows would.
#include "model/stream_sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "model/assess/assessment.h"
#include "model/assess/warnings.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/search/search.h"
#include "model/select/selection.h"
#include "model/update.h"
#include "random/stream.h"

namespace mercer::model {
namespace {

constexpr const char* kSample = "a sample of the stream's rows";
constexpr int64_t kLeastCharged = int64_t{1} << 14;  // numbers
// Indices of streams of hashes: others of this tag count from 0.
constexpr uint64_t kFirstStream = uint64_t{3} << 46, kStreams = uint64_t{1} << 46;

uint64_t mixed(uint64_t hash, uint64_t more) {
  hash = (hash ^ more) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}
uint64_t mixed(uint64_t hash, const std::vector<double>& numbers) {
  for (const double x : numbers) hash = mixed(hash, std::bit_cast<uint64_t>(x));
  return hash;
}
uint64_t hash_of(const RowReservoir::Row& row) {
  uint64_t hash = mixed(0, std::bit_cast<uint64_t>(row.weight));
  for (const int64_t j : row.columns) hash = mixed(hash, static_cast<uint64_t>(j));
  return mixed(mixed(hash, row.x), row.y);
}

bool is_before(const RowReservoir::Row& a, const RowReservoir::Row& b) {
  return a.hash < b.hash || (a.hash == b.hash && a.number < b.number);
}

/// Whether a search would read the row.
bool counts_in(const RowStream::Block& block, int64_t i) {
  const double* const y = block.Y.row(i);
  return (block.weights.empty() || block.weights[i] > 0) &&
         !std::all_of(y, y + block.Y.cols, [](double t) { return std::isnan(t); });
}

RowReservoir::Row copy_of_row(const RowStream::Block& block, int64_t i) {
  RowReservoir::Row row;
  if (!block.weights.empty()) row.weight = block.weights[i];
  row.y.assign(block.Y.row(i), block.Y.row(i) + block.Y.cols);
  block.X.visit([&](const auto& X) {
    for_each_stored(X, i, [&](int64_t j, auto x) {
      if (block.X.sparse()) row.columns.push_back(j);
      row.x.push_back(static_cast<double>(x));
    });
  });
  return row;
}

int64_t numbers_in(const RowReservoir::Row& row) {
  return std::ssize(row.x) + std::ssize(row.y) + std::ssize(row.columns);
}

}  // namespace

bool RowReservoir::keeps(uint64_t hash) const {
  return std::ssize(kept_) < most_ || hash < kept_.front().hash;
}

void RowReservoir::add(const RowStream::Block& block) {
  if (stream_ == 0 && block.X.rows() > 0)
    stream_ =
        kFirstStream + (shared_ && first_row_ == 0 ? hash_of(copy_of_row(block, 0)) % kStreams : 0);
  const int64_t before = std::max<int64_t>(first_row_ - 1, 0);
  sparse_ = sparse_ || block.X.sparse();
  for (int64_t i = 0; i < block.X.rows(); ++i) {
    const int64_t number = rows_++;
    if (!counts_in(block, i)) continue;
    const random::Words words = random::Stream(seed_, random::Tag::sample, stream_)
                                    .block(static_cast<uint64_t>(before + number));
    const uint64_t hash = words[0] | static_cast<uint64_t>(words[1]) << 32;
    if (!keeps(hash)) continue;
    Row row = copy_of_row(block, i);
    row.hash = hash;
    row.number = number;
    insert(std::move(row));
  }
  charge();
}

void RowReservoir::insert(Row row) {
  numbers_ += numbers_in(row);
  kept_.push_back(std::move(row));
  std::ranges::push_heap(kept_, is_before);
  if (std::ssize(kept_) <= most_) return;
  std::ranges::pop_heap(kept_, is_before);
  numbers_ -= numbers_in(kept_.back());
  kept_.pop_back();
}

/// Twice: vectors double as they grow, and the rows are copied at the end.
void RowReservoir::charge() {
  if (numbers_ <= charged_) return;
  charged_ = std::max(kLeastCharged, checked_multiply(2, numbers_, kSample));
  held_ = {};
  held_ = context_.charge(checked_multiply(8, charged_, kSample), kSample);
}

std::vector<RowReservoir::Row> RowReservoir::take(int64_t count) {
  std::vector<Row> taken = std::move(kept_);
  std::ranges::sort_heap(taken, is_before);
  if (count < std::ssize(taken)) taken.resize(count);
  kept_.clear();
  return taken;
}

void RowReservoir::keep(StateBytes& state, int64_t inputs, int64_t targets) {
  state.number(stream_);
  state.flag(sparse_);
  state.number(rows_);
  kept_.resize(static_cast<size_t>(state.count_of(std::ssize(kept_), 3 * sizeof(double))));
  numbers_ = 0;
  for (Row& row : kept_) {
    state.number(row.hash);
    state.number(row.number);
    state.number(row.weight);
    state.list(row.columns);
    state.list(row.x);
    state.list(row.y);
    const bool dense = row.columns.empty() && std::ssize(row.x) == inputs;
    const bool inside = std::ranges::all_of(
        row.columns, [&](int64_t column) { return column >= 0 && column < inputs; });
    require(std::ssize(row.y) == targets && inside &&
                (dense || (sparse_ && row.columns.size() == row.x.size())),
            MERCER_INVALID_ARGUMENT, "a state of a row of %zu inputs and %zu targets, not %ld, %ld",
            row.x.size(), row.y.size(), inputs, targets);
    numbers_ += numbers_in(row);
  }
  if (state.reads()) charge();
}

std::vector<uint64_t> RowReservoir::hashes() const {
  std::vector<uint64_t> hashes;
  for (const Row& row : kept_) hashes.push_back(row.hash);
  return hashes;
}

uint64_t RowReservoir::fingerprint() const {
  std::vector<const Row*> rows;
  for (const Row& row : kept_) rows.push_back(&row);
  std::ranges::sort(rows, {}, &Row::number);
  uint64_t hash = mixed(0, static_cast<uint64_t>(rows_));
  if (first_row_ > 0) hash = mixed(hash, static_cast<uint64_t>(first_row_));
  for (const Row* row : rows) hash = mixed(hash, hash_of(*row));
  return hash;
}

namespace {

// Shares of a sample, and the processes' places in it.

/// `most` of all in proportion to `counts`, by largest remainders; all if there are no more.
std::vector<int64_t> shares_of(const std::vector<double>& counts, int64_t most) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double part = all > 0 ? std::min(1.0, static_cast<double>(most) / all) : 0;
  std::vector<int64_t> shares;
  std::vector<double> rest;
  int64_t left = std::min(most, static_cast<int64_t>(all));
  for (const double count : counts) {
    shares.push_back(static_cast<int64_t>(std::floor(part * count)));
    rest.push_back(part * count - std::floor(part * count));
    left -= shares.back();
  }
  std::vector<size_t> order(counts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return rest[a] > rest[b]; });
  for (size_t k = 0; left > 0 && k < order.size(); ++k)
    if (static_cast<double>(shares[order[k]]) < counts[order[k]]) ++shares[order[k]], --left;
  return shares;
}

/// The number of this process among those that take part, 0 to processes - 1; for others -1.
int64_t place_of(uint64_t fingerprint, bool takes_part, int64_t processes,
                 solver::Reduction& reduction) {
  constexpr int kAttempts = 40;
  // Two of P take the same of 4 P^2 slots with probability below 1/8.
  const int64_t slots =
      std::max<int64_t>(1024, 4 * checked_multiply(processes, processes, "slots"));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto own =
        static_cast<size_t>(mixed(mixed(fingerprint, attempt), 1) % static_cast<uint64_t>(slots));
    std::vector<double> taken(slots, 0.0);
    if (takes_part) taken[own] = 1;
    reduction.sum(taken);
    if (std::ranges::max(taken) > 1) continue;
    if (!takes_part) return -1;
    return static_cast<int64_t>(std::accumulate(taken.begin(), taken.begin() + own, 0.0));
  }
  fail(MERCER_INVALID_ARGUMENT,
       "two of the %ld processes that share the rows deliver the same ones, expected rows of its "
       "own from each",
       processes);
}

/// The k-th smallest of all processes' hashes, or more than any if there are fewer: byte by byte.
uint64_t kth_smallest(const std::vector<uint64_t>& hashes, double k, solver::Reduction& reduction) {
  uint64_t prefix = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    std::vector<double> counts(256, 0.0);
    for (const uint64_t hash : hashes)
      if (shift == 56 || hash >> (shift + 8) == prefix) ++counts[hash >> shift & 255];
    reduction.sum(counts);
    uint64_t byte = 0;
    while (byte < 255 && counts[byte] < k) k -= counts[byte++];
    prefix = prefix << 8 | byte;
  }
  return prefix;
}

/// How many of the `most` smallest hashes of all processes are this one's.
double share_of(const std::vector<uint64_t>& hashes, int64_t most, solver::Reduction& reduction) {
  if (most == 0) return 0;
  const uint64_t last = kth_smallest(hashes, static_cast<double>(most), reduction);
  return static_cast<double>(
      std::ranges::count_if(hashes, [&](uint64_t hash) { return hash <= last; }));
}

/// What one process has in the sample, where rows are numbered.
struct NumberedShare {
  double first_row = 0, rows = 0, count = 0, unseen = 0;
};

/// Of all processes, each in its place. Fails where the rows of one reach into those of another.
std::vector<NumberedShare> numbered_shares(const NumberedShare& own, int64_t place,
                                           int64_t processes, solver::Reduction& reduction) {
  std::vector<NumberedShare> shares(static_cast<size_t>(processes));
  if (place >= 0) shares[static_cast<size_t>(place)] = own;
  reduction.sum({&shares[0].first_row, 4 * shares.size()});
  std::vector<NumberedShare> in_order = shares;
  std::ranges::sort(in_order, {}, &NumberedShare::first_row);
  for (size_t k = 1; k < in_order.size(); ++k)
    require(in_order[k - 1].first_row + in_order[k - 1].rows <= in_order[k].first_row,
            MERCER_INVALID_ARGUMENT,
            "source->first_row = %.0f in a process, where another has %.0f rows from %.0f on, "
            "expected one behind the rows of the processes before",
            in_order[k].first_row, in_order[k - 1].rows, in_order[k - 1].first_row);
  return shares;
}

}  // namespace

/// Where this process's rows are in the sample.
struct StreamSample::Places {
  int64_t all = 0, first = 0, count = 0;
  int64_t unseen = 0;  // of its rows
};

StreamSample::StreamSample(const CheckedStream& stream, const SampleSize& size, uint64_t seed,
                           Context& context)
    : size_(size),
      inputs_(stream.inputs()),
      targets_(stream.targets()),
      weighted_(stream.weighted()),
      shared_(stream.reduction() != nullptr),
      classes_(stream.coding().task == Task::classification) {
  solver::Reduction* const reduction = stream.reduction();
  RowReservoir reservoir(size.most, seed, reduction != nullptr, stream.first_row(), context);
  const auto add = [&](int64_t, const RowStream::Block& block) {
    require(reduction == nullptr || !block.X.sparse(), MERCER_UNSUPPORTED,
            "sparse rows that several processes share, of a search, expected dense rows, a map, or "
            "\"search\": false");
    count(block);
    reservoir.add(block);
  };
  own_rows_ = stream.pass(context, add, [&](StateBytes& state) {
    state.number(counts_);
    reservoir.keep(state, inputs_, targets_);
  });
  const Places places = share(reduction, reservoir, stream.first_row());
  const bool sparse = reservoir.sparse();
  auto taken = reservoir.take(places.count);
  for (size_t k = 0; k < taken.size(); ++k)  // from here on the hash says whether it is unseen
    taken[k].hash = k < static_cast<size_t>(places.unseen) ? 1 : 0;
  std::ranges::sort(taken, {}, &RowReservoir::Row::number);
  if (sparse) store_sparse(taken);
  store(std::move(taken), places, context);
  if (reduction != nullptr) sum(*reduction);
  for (int64_t i = 0; i < table_.rows(); ++i) {
    if (table_(i, table_.cols() - 1) != 0) unseen_.push_back(i);
    if (weighted_) weights_.push_back(table_(i, table_.cols() - 2));
  }
}

void StreamSample::count(const RowStream::Block& block) {
  for (int64_t i = 0; i < block.Y.rows; ++i) {
    counts_.rows += counts_in(block, i) ? 1 : 0;
    if (solver::weight_at(block.weights, i) > 0) {
      const double* const y = block.Y.row(i);
      counts_.targets += static_cast<double>(targets_);
      counts_.missing += static_cast<double>(
          std::count_if(y, y + targets_, [](double t) { return std::isnan(t); }));
    }
    if (!classes_) continue;
    counts_.largest_class = std::max(counts_.largest_class, block.Y(i, 0));
    counts_.of_class_0 += block.Y(i, 0) == 0 ? 1 : 0;
  }
}

void StreamSample::warn(FitReport& report) const {
  if (!shared_) warn_of_missing(counts_.missing, counts_.targets, report);
}

/// Replaces the counts by those of all processes.
StreamSample::Places StreamSample::share(solver::Reduction* reduction,
                                         const RowReservoir& reservoir, int64_t first_row) {
  double processes = counts_.rows > 0 ? 1 : 0;
  int64_t own = counts_.rows > 0 ? 0 : -1;
  if (reduction != nullptr) {
    reduction->sum({&processes, 1});
    if (processes > 0)
      own =
          place_of(reservoir.fingerprint(), own == 0, static_cast<int64_t>(processes), *reduction);
  }
  const auto P = static_cast<size_t>(processes);
  std::vector<double> table(4 * P, 0.0);
  for (const auto& [k, number] : {std::pair{0, counts_.rows},
                                  {1, counts_.largest_class},
                                  {2, counts_.of_class_0},
                                  {3, counts_.missing}})
    if (own >= 0) table[k * P + own] = number;
  if (reduction != nullptr && P > 0) reduction->sum(table);
  const auto column = [&](size_t k) {
    return std::vector<double>(table.begin() + k * P, table.begin() + (k + 1) * P);
  };
  const auto total = [&](size_t k) {
    return std::accumulate(table.begin() + k * P, table.begin() + (k + 1) * P, 0.0);
  };
  const std::vector<double> largest = column(1);
  counts_ = {total(0), P > 0 ? std::ranges::max(largest) : 0.0, total(2), total(3),
             counts_.targets};
  const auto unseen = has_all_rows() ? int64_t{0}
                                     : std::min(static_cast<int64_t>(size_.unseen * counts_.rows),
                                                size_.most_unseen);
  const std::vector<int64_t> shares = shares_of(column(0), size_.most),
                             held_out = shares_of(column(0), unseen);
  if (reduction != nullptr && first_row > 0 && P > 0)
    return numbered_places(*reduction, reservoir.hashes(), own, std::ssize(column(0)), first_row,
                           unseen);
  Places places;
  places.all = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  if (own < 0) return places;
  places.first = std::accumulate(shares.begin(), shares.begin() + own, int64_t{0});
  places.count = shares[own];
  places.unseen = std::min(held_out[own], shares[own]);
  return places;
}

/// Those of the smallest hashes of all processes, as one process would keep.
StreamSample::Places StreamSample::numbered_places(solver::Reduction& reduction,
                                                   const std::vector<uint64_t>& hashes, int64_t own,
                                                   int64_t processes, int64_t first_row,
                                                   int64_t unseen) const {
  NumberedShare mine{static_cast<double>(first_row), static_cast<double>(own_rows_)};
  mine.count = share_of(hashes, size_.most, reduction);
  mine.unseen = share_of(hashes, unseen, reduction);
  Places places;
  places.count = static_cast<int64_t>(mine.count);
  places.unseen = static_cast<int64_t>(mine.unseen);
  for (const NumberedShare& one : numbered_shares(mine, own, processes, reduction)) {
    places.all += static_cast<int64_t>(one.count);
    if (one.first_row < mine.first_row) places.first += static_cast<int64_t>(one.count);
  }
  return places;
}

void StreamSample::store_sparse(const std::vector<RowReservoir::Row>& rows) {
  offsets_.assign(1, 0);
  for (const RowReservoir::Row& row : rows) {
    columns_.insert(columns_.end(), row.columns.begin(), row.columns.end());
    for (int64_t j = 0; row.columns.empty() && j < std::ssize(row.x); ++j)
      columns_.push_back(j);  // of a block that was dense
    values_.insert(values_.end(), row.x.begin(), row.x.end());
    offsets_.push_back(std::ssize(values_));
  }
}

void StreamSample::store(std::vector<RowReservoir::Row> rows, const Places& places,
                         Context& context) {
  const int64_t dense = offsets_.empty() ? inputs_ : 0;
  table_ = Matrix<double>(places.all, dense + targets_ + 2, context, kSample);
  table_.fill(0);
  for (int64_t i = 0; i < places.count; ++i) {
    RowReservoir::Row& row = rows[i];
    double* out = table_.view().row(places.first + i);
    if (dense > 0) out = std::ranges::copy(row.x, out).out;
    out = std::ranges::copy(row.y, out).out;
    out[0] = row.weight;
    out[1] = static_cast<double>(row.hash);
    if (row.hash != 0) own_unseen_.push_back(row.number);
    row = {};
  }
}

void StreamSample::sum(solver::Reduction& reduction) {
  constexpr int64_t kChunk = int64_t{1} << 16;
  const int64_t all = table_.rows() * table_.cols();
  for (int64_t at = 0; at < all; at += kChunk)
    reduction.sum({table_.data() + at, static_cast<size_t>(std::min(kChunk, all - at))});
}

TargetedRows StreamSample::rows() const {
  const int64_t n = table_.rows(), dense = table_.cols() - targets_ - 2;
  const MatrixView<const double> all = table_.view();
  TargetedRows rows{all.block_cols(0, dense), all.block_cols(dense, dense + targets_), weights_};
  if (!offsets_.empty())
    rows.X = CsrView<double>{n, inputs_, offsets_.data(), columns_.data(), values_.data()};
  return rows;
}

// The search of the sample, and the fit of all rows as it has chosen.

StreamSample sample_of(const FitPlan& plan, const FitData& data, Context& context) {
  FitOptions checks = plan.search.fit;
  if (!is_fitted_last(checks.estimate)) checks.estimate.entry = &ridge_model();
  if (checks.coding.task == Task::classification && checks.coding.classes == 0)
    checks.coding.classes = kMostClasses;
  const CheckedStream stream(checks, *data.source, data.inputs, data.targets);
  const double share = plan.search.assess ? kUnseenShare : 0;
  const SampleSize size{plan.sampled, share, std::min(kMostUnseen, plan.sampled / 4)};
  return {stream, size, checks.select.seed, context};
}

Model kept_search(const SearchOptions& asked, RowStream& source,
                  const std::function<Model()>& search) {
  FitKeeper* const keeper = source.keeper();
  if (keeper == nullptr) return search();
  std::unique_ptr<Model> kept = keeper->searched();
  if (kept != nullptr) {
    for (const SearchCandidate& trial : kept->report.trials)
      if (asked.report != nullptr) asked.report(asked.user, trial);
  } else {
    Model found = search();
    if (found.sums == nullptr) found.fit.keep = Keep::nothing;  // those of all rows come later
    kept = keeper->keep_search(found);  // whose report may differ in the last digit
    for (size_t k = 0; k < found.report.trials.size(); ++k)
      kept->report.trials[k].seconds = found.report.trials[k].seconds;
  }
  kept->fit.keep = asked.fit.keep;
  return std::move(*kept);
}

SelectionOptions selection_of_all(const FitPlan& plan, const Model& found,
                                  const StreamSample& sample) {
  const double rows = sample.counts().rows - static_cast<double>(std::ssize(sample.unseen()));
  SelectionOptions select = plan.search.fit.select;
  const ModelEntry& entry = *found.fit.estimate.entry;
  const bool given = plan.search.lambda >= 0;
  select.lambda = found.fit.select.lambda;
  if (!given && entry.selection == Selection::leave_one_out) {
    const bool sums = sample.counts().missing == 0 && !found.map->is_complex() &&
                      found.map->outputs() == 1 &&
                      found.fit.outputs.structure == OutputStructure::independent &&
                      rows >= kGcvRows * static_cast<double>(found.map->features());
    if (select.selection != Selection::evidence)
      select.selection = sums ? Selection::gcv : Selection::leave_one_out;
    return select;
  }
  select.selection = Selection::fixed;
  select.chosen = !given;
  if (!given) select.lambda *= static_cast<double>(found.rows) / rows;
  return select;
}

namespace {

/// The score of rows that neither the search nor the fit has seen.
void assess_sampled(const StreamSample& sample, Context& context, Model& model) {
  const TargetedRows rows = sample.rows();
  const std::vector<double> relative = solver::relative_weights(rows.weights);
  const std::vector<int64_t>& unseen = sample.unseen();
  if (unseen.empty()) return;
  const SplitRule rule{classes_of(model.fit.coding, rows.Y)};
  model.report.assessment =
      assess_unseen(model, {rows.X, rows.Y, relative}, rows_without(rows.X.rows(), sample.unseen()),
                    unseen, rule, context);
}

constexpr double kFarBeyond = 10;  // times the range of the sampled numbers

/// About columns of which rows beyond the sample hold numbers far from the sampled ones, by which no
/// choice was made.
void warn_beyond(const char* what, std::span<const Range> sampled, std::span<const Range> all,
                 FitReport& report) {
  for (size_t j = 0; j < std::min(sampled.size(), all.size()); ++j) {
    const Range &of = sampled[j], &reached = all[j];
    const double far = kFarBeyond * (of.highest - of.lowest);
    if (reached.lowest >= of.lowest - far && reached.highest <= of.highest + far) continue;
    report.warnings.push_back(text(
        "%s %ld reaches from %.9g to %.9g, far beyond the rows of the sample, which reach from "
        "%.9g to %.9g and by which everything was chosen: if these numbers are errors, leave "
        "their rows out",
        what, j, reached.lowest, reached.highest, of.lowest, of.highest));
  }
}

/// The search's report with what the fit of all rows has found.
FitReport joined_report(FitReport of_search, const Model& model) {
  FitReport report = std::move(of_search);
  report.lambda = model.fit.select.lambda;
  report.dimension = model.posterior ? model.posterior->effective_dimension() : kNaN;
  report.run = model.report.run;
  report.elbo = model.report.elbo;
  report.log_evidence = model.report.log_evidence;
  for (const std::string& warning : model.report.warnings)
    if (std::ranges::find(report.warnings, warning) == report.warnings.end())
      report.warnings.push_back(warning);
  return report;
}

/// Adds the fit of all rows, and its score, to the trials.
void record_all(const SearchOptions& search, double seconds, Model& model) {
  FitReport& report = model.report;
  const auto record = [&](int64_t stage, int64_t rows, double score, double took) {
    SearchCandidate trial = report.trials.back();
    trial.stage = stage;
    trial.rows = rows;
    trial.lambda = model.fit.select.lambda;
    trial.score = score;
    trial.loss = kNaN;
    trial.seconds = took;
    report.trials.push_back(trial);
    if (search.report != nullptr) search.report(search.user, trial);
  };
  const Assessment& assessment = report.assessment;
  record(kChoiceStage, model.rows, kNaN, seconds);
  if (assessment.kind != AssessmentRows::none)
    record(kScoreStage, assessment.rows, 1 - assessment.score, 0);
}

}  // namespace

void join_search(const FitPlan& plan, const StreamSample& sample, Model found,
                 std::chrono::steady_clock::time_point start, Context& context, Model& model) {
  warn_beyond("input", found.ranges.inputs, model.ranges.inputs, found.report);
  warn_beyond("target", found.ranges.targets, model.ranges.targets, found.report);
  if (model.calibration.empty() || !found.fit.estimate.entry->least_squares)
    model.calibration = found.calibration;
  model.report = joined_report(std::move(found.report), model);
  sample.warn(model.report);
  assess_sampled(sample, context, model);
  model.report.warn(score_warnings(model.fit.estimate.parameters, model.fit.coding.task,
                                   model.report.assessment));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  record_all(plan.search, took.count(), model);
}

}  // namespace mercer::model
