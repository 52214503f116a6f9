# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Rows as the library has them. A numeric variable is a column; a factor, a text or a truth is a column of 0 and 1 for each of its
# levels, which are sorted by bytes: what a model of the command `mercer` keeps, too, so that each reads the other's models.

sorted_levels <- function(levels) sort(enc2utf8(levels), method = "radix")

# Levels of a frame's variables, by their names; none of numbers.
levels_of <- function(frame, names) {
  found <- lapply(frame[names], function(variable) {
    if (is.logical(variable)) c("FALSE", "TRUE") else if (is.factor(variable)) sorted_levels(levels(variable)) else
      if (is.character(variable)) sorted_levels(unique(variable[!is.na(variable)]))
  })
  Filter(Negate(is.null), found)
}

# A frame with its levels in order; those that the command kept as one are one.
with_levels <- function(frame, how) {
  for (name in names(how$xlevels)) {
    known <- how$xlevels[[name]]
    texts <- enc2utf8(as.character(frame[[name]]))
    if ("" %in% known) texts[is.na(texts)] <- ""
    if ("(other)" %in% known && name %in% how$pooled) texts[!is.na(texts) & !texts %in% known] <- "(other)"
    new <- setdiff(texts, c(known, NA))
    if (length(new)) stop(sprintf("%s has new level%s %s, expected one of %s", name, if (length(new) > 1) "s" else "", toString(new, 60), toString(known, 60)), call. = FALSE)
    frame[[name]] <- factor(texts, known)
  }
  frame
}

# The columns of a frame, with the terms that they belong to as attribute "assign".
encoded <- function(frame, how) {
  terms <- how$terms
  frame <- with_levels(frame, how)
  attr(terms, "intercept") <- 1
  attr(frame, "terms") <- terms
  full <- lapply(how$xlevels, stats::contr.treatment, contrasts = FALSE)
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
  list(terms = right, xlevels = levels_of(frame, all_names(right, frame)), labels = attr(right, "term.labels"))
}

matrix_encoder <- function(x) {
  names <- colnames(x)
  list(labels = if (is.null(names)) paste0("x", seq_len(ncol(x))) else names, named = !is.null(names))
}

# The numbers of new data: n x d.
new_rows <- function(object, newdata) {
  how <- object$encoder
  if (is.null(how$terms)) return(matrix_rows(how, newdata))
  require_variables(how$terms, newdata)
  frame <- model.frame(how$terms, as.data.frame(newdata), na.action = na.pass)
  for (name in names(Filter(is.character, frame))) frame[[name]] <- factor(frame[[name]])
  classes <- attr(how$terms, "dataClasses")
  if (!is.null(classes)) .checkMFClasses(classes, frame)
  encoded(frame, how)
}

# What model.frame would look for, and perhaps find, where the formula was written; single numbers there are constants.
require_variables <- function(terms, newdata) {
  if (is.null(colnames(newdata)) && !is.list(newdata)) {
    stop("newdata without names of columns, expected ", toString(all.vars(terms), 60), call. = FALSE)
  }
  constant <- function(name) length(get0(name, environment(terms))) == 1
  absent <- Filter(Negate(constant), setdiff(all.vars(terms), if (is.list(newdata)) names(newdata) else colnames(newdata)))
  if (length(absent)) stop("newdata has no ", toString(absent, 60), ", expected ", toString(all.vars(terms), 60), call. = FALSE)
}

matrix_rows <- function(how, newdata) {
  names <- colnames(newdata)
  if (how$named && !is.null(names)) {
    absent <- setdiff(how$labels, names)
    if (length(absent)) stop("newdata has no column ", toString(absent, 60), ", expected ", toString(how$labels, 60), call. = FALSE)
    newdata <- newdata[, how$labels, drop = FALSE]
  } else if (how$named) {
    warning("newdata without names of columns, which are taken in the order of the fit: ", toString(how$labels, 60), call. = FALSE)
  }
  x <- as.matrix(newdata)
  if (!is.numeric(x) && !is.logical(x)) stop("newdata of type ", typeof(x), ", expected a matrix of numbers", call. = FALSE)
  if (ncol(x) != length(how$labels)) {
    stop(sprintf("newdata of %d columns, expected %d: %s", ncol(x), length(how$labels), toString(how$labels, 60)), call. = FALSE)
  }
  structure(x + 0, assign = seq_len(ncol(x)))
}
