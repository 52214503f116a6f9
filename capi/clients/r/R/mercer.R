# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Fits.

mercer <- function(x, ...) UseMethod("mercer")

mercer.formula <- function(formula, data, ..., weights, subset, na.action, groups, keep.data = TRUE, threads = 0, memory = 0, progress = NULL) {
  call <- match.call(expand.dots = FALSE)
  asked <- call[c(1, match(c("formula", "data", "weights", "subset", "na.action", "groups"), names(call), 0))]
  asked[[1]] <- quote(stats::model.frame)
  frame <- eval(asked, parent.frame())
  how <- formula_encoder(frame)
  x <- encoded(frame, how)
  if (attr(attr(frame, "terms"), "response") > 0) how$response <- deparse1(attr(frame, "terms")[[2]])
  how$passes <- anyNA(x) || passes_missing(if (missing(na.action)) getOption("na.action") else na.action)
  fitted_model(x, model.response(frame), model.weights(frame), frame[["(groups)"]], how, list(...), attr(frame, "na.action"),
               keep.data, running_with(threads, memory, progress), match.call())
}

mercer.data.frame <- function(x, y = NULL, ..., weights = NULL, groups = NULL, na.action = getOption("na.action"), keep.data = TRUE,
                              threads = 0, memory = 0, progress = NULL) {
  right <- terms(~ ., data = x)
  rows <- complete_rows(c(as.list(x), list(`(y)` = y, `(weights)` = weights, `(groups)` = groups)), na.action)
  frame <- model.frame(right, rows[names(x)], na.action = na.pass)
  how <- formula_encoder(frame)
  encoded_x <- encoded(frame, how)
  how$passes <- anyNA(encoded_x) || passes_missing(na.action)
  fitted_model(encoded_x, rows[["(y)"]], rows[["(weights)"]], rows[["(groups)"]], how, list(...), attr(rows, "na.action"), keep.data,
               running_with(threads, memory, progress), match.call())
}

mercer.default <- function(x, y = NULL, ..., weights = NULL, groups = NULL, na.action = getOption("na.action"), keep.data = TRUE,
                           threads = 0, memory = 0, progress = NULL) {
  x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x)) stop("x of type ", typeof(x), ", expected a formula, a data frame or a matrix of numbers")
  how <- matrix_encoder(x)
  rows <- complete_rows(list(`(x)` = x + 0, `(y)` = y, `(weights)` = weights, `(groups)` = groups), na.action)
  x <- rows[["(x)"]]
  how$passes <- anyNA(x) || passes_missing(na.action)
  fitted_model(structure(x, assign = seq_len(ncol(x))), rows[["(y)"]], rows[["(weights)"]], rows[["(groups)"]], how, list(...),
               attr(rows, "na.action"), keep.data, running_with(threads, memory, progress), match.call())
}

passes_missing <- function(na.action) identical(if (is.character(na.action)) match.fun(na.action) else na.action, na.pass)

# Parts with the same rows, which may be matrices, as a frame that na.action has seen.
complete_rows <- function(parts, na.action) {
  parts <- Filter(Negate(is.null), parts)
  rows <- vapply(parts, NROW, 1)
  if (any(rows != rows[1])) {
    stop(sprintf("%s of %d rows, expected %d", names(parts)[rows != rows[1]][1], rows[rows != rows[1]][1], rows[1]), call. = FALSE)
  }
  frame <- structure(parts, class = "data.frame", row.names = seq_len(rows[1]))
  if (is.null(na.action)) frame else match.fun(na.action)(frame)
}

# Numbers of the targets, and the names of classes where they are factors, texts or truths.
response_of <- function(y) {
  if (is.null(y)) return(list())
  if (is.factor(y) || is.character(y) || is.logical(y)) {
    y <- droplevels(as.factor(y))
    return(list(numbers = as.integer(y) - 1, levels = levels(y)))
  }
  if (!is.numeric(y)) stop("a response of class ", class(y)[1], ", expected numbers, a factor, texts or truths", call. = FALSE)
  list(numbers = unclass(y), columns = colnames(y))
}

# Every method ends here: x n x d with the term of each column, y as it was given.
fitted_model <- function(x, y, weights, groups, how, spec, na.action, keep.data, running, call) {
  call[[1]] <- quote(mercer)
  response <- response_of(y)
  if (length(spec) && (is.null(names(spec)) || any(names(spec) == ""))) {
    stop("an argument without a name, expected keys of a fit, such as lambda = 0.1: mercer_specs(\"fit\")", call. = FALSE)
  }
  classes <- if (!is.null(response$levels)) list(task = "classification", classes = length(response$levels))
  codes <- if (!is.null(groups)) matrix(as.integer(as.factor(groups)) - 1, 1)
  model <- answer(.Call(C_fit, spec_with(classes, spec), columns_of(x), columns_of(response$numbers), if (!is.null(weights)) as.double(weights),
                        codes, running), call, running)
  how$columns <- colnames(x)
  how$assign <- attr(x, "assign")
  how$targets <- if (is.null(response$columns)) how$response else response$columns
  answer(.Call(C_model_note, model, schema_text(how, response$levels)), call)
  new_mercer(model, how, response$levels, call, na.action, if (keep.data) list(x = x, y = y, weights = weights))
}

new_mercer <- function(model, encoder, levels, call = NULL, na.action = NULL, data = NULL) {
  handle <- new.env()
  handle$model <- model
  shape <- answer(.Call(C_model_shape, model))
  if (shape[["classes"]] > 0 && is.null(levels)) levels <- as.character(seq_len(shape[["classes"]]) - 1)
  structure(class = "mercer", list(call = call, encoder = encoder, levels = levels, shape = shape, na.action = na.action, data = data,
                                   bytes = answer(.Call(C_model_bytes, model)), handle = handle))
}

fitted.mercer <- function(object, ...) {
  if (is.null(object$data)) stop("the model was fitted with keep.data = FALSE, expected predict(object, newdata)")
  predict(object)
}

residuals.mercer <- function(object, ...) {
  if (!is.null(object$levels) || is.null(object$data$y)) stop("residuals of a model without numbers as targets, expected a regression")
  left_out <- object$na.action
  object$na.action <- NULL
  naresid(left_out, object$data$y - predict(object))
}

nobs.mercer <- function(object, ...) as.integer(object$shape[["rows"]])

terms.mercer <- function(x, ...) {
  if (is.null(x$encoder$terms)) stop("a model of a matrix has no terms, expected one of a formula or a data frame")
  x$encoder$terms
}

coef.mercer <- function(object, ...) {
  stop("a kernel model has no coefficients of its inputs: predict(object, newdata, \"gradient\") has slopes, mercer_importance(object, data) says what inputs matter")
}

print.mercer <- function(x, ...) {
  spec <- mercer_report(x, "spec")
  if (!is.null(x$call)) cat("Call: ", deparse1(x$call), "\n", sep = "")
  about <- if (is.null(x$levels)) sprintf("%d output%s", x$shape[["outputs"]], if (x$shape[["outputs"]] == 1) "" else "s") else
    paste("classes", toString(x$levels, 50))
  cat(sprintf("Model %s of %d rows, %d inputs, %s\n", spec$model, x$shape[["rows"]], x$shape[["inputs"]], about))
  kernel <- if (is.list(spec$map$kernel)) to_json(rapply(spec$map$kernel, signif, "numeric", how = "replace", digits = 4)) else "none"
  cat(sprintf("Map %s of %d features, kernel %s, lambda %.3g\n", spec$map$map, x$shape[["features"]], kernel, x$shape[["lambda"]]))
  if (length(x$na.action)) cat("(", naprint(x$na.action), ")\n", sep = "")
  score <- mercer_report(x)$score
  if (!is.null(score$value)) cat(score_text(score), "\n", sep = "")
  if (length(transforms <- transforms_of(spec$prepare))) cat("Learnt after transforms: ", toString(transforms), "\n", sep = "")
  for (warning in mercer_report(x)$warnings) cat(strwrap(paste("Warning:", warning), exdent = 2), sep = "\n")
  invisible(x)
}

# Marginal transforms, which a search may choose.
transforms_of <- function(prepare) {
  chosen <- c(inputs = prepare$transform, targets = prepare$target_transform)
  chosen <- chosen[chosen != "none"]
  if (length(chosen)) paste(chosen, "of", names(chosen))
}

# How good it is on rows that no choice has seen.
score_text <- function(score) {
  number <- function(value) if (is.null(value)) "unknown" else sprintf("%.4g", value)
  sprintf("Score (%s, rows not seen): %s, standard error %s; a constant %s, a linear model %s", score$measure, number(score$value),
          number(score$standard_error), number(score$constant), number(score$linear))
}

summary.mercer <- function(object, ...) {
  structure(class = "summary.mercer", list(object = object, spec = mercer_report(object, "spec"), report = mercer_report(object)))
}

print.summary.mercer <- function(x, ...) {
  print(x$object)
  relevance <- as.numeric(unlist(x$report$relevance))
  if (length(relevance) == length(x$object$encoder$columns)) {
    cat("\nRelevance of inputs (shortest lengthscale over their own):\n")
    print(round(sort(stats::setNames(relevance, x$object$encoder$columns), decreasing = TRUE), 3))
  }
  if (length(x$report$trials)) cat(sprintf("\n%d trials; criterion %s\n", length(x$report$trials), x$report$criterion))
  invisible(x)
}
