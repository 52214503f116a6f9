/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * The umbrella header as strict C99, and its linkage: a C program that calls the library. */
#include <mercer/mercer.h>
#include <string.h>

int main(void) { return strcmp(mercer_status_name(MERCER_OK), "MERCER_OK"); }
