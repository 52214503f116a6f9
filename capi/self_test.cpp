// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "mercer/self_test.h"

#include "arguments.h"
#include "guard.h"
#include "spec/questions.h"

using namespace mercer;
using namespace mercer::capi;

mercer_status mercer_self_test(mercer_context* context, char* buffer, int64_t capacity,
                               int64_t* needed) {
  return guard_long("mercer_self_test", context, [&](Context& running) {
    copy_text(spec::self_test(running), buffer, capacity, needed);
  });
}
