// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <cstdio>

#include "report/chart.h"

namespace mercer::cli {

namespace {

std::string cell(double count, double row_total) {
  char text[96];
  const double share = row_total > 0 ? count / row_total : 0;
  std::snprintf(text, sizeof text, "<td style='background:rgba(0,114,178,%.2f)'>%.0f</td>",
                0.75 * share, count);
  return text;
}

}  // namespace

std::string confusion_table(const std::vector<std::string>& classes,
                            const std::vector<std::vector<double>>& counts) {
  std::string html =
      "<table class='c'><caption>rows: true class, columns: predicted</caption><tr><th></th>";
  for (const std::string& name : classes) html += "<th>" + escaped(name) + "</th>";
  html += "</tr>\n";
  for (size_t k = 0; k < classes.size() && k < counts.size(); ++k) {
    double total = 0;
    for (const double count : counts[k]) total += count;
    html += "<tr><th>" + escaped(classes[k]) + "</th>";
    for (const double count : counts[k]) html += cell(count, total);
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace mercer::cli
