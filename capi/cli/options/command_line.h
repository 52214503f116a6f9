// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one file that includes CLI11. Precompiled, as it takes seconds.
#pragma once

#include <CLI/CLI.hpp>
