# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Files that every other language with the library reads, with the names of columns and classes where the command `mercer` has them
# ("How a model keeps columns" in its manual).

# Variables that are columns or factors themselves keep their names and levels; of formulas with more in them, the columns do.
schema_text <- function(how, levels) {
  own <- !is.null(how$terms) && all(attr(how$terms, "order") == 1) && length(how$labels) == length(unique(how$assign)) &&
    all(table(how$assign) == vapply(how$labels, function(name) max(1L, length(how$xlevels[[unquoted(name)]])), 1L))
  names <- if (own) unquoted(how$labels) else how$columns
  encodings <- lapply(if (own) which(names %in% names(how$xlevels)), function(j) {
    list(input = j - 1, levels = as.list(unname(how$xlevels[[names[j]]])), other = FALSE)
  })
  schema <- list(version = 1, task = if (is.null(levels)) "regression" else "classification", inputs = as.list(unname(names)),
                 targets = as.list(unname(how$targets)), classes = as.list(unname(levels)), text_labels = !is.null(levels), missing = how$passes,
                 encodings = encodings)
  lists <- c("inputs", "targets", "classes", "encodings")
  parts <- lapply(names(schema), function(key) if (key %in% lists && !length(schema[[key]])) "[]" else to_json(schema[[key]]))
  paste0("{\"schema\":{", paste(json_text(names(schema)), parts, sep = ":", collapse = ","), "}}")
}

unquoted <- function(names) sub("^`(.*)`$", "\\1", names)

mercer_save <- function(object, path) {
  stopifnot(inherits(object, "mercer"), is.character(path), length(path) == 1)
  answer(.Call(C_model_write, opened(object), path.expand(path)))
  invisible(path)
}

mercer_load <- function(path) {
  stopifnot(is.character(path), length(path) == 1)
  model <- answer(.Call(C_model_read, path.expand(path)))
  metadata <- answer(.Call(C_model_said, model, "metadata"))
  schema <- tryCatch(parse_json(metadata)$schema, error = function(unread) NULL)
  new_mercer(model, schema_encoder(schema, answer(.Call(C_model_shape, model))[["inputs"]]), unlist(schema$classes))
}

# Without names, and where the command made numbers of dates, rows are a matrix of the model's own inputs.
schema_encoder <- function(schema, inputs) {
  names <- as.character(unlist(schema$inputs))
  dates <- any(vapply(schema$forms, function(one) !is.null(one$input) && !is.null(one$date), TRUE))
  if (!length(names) || any(names == "") || anyDuplicated(names) || dates) {
    return(list(labels = paste0("x", seq_len(inputs)), named = FALSE, passes = TRUE, assign = seq_len(inputs)))
  }
  how <- list(terms = terms(reformulate(sprintf("`%s`", names))), labels = names, targets = unlist(schema$targets), passes = isTRUE(schema$missing))
  how$assign <- seq_along(names)
  for (one in schema$encodings) {
    name <- names[one$input + 1]
    how$xlevels[[name]] <- c(sort(as.character(unlist(one$levels)), method = "radix"), if (isTRUE(one$other)) "(other)")
    if (isTRUE(one$other)) how$pooled <- c(how$pooled, name)
  }
  widths <- vapply(names, function(name) max(1L, length(how$xlevels[[name]])), 1L)
  how$assign <- rep(seq_along(names), widths)
  how$columns <- unlist(lapply(names, function(name) if (is.null(how$xlevels[[name]])) name else paste0(name, how$xlevels[[name]])))
  how
}
