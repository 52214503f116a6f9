# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Specs, which are lists in R and JSON in the library. One number of R is a number, or a list of one where mercer_specs() says that
# the key takes lists alone, or where it is wrapped as list(x) or I(x).

tables <- new.env()

# Types of each key, from the tables of the library.
types_of <- function(key) {
  if (is.null(tables$types)) {
    parameters <- function(entries) unlist(lapply(entries, function(one) with_fields(one$parameters)), recursive = FALSE)
    with_fields <- function(given) c(given, unlist(lapply(given, function(one) with_fields(one$fields)), recursive = FALSE))
    all <- unlist(lapply(mercer_specs(), parameters), recursive = FALSE)
    tables$types <- split(vapply(all, `[[`, "", "type"), vapply(all, `[[`, "", "key"))
  }
  tables$types[[key]]
}

takes_lists <- function(key, value) {
  types <- if (is.null(key)) NULL else types_of(key)
  fitting <- if (is.numeric(value)) setdiff(types, "text") else types
  length(fitting) > 0 && all(fitting %in% c("numbers", "numbers_or_lists", "kernels", "maps"))
}

json_text <- function(text) {
  text <- gsub("([\"\\\\])", "\\\\\\1", enc2utf8(text))
  for (code in 1:31) text <- gsub(intToUtf8(code), sprintf("\\u%04x", code), text, fixed = TRUE)
  paste0("\"", text, "\"")
}

# The shortest of these that is the number, to the bit.
json_numbers <- function(value) {
  short <- sprintf("%.15g", value)
  ifelse(value == floor(value) & abs(value) < 2^63, sprintf("%.0f", value), ifelse(as.numeric(short) == value, short, sprintf("%.17g", value)))
}

json_atoms <- function(value, key) {
  if (anyNA(value) || (is.numeric(value) && any(!is.finite(value)))) {
    stop(sprintf("%s = %s, expected finite numbers, texts or truths", key, deparse1(value)), call. = FALSE)
  }
  if (is.logical(value)) return(tolower(as.character(value)))
  if (is.numeric(value)) return(json_numbers(value))
  json_text(as.character(value))
}

json_list <- function(parts) paste0("[", paste(parts, collapse = ","), "]")

to_json <- function(value, key = NULL) {
  if (is.null(value)) return("null")
  if (is.factor(value)) value <- as.character(value)
  if (is.matrix(value)) return(json_list(apply(value, 1, function(row) json_list(json_atoms(row, key)))))
  if (is.list(value)) {
    if (length(value) == 0) return(if (takes_lists(key, value)) "[]" else "{}")
    if (is.null(names(value))) return(json_list(lapply(value, to_json)))
    if (any(names(value) == "")) stop(sprintf("%s: a value without a name, expected key = value", if (is.null(key)) "spec" else key), call. = FALSE)
    parts <- Map(to_json, value, names(value))
    return(paste0("{", paste(json_text(names(value)), parts, sep = ":", collapse = ","), "}"))
  }
  if (!is.atomic(value)) stop(sprintf("%s = %s, expected numbers, texts, truths or lists", key, deparse1(value)), call. = FALSE)
  atoms <- json_atoms(unclass(value), key)
  if (length(atoms) == 1 && !inherits(value, "AsIs") && !takes_lists(key, value)) atoms else json_list(atoms)
}

mercer_specs <- function(name = "") structure(parse_json(answer(.Call(C_specs, as.character(name)))), class = "mercer_specs")

# A line for each key: its name, its default, what it does and what it may be. Of all entries the names alone.
print.mercer_specs <- function(x, ...) {
  entries <- unlist(lapply(names(x), function(group) lapply(x[[group]], function(one) c(one, group = group))), recursive = FALSE)
  for (one in if (length(entries) <= 4) entries) {
    cat(sprintf("%s (%s): %s\n", one$name, one$group, one$help))
    for (key in one$parameters) {
      default <- if (is.null(key$default)) "" else sprintf(" = %s", to_json(key$default, key$key))
      cat(strwrap(sprintf("%s%s: %s (%s)", key$key, default, key$help, key$expected), exdent = 4, prefix = "  "), sep = "\n")
    }
  }
  if (length(entries) > 4) {
    for (group in names(x)) cat(strwrap(sprintf("%s: %s", group, toString(vapply(x[[group]], `[[`, "", "name"))), exdent = 2), sep = "\n")
  }
  invisible(x)
}

# A spec with defaults beneath its keys; of a kernel or map its name alone will do.
spec_with <- function(defaults, given, key = NULL) {
  if (!is.null(key) && is.character(given) && length(given) == 1) given <- stats::setNames(list(given), key)
  to_json(c(defaults[setdiff(names(defaults), names(given))], given))
}
