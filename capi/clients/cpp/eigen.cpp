// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Eigen's matrices in and out without copies: features into an Eigen matrix, a model fitted on one.
// Build: c++ -std=c++17 eigen.cpp $(pkg-config --cflags --libs mercer eigen3)
#include <Eigen/Core>
#include <iostream>
#include <mercer/mercer.hpp>

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

int main() try {
  std::srand(1);
  const Rows X = Rows::Random(500, 3);
  const Eigen::VectorXd y = X.col(0).cwiseProduct(X.col(1));
  const mercer::MatrixView<const double> rows(X), targets(y);

  const auto kernel = mercer::Kernel::gaussian(1.0);
  const auto map = mercer::Map::fourier(kernel, 3, 512);
  Rows Z(500, 512), K(50, 50);
  map.transform(rows, mercer::MatrixView<double>(Z));
  const mercer::MatrixView<const double> first(X.topRows(50));  // a view of a part
  kernel.gram(first, first, mercer::MatrixView<double>(K));
  Eigen::VectorXd column(50);  // and of a column, whatever its step
  kernel.gram(first, mercer::MatrixView<const double>(X.topRows(1)), mercer::MatrixView<double>(column));
  const double error = (Z.topRows(50) * Z.topRows(50).transpose() - K).cwiseAbs().maxCoeff();

  const auto model =
      mercer::Model::fit(R"({"lambda":1e-6,"search":false})", mercer::Data(rows, targets).map(map));
  const mercer::Matrix<double> f = model.predict(rows);
  const Eigen::Map<const Rows> predicted(f.view().data, f.rows(), f.cols());
  const double relative = (predicted - y).norm() / y.norm();
  std::cout << "relative error " << relative << ", largest kernel error " << error << '\n';
  // Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
  return relative < 0.05 && error < 6 * std::sqrt(1.5 / 512) && column == K.col(0) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
