// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lines and points in colours for most colour-blind readers (Okabe, Ito 2008), and markers.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

#include "read/table.h"
#include "report/page.h"

namespace mercer::cli {

constexpr double kFewDecades = 1.5;

Axis::Axis(const std::vector<double>& values, bool logarithmic) : logarithmic_(logarithmic) {
  constexpr double kMargin = 0.04;  // of the range, at both ends
  // Narrower ranges, as a part of the values, count as one value: the texts of ticks would be alike.
  constexpr double kNarrowest = 1e-6;
  bool any = false;
  for (const double value : values) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
    const double at = logarithmic ? std::log10(value) : value;
    low_ = any ? std::min(low_, at) : at;
    high_ = any ? std::max(high_, at) : at;
    any = true;
  }
  if (!any) low_ = 0, high_ = 1;
  const double size = std::max({logarithmic ? 1.0 : 0.0, std::abs(low_), std::abs(high_)});
  const double narrowest = std::max(kNarrowest * size, std::numeric_limits<double>::min());
  const double range = high_ - low_;
  const double wide = range > narrowest ? range : std::max(1e-3, std::abs(low_) * 0.1);
  low_ -= kMargin * wide;
  high_ += kMargin * wide;
}

double Axis::place(double value) const {
  return ((logarithmic_ ? std::log10(value) : value) - low_) / (high_ - low_);
}

bool Axis::shows(double value) const {
  if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return false;
  const double at = place(value);
  return at >= -1e-9 && at <= 1 + 1e-9;
}

std::vector<double> Axis::ticks() const {
  constexpr int kMostTicks = 5;
  const bool decades = logarithmic_ && high_ - low_ >= kFewDecades;
  const bool powers = logarithmic_ && !decades;  // round numbers, not round exponents
  const double low = powers ? std::pow(10.0, low_) : low_,
               high = powers ? std::pow(10.0, high_) : high_;
  const double least = (high - low) / kMostTicks * (1 - 1e-9);
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {2.0, 2.5, 2.0})
    if (step < least) step *= factor;
  std::vector<double> result;
  for (double k = std::ceil(low / step); k * step <= high; ++k)
    result.push_back(decades ? std::pow(10.0, k * step) : k * step);
  return result;
}

std::string Axis::text(double tick) const {
  const bool zero = std::abs(tick) < 1e-12 * (high_ - low_);  // rounding of k * step
  return rounded(zero && !logarithmic_ ? 0 : tick,
                 logarithmic_ && high_ - low_ >= kFewDecades ? 3 : 8);
}

namespace {

constexpr double kWidth = 460, kHeight = 300;
constexpr double kLeft = 90, kRight = 12, kTop = 42, kBottom = 44;
constexpr double kDigit = 6.2;  // its width
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

std::string tick(double x1, double x2, double y1, double y2, double x, double y, const char* anchor,
                 const std::string& text) {
  return format(
      "<line class='g' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>"
      "<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>",
      x1, x2, y1, y2, x, y, anchor, text.c_str());
}

std::string grid(const Frame& frame) {
  std::string svg;
  for (const double value : frame.x.ticks()) {
    const double x = frame.at_x(value);
    svg += tick(x, x, kTop, kHeight - kBottom, x, kHeight - kBottom + 14, "middle",
                frame.x.text(value));
  }
  for (const double value : frame.y.ticks()) {
    const double y = frame.at_y(value);
    svg += tick(kLeft, kWidth - kRight, y, y, kLeft - 5, y + 3.5, "end", frame.y.text(value));
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

std::string bar(const Frame& frame, double x, double low, double high, const char* color) {
  if (!frame.y.shows(low) || !frame.y.shows(high)) return "";
  return format("<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' stroke='%s' opacity='0.5'/>", x, x,
                frame.at_y(low), frame.at_y(high), color);
}

std::string drawn(const Frame& frame, const Series& one, size_t k) {
  const char* color = kColors[k % std::size(kColors)];
  std::string points, markers;
  for (size_t i = 0; i < one.x.size() && i < one.y.size(); ++i) {
    if (!frame.shows(one.x[i], one.y[i])) continue;
    const double x = frame.at_x(one.x[i]), y = frame.at_y(one.y[i]);
    points += format("%.1f,%.1f ", x, y);
    if (i < one.low.size() && i < one.high.size())
      markers += bar(frame, x, one.low[i], one.high[i], color);
    if (!one.line || one.x.size() <= 40) markers += marker(x, y, k, color);
  }
  if (!one.line) return "<g opacity='0.6'>" + markers + "</g>";
  return format("<polyline fill='none' stroke='%s' stroke-width='1.6' points='", color) + points +
         "'/>" + markers;
}

/// Above the frame, where no point is.
std::string legend(const std::vector<Series>& series) {
  std::string svg;
  double x = kLeft + 4;
  for (size_t k = 0; k < series.size(); ++k) {
    if (series[k].name.empty()) continue;
    svg += marker(x, kTop - 10, k, kColors[k % std::size(kColors)]);
    svg +=
        format("<text x='%.1f' y='%.1f'>", x + 7, kTop - 6) + escaped(series[k].name) + "</text>";
    x += 24 + kDigit * static_cast<double>(series[k].name.size());
  }
  return svg;
}

}  // namespace

std::string chart(const ChartText& text, const std::vector<Series>& series) {
  std::vector<double> heights;
  for (const auto part : {&Series::y, &Series::low, &Series::high}) {
    const std::vector<double> some = all_of(series, part);
    heights.insert(heights.end(), some.begin(), some.end());
  }
  const Frame frame{Axis(all_of(series, &Series::x), text.log_x), Axis(heights, false)};
  std::string svg =
      format("<svg viewBox='0 0 %g %g' role='img'>", kWidth, kHeight) + titles(text) + grid(frame);
  for (size_t k = 0; k < series.size(); ++k) svg += drawn(frame, series[k], k);
  return svg + legend(series) + "</svg>\n";
}

}  // namespace mercer::cli
