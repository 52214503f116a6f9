// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/model.h: fits of rows that a callback hands over.
#include <memory>
#include <vector>

#include "guard.h"
#include "handles.h"
#include "mercer/model.h"
#include "model/row_stream.h"
#include "options.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr uint32_t kSourceFirstSize = 48;

/// The caller's blocks, checked as rows of any other call are.
class CallbackStream final : public model::RowStream {
 public:
  CallbackStream(const mercer_row_source& source, Context& context)
      : source_(source), context_(context), weighted_(source.weighted == 1) {}

  void rewind() override {
    const int32_t answer = source_.rewind(source_.user);
    require(answer == 0, MERCER_IO, "source->rewind returned %d, expected 0", answer);
  }

  Block next() override {
    mercer_rows X = mercer_rows_f64(0, source_.d, nullptr);
    const int64_t columns = source_.m + (weighted_ ? 1 : 0);
    mercer_rows Y = mercer_rows_f64(0, columns, nullptr);
    const int32_t answer = source_.next(source_.user, &X, &Y);
    require(answer == 0, MERCER_IO, "source->next returned %d, expected 0", answer);
    const auto rows = read_rows("X, of source->next", &X, source_.d, "source->d", context_);
    if (rows.n() == 0) return {rows.rows, {}};
    const auto targets =
        read_rows("Y, of source->next", &Y, columns,
                  weighted_ ? "source->m and one of weights" : "source->m", context_);
    targets_ = std::make_unique<DoubleRows>(targets, context_);
    if (!weighted_) return {rows.rows, targets_->view()};
    const auto both = targets_->view();
    weights_.clear();
    for (int64_t i = 0; i < both.rows; ++i) weights_.push_back(both(i, source_.m));
    return {rows.rows, both.block_cols(0, source_.m), weights_};
  }

 private:
  const mercer_row_source& source_;
  Context& context_;
  bool weighted_;
  std::unique_ptr<DoubleRows> targets_;  // of the last block
  std::vector<double> weights_;          // of its rows
};

mercer_row_source read_source(const mercer_row_source* source) {
  check_not_null("source", source, "a mercer_row_source");
  mercer_row_source read{};
  read_struct("source", source, kSourceFirstSize, sizeof read, &read);
  check_range("source->weighted", read.weighted, 0, 1);
  check_at_least("source->d", read.d, 1);
  check_at_least("source->m", read.m, 1);
  require(read.m < INT64_MAX, MERCER_INVALID_ARGUMENT, "source->m = %lld, expected fewer targets",
          static_cast<long long>(read.m));
  require(read.rewind != nullptr && read.next != nullptr, MERCER_INVALID_ARGUMENT,
          "source->rewind or source->next = NULL, expected two callbacks");
  return read;
}

}  // namespace

mercer_status mercer_model_fit_source(const mercer_map* map, const mercer_fit_options* options,
                                      const mercer_row_source* source, int64_t K,
                                      mercer_context* context, mercer_model** out) {
  return guard_create_long("mercer_model_fit_source", context, out, [&](Context& running) {
    const auto& phi = checked("map", map).impl;
    const mercer_row_source read = read_source(source);
    require(read.d == phi->inputs(), MERCER_DIMENSION_MISMATCH,
            "source->d = %lld, expected the map's inputs, %lld", static_cast<long long>(read.d),
            static_cast<long long>(phi->inputs()));
    model::FitOptions fit = read_fit_options(options);
    refuse_weights(options, "rows from a source: let source->weighted be 1");
    set_task(K, read.m, fit);
    CallbackStream stream(read, running);
    return mercer_model{model::fit_stream(phi, fit, stream, read.m, running)};
  });
}
