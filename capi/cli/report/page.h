// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One self-contained HTML page: headings, facts, lists, charts side by side.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mercer::cli {

class Page {
 public:
  explicit Page(const std::string& title);
  void heading(const std::string& text);
  void paragraph(const std::string& text);
  /// Shown so that it is not overlooked.
  void warning(const std::string& text);
  /// Names and values, two columns.
  void facts(const std::vector<std::pair<std::string, std::string>>& rows);
  /// SVG or a table, as it is.
  void figure(const std::string& html, const std::string& caption);
  /// The whole page.
  std::string text() const;

 private:
  void close_figures();
  std::string body_;
  bool figures_ = false;  // figures stand side by side until something else follows
};

}  // namespace mercer::cli
