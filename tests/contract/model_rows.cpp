// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A new model is a row here.
#include "contract/model_rows.h"

namespace mercer::test {

std::span<const ModelRow> model_rows() {
  static constexpr ModelRow kRows[] = {
      {R"({"model":"ridge","lambda":0.001})"},
      {R"({"model":"gp","lambda":0.001,"solver":"direct","hyperparameters":"given"})"},
      {R"({"model":"gp","lambda":0.001,"noise":0.5,"local":"off"})"},
      {R"({"model":"gp","lambda":0.001,"noise":0.5,"local":"clusters","theta":1.5})"},
      {R"({"model":"gp","lambda":0.001,"noise":0.5,"local":"test_point"})"},
      {R"({"model":"dirichlet","lambda":0.01,"alpha":0.05,"local":"off","task":"classification"})",
       true},
      {R"({"model":"dirichlet","lambda":0.01,"alpha":0.05,"local":"clusters","theta":1.5,)"
       R"("task":"classification"})",
       true},
      {R"({"model":"dirichlet","lambda":0.01,"alpha":0.05,"local":"test_point",)"
       R"("task":"classification"})",
       true},
      {R"({"model":"svgp","lambda":0.01,"batch":500,"epochs":2,"hyperparameters":"given",)"
       R"("task":"classification"})",
       true},
      {R"({"model":"ridge","lambda":0.001,"solver":"cg"})"},
      {R"({"model":"ridge","lambda":0.001,"solver":"mixed"})"},
      {R"({"model":"ridge","task":"classification","class_weight":"none","solver":"direct"})"},
      {R"({"model":"ridge","lambda":0.01,"task":"classification","class_weight":"balanced"})"},
      {R"({"model":"logistic","lambda":0.01,"task":"classification","loss":"logistic",)"
       R"("class_weight":"none"})"},
      {R"({"model":"logistic","lambda":0.01,"task":"classification","loss":"squared_hinge",)"
       R"("class_weight":"balanced","iterations":200,"tolerance":1e-6})"},
      {R"({"model":"logistic","lambda":0.01,"task":"classification","loss":"hinge"})"},
      {R"({"model":"logistic","lambda":0.01,"loss":"huber","delta":0.5})"},
      {R"({"model":"logistic","lambda":0.01,"loss":"log_cosh","delta":0.5})"},
      {R"({"model":"logistic","lambda":0.01,"loss":"epsilon_insensitive","delta":0.2})"},
      {R"({"model":"logistic","lambda":0.01,"loss":"quantile","tau":0.7})"},
      {R"({"model":"logistic","lambda":0.01,"loss":"poisson"})"},
      {R"({"model":"logistic","lambda":0.01,"loss":"custom","loss_name":"custom"})"},
      {R"({"model":"logistic","lambda":0.01,"task":"classification","loss":"custom_class",)"
       R"("loss_name":"custom"})"},
      {R"({"model":"kernel_pca","components":1,"preimages":true,"lambda":0.01})"},
      {R"({"model":"kernel_pca","components":1,"preimages":false})"},
      {R"({"model":"density","lambda":0.01,"base":"normal","normaliser":200})"},
      {R"({"model":"density","lambda":0.01,"base":"diagonal"})"},
      {R"({"model":"density","lambda":0.01,"base":"none"})"},
      {R"({"model":"density","base":"normal"})"},
      {R"({"model":"sparse_inputs","lambda":0.01,"tau":0.05,"threshold":0.1,"tolerance":1e-7})"},
  };
  return kRows;
}

}  // namespace mercer::test
