/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * A shared library of somebody else's with mercer inside: compiled with hidden visibility, it exports this function. */
#include <mercer/mercer.h>

__attribute__((visibility("default"))) int holder_fit(const mercer_data* data, mercer_model** model);
int holder_fit(const mercer_data* data, mercer_model** model) { return mercer_model_fit("{}", data, 0, model); }
