// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lines and clouds of points. Colours are told apart by most colour-blind readers (Okabe, Ito
// 2008), and markers differ, too.
#include "report/chart.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "report/axis.h"

namespace mercer::cli {

namespace {

constexpr double kWidth = 460, kHeight = 300;
constexpr double kLeft = 62, kRight = 12, kTop = 30, kBottom = 44;
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
  double at_x(double value) const { return kLeft + x.place(value) * (kWidth - kLeft - kRight); }
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

std::string grid(const Frame& frame) {
  std::string svg;
  for (const double value : frame.x.ticks()) {
    const double x = frame.at_x(value);
    svg += format("<line class='g' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>", x, x, kTop,
                  kHeight - kBottom);
    svg += format("<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>", x,
                  kHeight - kBottom + 14, tick_text(value).c_str());
  }
  for (const double value : frame.y.ticks()) {
    const double y = frame.at_y(value);
    svg += format("<line class='g' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>", kLeft,
                  kWidth - kRight, y, y);
    svg += format("<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>", kLeft - 5, y + 3.5,
                  tick_text(value).c_str());
  }
  return svg;
}

std::string titles(const ChartText& text) {
  const double middle = (kLeft + kWidth - kRight) / 2;
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

std::string legend(const std::vector<Series>& series) {
  std::string svg;
  double y = kTop + 12;
  for (size_t k = 0; k < series.size(); ++k) {
    if (series[k].name.empty()) continue;
    svg += marker(kLeft + 12, y - 4, k, kColors[k % std::size(kColors)]);
    svg += format("<text x='%.1f' y='%.1f'>", kLeft + 20, y) + escaped(series[k].name) + "</text>";
    y += 14;
  }
  return svg;
}

}  // namespace

std::string chart(const ChartText& text, const std::vector<Series>& series) {
  const Frame frame{Axis(all_of(series, &Series::x), text.log_x),
                    Axis(all_of(series, &Series::y), text.log_y)};
  std::string svg =
      format("<svg viewBox='0 0 %g %g' role='img'>", kWidth, kHeight) + titles(text) + grid(frame);
  for (size_t k = 0; k < series.size(); ++k) svg += drawn(frame, series[k], k);
  return svg + legend(series) + "</svg>\n";
}

std::string bars(const std::string& title, const std::vector<std::string>& names,
                 const std::vector<double>& values) {
  constexpr double kBar = 16, kNames = 120;
  double largest = 0;
  for (const double value : values) largest = std::fmax(largest, value);
  const double height = kTop + kBar * static_cast<double>(names.size()) + 8;
  std::string svg = format("<svg viewBox='0 0 %g %g' role='img'>", kWidth, height) +
                    format("<text class='t' x='%g' y='16' text-anchor='middle'>", kWidth / 2) +
                    escaped(title) + "</text>";
  double y = kTop;
  for (size_t k = 0; k < names.size() && k < values.size(); ++k, y += kBar) {
    const double part = largest > 0 ? std::fmax(values[k], 0) / largest : 0;
    svg += format("<text x='%g' y='%.1f' text-anchor='end'>", kNames - 5, y + 11) +
           escaped(names[k]) + "</text>";
    svg += format("<rect x='%g' y='%.1f' width='%.1f' height='%g' fill='%s'/>", kNames, y + 2,
                  part * (kWidth - kNames - 60), kBar - 4, kColors[0]);
    svg += format("<text x='%.1f' y='%.1f'>%s</text>", kNames + part * (kWidth - kNames - 60) + 4,
                  y + 11, tick_text(values[k]).c_str());
  }
  return svg + "</svg>\n";
}

}  // namespace mercer::cli
