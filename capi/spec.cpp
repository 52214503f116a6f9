// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What exists, as text. Specs of single objects are with the objects: kernel.cpp, map.cpp,
// model.cpp.
#include "spec/spec.h"

#include "arguments.h"
#include "guard.h"
#include "mercer/map.h"

using namespace mercer;
using namespace mercer::capi;

mercer_status mercer_specs(const char* name, char* buffer, int64_t capacity, int64_t* needed) {
  return guard("mercer_specs", [&] {
    copy_text(spec::describe(name == nullptr ? "" : name), buffer, capacity, needed);
  });
}
