/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * A program of the parent's that links mercer. */
#include <mercer/mercer.h>

int main(void) { return (int)mercer_context_options_init(0); }
