// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report/page.h"

#include <algorithm>
#include <cstdio>

#include "read/table.h"

namespace mercer::cli {
namespace {

constexpr const char* kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1020px;color:#222;"
    "background:#fff}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:1.6em}"
    ".figures{display:flex;flex-wrap:wrap;gap:14px}figure{margin:0;width:480px}"
    "figcaption{font-size:.85em;color:#555}svg{width:100%;font:11px system-ui,sans-serif}"
    "svg .t{font-size:13px;font-weight:600}svg .g{stroke:#ddd;stroke-width:1}"
    "table{border-collapse:collapse;font-size:.9em}td,th{padding:2px 9px;text-align:left}"
    ".c td,.c th{text-align:right}caption{text-align:left;color:#555}"
    ".b i{display:block;height:12px;background:#0072b2}"
    ".warning{border-left:4px solid #d55e00;background:#fdf1e8;padding:.4em .8em;margin:.4em 0}";

std::string cell(double count, double row_total) {
  char text[96];
  const double share = row_total > 0 ? count / row_total : 0;
  std::snprintf(text, sizeof text, "<td style='background:rgba(0,114,178,%.2f)'>%.0f</td>",
                0.75 * share, count);
  return text;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '&'    ? "&amp;"
              : c == '<'  ? "&lt;"
              : c == '>'  ? "&gt;"
              : c == '"'  ? "&quot;"
              : c == '\'' ? "&#39;"
                          : std::string(1, c);
  return result;
}

std::string confusion_table(const std::vector<std::string>& classes,
                            const std::vector<std::vector<double>>& counts) {
  std::string html =
      "<table class='c'><caption>rows: true class, columns: predicted</caption><tr><th></th>";
  for (const std::string& name : classes) html += "<th>" + escaped(name) + "</th>";
  html += "<th>recall</th></tr>\n";
  for (size_t k = 0; k < classes.size() && k < counts.size(); ++k) {
    double total = 0;
    for (const double count : counts[k]) total += count;
    html += "<tr><th>" + escaped(classes[k]) + "</th>";
    for (const double count : counts[k]) html += cell(count, total);
    const double found = k < counts[k].size() ? counts[k][k] : 0;
    html += "<td>" + (total > 0 ? rounded(found / total, 3) : "-") + "</td></tr>\n";
  }
  return html + "</table>\n";
}

std::string bars(const std::string& title, const std::vector<std::string>& names,
                 const std::vector<double>& values) {
  constexpr double kWidest = 240;
  const double largest = values.empty() ? 0 : *std::ranges::max_element(values);
  std::string html = "<table class='b'><caption>" + escaped(title) + "</caption>\n";
  for (size_t k = 0; k < names.size() && k < values.size(); ++k) {
    const double part = largest > 0 ? std::max(values[k], 0.0) / largest : 0;
    html += "<tr><th>" + escaped(names[k]) +
            "</th><td><i style='width:" + rounded(kWidest * part, 3) + "px'></i></td><td>" +
            rounded(values[k], 3) + "</td></tr>\n";
  }
  return html + "</table>\n";
}

Page::Page(const std::string& title) {
  body_ = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
          escaped(title) + "</title>\n<meta name=\"viewport\" content=\"width=device-width\">" +
          "<style>" + kStyle + "</style></head>\n<body><h1>" + escaped(title) + "</h1>\n";
}

void Page::close_figures() {
  if (figures_) body_ += "</div>\n";
  figures_ = false;
}

void Page::block(const char* begin, const std::string& text, const char* end) {
  close_figures();
  body_ += begin + escaped(text) + end + "\n";
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& rows,
                 const std::string& title) {
  close_figures();
  if (!title.empty()) body_ += "<details><summary>" + escaped(title) + "</summary>";
  body_ += "<table>\n";
  for (const auto& [name, value] : rows)
    body_ += "<tr><th>" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>\n";
  body_ += title.empty() ? "</table>\n" : "</table></details>\n";
}

void Page::figure(const std::string& html, const std::string& caption) {
  if (!figures_) body_ += "<div class=\"figures\">\n";
  figures_ = true;
  body_ += "<figure>" + html + "<figcaption>" + escaped(caption) + "</figcaption></figure>\n";
}

std::string Page::text() const { return body_ + (figures_ ? "</div>\n" : "") + "</body></html>\n"; }

}  // namespace mercer::cli
