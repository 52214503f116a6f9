// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lines and clouds of points. Colours are told apart by most colour-blind readers (Okabe, Ito
// 2008), and markers differ, too.
#include "report/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "read/number.h"

namespace mercer::cli {

namespace {

constexpr double kWidth = 460, kHeight = 300;
constexpr double kLeast = 62, kRight = 12, kTop = 42, kBottom = 44;
constexpr double kDigit = 6.2, kBesideTicks = 26;  // widths
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73",
                                   "#cc79a7", "#e69f00", "#56b4e9"};

std::string format(const char* pattern, ...) {
  char text[512];
  std::va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

struct Frame {
  Axis x, y;
  double left = kLeast;
  double at_x(double value) const { return left + x.place(value) * (kWidth - left - kRight); }
  double at_y(double value) const {
    return kHeight - kBottom - y.place(value) * (kHeight - kTop - kBottom);
  }
  bool shows(double a, double b) const { return x.shows(a) && y.shows(b); }
};

std::vector<double> all_of(const std::vector<Series>& series, std::vector<double> Series::*part) {
  std::vector<double> all;
  for (const Series& one : series) all.insert(all.end(), (one.*part).begin(), (one.*part).end());
  return all;
}

// Room for the longest text beside the axis.
double left_of(const Axis& y) {
  size_t longest = 0;
  for (const std::string& text : tick_texts(y.ticks())) longest = std::max(longest, text.size());
  return std::max(kLeast, kBesideTicks + kDigit * static_cast<double>(longest));
}

/// Every how many ticks one is named: texts of neighbours do not touch.
size_t named_of(const Frame& frame, const std::vector<double>& ticks,
                const std::vector<std::string>& texts) {
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  double nearest = kWidth;
  for (size_t k = 1; k < ticks.size(); ++k)
    nearest = std::min(nearest, frame.at_x(ticks[k]) - frame.at_x(ticks[k - 1]));
  return 1 + static_cast<size_t>((kDigit * static_cast<double>(longest) + 4) / nearest);
}

std::string grid(const Frame& frame) {
  std::string svg;
  const std::vector<double> along = frame.x.ticks(), up = frame.y.ticks();
  const std::vector<std::string> along_texts = tick_texts(along), up_texts = tick_texts(up);
  const size_t named = named_of(frame, along, along_texts);
  for (size_t k = 0; k < along.size(); ++k) {
    const double x = frame.at_x(along[k]);
    svg += format("<line class='g' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>", x, x, kTop,
                  kHeight - kBottom);
    if (k % named == 0)
      svg += format("<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>", x,
                    kHeight - kBottom + 14, along_texts[k].c_str());
  }
  for (size_t k = 0; k < up.size(); ++k) {
    const double y = frame.at_y(up[k]);
    svg += format("<line class='g' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>", frame.left,
                  kWidth - kRight, y, y);
    svg += format("<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>", frame.left - 5, y + 3.5,
                  up_texts[k].c_str());
  }
  return svg;
}

std::string titles(const ChartText& text, const Frame& frame) {
  const double middle = (frame.left + kWidth - kRight) / 2;
  return format("<text class='t' x='%.1f' y='16' text-anchor='middle'>", middle) +
         escaped(text.title) + "</text>" +
         format("<text x='%.1f' y='%.1f' text-anchor='middle'>", middle, kHeight - 8) +
         escaped(text.x) + "</text>" +
         format("<text transform='translate(12 %.1f) rotate(-90)' text-anchor='middle'>",
                (kTop + kHeight - kBottom) / 2) +
         escaped(text.y) + "</text>";
}

std::string marker(double x, double y, size_t k, const char* color) {
  if (k % 2 == 0) return format("<circle cx='%.1f' cy='%.1f' r='2.6' fill='%s'/>", x, y, color);
  return format("<rect x='%.1f' y='%.1f' width='5' height='5' fill='%s'/>", x - 2.5, y - 2.5,
                color);
}

std::string drawn(const Frame& frame, const Series& one, size_t k) {
  const char* color = kColors[k % std::size(kColors)];
  std::string points, markers;
  for (size_t i = 0; i < one.x.size() && i < one.y.size(); ++i) {
    if (!frame.shows(one.x[i], one.y[i])) continue;
    const double x = frame.at_x(one.x[i]), y = frame.at_y(one.y[i]);
    points += format("%.1f,%.1f ", x, y);
    if (!one.line || one.x.size() <= 40) markers += marker(x, y, k, color);
  }
  if (!one.line) return "<g opacity='0.6'>" + markers + "</g>";
  return format("<polyline fill='none' stroke='%s' stroke-width='1.6' points='", color) + points +
         "'/>" + markers;
}

/// Above the frame, where no point is.
std::string legend(const std::vector<Series>& series, const Frame& frame) {
  std::string svg;
  double x = frame.left + 4;
  for (size_t k = 0; k < series.size(); ++k) {
    if (series[k].name.empty()) continue;
    svg += marker(x, kTop - 10, k, kColors[k % std::size(kColors)]);
    svg +=
        format("<text x='%.1f' y='%.1f'>", x + 7, kTop - 6) + escaped(series[k].name) + "</text>";
    x += 24 + kDigit * static_cast<double>(series[k].name.size());
  }
  return svg;
}

/// At most `most` bytes, whole characters of UTF-8, and a mark where some were left out.
std::string cut(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

std::string chart(const ChartText& text, const std::vector<Series>& series) {
  Frame frame{Axis(all_of(series, &Series::x), text.log_x),
              Axis(all_of(series, &Series::y), text.log_y)};
  frame.left = left_of(frame.y);
  std::string svg = format("<svg viewBox='0 0 %g %g' role='img'>", kWidth, kHeight) +
                    titles(text, frame) + grid(frame);
  for (size_t k = 0; k < series.size(); ++k) svg += drawn(frame, series[k], k);
  return svg + legend(series, frame) + "</svg>\n";
}

namespace {

/// Counts in full, shares with three digits.
std::string short_text(double value) {
  return value == std::floor(value) ? number_text(value) : rounded(value, 3);
}

}  // namespace

std::string bars(const std::string& title, const std::vector<std::string>& names,
                 const std::vector<double>& values) {
  constexpr double kBar = 16, kNames = 120, kHead = 30;
  constexpr size_t kLongest = 18;  // bytes of a name that has room
  double largest = 0;
  for (const double value : values) largest = std::fmax(largest, value);
  const double height = kHead + kBar * static_cast<double>(names.size()) + 8;
  std::string svg = format("<svg viewBox='0 0 %g %g' role='img'>", kWidth, height) +
                    format("<text class='t' x='%g' y='16' text-anchor='middle'>", kWidth / 2) +
                    escaped(title) + "</text>";
  double y = kHead;
  for (size_t k = 0; k < names.size() && k < values.size(); ++k, y += kBar) {
    const double part = largest > 0 ? std::fmax(values[k], 0) / largest : 0;
    svg += format("<text x='%g' y='%.1f' text-anchor='end'>", kNames - 5, y + 11) +
           escaped(cut(names[k], kLongest)) + "<title>" + escaped(names[k]) + "</title></text>";
    svg += format("<rect x='%g' y='%.1f' width='%.1f' height='%g' fill='%s'/>", kNames, y + 2,
                  part * (kWidth - kNames - 60), kBar - 4, kColors[0]);
    svg += format("<text x='%.1f' y='%.1f'>%s</text>", kNames + part * (kWidth - kNames - 60) + 4,
                  y + 11, short_text(values[k]).c_str());
  }
  return svg + "</svg>\n";
}

}  // namespace mercer::cli
