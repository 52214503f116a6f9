// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The opaque types of the C API: real structs around core objects, so that no handle is ever cast.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "attention/attention.h"
#include "base/context.h"
#include "feature/feature_map.h"
#include "guard.h"
#include "kernel/custom.h"
#include "kernel/kernel.h"
#include "mercer/mercer.h"
#include "model/model.h"
#include "solver/primal_system.h"
#include "solver/row_statistics.h"
#include "spec/test_spec.h"

struct mercer_context {
  mercer::Context impl;
  std::atomic<bool> busy{false};
  mutable std::mutex
      error_mutex;  // a watching thread may ask for the text of a call that is just failing
  mercer::capi::ErrorText error;
};

struct mercer_kernel {
  std::shared_ptr<const mercer::kernel::Kernel> impl;
};

struct mercer_map {
  std::shared_ptr<const mercer::feature::FeatureMap> impl;
};

/// Not movable: `new Handle(make())` makes it in place.
struct mercer_custom {
  explicit mercer_custom(const mercer_custom_options& options);
  ~mercer_custom();
  std::shared_ptr<const mercer::kernel::Custom> impl;
};

struct mercer_statistics {
  mercer::solver::RowStatistics impl;
};

struct mercer_attention {
  mercer::attention::Attention impl;
};

struct mercer_rows_sums {
  mercer::spec::RowsSums impl;
};

struct mercer_ridge {
  mercer::solver::PrimalSystem impl;
};

struct mercer_model {
  mercer::model::Model impl;
};
