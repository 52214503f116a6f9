// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums and products of kernels: values and Gram matrices are those of the parts, to the bit, and
// numbers where parts are not; every part checks the dimension, and its domain is the whole's.
#include "kernel/kernel.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/refusal.h"

namespace mercer::test::composed_kernel_test {

namespace {

std::unique_ptr<kernel::Kernel> made(const std::string& json) {
  return kernel::make_kernel(spec::parse_object(json));
}

Matrix<double> gram_of(const kernel::Kernel& kernel, const Matrix<double>& X) {
  Matrix<double> K(X.rows(), X.rows());
  Context context;
  kernel::gram(kernel, X.view(), X.view(), context, K.view());
  return K;
}

const std::string kSmooth = R"({"kernel":"gaussian","lengthscale":[0.5,1,2],"variance":0.7})";
const std::string kRough = R"({"kernel":"laplacian","lengthscale":3})";
const std::string kPolynomial = R"({"kernel":"polynomial","degree":3,"offset":0.5,"variance":2})";

std::string composed(const std::string& rule, const std::string& parts, double variance = 1) {
  return R"({"kernel":")" + rule + R"(","parts":[)" + parts + R"(],"variance":)" +
         std::to_string(variance) + "}";
}

}  // namespace

TEST_CASE("composed: Gram matrices are those of the parts, added or multiplied") {
  const Matrix<double> X = random_matrix(70, 3, 4);
  const Matrix<double> A = gram_of(*made(kSmooth), X), B = gram_of(*made(kRough), X),
                       C = gram_of(*made(kPolynomial), X);
  const std::string all = kSmooth + "," + kRough + "," + kPolynomial;
  const Matrix<double> sum = gram_of(*made(composed("sum", all)), X);
  const Matrix<double> product = gram_of(*made(composed("product", all, 4)), X);
  const std::string inner = composed("product", kSmooth + "," + kPolynomial, 3);
  const Matrix<double> nested = gram_of(*made(composed("sum", kRough + "," + inner, 0.5)), X);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 70 * 70; ++i) {
    const double a = A.data()[i], b = B.data()[i], c = C.data()[i];
    const auto differ = [](double one, double other) {
      return std::fabs(one - other) > 1e-13 * std::fabs(other);
    };
    wrong += differ(sum.data()[i], a + b + c);
    wrong += differ(product.data()[i], 4 * (a * b * c));
    wrong += differ(nested.data()[i], 0.5 * (b + 3 * (a * c)));
  }
  CHECK(wrong == 0);
}

TEST_CASE("composed: a product of parts that over- and underflow is what it is") {
  const std::string grows = R"({"kernel":"exponential"})", falls = R"({"kernel":"gaussian"})",
                    turns = R"({"kernel":"spectral_mixture","weights":[0.5],"means":[[1]],)"
                            R"("variances":[[1e-12]]})";
  const auto kernel = made(composed("product", grows + "," + falls, 3));
  const auto nested =
      made(composed("product", composed("product", grows + "," + turns) + "," + falls));
  int64_t negative = 0;
  for (const double x : {30.0, 100.0, 1e4}) {
    for (const double size : {-300.0, 0.0, 300.0}) {
      const double y = x * (2 - std::sqrt(3 - 2 * size / (x * x)));  // xy - (x - y)^2/2 = size
      const long double t = static_cast<long double>(x) - y;
      const long double right = std::exp(static_cast<long double>(x) * y - t * t / 2);
      const long double wave = 0.5L * std::cos(t) * std::exp(-t * t * 5e-13L);
      CAPTURE(x, size);
      // Exponents as large as x^2 are rounded.
      const auto of = [&](long double value) {
        return Approx(static_cast<double>(value)).epsilon(1e-15 * x * x + 1e-12);
      };
      CHECK(kernel->value(1, &x, &y) == of(3 * right));
      CHECK(nested->value(1, &x, &y) == of(wave * right));
      negative += wave < 0;
    }
  }
  CHECK(negative > 0);
  const double x = std::numeric_limits<double>::quiet_NaN(), y = 1;
  CHECK(std::isnan(kernel->value(1, &x, &y)));
}

TEST_CASE("composed: inputs are bounded as the strictest part bounds them") {
  const std::string skewed = R"({"kernel":"skewed_chi2","c":0.5})";
  const std::string chi2 = R"({"kernel":"additive_chi2"})";
  CHECK(!made(composed("sum", kSmooth + "," + kRough))->traits().input_bound);
  const auto open = made(composed("product", kSmooth + "," + skewed))->traits().input_bound;
  REQUIRE(open);
  CHECK((open->least == -0.5 && open->open));
  for (const std::string& parts : {skewed + "," + chi2, chi2 + "," + skewed}) {
    const auto bound = made(composed("sum", parts))->traits().input_bound;
    REQUIRE(bound);
    CHECK((bound->least == 0 && !bound->open));
  }
}

TEST_CASE("composed: every part checks the dimension") {
  const auto kernel =
      made(composed("sum", kRough + "," + composed("product", kRough + "," + kSmooth)));
  CHECK_NOTHROW(kernel->check_dimension(3));
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, kernel->check_dimension(4),
                "parts[1]: parts[1]: ", "lengthscale holds 3 numbers", "4 inputs");
  const auto split = made(composed("product", R"({"kernel":"bilinear","left":5},)" + kRough));
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, split->check_dimension(5), "parts[0]: d = 5");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, split->check_dimension(0), "d = 0");
}

TEST_CASE("composed: outside the domain of one part the value is NaN") {
  const std::string parts = kRough + R"(,{"kernel":"intersection"},{"kernel":"skewed_chi2"})";
  const double inside = 0.5, outside = -0.25, far = -2;
  for (const char* rule : {"sum", "product"}) {
    const auto kernel = made(composed(rule, parts));
    CHECK(std::isfinite(kernel->value(1, &inside, &inside)));
    CHECK(std::isnan(kernel->value(1, &inside, &outside)));
    CHECK(std::isnan(kernel->value(1, &far, &inside)));
  }
}

TEST_CASE("composed: parts are kept as they are, a lengthscale is theirs") {
  const auto kernel = made(composed("sum", kSmooth + "," + kRough));
  const auto composition = kernel->composition();
  REQUIRE(composition.has_value());
  CHECK(composition->rule == kernel::Composition::Rule::sum);
  REQUIRE(composition->parts.size() == 2);
  CHECK(composition->parts[0]->name() == "gaussian");
  CHECK(composition->parts[0]->lengthscale().size() == 3);
  CHECK(kernel->lengthscale().empty());
  CHECK(made(composed("product", kRough + "," + kRough))->composition()->rule ==
        kernel::Composition::Rule::product);
  CHECK_FALSE(made(kRough)->composition().has_value());
}

}  // namespace mercer::test::composed_kernel_test
