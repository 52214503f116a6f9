// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Charts as SVG text that stands in a page by itself: no script, no font, no other file.
#pragma once

#include <string>
#include <vector>

namespace mercer::cli {

/// Points (x, y), joined by a line or not. Points that are not finite are left out.
struct Series {
  std::string name;  // in the legend; empty: not listed
  std::vector<double> x, y;
  bool line = false;
};

struct ChartText {
  std::string title, x, y;
  bool log_x = false, log_y = false;
};

std::string chart(const ChartText& text, const std::vector<Series>& series);

/// One horizontal bar per name; values >= 0.
std::string bars(const std::string& title, const std::vector<std::string>& names,
                 const std::vector<double>& values);

/// counts(true class, predicted class) as a table, cells shaded by the share of their row.
std::string confusion_table(const std::vector<std::string>& classes,
                            const std::vector<std::vector<double>>& counts);

/// Text in HTML and SVG: & < > " replaced.
std::string escaped(const std::string& text);

}  // namespace mercer::cli
