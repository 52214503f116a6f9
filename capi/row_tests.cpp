// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "mercer/rows_test.h"

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/views.h"
#include "guard.h"
#include "handles.h"
#include "row_arguments.h"
#include "shared_sums.h"
#include "spec/spec.h"
#include "spec/test_spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr int64_t kMostRows = int64_t{1} << 53;

spec::RowsSums new_sums(const char* json, int64_t m, int64_t n, const mercer_rows& X,
                        const mercer_rows& Y, Context& context) {
  spec::TestRequest test = spec::parse_test(check_text("json", json));
  spec::require_summed(test);
  require(spec::rows_asked(test.asked) == 0, MERCER_UNSUPPORTED,
          "witnesses = %ld, expected 0: sums keep no rows", spec::rows_asked(test.asked));
  check_range("m", m, 1, kMostRows);
  check_range("n", n, 1, kMostRows);
  const auto x = read_rows("X", X, context), y = read_rows("Y", Y, x.d(), "X", context);
  check_at_least("X.d", x.d(), 1);
  require_summable("X", x);
  require_summable("Y", y);
  return spec::rows_sums(std::move(test), {m, n}, std::array<Rows, 2>{x.rows, y.rows}, context);
}

/// The sums of all processes in each.
bool reduce(spec::RowsSums& own, CallbackSums& all) {
  Fingerprint print;
  print.write(print_test(own));
  const std::vector<double>& columns = own.scales().columns;
  print.write(std::as_bytes(std::span(columns)));
  print.write(std::as_bytes(std::span(&own.scales().euclidean, 1)));
  all.require_same(print.number(), "the test, the sizes or the scales");
  own.require_whole();
  std::vector<double> counts = own.counts(), numbers = own.numbers();
  all.sum(counts);
  all.sum(numbers);
  own.set(counts, numbers);
  return true;
}

}  // namespace

mercer_status mercer_rows_test(const char* json, mercer_rows X, mercer_rows Y,
                               mercer_context* context, char* buffer, int64_t capacity,
                               int64_t* needed) {
  return guard_long("mercer_rows_test", context, [&](Context& running) {
    const std::string_view asked = check_text("json", json);
    const auto x = read_rows("X", X, running), y = read_rows("Y", Y, running);
    copy_text(spec::answer_test(asked, x, y, running), buffer, capacity, needed);
  });
}

mercer_status mercer_rows_sums_create(const char* json, int64_t m, int64_t n, mercer_rows X,
                                      mercer_rows Y, mercer_context* context,
                                      mercer_rows_sums** out) {
  return guard_create_long("mercer_rows_sums_create", context, out, [&](Context& running) {
    return mercer_rows_sums{new_sums(json, m, n, X, Y, running)};
  });
}

mercer_status mercer_rows_sums_add(mercer_rows_sums* sums, int32_t side, int64_t first,
                                   mercer_rows X, mercer_context* context) {
  return guard_long("mercer_rows_sums_add", context, [&](Context& running) {
    spec::RowsSums& to = checked("sums", sums).impl;
    check_range("side", side, 0, 1);
    to.add(side, first, read_rows("X", X, to.sizes().inputs, "the pilot", running), running);
  });
}

mercer_status mercer_rows_sums_merge(mercer_rows_sums* sums, int32_t sign,
                                     const mercer_rows_sums* other) {
  return guard("mercer_rows_sums_merge", [&] {
    require(sign == 1 || sign == -1, MERCER_INVALID_ARGUMENT, "sign = %d, expected 1 or -1", sign);
    checked("sums", sums).impl.merge(sign, checked("other", other).impl);
  });
}

mercer_status mercer_rows_sums_reduce(mercer_rows_sums* sums, mercer_source_sum sum, void* user) {
  return guard("mercer_rows_sums_reduce", [&] {
    spec::RowsSums& own = checked("sums", sums).impl;
    require(sum != nullptr, MERCER_INVALID_ARGUMENT, "sum = NULL, expected a callback");
    mercer_row_source source{};
    source.user = user;
    source.sum = sum;
    in_all(source, [&](CallbackSums& all) { return reduce(own, all); });
  });
}

mercer_status mercer_rows_sums_answer(const mercer_rows_sums* sums, mercer_context* context,
                                      char* buffer, int64_t capacity, int64_t* needed) {
  return guard_long("mercer_rows_sums_answer", context, [&](Context& running) {
    const Parameters found = checked("sums", sums).impl.answer(running);
    copy_text(spec::print_versioned(found), buffer, capacity, needed);
  });
}

void mercer_rows_sums_free(mercer_rows_sums* sums) { delete sums; }
