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

using OperatorHandle =
    std::unique_ptr<mercer_operator_map, Freed<mercer_operator_map, mercer_operator_map_free>>;
using OperatorKernelHandle =
    std::unique_ptr<mercer_operator_kernel,
                    Freed<mercer_operator_kernel, mercer_operator_kernel_free>>;
using LearntHandle = std::unique_ptr<mercer_operator_model,
                                     Freed<mercer_operator_model, mercer_operator_model_free>>;

inline OperatorHandle make_operator(const std::string& json) {
  mercer_operator_map* made = nullptr;
  mercer_operator_map_from_spec(json.c_str(), &made);
  return OperatorHandle(made);
}
inline OperatorKernelHandle make_operator_kernel(const std::string& json) {
  mercer_operator_kernel* made = nullptr;
  mercer_operator_kernel_from_spec(json.c_str(), &made);
  return OperatorKernelHandle(made);
}
/// Of rows of d inputs and p targets; null where the fit failed.
template <class T>
LearntHandle learnt(const OperatorHandle& map, const std::vector<T>& X, int64_t d,
                    const std::vector<T>& Y, int64_t p, mercer_operator_fit& fit) {
  mercer_operator_model* model = nullptr;
  mercer_operator_model_fit(map.get(), rows_of(X, d), rows_of(Y, p), &fit, nullptr, &model);
  return LearntHandle(model);
}

}  // namespace mercer::test
