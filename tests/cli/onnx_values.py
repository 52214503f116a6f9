#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The values of an ONNX graph for the rows of a CSV, by the definitions of its operators; the file is read by the wire format of Protocol
Buffers. Prints a line of OUTPUT's numbers for each row. Usage: onnx_values.py GRAPH.onnx ROWS.csv OUTPUT INPUT..."""
import csv
import math
import pathlib
import struct
import sys


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """{number: [values]} of a message: integers, or bytes."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        else:
            assert tag & 7 == 0, f"wire type {tag & 7}"
        found.setdefault(tag >> 3, []).append(value)
    return found


def tensor(data):
    one = fields(data)
    shape, numbers = one[1], struct.unpack(f"<{len(one[9][0]) // 8}d", one[9][0])
    assert one[2] == [11] and math.prod(shape) == len(numbers), "a tensor of doubles of its shape"
    width = shape[-1]
    return one[8][0].decode(), [numbers[i:i + width] for i in range(0, len(numbers), width)]


def softmax(row):
    powers = [math.exp(value - max(row)) for value in row]
    return [power / sum(powers) for power in powers]


def spread(of):
    """By element; a row, a column or one number serves all rows and columns."""
    def by_element(a, b):
        at = lambda m, i, j: m[i if len(m) > 1 else 0][j if len(m[0]) > 1 else 0]
        return [[of(at(a, i, j), at(b, i, j)) for j in range(max(len(a[0]), len(b[0])))] for i in range(max(len(a), len(b)))]
    return by_element


def each(of):
    return lambda a: [[of(x) for x in row] for row in a]


def product(a, b):
    columns = list(zip(*b))
    return [[sum(map(lambda x, y: x * y, row, column)) for column in columns] for row in a]


OPERATORS = {"Sub": spread(lambda x, y: x - y), "Add": spread(lambda x, y: x + y), "Mul": spread(lambda x, y: x * y),
             "Div": spread(lambda x, y: x / y), "Pow": spread(lambda x, y: x ** y), "MatMul": product,
             "Max": spread(lambda x, y: math.nan if x != x else max(x, y)), "Min": spread(lambda x, y: math.nan if x != x else min(x, y)),
             "Where": lambda asked, a, b: [[x if no else y for no, x, y in zip(*rows)]
                                           for rows in zip(asked, *(spread(lambda _, x: x)(asked, m) for m in (a, b)))],
             **{name: each(getattr(math, name.lower())) for name in ("Cos", "Sin", "Exp", "Log", "Sqrt")}, "Abs": each(abs), "IsNaN": each(math.isnan),
             "Sign": each(lambda x: (x > 0) - (x < 0)), "Identity": each(float),
             "Concat": lambda *parts: [sum(rows, []) for rows in zip(*parts)], "Softmax": lambda a: list(map(softmax, a))}

graph, rows, output, *inputs = sys.argv[1:]
model = fields(pathlib.Path(graph).read_bytes())
operators = fields(model[8][0])
assert operators[2] == [13] and model[1] == [7], "operator set 13"
parts = fields(model[7][0])
values = dict(map(tensor, parts[5]))
with open(rows, newline="") as file:
    values["x"] = [[float(row[name] or "nan") for name in inputs] for row in csv.DictReader(file)]
for node in map(fields, parts[1]):
    if 5 in node:
        attribute = fields(node[5][0])
        assert (attribute[1], attribute[3], attribute[20]) == ([b"axis"], [1], [2]), "along columns"
    values[node[2][0].decode()] = OPERATORS[node[4][0].decode()](*(values[name.decode()] for name in node[1]))
assert output in [fields(one)[1][0].decode() for one in parts[12]], f"an output {output}"
for row in values[output]:
    print(",".join(map(repr, row)))
