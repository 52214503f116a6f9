// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "mercer/bound.h"

#include "arguments.h"
#include "guard.h"
#include "spec/questions.h"

using namespace mercer;
using namespace mercer::capi;

mercer_status mercer_bound(const char* json, char* buffer, int64_t capacity, int64_t* needed) {
  return guard("mercer_bound", [&] {
    copy_text(spec::answer_bound(check_text("json", json)), buffer, capacity, needed);
  });
}
