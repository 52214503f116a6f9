// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/custom.h: kernels and maps of the caller's own.
#include "mercer/custom.h"

#include <cstddef>
#include <memory>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "kernel/custom.h"

using namespace mercer;
using namespace mercer::capi;

// One that is refused is not released.
mercer_custom::mercer_custom(const mercer_custom_options& options) {
  const auto made = std::make_shared<kernel::Custom>(options);
  kernel::register_custom(made);
  made->release_by(options.release);
  impl = made;
}

mercer_custom::~mercer_custom() { kernel::unregister_custom(*impl); }

mercer_status mercer_custom_create(const mercer_custom_options* options, mercer_custom** out) {
  return guard_create("mercer_custom_create", out, [&] {
    const mercer_custom_options read =
        read_required("options", options, "a mercer_custom_options", mercer_custom_options{},
                      offsetof(mercer_custom_options, loss));
    check_not_null("options->name", read.name, "a text");
    check_range("options->concurrent", read.concurrent, 0, 1);
    check_range("options->inputs", read.inputs, 0, INT32_MAX);
    check_range("options->feature_count", read.feature_count, 0, INT32_MAX);
    return mercer_custom(read);
  });
}

void mercer_custom_free(mercer_custom* custom) { delete custom; }
