// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Operator maps of the caller's own frequencies and B(omega).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/number_array.h"
#include "operator/operator_map.h"

namespace mercer::operators {

/// Row j of `frequencies` (F x d) is omega_j; `roots` holds F matrices B_j, p x q, one after the
/// other: the estimate is (1/F) sum_j cos(omega_j'(x - y)) B_j B_j'. Copied. INVALID_ARGUMENT for
/// numbers that are not finite.
std::unique_ptr<const OperatorMap> make_supplied_operator(MatrixView<const double> frequencies,
                                                          int64_t p, int64_t q,
                                                          const double* roots);

/// Writes B(omega), p x q, row by row; false: stop.
using RootFunction = std::function<bool(const double* omega, double* B)>;

/// The same with frequencies drawn as `given` says ("kernel", "inputs", "features", "seed",
/// "projection" and its options), the kernel's amplitude and the rule's weights in B. `root` is
/// called for one frequency after the other. Errors: those of draw_frequencies; INVALID_ARGUMENT
/// for numbers that are not finite; CANCELLED.
std::unique_ptr<const OperatorMap> make_operator_of_roots(const Parameters& given, int64_t p,
                                                          int64_t q, const RootFunction& root);

/// From the spec of such a map, which says "operator":"supplied" and "needs":"data", and
/// OperatorMap::numbers(). CORRUPT_FILE.
bool is_supplied_operator(const Parameters& given);
std::unique_ptr<const OperatorMap> supplied_operator_from(const Parameters& given,
                                                          std::span<const NumberArray> numbers);

}  // namespace mercer::operators
