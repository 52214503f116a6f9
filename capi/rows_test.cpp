// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "mercer/rows_test.h"

#include "guard.h"
#include "row_arguments.h"
#include "spec/test_spec.h"

using namespace mercer;
using namespace mercer::capi;

mercer_status mercer_rows_test(const char* json, mercer_rows X, mercer_rows Y,
                               mercer_context* context, char* buffer, int64_t capacity,
                               int64_t* needed) {
  return guard_long("mercer_rows_test", context, [&](Context& running) {
    const std::string_view asked = check_text("json", json);
    const auto x = read_rows("X", X, running), y = read_rows("Y", Y, running);
    copy_text(spec::answer_test(asked, x, y, running), buffer, capacity, needed);
  });
}
