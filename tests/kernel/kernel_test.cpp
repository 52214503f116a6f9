// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of kernels: its defaults, what makers refuse, the ends of every range.
// Exact values against the reference numbers, built through the table from their specs.
// Derivatives of kernels: the Gaussian by reference numbers and finite differences, others by
// kernels that are the same by another formula; edges of smoothness; refusals.
#include "kernel/kernel.h"

#include "base/fields.h"
#include "base/parameters.h"
#include "kernel/cases.h"
#include "kernel/entry.h"
#include "spec/json.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/worst.h"

namespace mercer::test::kernel_test {
using kernel::MultiIndex;

TEST_CASE("the table's defaults make each kernel") {
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    INFO(entry.name);
    Parameters defaults{{"kernel", entry.name}};
    for (const Field& field : entry.fields) defaults.set(field.key, default_of(field));
    const auto kernel = entry.make(defaults);
    CHECK(kernel->name() == entry.name);
    CHECK(kernel->variance() == 1);
    CHECK(std::string(entry.fields.back().key) == "variance");
    // parameters() lists "kernel", then the fields in table order.
    const Parameters printed = kernel->parameters();
    REQUIRE(printed.entries().size() == entry.fields.size() + 1);
    CHECK(printed.text("kernel") == entry.name);
    for (size_t i = 0; i < entry.fields.size(); ++i) {
      CHECK(printed.entries()[i + 1].first == entry.fields[i].key);
      CHECK(print_object({{"value", printed.entries()[i + 1].second}}) ==
            print_object({{"value", default_of(entry.fields[i])}}));
    }
  }
}

TEST_CASE("far, close, huge and NaN inputs give limits, not accidents") {
  for (const KernelCase& c : kernel_cases(1, 1)) {
    if (c.kernel->prologue() != nullptr || is_periodic(*c.kernel)) continue;
    INFO(c.label);
    const double origin = 0;
    const auto at = [&](double t) { return c.kernel->value(1, &t, &origin); };
    CHECK(at(0) == 1);
    CHECK(at(5e-324) == Approx(1).margin(1e-14));
    CHECK(std::isnan(at(std::nan(""))));
    double previous = 1;
    for (const double t : {1e-200, 1e-100, 1e-20, 1e-8, 1e-3, 0.1, 1.0}) {
      CHECK(at(t) <= previous + 1e-14);
      CHECK(at(t) > 0);
      previous = at(t);
    }
    for (const double t : {30.0, 1e3, 1e8, 1e100, 1e160, 1e300}) {
      CHECK(std::fabs(at(t)) <= std::max(0.2, previous));
      CHECK(std::isfinite(at(t)));
    }
    CHECK(at(1e300) < 1e-80);
  }
}

TEST_CASE("skewed chi^2: NaN outside its inputs, warp, and scale of huge inputs") {
  const auto k = kernel::make_skewed_chi2(0.5, 1);
  const double row = 2;
  double warped = 0;
  k->prologue()->run(&row, 1, &warped, nullptr);
  CHECK(warped == std::log(2.5));
  CHECK(kernel::make_gaussian({1}, 1)->prologue() == nullptr);
  const double inside = 1;
  for (const double x : {-0.5, -0.6, -1e300}) {
    CHECK(std::isnan(k->value(1, &x, &inside)));
    CHECK(std::isnan(k->value(1, &inside, &x)));
    CHECK(std::isnan(k->value_at_multiple(2, 1, &inside, &x)));
  }
  const double huge = 1e308;
  CHECK(k->value(1, &huge, &huge) == Approx(1).epsilon(1e-15));
  // sech of the half difference of logarithms, at any multiple.
  const double y = 3;
  const double t = std::log(inside + 0.5) - std::log(y + 0.5);
  for (const double multiple : {0.5, 1.0, 2.0, 3.0}) {
    CHECK(k->value_at_multiple(multiple, 1, &inside, &y) ==
          Approx(1 / std::cosh(multiple * t / 2)).epsilon(1e-14));
  }
}

TEST_CASE("skewed chi^2: a skew for each input") {
  const auto each = kernel::make_kernel(
      {{"kernel", "skewed_chi2"}, {"c", std::vector<double>{0.5, 2, 0.1}}, {"variance", 1.5}});
  const double x[] = {-0.4, -1.5, 0.3}, y[] = {1, 0.2, -0.05};
  double product = 1.5, warped[3];
  for (size_t j = 0; j < 3; ++j) {
    const double c = j == 0 ? 0.5 : j == 1 ? 2 : 0.1;
    product *= kernel::make_skewed_chi2(c, 1)->value(1, x + j, y + j);
  }
  CHECK(each->value(3, x, y) == Approx(product).epsilon(1e-14));
  each->prologue()->run(x, 3, warped, nullptr);
  CHECK((warped[0] == std::log(-0.4 + 0.5) && warped[1] == std::log(-1.5 + 2) &&
         warped[2] == std::log(0.3 + 0.1)));
  const kernel::InputBound bound = *each->traits().input_bound;
  CHECK((bound.least == -2 && bound.excludes(2, -0.1) && !bound.excludes(1, -1.9)));
  const double below[] = {-0.4, -1.5, -0.1};
  CHECK(std::isnan(each->value(3, below, y)));
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, each->check_dimension(2), "3 inputs");
  // Of a sum an input is inside all bounds.
  const auto sum = kernel::make_kernel(
      spec::parse_object(R"({"kernel":"sum","parts":[{"kernel":"skewed_chi2","c":[1,2]},)"
                         R"({"kernel":"skewed_chi2","c":1.5},{"kernel":"gaussian"}]})"));
  const kernel::InputBound both = *sum->traits().input_bound;
  CHECK((both.excludes(0, -1) && !both.excludes(0, -0.9) && both.excludes(1, -1.5) &&
         !both.excludes(1, -1.4) && both.least == -1.5));
}

namespace {

const double kNan = std::nan("");
const double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("makers refuse numbers that are not positive and finite") {
  using namespace kernel;
  for (const double bad : {0.0, -1.0, kNan, kInfinity, -kInfinity}) {
    const auto refuses = [&](const std::string& name, auto&& make) {
      CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make(), name + (" = " + shown(bad)),
                    ", expected a number");
    };
    refuses("lengthscale[0]", [&] { make_gaussian({bad}, 1); });
    refuses("lengthscale[1]", [&] { make_laplacian({1, bad}, 1); });
    refuses("lengthscale[2]", [&] { make_cauchy({1, 1, bad}, 1); });
    refuses("lengthscale[0]", [&] { make_matern(1.5, {bad}, 1); });
    refuses("lengthscale[0]", [&] { make_rational_quadratic(1, {bad}, 1); });
    refuses("lengthscale[0]", [&] { make_generalized_gaussian_spectrum(2, {bad}, 1); });
    refuses("nu", [&] { make_matern(bad, {1}, 1); });
    refuses("alpha", [&] { make_rational_quadratic(bad, {1}, 1); });
    refuses("c", [&] { make_skewed_chi2(bad, 1); });
    refuses("variance", [&] { make_gaussian({1}, bad); });
    refuses("variance", [&] { make_laplacian({1}, bad); });
    refuses("variance", [&] { make_cauchy({1}, bad); });
    refuses("variance", [&] { make_matern(1.5, {1}, bad); });
    refuses("variance", [&] { make_rational_quadratic(1, {1}, bad); });
    refuses("variance", [&] { make_generalized_gaussian_spectrum(2, {1}, bad); });
    refuses("variance", [&] { make_skewed_chi2(1, bad); });
    refuses("variance", [&] { make_gaussian({1}, 1)->with_variance(bad); });
  }
}

TEST_CASE("makers refuse empty and extreme lengthscales and orders out of range") {
  using namespace kernel;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_gaussian({}, 1), "lengthscale = a list of 0 numbers");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_gaussian({1e-310}, 1), "lengthscale[0] = 1e-310",
                "1e-300");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_gaussian({1e305}, 1), "lengthscale[0] = 1e+305",
                "1e+300");
  for (const int64_t order : {int64_t{0}, int64_t{-3}, int64_t{17}}) {
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_generalized_gaussian_spectrum(order, {1}, 1),
                  "order = " + std::to_string(order), "<= 16");
  }
}

TEST_CASE("the ends of every range make a kernel, open ends do not") {
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    Parameters defaults{{"kernel", entry.name}};
    for (const Field& field : entry.fields) defaults.set(field.key, default_of(field));
    for (const Field& field : entry.fields) {
      INFO(entry.name << ", " << field.key);
      CHECK(std::string(field.help) != "");
      if (field.type == FieldType::text || !std::isfinite(field.least)) continue;  // no ends
      if (field.type == FieldType::numbers && std::string(entry.name) == "radial")
        continue;  // its numbers bound each other
      for (const double end : {field.least, field.most}) {
        Parameters parameters = defaults;
        const bool open = end == field.least && field.least_open;
        const Value value = field.type == FieldType::kernels
                                ? Value(gaussian_specs(static_cast<int64_t>(end)))
                            : field.type == FieldType::integer ? Value(static_cast<int64_t>(end))
                            : std::holds_alternative<std::vector<double>>(default_of(field))
                                ? Value(std::vector<double>{1, end})
                                : Value(end);
        parameters.set(field.key, value);
        if (open) {
          CHECK_THROWS_AS(kernel::make_kernel(parameters), Error);
        } else {
          CHECK_NOTHROW(kernel::make_kernel(parameters));
        }
      }
    }
  }
}

namespace {

Value value_of(const Reference& json, FieldType type) {
  if (json.is_array() && json.at(0).is_array()) return json.get<NumberLists>();
  if (json.is_array()) return json.get<std::vector<double>>();
  if (type == FieldType::integer) return json.get<int64_t>();
  return json.get<double>();
}

std::unique_ptr<kernel::Kernel> from_spec(const Reference& spec) {
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    if (spec.at("kernel") != entry.name) continue;
    Parameters given{{"kernel", entry.name}};
    for (const Field& field : entry.fields) {
      if (spec.contains(field.key)) given.set(field.key, value_of(spec.at(field.key), field.type));
    }
    return kernel::make_kernel(given);
  }
  throw std::runtime_error("no such kernel: " + spec.at("kernel").get<std::string>());
}

// Rounding: relative 1e-12. The table of the generalised Gaussian spectrum is good to 1e-14
// absolutely in each coordinate, and so are the reference numbers' tails; a factor of a spline is
// good to rounding of 1. Kernels of the angle are sums of terms of size ||x||^n ||y||^n that cancel
// near pi.
double tolerance(const kernel::Kernel& kernel, const std::vector<double>& x,
                 const std::vector<double>& y, double expected) {
  const auto d = static_cast<int64_t>(x.size());
  double absolute = 0;
  if (kernel.name() == "generalized_gaussian_spectrum" || kernel.name() == "spline")
    absolute = 1e-14 * static_cast<double>(d);
  if (const auto activation = kernel.traits().activation;
      activation && activation->function != kernel::Activation::Function::complex_modulus)
    absolute = 4e-15 * std::pow(std::sqrt(kernel::inner_product(d, x.data(), x.data()) *
                                          kernel::inner_product(d, y.data(), y.data())),
                                static_cast<double>(activation->order));
  return 1e-12 * std::fabs(expected) + absolute;
}

}  // namespace

TEST_CASE("exact values equal the reference numbers") {
  const Reference all = oracle("kernels");
  size_t pairs_compared = 0;
  for (const auto& set : all.at("sets")) {
    const int64_t d = set.at("d");
    for (const auto& entry : set.at("kernels")) {
      const auto kernel = from_spec(entry.at("spec"));
      kernel->check_dimension(d);
      const auto& pairs = set.at(entry.at("inputs").get<std::string>());
      double worst = 0;
      size_t worst_index = 0;
      for (size_t i = 0; i < pairs.at(0).size(); ++i) {
        const std::vector<double> x = pairs.at(0).at(i);
        const std::vector<double> y = pairs.at(1).at(i);
        const double expected = entry.at("values").at(i);
        const double ratio = std::fabs(kernel->value(d, x.data(), y.data()) - expected) /
                             tolerance(*kernel, x, y, expected);
        if (!(ratio <= worst)) worst = ratio, worst_index = i;
      }
      pairs_compared += pairs.at(0).size();
      INFO(entry.at("spec") << ", d = " << d << ", pair " << worst_index << ": error / tolerance");
      CHECK(worst <= 1);
    }
  }
  CHECK(pairs_compared == 219 * 12);
}

TEST_CASE("k(tau) and k(2 tau) equal the reference numbers") {
  const Reference variances = oracle("variances");
  REQUIRE(variances.at("rff").size() == 10);
  for (const auto& entry : variances.at("rff")) {
    const Reference& params = entry.at("params");
    const Reference spec =
        params.with("kernel", entry.at("kernel")).with("lengthscale", params.at("ell"));
    const auto kernel = from_spec(spec);
    const std::vector<double> x = entry.at("x");
    const std::vector<double> y = entry.at("y");
    const auto d = static_cast<int64_t>(x.size());
    INFO(spec);
    CHECK(kernel->value_at_multiple(0, d, x.data(), y.data()) == 1);
    CHECK(kernel->value_at_multiple(1, d, x.data(), y.data()) ==
          Approx(entry.at("k_tau").get<double>()).epsilon(1e-12));
    CHECK(kernel->value_at_multiple(2, d, x.data(), y.data()) ==
          Approx(entry.at("k_2tau").get<double>()).epsilon(1e-12));
  }
}

namespace {

MultiIndex index_of(const Reference& orders) {
  MultiIndex p;
  for (int64_t k = 0; k < static_cast<int64_t>(orders.size()); ++k)
    if (orders[k] != 0) p.push_back({k, orders[k]});
  return p;
}

Matrix<double> rows_of(const Reference& rows) {
  return filled(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()),
                [&](int64_t i, int64_t k) { return rows[i][k].get<double>(); });
}

Matrix<double> derivatives(const kernel::Kernel& kernel, const MultiIndex& p, const MultiIndex& q,
                           const Matrix<double>& X, const Matrix<double>& Y) {
  Matrix<double> K(X.rows(), Y.rows());
  Context context;
  kernel::derivative_gram(kernel, p, q, X.view(), Y.view(), context, K.view());
  return K;
}

}  // namespace

TEST_CASE("kernel derivatives are the reference numbers") {
  REQUIRE(oracle("derivatives")["sets"].size() == 3);
  size_t compared = 0;
  for (const auto& set : oracle("derivatives")["sets"]) {
    const auto X = rows_of(set["X"]), Y = rows_of(set["Y"]);
    const auto kernel =
        kernel::make_gaussian(set["ell"].is_array() ? set["ell"].get<std::vector<double>>()
                                                    : std::vector<double>{set["ell"].get<double>()},
                              1);
    double worst = 0;
    for (size_t b = 0; b < set["p"].size(); ++b) {
      const auto K = derivatives(*kernel, index_of(set["p"][b]), index_of(set["q"][b]), X, Y);
      for (int64_t i = 0; i < X.rows(); ++i) {
        const double expected = set["values"][b][i];
        keep_worst(worst, std::fabs(K(i, i) - expected) / std::max(1.0, std::fabs(expected)));
      }
    }
    for (int64_t i = 0; i < X.rows(); ++i) {
      double laplacian = 0;
      for (int64_t a = 0; a < X.cols(); ++a) {
        const auto gradient = derivatives(*kernel, {{a, 1}}, {}, X, Y);
        keep_worst(worst, std::fabs(gradient(i, i) - set["gradient_x"][i][a].get<double>()));
        laplacian += derivatives(*kernel, {{a, 2}}, {}, X, Y)(i, i);
        for (int64_t b = 0; b < X.cols(); ++b) {
          const auto mixed = derivatives(*kernel, {{a, 1}}, {{b, 1}}, X, Y);
          keep_worst(worst, std::fabs(mixed(i, i) - set["mixed_xy"][i][a][b].get<double>()));
          const auto second = derivatives(*kernel, kernel::sum_of({{a, 1}}, {{b, 1}}), {}, X, Y);
          keep_worst(worst, std::fabs(second(i, i) - set["hessian_x"][i][a][b].get<double>()));
          ++compared;
        }
      }
      keep_worst(worst, std::fabs(laplacian - set["laplacian_x"][i].get<double>()));
    }
    CHECK(worst <= 1e-12);
  }
  CHECK(compared == 3 * (1 + 4 + 9));
}

TEST_CASE("kernel derivatives: 0 where the kernel or a polynomial vanishes, not NaN") {
  const double far[] = {1e5}, farther[] = {1e40}, origin[] = {0};
  CHECK(kernel::make_gaussian({1}, 1)->derivative({{0, 64}}, 1, far, origin) == 0);
  CHECK(kernel::make_gaussian({1}, 1)->derivative({{0, 8}}, 1, farther, origin) == 0);
  CHECK(kernel::make_gaussian({1e-5}, 1)->derivative({{0, 63}}, 1, origin, origin) == 0);
  const double none[] = {NAN};
  CHECK(std::isnan(kernel::make_gaussian({1}, 1)->derivative({{0, 2}}, 1, none, origin)));
}

namespace {

std::unique_ptr<kernel::Kernel> made(const std::string& json) {
  return kernel::make_kernel(spec::parse_object(json));
}

/// The largest difference of d^{p,q} of two kernels for some p and q, as a share of the derivative.
double disagreement(const std::string& a, const std::string& b, int64_t d, double spread) {
  const auto first = made(a), second = made(b);
  const auto X = filled(
                 4, d, [&](int64_t i, int64_t k) { return spread * random_matrix(4, d, 1)(i, k); }),
             Y = random_matrix(3, d, 2);
  const MultiIndex orders[] = {{},          {{0, 1}}, {{0, 2}}, {{0, 3}}, {{0, 2}, {d - 1, 1}},
                               {{d - 1, 6}}};
  double worst = 0;
  for (const MultiIndex& p : orders) {
    for (const MultiIndex& q : orders) {
      if (d == 1 && (p.size() > 1 || q.size() > 1)) continue;
      const auto A = derivatives(*first, p, q, X, Y), B = derivatives(*second, p, q, X, Y);
      for (int64_t i = 0; i < 12; ++i)
        keep_worst(worst,
                   std::fabs(A.data()[i] - B.data()[i]) / std::max(largest(A.view()), 1e-300));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("kernel derivatives: the same kernel by another formula") {
  // Orders up to 12: explicit sums of them lose up to five digits.
  const std::string gaussian = R"({"kernel":"gaussian","lengthscale":0.8,"variance":1.5})";
  CHECK(disagreement(gaussian,
                     R"({"kernel":"product","variance":0.5,"parts":[{"kernel":"gaussian",)"
                     R"("lengthscale":1},{"kernel":"gaussian","lengthscale":1.3333333333333333,)"
                     R"("variance":3}]})",
                     3, 1) <= 1e-10);
  CHECK(disagreement(gaussian,
                     R"({"kernel":"spectral_mixture","weights":[0.7,0.8],"means":[0,0],)"
                     R"("variances":[1.5625,1.5625]})",
                     3, 1) <= 1e-13);
  CHECK(disagreement(R"({"kernel":"cauchy","lengthscale":1.4142135623730951})",
                     R"({"kernel":"rational_quadratic"})", 1, 1) <= 1e-10);
  CHECK(disagreement(R"({"kernel":"polynomial","degree":3,"gamma":0.5,"offset":2})",
                     R"({"kernel":"dot_product","coefficients":[8,6,1.5,0.125]})", 3, 1) <= 1e-13);
  const std::string square = R"({"kernel":"polynomial","degree":2,"offset":1})";
  CHECK(disagreement(R"({"kernel":"polynomial","degree":4,"offset":1,"variance":3})",
                     R"({"kernel":"product","variance":3,"parts":[)" + square + "," + square + "]}",
                     3, 1) <= 1e-12);
  CHECK(disagreement(R"({"kernel":"exponential","lengthscale":[1,2,0.5],"variance":2})",
                     R"({"kernel":"sum","parts":[{"kernel":"exponential","lengthscale":[1,2,0.5],)"
                     R"("variance":0.5},{"kernel":"exponential","lengthscale":[1,2,0.5],)"
                     R"("variance":1.5}]})",
                     3, 0.3) <= 1e-13);
}

TEST_CASE("kernel derivatives: Matern as often as it has them, at 0 too") {
  const double zero[] = {0, 0}, near[] = {1e-120, 0};
  const auto slope = [](const kernel::Kernel& k, const MultiIndex& p, const double* x,
                        const double* y) { return k.differential(p, {})->at(2, x, y); };
  const auto three = made(R"({"kernel":"matern","nu":1.5})"),
             five = made(R"({"kernel":"matern","nu":2.5})");
  CHECK(made(R"({"kernel":"matern","nu":0.5})")->most_derivatives() == 0);
  CHECK(made(R"({"kernel":"matern","nu":1})")->most_derivatives() == 0);
  CHECK(made(R"({"kernel":"matern","nu":1.2})")->most_derivatives() == 2);
  CHECK(made(R"({"kernel":"matern","nu":7})")->most_derivatives() == 6);
  CHECK(made(R"({"kernel":"matern","nu":1e9})")->most_derivatives() == 64);
  REQUIRE(three->most_derivatives() == 2);
  REQUIRE(five->most_derivatives() == 4);
  // 1 - 3 r^2/2 + ..., 1 - 5 r^2/6 + 25 r^4/24 - ...
  for (const double* x : {zero, near}) {
    CHECK(slope(*three, {{0, 1}}, x, zero) == Approx(0).margin(1e-100));
    CHECK(slope(*three, {{0, 2}}, x, zero) == Approx(-3).epsilon(1e-14));
    CHECK(slope(*three, {{0, 1}, {1, 1}}, x, zero) == Approx(0).margin(1e-100));
    CHECK(slope(*five, {{1, 2}}, x, zero) == Approx(-5.0 / 3).epsilon(1e-14));
    CHECK(slope(*five, {{0, 4}}, x, zero) == Approx(25).epsilon(1e-14));
    CHECK(slope(*five, {{0, 2}, {1, 2}}, x, zero) == Approx(25.0 / 3).epsilon(1e-14));
  }
  // Half-integral nu by the mixture: from both sides of 2.5 the closed form.
  const double u[] = {0.3, -0.8};
  const auto below = made(R"({"kernel":"matern","nu":2.499999})"),
             beyond = made(R"({"kernel":"matern","nu":2.500001})");
  for (const MultiIndex& p : {MultiIndex{{0, 1}}, MultiIndex{{0, 1}, {1, 1}}, MultiIndex{{1, 2}}})
    CHECK((slope(*below, p, u, zero) + slope(*beyond, p, u, zero)) / 2 ==
          Approx(slope(*five, p, u, zero)).epsilon(1e-10));
}

TEST_CASE("kernel derivatives: far out they are 0, of no number NaN") {
  const double far[] = {1e200, -3}, origin[] = {0, 0}, none[] = {NAN, 0};
  for (const char* json :
       {R"({"kernel":"gaussian"})", R"({"kernel":"rational_quadratic"})", R"({"kernel":"cauchy"})",
        R"({"kernel":"matern","nu":1.2})", R"({"kernel":"matern","nu":3.2})",
        R"({"kernel":"spectral_mixture","weights":[1],"means":[2],"variances":[1]})"}) {
    INFO(json);
    const auto kernel = made(json);
    double gradient[] = {0, 0}, lost[] = {0, 0};
    kernel->add_gradient(1, 2, far, origin, gradient);
    kernel->add_gradient(1, 2, none, origin, lost);
    CHECK(std::fabs(gradient[0]) + std::fabs(gradient[1]) <= 1e-150);
    CHECK(std::isnan(lost[0]));
    const auto second = kernel->differential({{0, 1}, {1, 1}}, {});
    CHECK(std::fabs(second->at(2, far, origin)) <= 1e-150);
    CHECK(std::isnan(second->at(2, none, origin)));
  }
}

TEST_CASE("kernel derivatives: a row with a NaN has NaN alone") {
  const Matrix<double> X = filled(
      3, 2, [](int64_t i, int64_t k) { return i == 1 && k == 1 ? NAN : static_cast<double>(i); });
  const Matrix<double> Y =
      filled(2, 2, [](int64_t i, int64_t k) { return i == 1 ? NAN : static_cast<double>(2 * k); });
  for (const char* json :
       {R"({"kernel":"gaussian"})", R"({"kernel":"rational_quadratic"})", R"({"kernel":"cauchy"})",
        R"({"kernel":"matern","nu":2.5})", R"({"kernel":"exponential"})",
        R"({"kernel":"polynomial","degree":2})", R"({"kernel":"dot_product","coefficients":[1,2]})",
        R"({"kernel":"spectral_mixture","weights":[1],"means":[2],"variances":[1]})"}) {
    INFO(json);
    const auto kernel = made(json);
    for (const MultiIndex& p : {MultiIndex{}, MultiIndex{{0, 1}}, MultiIndex{{0, 2}}}) {
      const auto K = derivatives(*kernel, p, {}, X, Y);
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 2; ++j) CHECK(std::isnan(K(i, j)) == (i == 1 || j == 1));
    }
  }
}

TEST_CASE("kernel derivatives: Matern is 0 where squared distances nearly overflow") {
  const double origin[] = {0};
  for (const double nu : {0.5, 0.7, 1.5, 2.5, 3.2, 5.01}) {
    for (const double distance : {1e150, 1e154, 1.3e154, 1e200}) {
      const auto kernel = kernel::make_matern(nu, {1.0}, 1);
      CAPTURE(nu, distance);
      CHECK(kernel->value(1, &distance, origin) == 0);
      if (kernel->most_derivatives() < 2) continue;
      double gradient = 0;
      kernel->add_gradient(1, 1, &distance, origin, &gradient);
      CHECK(gradient == 0);
      CHECK(kernel->differential({{0, 2}}, {})->at(1, &distance, origin) == 0);
    }
  }
}

TEST_CASE("kernel derivatives: refusals, and orders that add up") {
  const auto X = random_matrix(2, 3, 1), Y = random_matrix(2, 4, 1);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                derivatives(*kernel::make_laplacian({1}, 1), {}, {{0, 1}}, X, X), "laplacian",
                "nu <= 1", "intersection");
  CHECK(kernel::make_matern(1.0001, {1}, 1)->most_derivatives() == 2);
  CHECK(kernel::make_matern(1, {1}, 1)->most_derivatives() == 0);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                derivatives(*made(R"({"kernel":"sum","parts":[{"kernel":"matern","nu":2.5},)"
                                  R"({"kernel":"gaussian"}]})"),
                            {{0, 3}}, {{0, 2}}, X, X),
                "order 5 in all of kernel sum, expected up to 4");
  const std::string parts = R"({"kernel":"gaussian"},{"kernel":"exponential"})";
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                derivatives(*made(R"({"kernel":"product","parts":[)" + parts + "]}"), {{0, 32}},
                            {{0, 32}}, X, X),
                "1024 coefficients");
  const auto kernel = kernel::make_gaussian({1, 2, 3}, 1);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, derivatives(*kernel, {}, {}, X, Y), "2 x 4");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, derivatives(*kernel, {}, {}, Y, Y));
  CHECK(std::isnan(kernel::make_laplacian({1}, 1)->derivative({}, 3, X.data(), X.data())));
  const MultiIndex sum = kernel::sum_of({{0, 1}, {2, 1}}, {{1, 4}, {2, 2}, {5, 1}});
  REQUIRE(sum.size() == 4);
  CHECK((sum[0].input == 0 && sum[0].order == 1 && sum[1].input == 1 && sum[1].order == 4));
  CHECK((sum[2].input == 2 && sum[2].order == 3 && sum[3].input == 5 && sum[3].order == 1));
  CHECK(total_order(sum) == 9);
}

}  // namespace mercer::test::kernel_test
