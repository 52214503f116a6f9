// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Operator-valued kernels, maps and models, made through the C API and freed by themselves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fixture.h"
#include "mercer/operator.h"
#include "mercer/operator_learn.h"

namespace mercer::test {

using LearntHandle = std::unique_ptr<mercer_operator_model,
                                     Freed<mercer_operator_model, mercer_operator_model_free>>;

inline MapHandle make_operator(const std::string& json) {
  mercer_map* made = nullptr;
  mercer_map_from_spec(json.c_str(), &made);
  return MapHandle(made);
}
/// Of rows of d inputs and p targets; null where the fit failed.
template <class T>
LearntHandle learnt(const MapHandle& map, const std::vector<T>& X, int64_t d,
                    const std::vector<T>& Y, int64_t p, mercer_operator_fit& fit) {
  mercer_operator_model* model = nullptr;
  mercer_operator_model_fit(map.get(), rows_of(X, d), rows_of(Y, p), &fit, nullptr, &model);
  return LearntHandle(model);
}

}  // namespace mercer::test
