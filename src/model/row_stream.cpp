// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/row_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "base/views.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "model/rows/feature_rows.h"
#include "solver/block_source.h"

namespace mercer::model {

namespace {

/// The rows of a block that are not among `without`, numbers in the stream.
class RestOfBlock {
 public:
  RestOfBlock(const RowStream::Block& block, int64_t first, const std::vector<int64_t>& without,
              Context& context)
      : rest_(block) {
    const int64_t n = block.X.rows();
    const auto begin = std::ranges::lower_bound(without, first),
               end = std::ranges::lower_bound(without, first + n);
    if (begin == end) return;
    std::vector<int64_t> removed(begin, end);
    for (int64_t& row : removed) row -= first;
    const std::vector<int64_t> kept = rows_without(n, removed);
    X_ = std::make_unique<CopiedRows>(block.X, kept, context);
    Y_ = copied_targets(block.Y, kept, context);
    weights_ = solver::numbers_of(block.weights, kept);
    rest_ = {X_->rows(), Y_.view(), weights_};
  }
  RowStream::Block rest() const { return rest_; }

 private:
  RowStream::Block rest_;
  std::unique_ptr<CopiedRows> X_;
  Matrix<double> Y_;
  std::vector<double> weights_;
};

void require_same_rows(int64_t before, int64_t now) {
  require(now == before, MERCER_INVALID_ARGUMENT,
          "the stream gave %ld rows, and %ld when it began again, expected the same", before, now);
}

}  // namespace

CheckedStream::CheckedStream(const feature::FeatureMap& map, const FitOptions& asked,
                             const PreparationFacts& found, RowStream& stream, int64_t targets,
                             Context& context, const SampledChoice* choice)
    : map_(&map),
      asked_(asked),
      found_(found),
      stream_(stream),
      inputs_(choice == nullptr ? map.inputs() : choice->preparation.inputs_of(map.inputs())),
      targets_(targets),
      choice_(choice) {
  if (!stream.weighted()) return;
  solver::WeightUnit unit;
  pass(
      context, [&](int64_t, const RowStream::Block& block) { unit.add(block.weights); },
      [&](StateBytes& state) { state.numbers(unit.sums()); });
  if (reduction() != nullptr) reduction()->sum(unit.sums());
  unit_ = unit;
}

int64_t CheckedStream::pass(Context& context, const Body& body,
                            const solver::PassState& state) const {
  FitKeeper* const keeper = state ? stream_.keeper() : nullptr;
  FitKeeper::Place place;
  if (keeper != nullptr) place = keeper->begin(state);
  if (!place.over) read_on(context, body, keeper, place);
  if (choice_ != nullptr) require_same_rows(choice_->rows, place.read);
  return place.rows;
}

void CheckedStream::read_on(Context& context, const Body& body, FitKeeper* keeper,
                            FitKeeper::Place& place) const {
  static const std::vector<int64_t> none;
  const std::vector<int64_t>& without = choice_ == nullptr ? none : choice_->without;
  stream_.rewind();
  if (place.blocks > 0) stream_.skip(place.blocks);
  while (!place.over) {
    const RowStream::Block given = next_of(context, keeper, place.read);
    place.over = given.X.rows() == 0;
    if (!place.over) {
      const RestOfBlock kept(given, place.read, without, context);
      ++place.blocks;
      place.read = checked_add(place.read, given.X.rows(), "rows of a stream");
      RowStream::Block block = kept.rest();
      const std::vector<double> relative = unit_.relative(block.weights);
      block.weights = relative;
      if (block.X.rows() > 0) body(place.rows, block);
      place.rows += block.X.rows();
    }
    if (keeper != nullptr) keeper->reach(place);
  }
}

/// What ends the call here leaves a whole state behind, of the blocks before.
RowStream::Block CheckedStream::next_of(Context& context, FitKeeper* keeper, int64_t before) const {
  try {
    context.checkpoint();
    return next(before);
  } catch (...) {
    if (keeper != nullptr) keeper->stop();
    throw;
  }
}

RowStream::Block CheckedStream::next(int64_t before) const {
  try {
    const RowStream::Block block = stream_.next();
    if (block.X.rows() > 0) check(block, before);
    return block;
  } catch (const Error& error) {
    if (error.status() != MERCER_INVALID_ARGUMENT) throw;
    throw error.within("the block after " + std::to_string(before) + " rows");
  }
}

void CheckedStream::check(const RowStream::Block& block, int64_t before) const {
  require(block.X.cols() == inputs_ && block.Y.cols == targets_ && block.Y.rows == block.X.rows(),
          MERCER_DIMENSION_MISMATCH,
          "a block after row %ld has %ld rows of %ld inputs and %ld rows of %ld targets, "
          "expected as many rows of %ld inputs and %ld targets",
          before, block.X.rows(), block.X.cols(), block.Y.rows, block.Y.cols, inputs_, targets_);
  check_numbers(asked_.prepare.missing, block.X);
  check_inside(block.X);
  check_targets(asked_.coding, block.Y, may_miss_targets(asked_.coding, *asked_.estimate.entry));
  require(stream_.weighted() ? std::ssize(block.weights) == block.X.rows() : block.weights.empty(),
          MERCER_DIMENSION_MISMATCH,
          "a block after row %ld has %zu weights, expected one for each of its %ld rows where "
          "the stream is weighted, else none",
          before, block.weights.size(), block.X.rows());
  solver::require_weights(block.weights, block.X.rows());
}

void CheckedStream::check_inside(const Rows& X) const {
  if (choice_ == nullptr) return check_domain(asked_.prepare, found_, "X", X);
  check_prepared(map_->kernel(), choice_->preparation, X,
                 "no such number was in the sample that chose the preparation");
}

namespace {

constexpr const char* kClassNumbers = "the class numbers of a stream's rows";
int64_t class_bytes(int64_t rows) { return checked_multiply(8, rows, kClassNumbers); }

}  // namespace

StreamSummary::StreamSummary(const FitOptions& asked, const PreparationFacts& found, int64_t inputs,
                             int64_t targets, Context& context)
    : rows(asked.prepare, found, asked.select.seed, inputs,
           asked.coding.task == Task::regression ? targets : 0, context),
      observed(targets),
      coding_(asked.coding),
      holds_out_(asked.select.selection == Selection::folds ||
                 asked.select.selection == Selection::held_out),
      context_(context) {}

void StreamSummary::add(const RowStream::Block& block) {
  rows.add(block.X, ranged_targets(coding_, block.Y), block.weights);
  observed.add(block.Y, block.weights);
  if (!holds_out_) return;
  const std::vector<double> more = classes_of(coding_, block.Y);
  // Twice: they are copied as they grow.
  context_.require_room(
      class_bytes(checked_multiply(2, std::ssize(classes) + std::ssize(more), kClassNumbers)),
      kClassNumbers);
  classes.insert(classes.end(), more.begin(), more.end());
}

void StreamSummary::keep(StateBytes& state) {
  rows.keep(state);
  observed.keep(state);
  state.list(classes);
}

void StreamSummary::finish(solver::Reduction* reduction) {
  own_rows = rows.rows();
  held_ = context_.charge(class_bytes(std::ssize(classes)), kClassNumbers);
  if (reduction == nullptr) return;
  rows.reduce(*reduction, context_);
  observed.reduce(*reduction);
}

TargetOptions StreamRows::coding() const {
  TargetOptions coding = stream_.coding();
  if (gives_inputs_) coding.targets = Targets::inputs;
  return coding;
}

int64_t StreamRows::outputs() const {
  if (coding().targets == Targets::inputs) return stream_.map().inputs();
  return coded_outputs(coding(), stream_.targets());
}

std::vector<double> StreamRows::classes() const {
  std::vector<double> classes;
  for (int64_t i = 0; i < set_.count && !summary_.classes.empty(); ++i)
    classes.push_back(summary_.classes[set_[i]]);
  return classes;
}

int64_t StreamRows::block_rows() const {
  return std::min(model::block_rows(0, features()), rows());  // the largest: that of sparse rows
}

void StreamRows::for_each(Context& context, const Body& body) const {
  const auto add = [&](int64_t begin, const FeatureRows& part) {
    part.for_each(context, [&](const solver::FeatureBlock& features) {
      solver::FeatureBlock numbered = features;
      numbered.first += begin;
      body(numbered);
    });
  };
  for_each_part(context, add, std::exchange(state_, nullptr));
}

void StreamRows::for_each_target(Context& context, const TargetBody& body) const {
  for_each_part(context,
                [&](int64_t, const FeatureRows& part) { part.for_each_target(context, body); });
}

bool StreamRows::add_to(solver::RowStatistics& statistics, Context& context,
                        const solver::RowsDone& done, const Weigh& weigh) const {
  const feature::FeatureMap& map = stream_.map().scalar();
  if (!DirectSums::pays(map)) return false;
  DirectSums sums(map, statistics.outputs(), context);
  for_each_part(
      context, [&](int64_t, const FeatureRows& part) { part.add_to(sums, context, done, weigh); },
      [&](StateBytes& state) { sums.keep(state); });
  sums.finish(context, statistics);
  return true;
}

std::unique_ptr<solver::NormalSums> StreamRows::normal_sums(Context& context,
                                                            const solver::RowsDone& done) const {
  const feature::FeatureMap& map = stream_.map().scalar();
  if (!NormalGrid::serves(map)) return nullptr;
  NormalGrid sums(map, outputs(), context);
  for_each_part(context,
                [&](int64_t, const FeatureRows& part) { part.add_to(sums, context, done); });
  return sums.finish(*this, context);
}

bool StreamRows::for_each_product(MatrixView<const double> W, Context& context,
                                  const ProductBody& body) const {
  const feature::FeatureMap& map = stream_.map().scalar();
  if (!DirectProducts::pays(map, W.cols)) return false;
  const DirectProducts products(map, W, context);
  for_each_part(context, [&](int64_t begin, const FeatureRows& part) {
    part.for_each_product(products, begin, context, body);
  });
  return true;
}

void StreamRows::for_each_part(Context& context,
                               const std::function<void(int64_t begin, const FeatureRows&)>& body,
                               const solver::PassState& state) const {
  int64_t done = 0;               // rows of the set
  std::vector<int64_t> of_block;  // row numbers within a block of the stream
  const auto add = [&](int64_t first, const RowStream::Block& block) {
    while (done < set_.count && set_[done] < first) ++done;  // of an earlier run
    const int64_t last = first + block.X.rows(), begin = done;
    of_block.clear();
    while (done < set_.count && set_[done] < last) of_block.push_back(set_[done++] - first);
    if (of_block.empty()) return;
    const FeatureRows rows(stream_.map(), preparation_, coding(), stream_.precision(), block);
    const bool whole = done - begin == block.X.rows();
    body(begin, rows.chosen(whole ? solver::RowSet(block.X.rows()) : solver::RowSet(of_block)));
  };
  require_same_rows(summary_.own_rows, stream_.pass(context, add, state));
}

std::unique_ptr<solver::BlockSource> StreamRows::subset(solver::RowSet rows) const {
  auto part = std::make_unique<StreamRows>(stream_, preparation_, summary_);
  part->set_ = set_.choose(rows);
  part->real_parts_ = real_parts_;
  part->gives_inputs_ = gives_inputs_;
  return part;
}

std::unique_ptr<solver::BlockSource> StreamRows::input_rows() const {
  auto rows = std::make_unique<StreamRows>(stream_, preparation_, summary_);
  rows->set_ = set_.choose(solver::RowSet(set_.count));
  rows->real_parts_ = real_parts_;
  rows->gives_inputs_ = true;
  return rows;
}

}  // namespace mercer::model
