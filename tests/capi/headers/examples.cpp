// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The examples of the C++ headers, line by line as they stand there (examples.cmake compares),
// compiled as strict C++17 and run: every function is true if its example did what the header says.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <mercer/mercer.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using Numbers = mercer::Matrix<double>;

bool library() {
  mercer::Matrix<float> X(100, 8);
  mercer::Kernel kernel = mercer::Kernel::gaussian(2.0);
  mercer::Map map = mercer::Map::fourier(kernel, X.cols(), 1024);
  mercer::Matrix<float> Z = map.apply(X);
  std::string spec = map.spec();
  mercer::Map same = mercer::Map::from_spec(spec);
  return Z.cols() == 1024 && same.spec() == spec;
}

bool context(const mercer::Map& map) {
  mercer::Context context(2, 0, [](int64_t done, int64_t total) { return done <= total; });
  try {
    map.prepare(MERCER_NUMBER_F32, &context);
  } catch (const mercer::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());  // error.fields(): the same as JSON
  }
  return context.threads_used() >= 1;
}

bool views(const mercer::Kernel& kernel, const double* data) {
  mercer::MatrixView<const double> X(data, 10, 3, 4);
  mercer::Matrix<double> K(10, 10);
  kernel.gram(X, X, K);
  return K(0, 0) == 1 && K(0, 1) == K(1, 0);
}

double similarity(const std::vector<std::string>& texts, double x, double y) {
  return texts[static_cast<size_t>(x)] == texts[static_cast<size_t>(y)] ? 2 : 1;
}

bool custom() {
  const std::vector<std::string> texts = {"one", "two"};
  mercer::Custom custom("texts", [&](int64_t n, int64_t m, int64_t, const double* X,
                                     const double* Y, double* K) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) K[i * m + j] = similarity(texts, X[i], Y[j]);
  });
  mercer::Kernel kernel = mercer::Kernel::from_spec(R"({"kernel":"custom","name":"texts"})");
  Numbers rows(2, 1), K(2, 2);
  rows(1, 0) = 1;
  kernel.gram(rows, rows, K);
  return K(0, 0) == 2 && K(1, 0) == 1;
}

mercer::Kernel kernel() {
  std::vector<double> lengthscale = {0.5, 2.0, 1.0};
  mercer::Kernel kernel = mercer::Kernel::matern(1.5, lengthscale);
  return kernel;
}

bool map(const mercer::Kernel& kernel, const Numbers& X) {
  mercer::Map map = mercer::Map::fourier(kernel, X.cols(), 1024, R"("projection":"sorf")");
  mercer_transform_options columns = mercer::transform_options();
  columns.end = 100;
  mercer::Matrix<double> Z(X.rows(), 100);
  map.transform(X, Z, columns);
  double error = map.kernel_error(X, MERCER_KERNEL_ERROR_PREDICTED);
  return Z(0, 99) != 0 && error > 0 && error < 1;
}

bool kept(const mercer::Map& map, const std::string& path) {
  std::vector<std::byte> bytes = map.to_bytes();
  mercer::Map twin = mercer::Map::from_bytes(bytes);
  twin.save(path);
  std::string info = mercer::file_info(path);
  return std::remove(path.c_str()) == 0 && twin.spec() == map.spec() &&
         info.find("\"map\"") != std::string::npos;
}

bool ridge(const Numbers& Z, const Numbers& Y, const Numbers& more_Z, const Numbers& more_Y) {
  mercer::Statistics statistics(Z.cols(), Y.cols());
  statistics.add(Z, Y);
  statistics.add(more_Z, more_Y);
  mercer::Ridge ridge(statistics, true);
  mercer::Weights weights = ridge.solve(1e-6);
  return weights.w.rows() == Z.cols() && ridge.rows() == Z.rows() + more_Z.rows();
}

bool model(const Numbers& X, const Numbers& Y) {
  mercer::Model model = mercer::Model::fit("{}", {X, Y});
  double r_squared = model.score(X, Y);
  std::vector<std::byte> bytes = model.to_bytes();
  return r_squared > 0.9 && !bytes.empty();
}

bool derivatives(const mercer::Map& map, const Numbers& X) {
  Numbers G(X.rows(), map.features());
  for (int64_t i = 0; i < G.rows(); ++i) G(i, 3) = 1;
  mercer::Matrix<double> gradient(X.rows(), X.cols() * map.features());
  mercer::differentiate(map, X, MERCER_DERIVATIVE_GRADIENT, gradient);
  mercer::Matrix<double> back(X.rows(), X.cols());
  mercer::differentiate(map, X, MERCER_DERIVATIVE_VJP, G, back);
  const std::vector<int32_t> first(X.cols(), 0), order{0, 1, 0};
  Numbers partial(X.rows(), map.features()), K(X.rows(), X.rows());
  mercer::differentiate(map, X, mercer::MatrixView<const int32_t>(order.data(), 1, X.cols()),
                        partial);
  mercer::differentiate(mercer::Kernel::gaussian(1.0), X, X, order, first, K);
  const std::string bound = mercer::bound(
      R"({"bound":"derivative","kernel":{"kernel":"gaussian"},"inputs":3,"p":[0,1,0],"diameter":2,)"
      R"("delta":0.01,"frequencies":4096})");
  if (bound.find("\"sigma\":1,") == std::string::npos) return false;
  const mercer_observations values =
      mercer_observations_of(nullptr, 1, mercer::Rows(X).get(), mercer::Rows(K).get());
  const mercer::Model model =
      mercer::Model::fit(R"({"lambda":1e-6})", mercer::Data(values).map(map));
  if (model.predict(X, "gradient").cols() != X.cols() * K.cols()) return false;
  if (model.predict(X, "laplacian")(0, 0) == 0) return false;
  return std::abs(gradient(2, map.features() + 3) - back(2, 1)) < 1e-12 &&
         partial(2, 3) == gradient(2, map.features() + 3) && K(0, 0) == 0 && K(0, 1) != 0;
}

bool joint_outputs(const Numbers& Y) {
  mercer::Matrix<double> gamma(Y.cols(), Y.cols());
  for (int64_t k = 0; k < Y.cols(); ++k) gamma(k, k) = 1;
  const auto joint = mercer::Kernel::decomposable(mercer::Kernel::gaussian(1.0), gamma);
  return mercer::Map::fourier(joint, 3, 8 * Y.cols()).outputs() == Y.cols();
}

bool fields(const Numbers& X) {
  const char* spec = R"({"kernel":{"kernel":"divergence_free"},"inputs":3,"features":120})";
  mercer::Map field = mercer::Map::from_spec(spec);
  mercer::Matrix<double> theta(field.features(), 1);
  for (int64_t i = 0; i < theta.rows(); ++i) theta(i, 0) = i % 2 == 0 ? 1 : -1;
  mercer::Matrix<double> f(X.rows(), field.outputs());
  field.multiply(X, theta, f);
  mercer::Matrix<double> J(X.rows(), field.outputs() * field.inputs());
  field.multiply(X, theta, J, MERCER_FIELD_JACOBIAN);
  const auto learnt = mercer::Model::fit(R"({"lambda":1e-3})", mercer::Data(X, f).map(field));
  if (std::abs(learnt.predict(X)(2, 0) - f(2, 0)) > 0.1 || field.variance(X, X)[0] <= 0)
    return false;
  if (std::abs(J(2, 0) + J(2, 4) + J(2, 8)) > 1e-12 || f(2, 0) == 0) return false;
  // The same through the features, the spec, and B(omega) of one's own.
  const mercer::Map again = mercer::Map::from_spec(field.spec());
  Numbers back(field.features(), 1), code(2, 3);
  const Numbers phi = again.apply(X.view());
  again.adjoint(X, f, back);
  double sum = 0, norm = 0, squares = 0;
  for (int64_t i = 0; i < theta.rows(); ++i) sum += phi(7, i) * theta(i, 0);
  for (int64_t i = 0; i < theta.rows(); ++i) norm += back(i, 0) * theta(i, 0);
  for (int64_t i = 0; i < f.rows() * 3; ++i) squares += f(i / 3, i % 3) * f(i / 3, i % 3);
  if (std::abs(sum - f(2, 1)) > 1e-12 || std::abs(norm - squares) > 1e-9 * squares) return false;
  Numbers halves(2 * X.rows(), 1);
  for (int64_t i = 0; i < halves.rows(); ++i) halves(i, 0) = 0.5;
  const auto gaussian = mercer::Kernel::gaussian(1.0);
  const auto own = mercer::Map::fourier_supplied(gaussian, X, halves);
  const auto same =
      mercer::Map::from_spec(R"({"kernel":{"kernel":"curl_free"},"inputs":3,"features":40})");
  const mercer::Matrix<double> omega = same.frequencies();
  Numbers directions(3 * omega.rows(), 1), first_of(40, 1), mine(X.rows(), 3), theirs(X.rows(), 3);
  for (int64_t i = 0; i < directions.rows(); ++i) directions(i, 0) = omega(i / 3, i % 3);
  const auto curl = mercer::Map::fourier_supplied(gaussian, omega, directions);
  first_of(7, 0) = 1;
  curl.multiply(X, first_of, mine);
  same.multiply(X, first_of, theirs);
  if (curl.features() != 40 || std::abs(mine(3, 1) - theirs(3, 1)) > 1e-13) return false;
  Numbers K(3 * X.rows(), 3 * X.rows()), product(X.rows(), 3);
  const auto kernel = mercer::Kernel::from_spec(R"({"kernel":"divergence_free"})");
  kernel.gram(X, X, K);
  kernel.multiply(X, X, f, product);
  double first = 0;
  for (int64_t i = 0; i < X.rows() * 3; ++i) first += K(0, i) * f(i / 3, i % 3);
  mercer::simplex_code(code);
  return own.outputs() == 2 && own.features() == 2 * X.rows() && own.info().dropped == 0 &&
         std::abs(first - product(0, 0)) < 1e-9 && code(0, 0) == 1 && joint_outputs(X) &&
         !kernel.spec().empty();
}

bool codes(const Numbers& X) {
  mercer::Kernel kernel = mercer::Kernel::gaussian(1.0);
  mercer::Codes codes(mercer::Map::fourier(kernel, X.cols(), 1024, R"("form":"phase")"), X);
  mercer::Matrix<double> K = codes.kernel(kernel, codes.distances(codes));
  return codes.words() == 16 && K(3, 3) == 1 && K(0, 1) < 1 && K(0, 1) == K(1, 0);
}

bool recommended(const Numbers& X) {
  mercer::Recommendation best =
      mercer::Map::recommend(R"({"kernel":{"kernel":"gaussian"},"error":0.05})", X);
  return best.map.features() >= 1 && best.answer.find("maps") != std::string::npos;
}

bool specs() {
  namespace spec = mercer::spec;
  const auto kernel = spec::kernels::Matern().nu(1.5).lengthscale({2.0, 1.0, 0.5});
  const auto features = spec::maps::Fourier().kernel(kernel).inputs(3).features(512);
  const mercer::Map map = mercer::Map::from_spec(features);
  const mercer::spec::Of<mercer::spec::Kernel> part = R"({"kernel":"polynomial","degree":1})";
  const mercer::Kernel linear = mercer::Kernel::from_spec(part);
  return map.features() == 512 && map.kernel().spec().find("[2,1,0.5]") != std::string::npos &&
         linear.spec().find("polynomial") != std::string::npos;
}

bool source() {
  struct OneBlock : mercer::RowSource {
    mercer::Matrix<double> X, Y;
    bool read = false;
    OneBlock(int64_t n, int64_t d) : X(n, d), Y(n, 1) {}
    int64_t inputs() const override { return X.cols(); }
    int64_t targets() const override { return Y.cols(); }
    void rewind() override { read = false; }
    std::optional<Block> next() override {
      if (std::exchange(read, true)) return std::nullopt;
      return Block{X, Y};
    }
  };
  OneBlock rows(30, 3);
  for (int64_t i = 0; i < 30; ++i) {
    for (int64_t j = 0; j < 3; ++j) rows.X(i, j) = std::sin(1.7 * static_cast<double>(3 * i + j));
    rows.Y(i, 0) = rows.X(i, 0);
  }
  const mercer::Map map = mercer::Map::fourier(mercer::Kernel::gaussian(1.0), 3, 64);
  return mercer::Model::fit("{}", mercer::Data(rows).map(map)).score(rows.X, rows.Y) > 0.9;
}

bool attention() {
  const mercer::Map map = mercer::Map::from_spec(
      R"({"map":"positive","kernel":{"kernel":"exponential"},"inputs":3,"features":64})");
  mercer::Matrix<float> X(20, 3);
  for (int64_t i = 0; i < 20; ++i) X(i, i % 3) = static_cast<float>(i) / 20;
  mercer::Matrix<float> out(X.rows(), X.cols());
  mercer_tokens tokens = mercer::causal_tokens(X, X, X);
  mercer::attend(map, tokens, out);
  double error = mercer::attention_error(map, tokens, MERCER_KERNEL_ERROR_MEASURED);
  return out(19, 0) > 0 && error > 0 && error < 1;
}

bool all() {
  Numbers X(40, 3), Y(40, 1);
  for (int64_t i = 0; i < X.rows(); ++i) {
    for (int64_t j = 0; j < 3; ++j) X(i, j) = std::sin(1.7 * static_cast<double>(3 * i + j));
    Y(i, 0) = X(i, 0) - X(i, 1);
  }
  const mercer::Kernel matern = kernel();
  const mercer::Map features = mercer::Map::fourier(matern, 3, 64);
  return library() && custom() && context(features) && views(matern, X.view().data) && map(matern, X) &&
         ridge(X, Y, X, Y) && model(X, Y) && derivatives(features, X) && codes(X) && fields(X) &&
         recommended(X) && specs() && source() && attention() &&
         kept(features, "cpp_example.mercer");
}

}  // namespace

int main() {
  try {
    if (all()) return 0;
    std::fprintf(stderr, "an example did not do what its header says\n");
  } catch (const mercer::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
