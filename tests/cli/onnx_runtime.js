// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The values of an ONNX graph for the rows of a CSV by onnxruntime-node, as onnx_values.py prints them.
// Usage: onnx_runtime.js GRAPH.onnx ROWS.csv OUTPUT INPUT...
const fs = require("fs");
const ort = require("onnxruntime-node");

async function main() {
  const [graph, file, output, ...inputs] = process.argv.slice(2);
  const [head, ...rows] = fs.readFileSync(file, "utf8").trim().split("\n").map((line) => line.split(","));
  const places = inputs.map((name) => head.indexOf(name));
  const numbers = Float64Array.from(rows.flatMap((row) => places.map((place) => (row[place] === "" ? NaN : Number(row[place])))));
  const session = await ort.InferenceSession.create(graph, { logSeverityLevel: 3 });
  const { data, dims } = (await session.run({ x: new ort.Tensor("float64", numbers, [rows.length, inputs.length]) }))[output];
  for (let i = 0; i < dims[0]; ++i) console.log(Array.from(data.slice(i * dims[1], (i + 1) * dims[1])).join(","));
}

main();
