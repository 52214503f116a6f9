/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MERCER_H
#define MERCER_MERCER_H

/* mercer: random feature maps of kernels, and learning with them. Includes every section of the C
 * API. */

#include "mercer/arrow.h"
#include "mercer/attention.h"
#include "mercer/base.h"
#include "mercer/bound.h"
#include "mercer/codes.h"
#include "mercer/custom.h"
#include "mercer/data.h"
#include "mercer/derivative.h"
#include "mercer/io.h"
#include "mercer/kernel.h"
#include "mercer/map.h"
#include "mercer/map_error.h"
#include "mercer/model.h"
#include "mercer/ridge.h"
#include "mercer/rows.h"
#include "mercer/rows_test.h"
#include "mercer/score.h"
#include "mercer/self_test.h"
#include "mercer/sketch.h"
#include "mercer/statistics.h"
#include "mercer/transform.h"

#endif
