// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One HTML page: headings, facts, charts and tables side by side; no script, font or other file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mercer::cli {

/// One axis of a chart: the range of some values, its ticks, and where a value lies on it.
class Axis {
 public:
  /// Finite values count; of a logarithmic axis those above 0. Without any: [0, 1] or [1, 10].
  Axis(const std::vector<double>& values, bool logarithmic);
  /// 0 at the low end, 1 at the high one.
  double place(double value) const;
  bool shows(double value) const;
  /// At even steps of 1, 2 or 5 times a power of ten, of a logarithmic axis those of the logarithm.
  std::vector<double> ticks() const;
  std::string text(double tick) const;

 private:
  bool logarithmic_;
  double low_ = 0, high_ = 1;  // logarithms where logarithmic
};

/// Points (x, y), joined by a line or not. Points that are not finite are left out.
struct Series {
  std::string name;  // in the legend; empty: not listed
  std::vector<double> x, y;
  bool line = false;
  std::vector<double> low = {}, high = {};  // ends of a bar through each point; or none
};

struct ChartText {
  std::string title, x, y;
  bool log_x = false;
};

std::string chart(const ChartText& text, const std::vector<Series>& series);

/// One horizontal bar per name; values >= 0.
std::string bars(const std::string& title, const std::vector<std::string>& names,
                 const std::vector<double>& values);

/// counts(true class, predicted class) as a table with each class's recall, cells shaded by the
/// share of their row.
std::string confusion_table(const std::vector<std::string>& classes,
                            const std::vector<std::vector<double>>& counts);

/// Text in HTML and SVG: & < > " replaced.
std::string escaped(const std::string& text);

class Page {
 public:
  explicit Page(const std::string& title);
  void heading(const std::string& text) { block("<h2>", text, "</h2>"); }
  void paragraph(const std::string& text) { block("<p>", text, "</p>"); }
  /// Shown so that it is not overlooked.
  void warning(const std::string& text) { block("<div class=\"warning\">", text, "</div>"); }
  /// Names and values, two columns; with a title they show when that is clicked.
  void facts(const std::vector<std::pair<std::string, std::string>>& rows,
             const std::string& title = "");
  /// SVG or a table, as it is.
  void figure(const std::string& html, const std::string& caption);
  /// The whole page.
  std::string text() const;

 private:
  void block(const char* begin, const std::string& text, const char* end);
  void close_figures();
  std::string body_;
  bool figures_ = false;  // figures stand side by side until something else follows
};

}  // namespace mercer::cli
