// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "row_source.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arguments.h"
#include "fit_data.h"
#include "io/checkpoint.h"
#include "io/container.h"
#include "io/object_file.h"
#include "model/estimator/predictor.h"
#include "model/row_stream.h"
#include "row_arguments.h"
#include "shared_sums.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

/// A number made of all that must be the same in processes that share the rows.
double fingerprint_of(const feature::FeatureMap& map, const model::FitOptions& asked,
                      const mercer_row_source& source) {
  Fingerprint print;
  io::save(map, print);
  print.write(spec::print_fitted(map.parameters(), asked));
  print.write(std::to_string(source.m));
  print.write(source.weighted == 1 ? "weighted" : "");
  if (asked.estimate.given != nullptr)
    for (const std::span<const double> part : asked.estimate.given->numbers())
      print.write(std::as_bytes(part));
  return print.number();
}

/// Likewise before there is a map.
double fingerprint_of(const char* json, const mercer_row_source& source) {
  Fingerprint print;
  print.write(std::string(json));
  print.write(std::to_string(source.d) + " " + std::to_string(source.m));
  print.write(source.weighted == 1 ? "weighted" : "");
  print.write(source.first_row > 0 ? "numbered" : "");
  return print.number();
}

/// What a fit that goes on must be the same as: the texts, and a map as it is in files.
io::CheckpointOf checkpoint_of(const char* json, const feature::FeatureMap* map,
                               const mercer_row_source& source) {
  io::MemoryOutput bytes;
  if (map != nullptr) io::save(*map, bytes);
  std::string fit = json;
  for (const uint64_t number :
       {static_cast<uint64_t>(source.d), static_cast<uint64_t>(source.m),
        static_cast<uint64_t>(source.weighted), static_cast<uint64_t>(source.first_row),
        static_cast<uint64_t>(source.sum != nullptr), io::crc64(bytes.bytes())})
    fit.append(" ").append(std::to_string(number));
  return {mercer_version(), std::move(fit), source.identity};
}

/// The caller's blocks, checked as rows of any other call are.
class CallbackStream final : public model::RowStream {
 public:
  CallbackStream(const char* json, const mercer_row_source& source, CallbackSums* sums,
                 Context& context)
      : json_(json),
        source_(source),
        sums_(sums),
        context_(context),
        weighted_(source.weighted == 1) {}

  void rewind() override {
    const int32_t answer = source_.rewind(source_.user);
    if (answer != 0) rethrow_arrow_failure(source_);
    require(answer == 0, MERCER_IO, "source->rewind returned %d, expected 0", answer);
  }

  Block next() override {
    mercer_rows X = mercer_rows_f64(0, source_.d, nullptr);
    const int64_t columns = source_.m + (weighted_ ? 1 : 0);
    mercer_rows Y = mercer_rows_f64(0, columns, nullptr);
    const int32_t answer = source_.next(source_.user, &X, &Y);
    if (answer != 0) rethrow_arrow_failure(source_);
    require(answer == 0, MERCER_IO, "source->next returned %d, expected 0", answer);
    const auto rows = read_rows("X, of source->next", X, source_.d, "source->d", context_);
    require(rows.n() > 0 || Y.n == 0, MERCER_INVALID_ARGUMENT,
            "Y, of source->next.n = %ld, expected 0, as X has no rows", Y.n);
    if (rows.n() == 0) return {rows.rows, {}};
    if (columns == 0) return {rows.rows, {nullptr, rows.n(), 0}};
    const auto targets =
        read_rows("Y, of source->next", Y, columns,
                  weighted_ ? "source->m and one of weights" : "source->m", context_);
    targets_ = std::make_unique<DoubleRows>(targets, context_);
    if (!weighted_) return {rows.rows, targets_->view()};
    const auto both = targets_->view();
    weights_.clear();
    for (int64_t i = 0; i < both.rows; ++i) weights_.push_back(both(i, source_.m));
    return {rows.rows, both.block_cols(0, source_.m), weights_};
  }

  bool weighted() const override { return weighted_; }
  solver::Reduction* reduction() const override { return sums_; }
  int64_t first_row() const override { return source_.first_row; }
  model::FitKeeper* keeper() override { return keeper_.get(); }
  void keep(const feature::FeatureMap* map) {
    if (source_.checkpoint != nullptr)
      keeper_ = std::make_unique<io::Checkpoint>(source_.checkpoint,
                                                 checkpoint_of(json_, map, source_), context_);
  }
  void skip(int64_t blocks) override {
    if (source_.skip == nullptr) return RowStream::skip(blocks);
    const int32_t answer = source_.skip(source_.user, blocks);
    require(answer == 0, MERCER_IO, "source->skip returned %d, expected 0", answer);
  }
  void agree_on_search() override {
    if (sums_ != nullptr)
      sums_->require_same(fingerprint_of(json_, source_),
                          "the spec, d, m, weighted or whether first_row is 0");
  }
  void agree(const feature::FeatureMap& map, const model::FitOptions& asked) override {
    if (sums_ != nullptr)
      sums_->require_same(fingerprint_of(map, asked, source_),
                          "the map, the spec, m, weighted or w");
  }

 private:
  const char* json_;
  const mercer_row_source& source_;
  CallbackSums* sums_;  // null: this process has all rows
  Context& context_;
  bool weighted_;
  std::unique_ptr<io::Checkpoint> keeper_;
  std::unique_ptr<DoubleRows> targets_;  // of the last block
  std::vector<double> weights_;          // of its rows
};

mercer_row_source read_source(const mercer_row_source& source) {
  mercer_row_source read{};
  read_struct("source", &source, kSourceFirstSize, sizeof read, &read);
  check_range("source->weighted", read.weighted, 0, 1);
  check_at_least("source->d", read.d, 1);
  check_range("source->m", read.m, 0, INT32_MAX - 1);  // and a column of weights
  check_range("source->first_row", read.first_row, 0, read.sum == nullptr ? 0 : INT64_MAX);
  require(read.rewind != nullptr && read.next != nullptr, MERCER_INVALID_ARGUMENT,
          "source->rewind or source->next = NULL, expected two callbacks");
  const bool keeps = read.checkpoint != nullptr;
  require(keeps == (read.identity != nullptr), MERCER_INVALID_ARGUMENT,
          "source->identity %s NULL, expected a text with a checkpoint, and none without",
          keeps ? "=" : "is not");
  require(keeps || read.skip == nullptr, MERCER_INVALID_ARGUMENT,
          "source->skip is a callback, expected NULL without a checkpoint");
  if (keeps) check_text("source->checkpoint", read.checkpoint);
  return read;
}

model::Model fit_one(const char* json, const mercer_data& data, const mercer_row_source& source,
                     CallbackSums* sums, Context& context) {
  model::FitPlan plan = plan_of(json, context);
  model::TargetOptions& coding = plan.search.fit.coding;
  if (coding.task == model::Task::classification && coding.classes == 0)
    coding.classes = count_arrow_classes(source);
  const model::GivenMap map = map_of(data);
  CallbackStream stream(json, source, sums, context);
  stream.keep(map.get());
  return model::fit(plan,
                    {.map = map,
                     .source = &stream,
                     .inputs = source.d,
                     .targets = source.m,
                     .given = given_of(data, source.m, context)},
                    context);
}

}  // namespace

namespace mercer::capi {

// One model in every process, or none in any: the others learn of a failure.
model::Model fit_source(const char* json, const mercer_data& data, Context& context) {
  const mercer_row_source source = read_source(*data.source);
  if (source.sum == nullptr) return fit_one(json, data, source, nullptr, context);
  return in_all(source,
                [&](CallbackSums& sums) { return fit_one(json, data, source, &sums, context); });
}

}  // namespace mercer::capi
