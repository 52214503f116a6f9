# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Names, calls and callbacks of the Julia package, without Julia, for foreign.py: whether each name is the package's, bound in its file
or in JULIA; whether calls of the package's functions have arguments and keywords that one of their methods takes; whether @cfunction
has the types of the callback whose field it is given to. Not looked at: scopes; types of values, and so which method a call takes;
order of definitions but those of @cfunction; keywords of specs; macros; what is exported; calls that splat."""
import collections
import re

# What the package uses of Julia and its standard library: a name that is added here was looked up there.
JULIA = set("""
abs AbstractMatrix AbstractSerializer AbstractString AbstractVector all Any ARGS ArgumentError Array Bool C_NULL collect Complex ComplexF32
ComplexF64 convert copy Cstring current_task Cvoid DataType deepcopy deserialize Dict DimensionMismatch div dlopen eachindex eachrow eltype
ENV error ErrorException Exception exit false fetch fieldcount fill filter finalizer Float32 Float64 foldl Function get get! getfield haskey
IdDict Int32 Int64 Integer IO IOBuffer isa isempty isfinite iszero iterate join joinpath keys last length map Matrix max maximum merge!
MethodError mktempdir names NaN new nonzeros norm Nothing nothing occursin ones pairs permutedims pointer pointer_from_objref print println
Ptr push! Real Ref reinterpret reshape rethrow rowvals rstrip seekstart serialize sin size sizeof sparse SparseMatrixCSC split sqrt
startswith stride StridedMatrix StridedVector strides String string sum Symbol throw true Tuple Type TypeError typemax typeof UInt32 UInt64
UInt8 undef Union unsafe_pointer_to_objref unsafe_store! unsafe_string unsafe_wrap vcat vec Vector view zeros @__FILE__ @cfunction @test
@test_throws @testset
""".split())
FIELDS = {"sticky"}
MODULES = {"Base", "GC", "Libdl", "LinearAlgebra", "Mercer", "Serialization", "SparseArrays", "Test", "Threads"}
KEYWORDS = {"module", "using", "export", "const", "mutable", "struct", "function", "end", "if", "elseif", "else", "for", "while", "try", "catch",
            "finally", "begin", "do", "return", "break", "continue", "in", "where", "include"}
TOKEN = re.compile(r'\n|""|\d[\w.]*|@?[^\W\d]\w*(?:!(?!=))?|::|(?<![\w)\]]):[^\W\d]\w*|->|[=!]==?|[<>=]=|=>|\.\.\.|[^\s\w]')
CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
C_TYPES = {"void*": "Ptr{Cvoid}", "const char*": "Cstring", "int64_t": "Int64", "double*": "Ptr{Float64}", "const double*": "Ptr{Float64}", "uint64_t": "UInt64", "mercer_rows*": "Ptr{mercer_rows}",
           "int32_t": "Int32", "void": "Cvoid"}
Method = collections.namedtuple("Method", "least most keywords")


def words(tokens):
    """Names, marks and ends of lines of tokens without comments, whose strings are ""; characters are numbers here."""
    return ["\n", *TOKEN.findall("".join("0" if token[0] == "'" and len(token) > 1 else token for token in tokens)), "\n", "\n", "\n"]


def is_name(word):
    return re.match(r"@?[^\W\d]", word) is not None


def closing(found, at):
    depth = 0
    for end in range(at, len(found)):
        depth += (found[end] in CLOSED_BY) - (found[end] in CLOSED_BY.values())
        if depth == 0:
            return end
    return len(found) - 1


def arguments(found, at):
    """Those before and after the semicolon of the list whose bracket is at `at`, each its words."""
    sides, depth = [[[]], []], 0
    for word in found[at + 1:closing(found, at)]:
        if depth == 0 and word in ",;":
            side = sides[1] if word == ";" or sides[1] else sides[0]
            side.append([])
        elif word != "\n":
            (sides[1] or sides[0])[-1].append(word)
        depth += (word in CLOSED_BY) - (word in CLOSED_BY.values())
    return [[part for part in side if part] for side in sides]


def defined(found, at):
    """Whether the list at `at` + 1 is that of a method's parameters."""
    start = at - 2 if found[at - 1] == "." else at
    after = closing(found, at + 1) + 1
    while found[after] in ("::", "where"):
        after = closing(found, after + 1) + 1 if found[after + 1] == "{" else after + 2
        after = closing(found, after) + 1 if found[after] == "{" else after
    return found[start - 1] == "function" or found[after] == "="


def methods(found):
    """(name, Method, parameters) of every method; those of other modules have no name. A struct has one of its fields."""
    for at, word in enumerate(found[:-3]):
        if is_name(word) and found[at + 1] == "(" and defined(found, at):
            given, named = arguments(found, at + 1)
            least = sum("=" not in part and "..." not in part for part in given)
            most = 99 if any("..." in part for part in given) else len(given)
            keywords = None if any("..." in part for part in named) else {part[0] for part in named}
            yield None if found[at - 1] == "." else word, Method(least, most, keywords), [part[0] for part in given + named]
        elif word == "struct":
            body = found[at + 2:found.index("end", at)]
            fields = [name for before, name, after in zip(body, body[1:], body[2:]) if before == "\n" and after == "::"]
            if "function" not in body and "(" not in body:
                yield found[at + 1], Method(len(fields), len(fields), set()), fields
                if found[at - 1] == "@kwdef":
                    yield found[at + 1], Method(0, 0, set(fields)), fields


def bound(found):
    """Names that a file binds anywhere."""
    names = {name for name, _, parameters in methods(found) for name in [name, *parameters] if name is not None}
    for at, word in enumerate(found[:-1]):
        after = found[at + 1]
        if is_name(word) and after in ("=", "::", "->"):
            names.add(word)
        if word == "->" and found[at - 1] == ")":
            start = at - 1
            while closing(found, start) != at - 1:
                start -= 1
            names.update(filter(is_name, found[start:at]))
        elif word == "=" and is_name(found[at - 1]):  # a, b = ...
            start = at - 1
            while found[start] == "," or is_name(found[start]):
                start -= 1
            names.update(filter(is_name, found[start:at]) if found[start] in "\n;" else [])
        elif word in ("for", "where"):
            end = closing(found, at + 1) + 1 if after in CLOSED_BY else at + 2
            names.update(filter(is_name, found[at + 1:end]))
        elif word in ("catch", "struct", "const"):
            names.add(after)
        elif word == "do":
            names.update(filter(is_name, found[at + 1:found.index("\n", at)]))
    return names


def unknown(found, known, fields, modules):
    """Names that nothing defines, and fields that no struct has."""
    for at, word in enumerate(found):
        if not is_name(word) or word in KEYWORDS or word in modules:
            continue
        of_field = found[at - 1] == "."
        if of_field and found[at - 2] in modules - {"Mercer"}:
            continue
        if word not in (fields if of_field and found[at - 2] != "Mercer" else known):
            yield f"{word} is defined nowhere"


def misfits(found, package):
    """Calls that no method of the package's function of that name takes."""
    for at, word in enumerate(found[:-1]):
        if word not in package or found[at + 1] != "(" or (found[at - 1] == "." and found[at - 2] != "Mercer") or defined(found, at):
            continue
        given, named = arguments(found, at + 1)
        named += [part for part in given if "=" in part[:2]]
        given = [part for part in given if "=" not in part[:2]]
        if any("..." in part for part in given):
            continue
        count, keywords = len(given) + (found[closing(found, at + 1) + 1] == "do"), {part[0] for part in named if "..." not in part}
        if not any(method.least <= count <= method.most and (method.keywords is None or keywords <= method.keywords) for method in package[word]):
            yield f"{word} is called with {count} arguments and keywords {sorted(keywords)}, which no method takes"


def foreign_callbacks(found, api, package):
    """@cfunction with other types than the callback of the field it is given to, or of a function with other parameters."""
    expected = {}
    for struct in api["structs"].values():
        for field in struct["fields"]:
            if field["type"] in api["callbacks"]:
                kinds = [C_TYPES[kind] for kind in api["callbacks"][field["type"]]["parameters"].values()]
                result = C_TYPES[api["callbacks"][field["type"]]["returns"]]
                expected[field["name"]] = (result, f"({','.join(kinds)}{',' * (len(kinds) == 1)})", len(kinds))
    for at, word in enumerate(found):
        if is_name(word) and word in api["structs"] and found[at + 1] == "(":
            for part in sum(arguments(found, at + 1), []):
                if "@cfunction" in part:
                    call = part.index("@cfunction")
                    (function, result, kinds), _ = arguments(part, call + 1)
                    known = expected.get(part[0], ("", "", 0))
                    if (result[0], "".join(kinds)) != known[:2]:
                        yield f"{part[0]} = @cfunction({function[0]}, {result[0]}, {''.join(kinds)}), expected {known[:2]}"
                    if not any(method.least <= known[2] <= method.most for method in package.get(function[0], [])):
                        yield f"@cfunction({function[0]}, ...) takes other than {known[2]} arguments"
