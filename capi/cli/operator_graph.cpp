// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "operator_graph.h"

#include <algorithm>
#include <cmath>

#include "failure.h"
#include "nearest.h"
#include "read/number.h"
#include "read/table.h"

namespace mercer::cli {

namespace {

std::string place(int64_t k, int64_t l) {
  return "row " + std::to_string(k + 1) + ", column " + std::to_string(l + 1);
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

void check_weights(const Table& table, int64_t m) {
  const auto weight = [&](int64_t k, int64_t l) { return table.values.at(k * m + l); };
  bool any = false;
  for (int64_t k = 0; k < m; ++k)
    for (int64_t l = 0; l < m; ++l) {
      if (k == l) continue;  // not read
      const double w = weight(k, l);
      if (!std::isfinite(w) || w < 0)
        fail_at(
            table.name, 0, 0,
            "weight " + number_text(w) + " in " + place(k, l) + ", expected finite numbers >= 0");
      if (w != weight(l, k))
        fail_at(table.name, 0, 0,
                "weight " + number_text(w) + " in " + place(k, l) + ", but " +
                    number_text(weight(l, k)) + " in " + place(l, k) +
                    ", expected the same: weights are between two targets");
      any = any || w > 0;
    }
  if (!any)
    fail_at(table.name, 0, 0, "no weight > 0 outside the diagonal: the graph joins no targets");
}

/// Of each row and column of the file the target it is of.
std::vector<size_t> order_of(const Table& table, const std::vector<std::string>& targets,
                             int64_t m) {
  std::vector<size_t> order;
  for (int64_t k = 0; k < m; ++k) order.push_back(static_cast<size_t>(k));
  if (table.names.empty()) return order;
  if (targets.empty())
    fail_at(table.name, 1, 0,
            "a header, but the data names no targets to match it: leave it out, "
            "and give rows and columns in the order of --target");
  for (size_t k = 0; k < order.size(); ++k) {
    const std::string& name = table.names[k];
    const auto found = std::ranges::find(targets, name);
    if (found == targets.end())
      fail_at(table.name, 1, static_cast<int64_t>(k + 1),
              "column " + shown(name) + " is no target, expected " + list_of(targets) +
                  did_you_mean(name, targets));
    order[k] = static_cast<size_t>(found - targets.begin());
  }
  std::vector<size_t> sorted = order;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    fail_at(table.name, 1, 0, "names repeat, expected each of " + list_of(targets) + " once");
  return order;
}

}  // namespace

std::vector<double> read_graph(const std::string& path, const std::vector<std::string>& targets,
                               int64_t m) {
  const auto no_text = [](const auto&, int64_t) { return TextPermission{}; };
  Table table = read_table(path, no_text);
  // A first row of weights may look like numbers that name columns.
  if (table.numbers_first && table.rows + 1 == m && path != "-")
    table = read_table(path, no_text, {.header = Header::no});
  if (table.values.sparse) fail_at(table.name, 0, 0, "sparse rows, expected dense weights");
  if (table.rows != m || table.columns != m)
    fail_at(table.name, 0, 0,
            std::to_string(table.rows) + " rows and " + std::to_string(table.columns) +
                " columns, expected a weight between each two of the " + std::to_string(m) +
                " targets");
  check_weights(table, m);
  const std::vector<size_t> order = order_of(table, targets, m);
  std::vector<double> weights(order.size() * order.size());
  for (size_t k = 0; k < order.size(); ++k)
    for (size_t l = 0; l < order.size(); ++l)
      weights[order[k] * order.size() + order[l]] =
          table.values.at(static_cast<int64_t>(k * order.size() + l));
  return weights;
}

}  // namespace mercer::cli
