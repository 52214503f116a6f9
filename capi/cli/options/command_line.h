// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one file that includes CLI11. Precompiled, with the JSON that requests hold, as both take seconds.
#pragma once

#include <CLI/CLI.hpp>

#include "json.h"
