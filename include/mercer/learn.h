/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_LEARN_H
#define MERCER_LEARN_H

/* Learning with features: row statistics, ridge, models of rows in memory and elsewhere, scores. */

#include "mercer/model.h"
#include "mercer/ridge.h"
#include "mercer/score.h"
#include "mercer/statistics.h"

#endif
