# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Rows as the library has them. A numeric variable is a column; a factor, a text or a truth is a column of 0 and 1 for each of its
# levels, which are sorted by bytes: what a model of the command `mercer` keeps, too, so that each reads the other's models.

sorted_levels <- function(levels) sort(enc2utf8(levels), method = "radix")

is_levels <- function(variable) is.factor(variable) || is.character(variable)

# Factors of a model frame with their levels in order, truths as 0 and 1.
ordered_frame <- function(frame) {
  for (name in names(frame)) {
    variable <- frame[[name]]
    if (is.logical(variable)) frame[[name]] <- variable + 0
    if (is_levels(variable)) {
      frame[[name]] <- factor(as.character(variable), sorted_levels(if (is.factor(variable)) levels(variable) else unique(variable[!is.na(variable)])))
    }
  }
  frame
}

# The columns of a frame, with the terms that they belong to as attribute "assign".
encoded <- function(frame, terms) {
  frame <- ordered_frame(frame)
  attr(terms, "intercept") <- 1
  attr(frame, "terms") <- terms
  full <- lapply(Filter(is.factor, frame[all_names(terms, frame)]), function(one) stats::contr.treatment(levels(one), contrasts = FALSE))
  x <- model.matrix(terms, frame, contrasts.arg = if (length(full)) full)
  structure(x[, -1, drop = FALSE], assign = attr(x, "assign")[-1])
}

# Variables of the right-hand side in a frame.
all_names <- function(terms, frame) intersect(rownames(attr(terms, "factors")), names(frame))

# How rows of a formula's variables become numbers.
formula_encoder <- function(frame) {
  with_response <- attr(frame, "terms")
  if (!is.null(attr(with_response, "offset"))) stop("offset() in the formula, expected none: subtract it from the response", call. = FALSE)
  right <- delete.response(with_response)
  if (length(attr(right, "term.labels")) == 0) stop("no variable on the right of the formula, expected at least one", call. = FALSE)
  levels <- .getXlevels(right, ordered_frame(frame))
  list(terms = right, xlevels = levels, labels = attr(right, "term.labels"))
}

matrix_encoder <- function(x) {
  names <- colnames(x)
  list(labels = if (is.null(names)) paste0("x", seq_len(ncol(x))) else names, named = !is.null(names))
}

# The numbers of new data: n x d.
new_rows <- function(object, newdata) {
  how <- object$encoder
  if (is.null(how$terms)) return(matrix_rows(how, newdata))
  frame <- model.frame(how$terms, pooled(how, as.data.frame(newdata)), na.action = na.pass, xlev = how$xlevels)
  classes <- attr(how$terms, "dataClasses")
  if (!is.null(classes)) .checkMFClasses(classes, frame)
  encoded(frame, how$terms)
}

# Levels that the command kept as one.
pooled <- function(how, data) {
  for (name in how$pooled) {
    texts <- as.character(data[[name]])
    if ("" %in% how$xlevels[[name]]) texts[is.na(texts)] <- ""
    texts[!is.na(texts) & !texts %in% how$xlevels[[name]]] <- "(other)"
    data[[name]] <- texts
  }
  data
}

matrix_rows <- function(how, newdata) {
  names <- colnames(newdata)
  if (how$named && !is.null(names) && all(how$labels %in% names)) newdata <- newdata[, how$labels, drop = FALSE]
  x <- as.matrix(newdata)
  if (!is.numeric(x) && !is.logical(x)) stop("newdata of type ", typeof(x), ", expected a matrix of numbers", call. = FALSE)
  if (ncol(x) != length(how$labels)) {
    stop(sprintf("newdata of %d columns, expected %d: %s", ncol(x), length(how$labels), toString(how$labels, 60)), call. = FALSE)
  }
  structure(x + 0, assign = seq_len(ncol(x)))
}
